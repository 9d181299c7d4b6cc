"""The task of `VibrationIsolation`: keep the platform still above a base that shakes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray
from twin.envs.channels import Channel, channel_scales
from twin.envs.shaking import (
    Spectrum,
    leg_effect,
    random_lines,
    shaking_force,
    shaking_tables,
    spectrum,
    usual_acceleration,
)
from twin.envs.task import Start, Task, TaskSettings
from twin.envs.vibration_isolation.settings import VibrationIsolationSettings
from twin.errors import InputError
from twin.kernels.tasks.vibration_isolation.task import command, look
from twin.model.conditioning import characteristic_length
from twin.simulation.platform import Platform
from twin.simulation.scene import Scene

SHARE_OF_EFFORT = 0.2

EFFORT_SCALE = 0.1
"""Of the actuators' effort: scale of what drives give beside holding the machine."""

TURNING = 0.1
"""Of the base's velocity over the joints' mean radius: level of angular rates in the reward."""

QUIET = 0.01
"""Of the scale of an observation: usual noise of a reading."""

TIMES = 5.0
"""Times the base's RMS velocity, or the force that goes with it: what an action of 1 means."""


class BaseMotion(NamedTuple):
    """What the bases do, and what the sensors miss."""

    mean: FloatArray
    """`(N, p + 1, ratio, 3)` mean acceleration over each step; the last period is at rest"""
    place: FloatArray
    """`(N, p + 1, 3)` displacement at the periods' ends [m]"""
    noise: FloatArray
    """`(N, p + 1, 9)` of platform accelerometers, gyroscopes, base accelerometers"""


class Kept(NamedTuple):
    """What the rows remember from one period to the next."""

    start: FloatArray
    """`(N, n)` measured coordinates at the reset"""
    pose: FloatArray
    """`(N, 7)` at the reset"""
    twist: FloatArray
    """`(N, 6)` at the end of the last period"""
    sensed: FloatArray
    """`(N, 18)` the observation's first six channels, in physical units"""
    squares: FloatArray
    """`(N, 2)` sums of squares of absolute and of base acceleration"""
    before: FloatArray
    """`(N, a)` last action"""
    levels: FloatArray
    """`(N, 3)` of acceleration, displacement, angular rate in the reward"""
    work: FloatArray
    """`(3,)`"""


class Signals(NamedTuple):
    """What `info` shows, in physical units, base axes."""

    absolute_acceleration: FloatArray
    """`(N, 3)` of the reference point, mean over the last period [m/s2]"""
    base_acceleration: FloatArray
    """`(N, 3)` mean over the last period [m/s2]"""
    absolute_displacement: FloatArray
    """`(N, 3)` of the reference point since the reset [m]"""
    rotation: FloatArray
    """`(N, 3)` rotation vector since the reset [rad]"""
    transmissibility: FloatArray
    """`(N,)` RMS of absolute per RMS of base acceleration since the reset"""


