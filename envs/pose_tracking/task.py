"""The task of `PoseTracking`: follow a motion."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np

from twin.analysis.platform import Platform
from twin.basics.arrays import FloatArray, positive
from twin.control.reference import Reference, sample_reference
from twin.envs.channels import Channel
from twin.envs.pose_tracking.actions import (
    TrackingActions,
    fill_reference,
    lengthened,
    make_reference,
)
from twin.envs.pose_tracking.settings import PoseTrackingSettings
from twin.envs.random_motion import random_motion
from twin.envs.task import Start, Task, TaskSettings, read_settings
from twin.errors import InputError, brief
from twin.kernels.tasks.pose_tracking.arrays import Limits, Signals
from twin.kernels.tasks.pose_tracking.task import evaluate
from twin.model.constraints import characteristic_length
from twin.motion import Motion
from twin.simulation.scene import Scene

FINE = 0.005
"""Of half the way: scale of errors of coordinates."""

SPREAD = 0.4
"""Of the coordinates' deviation under random actions: least scale of errors."""

CHANGE = 0.1
"""Of the speed: scale of errors of rates, and of changes from one period to the next."""

FORGETTING = 1.0
"""[s] over which accumulated errors fade."""

CLOSE = 0.001
"""Of half the way: scale of the error of position in the reward."""


