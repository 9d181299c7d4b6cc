"""The task of `PoseTracking`: follow a motion."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np

from twin.arrays import FloatArray
from twin.control.gains import suitable_position_loop
from twin.control.reference import Reference, sample_reference
from twin.envs.channels import Channel, channel_scales
from twin.envs.pose_tracking_kernel import look, pose_command, velocity_command
from twin.envs.pose_tracking_settings import PoseTrackingSettings
from twin.envs.random_motion import random_motion
from twin.envs.rendering import Scene
from twin.envs.task import Start, Task, TaskSettings
from twin.errors import InputError
from twin.kinematics.singularity import characteristic_length
from twin.motion import Motion
from twin.platform import Platform

FINE = 0.005
"""Of half the way: scale of errors of coordinates."""

CHANGE = 0.1
"""Of the speed: scale of errors of rates, and of changes from one period to the next."""

FORGETTING = 1.0
"""[s] over which accumulated errors fade."""

CLOSE = 0.001
"""Of half the way: scale of the error of position in the reward."""


class Tables(NamedTuple):
    """What the rows follow, and sums of what they missed."""

    pose: FloatArray
    """`(N, k, 7)`"""
    coordinates: FloatArray
    """`(N, k, n)`"""
    rates: FloatArray
    """`(N, k, n)`"""
    accumulated: FloatArray
    """`(N, n)` error of coordinates, summed with forgetting [m s, rad s]"""
    middle: FloatArray
    """`(n,)` of the travel"""
    work_pose: FloatArray
    """`(7,)`"""
    work_state: FloatArray
    """`(13,)`"""


class Signals(NamedTuple):
    """What `info` shows, in physical units."""

    position_error: FloatArray
    """`(N, 3)` reference less platform [m], base axes"""
    orientation_error: FloatArray
    """`(N, 3)` rotation vector from platform to reference [rad], base axes"""
    coordinate_error: FloatArray
    """`(N, n)` reference less measured coordinate [m, rad]"""
    reference_pose: FloatArray
    """`(N, 7)`"""


class PoseTracking(Task):
    """Follow a random or a given motion.

    Attributes:
        motions: what each row follows.
    """

    title: ClassVar[str] = "pose tracking"
    usual_machine: ClassVar[str] = "stewart"
    settings_type: ClassVar[type[TaskSettings]] = PoseTrackingSettings
    terms: ClassVar[Mapping[str, float]] = {
        "position": 0.5,
        "orientation": 0.5,
        "smoothness": 0.02,
        "economy": 0.0,
    }
    reasons: ClassVar[tuple[str, ...]] = ("", "engine", "position", "attitude", "limit")
    names: ClassVar[tuple[str, ...]] = ("amplitude", "lowest_frequency", "highest_frequency")

    settings: PoseTrackingSettings

    def __init__(
        self, platform: Platform, settings: PoseTrackingSettings, engine: str, size: int
    ) -> None:
        """Prepare spaces and tables.

        Raises:
            InputError: an option that cannot be used with this machine and engine.
        """
        self._kind = settings.action
        super().__init__(platform, settings, engine, size)
        motion = settings.motion
        if motion is not None and not isinstance(motion, Motion):
            raise InputError("motion", f"must be a motion of twin.motion, not {motion!r}")
        n, scales = platform.n_actuators, self.scales
        unit = platform.coordinate_unit
        self._share = settings.action_scale or (0.2 if settings.residual else 1.0)
        self.actions = (self._action_channel(),)
        fine = FINE * scales.half
        self.observations = (
            Channel("coordinate error", n, unit, fine),
            Channel("rate error", n, f"{unit}/s", CHANGE * scales.speed),
            Channel("accumulated error", n, f"{unit} s", 0.1 * fine),
            Channel("coordinate", n, unit, scales.half),
            Channel("rate", n, f"{unit}/s", scales.speed),
            Channel("reference rate", n, f"{unit}/s", scales.speed),
            *(
                Channel(f"reference change {ahead}", n, f"{unit}/s", CHANGE * scales.speed)
                for ahead in range(1, settings.preview + 1)
            ),
            Channel("last action", self.actions[0].size, "1", 1.0),
        )
        self._allocate()
        self._sizes = channel_scales(self.observations)
        self._make_arrays()

    def _fleet_options(self) -> dict[str, Any]:
        return {"mode": "force" if self._kind == "forces" else "velocity"}

    def _action_channel(self) -> Channel:
        """Return what the numbers of an action are."""
        platform, scales, share = self.platform, self.scales, self._share
        n, unit = platform.n_actuators, platform.coordinate_unit
        if self._kind == "velocities":
            return Channel("actuator velocity", n, f"{unit}/s", share * scales.speed)
        if self._kind == "forces":
            return Channel("actuator force", n, platform.force_unit, share * scales.effort)
        radius = characteristic_length(platform.platform_joints)
        way = share * float(scales.half.min()) * self.fleet.period
        if platform.coordinate_unit != "m":
            way *= radius
        return Channel("pose increment", 6, "m, rad", np.array([way] * 3 + [way / radius] * 3))

    def _make_arrays(self) -> None:
        settings, platform, size = self.settings, self.platform, self.size
        n = platform.n_actuators
        span = settings.duration if settings.motion is None else settings.motion.duration
        self._length = int(np.ceil(span / self.fleet.period - 1e-9)) + 1
        self._given = None if settings.motion is None else self._sampled(platform, settings.motion)
        k = self._length
        self._tables = Tables(
            np.zeros((size, k, 7)),
            np.zeros((size, k, n)),
            np.zeros((size, k, n)),
            np.zeros((size, n)),
            self.scales.middle.copy(),
            np.zeros(7),
            np.zeros(13),
        )
        shown = Signals(
            np.zeros((size, 3)), np.zeros((size, 3)), np.zeros((size, n)), np.zeros((size, 7))
        )
        self._signals = shown
        fleet = self.fleet
        self.signals = {
            **shown._asdict(),
            "pose": fleet.pose,
            "twist": fleet.twist,
            "forces": fleet.forces,
            "loop_gap": fleet.gap,
        }
        half = float(self.scales.half.max())
        radius = characteristic_length(platform.platform_joints)
        if platform.coordinate_unit != "m":
            half *= radius
        largest = settings.largest_position_error or 0.5 * half
        leak = float(np.exp(-fleet.period / FORGETTING))
        close = CLOSE * half
        attitude = settings.largest_attitude_error
        self._bounds = np.array(
            [close, close / radius, largest, attitude, settings.overtravel, leak]
        )
        self._most = tuple(
            np.array(part) for part in (self.scales.lower, self.scales.upper, self.scales.effort)
        )
        self.motions: list[Motion | None] = [None] * size
        self._before = np.zeros_like(self.last_action)
        self._offset = np.zeros((size, 6))
        self._offset_bounds = np.array([largest] * 3 + [attitude] * 3)
        if not settings.residual:
            self._offset_bounds = np.array([half] * 3 + [half / radius] * 3)
        self._held = np.zeros((size, 3, n))
        self._home = (np.array(platform.home), np.zeros(n))
        self._gain = suitable_position_loop(platform, 1e-3)[0]

    def begin(
        self,
        row: int,
        generator: np.random.Generator,
        platform: Platform,
        options: Mapping[str, Any],
    ) -> Start:
        """Draw a motion, or take the given one; options: `motion`, and what `names` lists."""
        settings = self.settings
        known = {"motion", *self.names}
        unknown = sorted(set(options) - known)
        if unknown:
            raise InputError("options", f"{unknown[0]!r} is none; there are {', '.join(known)}")
        motion = options.get("motion") or settings.motion
        if options.get("motion") is not None:
            reference = self._sampled(self.platform, motion)
        elif self._given is not None:
            reference = self._given
        else:
            drawn = {name: float(options.get(name, getattr(settings, name))) for name in self.names}
            motion, reference = random_motion(
                self.platform,
                self.scales,
                generator,
                duration=settings.duration,
                lowest=drawn["lowest_frequency"],
                highest=max(drawn["highest_frequency"], drawn["lowest_frequency"]),
                lines=settings.lines,
                share=drawn["amplitude"],
                period=self.fleet.period,
            )
        self.motions[row] = motion
        count = min(len(reference.time), self._length)
        for table, rows in zip(
            self._tables[:3], (reference.pose, reference.coordinates, reference.rates), strict=True
        ):
            table[row, :count] = rows[:count]
            table[row, count:] = rows[count - 1] if table is not self._tables.rates else 0.0
        self._before[row] = 0.0
        self._offset[row] = 0.0
        self._held[row, 0] = reference.coordinates[0]
        pose, twist, _ = platform.constrain(reference.pose[0], reference.twist[0])
        return Start(pose, twist)

    def command(self, actions: FloatArray) -> None:
        """Fill `demand` from actions."""
        settings, tables = self.settings, self._tables
        last, period = self._length - 1, self.fleet.period
        if self._kind == "velocities":
            scale = np.asarray(self.actions[0].scale)
            velocity_command(
                actions, scale, settings.residual, period, self.steps, last, tables, self.demand
            )
        elif self._kind == "forces":
            np.multiply(actions, self.actions[0].scale, out=self.demand)
            if settings.residual:
                self.demand += self.scales.holding
        else:
            pose_command(
                self.platform.constants.legs, self._home, actions, self.actions[0].scale,
                self._offset_bounds, settings.residual, self._gain, period, self.steps, last,
                tables, self.fleet.measured, self._offset, self._held, self.demand,
            )  # fmt: skip

    def look(self, rows: Any) -> None:
        """Fill observation, terms, reward, reason and signals of `rows` `(m,)`."""
        look(
            rows, self.steps, self._length - 1, self.settings.preview, self.fleet.period,
            self._tables, self.fleet.machines, self._sizes, self._most, self._bounds, self.weights,
            self.last_action, self._before, self.observation, self.term, self.reward, self.reason,
            self._signals,
        )  # fmt: skip

    def scene(self, row: int) -> Scene:
        """Return what a picture of a row shows: the demanded pose as a ghost."""
        return super().scene(row)._replace(ghost=self._signals.reference_pose[row])

    def _sampled(self, platform: Platform, motion: Any) -> Reference:
        reference = sample_reference(platform, motion, self.fleet.period)
        if not reference.reachable.all():
            raise InputError("motion", f"leaves what the actuators of {platform.name} can reach")
        return reference