class VibrationIsolation(Task):
    """Keep the platform still above a base that shakes."""

    title: ClassVar[str] = "vibration isolation"
    usual_machine: ClassVar[str] = "compliant_stewart"
    settings_type: ClassVar[type[TaskSettings]] = VibrationIsolationSettings
    terms: ClassVar[Mapping[str, float]] = {
        "acceleration": 0.6,
        "displacement": 0.2,
        "rotation": 0.2,
        "stroke": 0.05,
        "smoothness": 0.01,
    }
    reasons: ClassVar[tuple[str, ...]] = ("", "engine", "attitude", "limit")
    names: ClassVar[tuple[str, ...]] = ("acceleration", "lowest_frequency", "highest_frequency")

    settings: VibrationIsolationSettings

    def __init__(
        self, platform: Platform, settings: VibrationIsolationSettings, engine: str, size: int
    ) -> None:
        """Prepare spaces and tables.

        Raises:
            InputError: an option that cannot be used with this machine and engine.
        """
        super().__init__(platform, settings, engine, size)
        band = (settings.lowest_frequency, settings.highest_frequency)
        self.acceleration = settings.acceleration or usual_acceleration(
            platform, self.scales, *band
        )
        level = spectrum(self.acceleration, *band)
        self.actions = (self._action_channel(level),)
        self.observations = self._observation_channels(level)
        self._allocate()
        self._sizes = channel_scales(self.observations)
        self._make_arrays()

    def _batch_options(self) -> dict[str, Any]:
        return {"mode": "force" if self.settings.action == "forces" else "velocity"}

    def _action_channel(self, level: Spectrum) -> Channel:
        platform, scales, share = self.platform, self.scales, self.settings.action_scale
        n, unit = platform.n_actuators, platform.coordinate_unit
        if self.settings.action == "forces":
            size = (share or SHARE_OF_EFFORT) * scales.effort
            if share is None:
                size = np.minimum(size, TIMES * shaking_force(platform, level))
            return Channel("actuator force", n, platform.force_unit, size)
        size = TIMES * level.velocity * np.maximum(leg_effect(platform), 1e-12)
        size = np.minimum(scales.speed, size) if share is None else share * scales.speed
        return Channel("actuator velocity", n, f"{unit}/s", size)

    def _observation_channels(self, level: Spectrum) -> tuple[Channel, ...]:
        platform, n, unit = self.platform, self.platform.n_actuators, self.platform.coordinate_unit
        radius = characteristic_length(platform.platform_joints)
        effect = np.maximum(leg_effect(platform), 1e-12)
        effort = EFFORT_SCALE * self.scales.effort
        return (
            Channel("platform acceleration", 3, "m/s2", level.acceleration),
            Channel("platform angular rate", 3, "rad/s", level.velocity / radius),
            Channel("platform angular acceleration", 3, "rad/s2", level.acceleration / radius),
            Channel("base acceleration", 3, "m/s2", level.acceleration),
            Channel("platform velocity", 3, "m/s", level.velocity),
            Channel("base velocity", 3, "m/s", level.velocity),
            Channel("coordinate", n, unit, level.displacement * effect),
            Channel("rate", n, f"{unit}/s", level.velocity * effect),
            Channel("effort", n, platform.force_unit, effort),
            Channel("last action", n, "1", 1.0),
        )

    def _make_arrays(self) -> None:
        settings, batch, size = self.settings, self.batch, self.size
        n, scales = self.platform.n_actuators, self.scales
        periods = int(np.ceil(settings.duration / batch.period - 1e-9))
        self._base_motion = BaseMotion(
            np.zeros((size, periods + 1, batch.ratio, 3)),
            np.zeros((size, periods + 1, 3)),
            np.zeros((size, periods + 1, 9)),
        )
        widths = (n, 7, 6, 18, 2, n, 3)
        self._kept = Kept(*[*(np.zeros((size, width)) for width in widths), np.zeros(3)])
        shapes = [(size, 3)] * 4 + [(size,)]
        self._signals = Signals(*[np.zeros(shape) for shape in shapes])
        self.signals = {
            **self._signals._asdict(),
            "pose": batch.pose,
            "twist": batch.twist,
            "forces": batch.forces,
            "loop_gap": batch.gap,
        }
        self._numbers = np.array(
            [
                batch.period,
                settings.forgetting,
                self.platform.parameters.gravity,
                settings.largest_attitude,
                settings.overtravel,
            ]
        )
        parts = (scales.lower, scales.upper, scales.half, scales.holding)
        self._most = tuple(np.array(part) for part in parts)
        forces = settings.action == "forces"
        self._offset = np.array(scales.holding) if forces else np.zeros(n)
        self._centring = 0.0 if forces else settings.centring
        given = (settings.accelerometer_noise, settings.gyroscope_noise)
        usual = [QUIET * float(channel.scale) for channel in self.observations[:2]]
        linear, turning = (q if g is None else g for g, q in zip(given, usual, strict=True))
        self._noise = np.repeat([linear, turning, linear], 3)
        self.shaking = np.zeros((size, batch.ratio, 3))

    def usual_values(self) -> dict[str, float]:
        """Return what those of `names` are where nothing varies them."""
        return {**super().usual_values(), "acceleration": self.acceleration}

    def begin(
        self,
        row: int,
        generator: np.random.Generator,
        platform: Platform,
        options: Mapping[str, Any],
    ) -> Start:
        """Draw how the base shakes; options: what `names` lists.

        Raises:
            InputError: an option that cannot be used.
        """
        self._check_options(options)
        acceleration, lowest, highest = (
            float(options.get(name, value)) for name, value in self.usual_values().items()
        )
        highest = max(highest, lowest)
        for name, value in zip(self.names, (acceleration, lowest, highest), strict=True):
            if not 0.0 < value < np.inf:
                raise InputError(name, f"must be above zero and finite, got {value}")
        lines = random_lines(generator, acceleration, lowest, highest, self.settings.lines)
        batch, base_motion = self.batch, self._base_motion
        tables = shaking_tables(lines, base_motion.mean.shape[1] - 1, batch.ratio, batch.timestep)
        base_motion.mean[row, :-1], base_motion.place[row] = tables
        base_motion.noise[row] = self._noise * generator.standard_normal(
            base_motion.noise.shape[1:]
        )
        level, along = spectrum(acceleration, lowest, highest), np.sqrt(3.0)
        radius = characteristic_length(platform.platform_joints)
        self._kept.levels[row] = along * np.array(
            [level.acceleration, level.displacement, TURNING * level.velocity / radius]
        )
        return Start()

    def command(self, actions: FloatArray) -> None:
        """Fill `drive_commands` and `shaking` for the coming period."""
        assert self.shaking is not None
        command(
            actions, np.asarray(self.actions[0].scale), self._centring, self.steps,
            self._base_motion, self._kept.start, self.batch.measured, self._offset,
            self.drive_commands, self.shaking,
        )  # fmt: skip

    def look(self, rows: Any) -> None:
        """Fill observation, terms, reward, reason and signals of `rows` `(m,)`."""
        look(
            rows, self.steps, self._numbers, self._base_motion, self.batch.machines, self._kept,
            self._sizes, self._most, self.weights, self.last_action, self.observation, self.term,
            self.reward, self.reason, self._signals,
        )  # fmt: skip

    def scene(self, row: int) -> Scene:
        """Return what a picture of a row shows: the base where the shaking has put it."""
        place = self._base_motion.place[
            row, min(self.steps[row], self._base_motion.place.shape[1] - 1)
        ]
        return super().scene(row)._replace(base_displacement=place)