class PoseTracking(Task):
    """Follow a random or a given motion.

    Attributes:
        acting: commands from actions.
        limits: numbers of observation, reward and termination.
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

    kernel = staticmethod(evaluate)

    settings: PoseTrackingSettings

    def __init__(
        self, platform: Platform, settings: PoseTrackingSettings, engine: str, size: int
    ) -> None:
        """Prepare spaces and tables.

        Raises:
            InputError: an option that cannot be used with this machine and engine.
        """
        self._options = {"mode": "force" if settings.action == "forces" else "velocity"}
        super().__init__(platform, settings, engine, size)
        motion = settings.motion
        if motion is not None and not isinstance(motion, Motion):
            raise InputError("motion", f"must be a motion of twin.motion, not {brief(motion)}")
        self.acting = TrackingActions(settings, self.batch, self.scales)
        self.actions = (self.acting.channel,)
        self.observations = self._channels()
        self._given = None if motion is None else self._sampled(motion)
        span = settings.duration if motion is None else motion.duration
        self._last = int(np.ceil(span / self.batch.period - 1e-9))
        n = platform.n_actuators
        self._reference = make_reference(size, self._last + 1, n)
        self._signals = Signals(*(np.zeros((size, width)) for width in (3, 3, n, 7, n)))
        self._motions: list[Motion | Callable[[], Motion] | None] = [None] * size
        self.signals = {**self._signals._asdict(), **self._plant_signals()}
        del self.signals["accumulated"]
        self.limits = self._make_limits()
        self._allocate()

    def _allocate(self) -> None:
        super()._allocate()
        self._group(self._reference, self.limits, self._signals)

    def begin(
        self,
        index: int,
        generator: np.random.Generator,
        platform: Platform,
        options: Mapping[str, Any],
    ) -> Start:
        """Draw a motion, or take the given one; options: `motion`, and what `names` lists.

        Raises:
            InputError: another option, or a motion that the machine cannot follow.
        """
        self._check_options(options, "motion")
        own = options.get("motion")
        motion = self.settings.motion if own is None else own
        if own is None and self._given is None:
            return self._drawn(index, generator, platform, options)
        reference = self._given if own is None else self._sampled(motion)
        assert reference is not None
        self._motions[index] = motion
        if len(reference.time) > self._last + 1:
            self._reference = lengthened(self._reference, len(reference.time))
            self._last = len(reference.time) - 1
            self._group(self._reference, self.limits, self._signals)
        fill_reference(self._reference, index, reference)
        self.acting.begin(index, reference.pose[0], reference.coordinates[0])
        pose, twist, _ = platform.constrain(reference.pose[0], reference.twist[0])
        return Start(pose, twist)

    def command(self, actions: FloatArray) -> None:
        """Fill `drive_commands` from actions."""
        self.acting.fill(actions, self.steps, self._reference, self.drive_commands)

    def scene(self, index: int) -> Scene:
        """Return the scene of a machine, with the commanded pose as a ghost."""
        return super().scene(index)._replace(ghost=self._signals.reference_pose[index])

    def _batch_options(self) -> dict[str, Any]:
        return self._options

    def _channels(self) -> tuple[Channel, ...]:
        """Return what the numbers of an observation are."""
        n, unit, scales = self.platform.n_actuators, self.platform.coordinate_unit, self.scales
        fine = np.maximum(FINE * scales.half, SPREAD * self.acting.spread)
        change = CHANGE * scales.speed
        return (
            Channel("coordinate error", n, unit, fine),
            Channel("rate error", n, f"{unit}/s", change),
            Channel("accumulated error", n, f"{unit} s", FORGETTING * fine),
            Channel("coordinate", n, unit, scales.half),
            Channel("rate", n, f"{unit}/s", scales.speed),
            Channel("reference rate", n, f"{unit}/s", scales.speed),
            *(
                Channel(f"reference change {ahead}", n, f"{unit}/s", change)
                for ahead in range(1, self.settings.preview + 1)
            ),
            Channel("last action", self.actions[0].size, "1", 1.0),
        )

    def _make_limits(self) -> Limits:
        """Return the numbers of observation, reward and termination."""
        settings, reach = self.settings, self.acting.reach
        radius = characteristic_length(self.platform.platform_joints)
        largest = settings.largest_position_error or 0.5 * reach
        leak = float(np.exp(-self.batch.period / FORGETTING))
        close, attitude = CLOSE * reach, settings.largest_attitude_error
        return Limits(
            self.batch.period,
            settings.preview,
            leak,
            close,
            close / radius,
            largest,
            attitude,
            settings.overtravel,
        )

    @property
    def motions(self) -> list[Motion | None]:
        """Reference of each environment; None before its first episode."""
        for index, motion in enumerate(self._motions):
            if not isinstance(motion, Motion | None):
                self._motions[index] = motion()
        return [motion for motion in self._motions if isinstance(motion, Motion | None)]

    def _drawn(
        self,
        index: int,
        generator: np.random.Generator,
        platform: Platform,
        options: Mapping[str, Any],
    ) -> Start:
        """Draw a motion for an environment."""
        settings, reference = self.settings, self._reference
        drawn = {
            name: positive(options[name], name) if name in options else getattr(settings, name)
            for name in self.names
        }
        drawn["highest_frequency"] = max(drawn["highest_frequency"], drawn["lowest_frequency"])
        if not drawn.keys().isdisjoint(options):
            read_settings(PoseTrackingSettings, drawn)
        count = int(np.ceil(settings.duration / self.batch.period - 1e-9)) + 1
        pose, coordinates, rates = (part[index, :count] for part in reference)
        self._motions[index] = random_motion(
            self.platform,
            self.scales,
            generator,
            duration=settings.duration,
            lowest=drawn["lowest_frequency"],
            highest=drawn["highest_frequency"],
            lines=settings.lines,
            share=drawn["amplitude"],
            period=self.batch.period,
            rows=(pose, coordinates, rates),
        )
        reference.pose[index, count:], reference.rates[index, count:] = pose[-1], 0.0
        reference.coordinates[index, count:] = coordinates[-1]
        self.acting.begin(index, pose[0], coordinates[0])
        return Start(pose[0] if platform.dof == 6 else platform.constrain(pose[0]).pose)

    def _sampled(self, motion: Any) -> Reference:
        reference = sample_reference(self.platform, motion, self.batch.period)
        if not reference.reachable.all():
            name = self.platform.name
            raise InputError("motion", f"leaves what the actuators of {name} can reach")
        return reference
