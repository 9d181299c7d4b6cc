"""The task of `VibrationIsolation`: keep the platform still above a base that shakes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from twin.analysis.platform import Platform
from twin.basics.arrays import LARGEST, SMALLEST, FloatArray, bounded
from twin.envs.channels import Channel, rescaled
from twin.envs.shaking import (
    ShakingTables,
    Spectrum,
    fill_tables,
    leg_effect,
    random_lines,
    shaking_force,
    spectrum,
    usual_acceleration,
)
from twin.envs.task import Start, Task, TaskSettings, read_settings
from twin.envs.vibration_isolation.settings import VibrationIsolationSettings
from twin.kernels.bundle import Bundle
from twin.kernels.machine_code import SameTypes
from twin.kernels.tasks.vibration_isolation.arrays import Limits, Memory, Shaking, Signals
from twin.kernels.tasks.vibration_isolation.task import (
    ActionLaw,
    evaluate,
    fill_command,
)
from twin.model.constraints import characteristic_length
from twin.model.evaluation import without_compiling
from twin.simulation.scene import Scene

SHARE_OF_EFFORT = 0.2

EFFORT_SCALE = 0.2
"""Of the actuators' effort: scale of what drives give beside holding the machine."""

STARTING = 0.25
"""Of the effort that reaches an action's speed within a control period: least scale of that."""

TURNING = 0.1
"""Of the base's velocity over the joints' mean radius: level of angular rates in the reward."""

QUIET = 0.01
"""Of the scale of an observation: usual noise of a reading."""

ABRUPT = 0.1
"""Of the acceleration that reaches an action's speed within a control period: scale of that of the
platform. Actions that change by twice their range in a period just reach the bound."""

TOGETHER = 0.75
"""Of the platform's speed along an axis, per speed of legs that all help: what the scale of its
acceleration counts with, where it is more than 1."""

TURNED = 2.0
"""Times the platform's acceleration over the joints' mean radius: scale of that about its axes."""

TIMES = 5.0
"""Times the base's RMS velocity, or the force that goes with it: what an action of 1 means."""


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

    kernel = staticmethod(evaluate)

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
        self.actions = rescaled([self._action_channel(level)], settings.scales)
        self.observations = self._observation_channels(level)
        self._allocate()
        self._make_arrays(level)

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
        legs = np.linalg.pinv(platform.jacobian(platform.home))
        starting = STARTING * self._starting_effort(legs)
        effort = np.maximum(EFFORT_SCALE * self.scales.effort, starting)
        together = max(1.0, TOGETHER * float(np.linalg.norm(legs[:3], axis=1).max()))
        abrupt = together * ABRUPT * TIMES * level.velocity / self.batch.period
        felt = max(level.acceleration, abrupt)
        return (
            Channel("platform acceleration", 3, "m/s2", felt),
            Channel("platform angular rate", 3, "rad/s", level.velocity / radius),
            Channel("platform angular acceleration", 3, "rad/s2", TURNED * felt / radius),
            Channel("base acceleration", 3, "m/s2", level.acceleration),
            Channel("platform velocity", 3, "m/s", level.velocity),
            Channel("base velocity", 3, "m/s", level.velocity),
            Channel("coordinate", n, unit, level.displacement * effect),
            Channel("rate", n, f"{unit}/s", level.velocity * effect),
            Channel("effort", n, platform.force_unit, effort),
            Channel("last action", n, "1", 1.0),
        )

    def _starting_effort(self, legs: Any) -> float:
        """Return the effort that reaches the speed of an action within a period, 0 for forces.

        Args:
            legs: inverse Jacobian at home `(6, n)`.
        """
        platform = self.platform
        if self.settings.action == "forces":
            return 0.0
        with without_compiling():
            mass = platform.mass_matrix(platform.home)
        inertia = np.einsum("ki,kl,li->i", legs, mass, legs)
        return float((inertia * self.actions[0].scale).max()) / self.batch.period

    def _make_arrays(self, level: Spectrum) -> None:
        settings, batch, size = self.settings, self.batch, self.size
        n, scales = self.platform.n_actuators, self.scales
        periods = int(np.ceil(settings.duration / batch.period - 1e-9))
        self._shaking = Shaking(
            np.zeros((size, periods + 1, batch.ratio, 3)),
            np.zeros((size, periods + 1, 3)),
            np.zeros((size, periods + 1, 9)),
        )
        self._memory = Memory(*(np.zeros((size, width)) for width in (n, 7, 6, 18, 2, 3)))
        shapes = [(size, 3)] * 4 + [(size,)]
        self._signals = Signals(*[np.zeros(shape) for shape in shapes])
        self.signals = {**self._signals._asdict(), **self._plant_signals()}
        limits = Limits(
            batch.period,
            settings.forgetting,
            self.platform.parameters.gravity,
            settings.largest_attitude,
            settings.overtravel,
        )
        scale = np.asarray(self.actions[0].scale)
        if settings.action == "forces":
            self._law = ActionLaw(scale, scales.holding, 0.0)
        else:
            self._law = ActionLaw(scale, np.zeros(n), settings.centring)
        given = (settings.accelerometer_noise, settings.gyroscope_noise)
        self._radius = characteristic_length(self.platform.platform_joints)
        usual = (QUIET * level.acceleration, QUIET * level.velocity / self._radius)
        linear, turning = (q if g is None else g for g, q in zip(given, usual, strict=True))
        self._noise = np.repeat([linear, turning, linear], 3)
        self.shaking = np.zeros((size, batch.ratio, 3))
        self._fill = SameTypes(fill_command)
        tables, now = (self._shaking.mean, self._memory.start), (batch.measured, self.shaking)
        self._filled = Bundle(self.steps, self._law, *tables, *now, self.drive_commands)
        self._group(self._shaking, limits, self._signals, self._memory)

    def usual_values(self) -> dict[str, float]:
        """Return what those of `names` are where nothing varies them."""
        return {**super().usual_values(), "acceleration": self.acceleration}

    def begin(
        self,
        index: int,
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
            bounded(options.get(name, value), name, SMALLEST, LARGEST)
            for name, value in self.usual_values().items()
        )
        highest = max(highest, lowest)
        if options:
            drawn = zip(self.names, (acceleration, lowest, highest), strict=True)
            read_settings(type(self.settings), dict(drawn))
        lines = random_lines(generator, acceleration, lowest, highest, self.settings.lines)
        shaking = self._shaking
        tables = ShakingTables(shaking.mean[index, :-1], shaking.displacement[index])
        fill_tables(lines, self.batch.timestep, tables)
        generator.standard_normal(out=shaking.noise[index])
        shaking.noise[index] *= self._noise
        level, along = spectrum(acceleration, lowest, highest), np.sqrt(3.0)
        radius = self._radius
        if platform.platform_joints is not self.platform.platform_joints:
            radius = characteristic_length(platform.platform_joints)
        self._memory.levels[index] = along * np.array(
            [level.acceleration, level.displacement, TURNING * level.velocity / radius]
        )
        return Start()

    def command(self, actions: FloatArray) -> None:
        """Fill `drive_commands` and `shaking` for the coming period."""
        self._fill(actions, self._filled)

    def scene(self, index: int) -> Scene:
        """Return the scene of a machine, with the displacement of its base."""
        displacement = self._shaking.displacement[index]
        now = displacement[min(self.steps[index], len(displacement) - 1)]
        return super().scene(index)._replace(base_displacement=now)
