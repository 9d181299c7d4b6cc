"""The task of `PoseTracking`: follow a motion.

`TrackingActions` says what actions mean and turns them into commands. References are arrays with a
row per control period.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Literal

import numpy as np
from gymnasium import spaces
from pydantic import Field, model_validator

from twin.analysis.platform import Platform
from twin.basics.arrays import FloatArray, positive
from twin.control.controller import Reference, sample_reference
from twin.control.gains import suitable_position_loop
from twin.envs.channels import Channel, channel_slices, rescaled
from twin.envs.random_motion import random_motion
from twin.envs.task import Start, Task, TaskSettings, read_settings
from twin.errors import InputError, brief
from twin.kernels.bundle import Bundle
from twin.kernels.jit import SameTypes
from twin.kernels.tasks.pose_tracking import (
    Increments,
    ReferenceArrays,
    Settings,
    Signals,
    evaluate,
    fill_velocity_command,
    pose_command,
)
from twin.kernels.tasks.task import OBSERVATION_BOUND, ActionLaw, Scales
from twin.motion import Motion
from twin.rotations import displacement
from twin.simulation.batched.batched_plant import BatchedPlant
from twin.simulation.simulate import Scene

ACTION_FRACTION = 0.2
"""Fraction of speed, effort or travel that an action of 1 adds to the motion."""

LEAST_GAIN = 1.0
"""[1/s] Minimum gain of the position loop for the spread of coordinates under random actions."""

CONTROLLER_PERIOD = 1e-3
"""[s] Control period for which the position loop's gain is derived, that of `twin.control`."""

ERROR_SCALE = 0.005
"""Scale of errors of coordinates, in half strokes of an actuator."""

DEVIATION_SCALE = 0.4
"""Minimum scale of errors, relative to the deviation of the coordinates under random actions."""

RATE_SCALE = 0.1
"""Scale of errors of rates, and of their changes in a period, relative to an actuator's speed."""

FORGETTING_TIME = 1.0
"""[s] Time constant with which accumulated errors decay."""

REWARD_SCALE = 0.001
"""Scale of the position error in the reward, in half strokes of an actuator."""

MEASURED_CHANNELS = ("coordinate", "rate", "last action")
"""Channels of an observation that do not depend on the reference."""


class PoseTrackingSettings(TaskSettings):
    """Settings of pose tracking: reference, actions, termination."""

    action: Literal["velocities", "forces", "pose"] = Field(
        "velocities", description="speeds or forces of the actuators, or increments of the pose"
    )
    residual: bool = Field(
        True,
        description="actions come on top of the motion's own speeds, of the forces that hold the "
        "machine at home, or of the motion's pose",
    )
    action_scale: float | None = Field(
        None,
        gt=0.0,
        le=1.0,
        description="what 1 means, in parts of the actuators' speed or effort; of the travel "
        "within a second for increments; default 0.2 if residual, else 1",
    )
    position_gain: float | None = Field(
        None,
        ge=0.0,
        le=200.0,
        description="of a position loop under residual velocities [1/s], default that of the "
        "machine's cascade; without one, 0, noise in the actions adds up",
    )
    motion: Any = Field(None, description="a motion of `twin.motion`; None for random ones")
    duration: float = Field(5.0, gt=0.0, le=600.0, description="of random motions [s]")
    amplitude: float = Field(
        0.4, gt=0.0, le=1.0, description="share of travel and speed that random motions take"
    )
    lowest_frequency: float = Field(0.1, gt=0.0, le=100.0, description="of random motions [Hz]")
    highest_frequency: float = Field(2.0, gt=0.0, le=100.0, description="of random motions [Hz]")
    lines: int = Field(5, ge=1, le=100, description="sines in a random motion")
    preview: int = Field(3, ge=0, le=100, description="control periods ahead that are observed")
    largest_position_error: float | None = Field(
        None,
        gt=0.0,
        description="[m] that ends an episode; default a quarter of an actuator's travel",
    )
    largest_attitude_error: float = Field(
        0.3, gt=0.0, le=3.0, description="[rad] that ends an episode"
    )
    goal: bool = Field(
        False,
        description="observations with a goal, and a reward of goals alone, for hindsight replay; "
        "needs `residual=False`, and is for single environments",
    )
    overtravel: float = Field(
        0.05, ge=0.0, le=1.0, description="share of the travel by which a leg may leave its range"
    )

    @model_validator(mode="after")
    def _check_order(self) -> PoseTrackingSettings:
        if self.lowest_frequency > self.highest_frequency:
            raise ValueError("lowest_frequency must not be above highest_frequency")
        if self.goal and self.residual:
            raise ValueError("goal=True takes residual=False: no action may know the reference")
        return self


class TrackingActions:
    """Commands of a batched plant from actions.

    Attributes:
        channel: channel of an action.
        reach: length [m] that corresponds to half an actuator's travel.
        spread: deviation of the coordinates from the reference under random actions, 0 where they
            are not speeds on top of it [m, rad].
        law: meaning of the actions.
    """

    def __init__(self, settings: PoseTrackingSettings, batch: BatchedPlant, scales: Scales) -> None:
        """Choose the scale of the actions for a machine."""
        self._settings, self._batch, self._scales = settings, batch, scales
        platform = batch.platform
        scale_fraction = settings.action_scale or (ACTION_FRACTION if settings.residual else 1.0)
        n, unit = platform.n_actuators, platform.coordinate_unit
        self._radius = platform.joint_radius
        self.reach = float(scales.half.max()) * (1.0 if unit == "m" else self._radius)
        if settings.action == "velocities":
            channel = Channel("actuator velocity", n, f"{unit}/s", scale_fraction * scales.speed)
        elif settings.action == "forces":
            force_unit = platform.force_unit
            channel = Channel("actuator force", n, force_unit, scale_fraction * scales.effort)
        else:
            translation = scale_fraction * float(scales.half.min()) * batch.period
            translation *= 1.0 if unit == "m" else self._radius
            steps = np.array([translation] * 3 + [translation / self._radius] * 3)
            channel = Channel("pose increment", 6, "m, rad", steps)
        self.channel = rescaled([channel], settings.scales)[0]
        self._increments = Increments(
            np.zeros((batch.size, 6)),
            np.zeros((batch.size, n)),
            np.array(platform.home),
            np.array(platform.home_coordinates),
            np.zeros(n),
            np.zeros(n),
            np.zeros(13),
        )
        gain = suitable_position_loop(platform, CONTROLLER_PERIOD)[0]
        if settings.action == "velocities" and settings.position_gain is not None:
            gain = settings.position_gain
        bounds = np.array([self.reach] * 3 + [self.reach / self._radius] * 3)
        scale = np.asarray(self.channel.scale)
        # Uniform actions have a variance of 1/3; the loop forgets their sum at its gain.
        is_added = settings.residual and settings.action == "velocities"
        decay_factor = 6.0 * max(gain, LEAST_GAIN) / batch.period
        self.spread = scale / np.sqrt(decay_factor) if is_added else np.zeros(n)
        self._velocities, self._poses = SameTypes(fill_velocity_command), SameTypes(pose_command)
        self._bundled: FloatArray | None = None
        self._bundle: Bundle
        self.law = ActionLaw(scale, bounds, gain, batch.period, settings.residual)

    def begin(self, index: int, pose: FloatArray, coordinates: FloatArray) -> None:
        """Start the increments of an environment at a pose `(7,)` and coordinates `(n,)`."""
        increments = self._increments
        initial_offset = 0.0 if self.law.residual else displacement(pose, increments.home)
        increments.offset[index], increments.setpoint[index] = initial_offset, coordinates

    def fill(
        self,
        actions: FloatArray,
        steps: Any,
        reference: ReferenceArrays,
        drive_commands: FloatArray,
    ) -> None:
        """Fill `drive_commands` `(N, n)` from actions `(N, a)` in control periods `steps` (N,)."""
        law, kind, measured = self.law, self._settings.action, self._batch.measured
        if kind == "velocities":
            coordinates = reference.coordinates
            if self._bundled is not coordinates:
                self._bundled = coordinates
                self._bundle = Bundle(steps, law, coordinates, measured, drive_commands)
            self._velocities(actions, self._bundle)
        elif kind == "forces":
            np.multiply(actions, law.scale, out=drive_commands)
            if law.residual:
                drive_commands += self._scales.holding
        else:
            legs = self._batch.platform.constants.legs
            self._poses(
                actions, steps, law, legs, reference, self._increments, measured, drive_commands
            )


def make_reference(size: int, length: int, actuators: int) -> ReferenceArrays:
    """Return empty references of `size` environments and `length` control instants."""
    shape = (size, length, actuators)
    return ReferenceArrays(np.zeros((size, length, 7)), np.zeros(shape), np.zeros(shape))


def lengthened(reference: ReferenceArrays, length: int) -> ReferenceArrays:
    """Return references of `length` control instants, more than before, which end at rest."""
    added_instants = length - reference.pose.shape[1]
    pose, coordinates = (
        np.concatenate([array, np.repeat(array[:, -1:], added_instants, axis=1)], axis=1)
        for array in (reference.pose, reference.coordinates)
    )
    zero_rates = np.zeros((len(pose), added_instants, coordinates.shape[2]))
    return ReferenceArrays(pose, coordinates, np.concatenate([reference.rates, zero_rates], axis=1))


def fill_reference(reference: ReferenceArrays, index: int, source: Reference) -> None:
    """Put a reference into an environment; where it is shorter, it rests on its last pose."""
    count = min(len(source.time), reference.pose.shape[1])
    reference.pose[index, :count] = source.pose[:count]
    reference.pose[index, count:] = source.pose[count - 1]
    reference.coordinates[index, :count] = source.coordinates[:count]
    reference.coordinates[index, count:] = source.coordinates[count - 1]
    reference.rates[index, :count], reference.rates[index, count:] = source.rates[:count], 0.0


class PoseTracking(Task):
    """Follow a random motion, or one that the user has given.

    Attributes:
        acting: conversion of actions into commands.
        task_settings: constants of observation, reward and termination.
    """

    title = "pose tracking"
    default_machine = "stewart"
    settings_type = PoseTrackingSettings
    terms: ClassVar[Mapping[str, float]] = {
        "position": 0.5,
        "orientation": 0.5,
        "smoothness": 0.02,
        "economy": 0.0,
    }
    termination_reasons = ("", "engine", "position", "attitude", "limit")
    varied_settings: ClassVar[tuple[str, ...]] = (
        "amplitude",
        "lowest_frequency",
        "highest_frequency",
    )

    kernel = staticmethod(evaluate)

    settings: PoseTrackingSettings

    def __init__(
        self, platform: Platform, settings: PoseTrackingSettings, engine: str, size: int
    ) -> None:
        """Prepare the channels and the arrays of the reference.

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
        self._given_reference = None if motion is None else self._sampled(motion)
        motion_duration = settings.duration if motion is None else motion.duration
        self._last_period = int(np.ceil(motion_duration / self.batch.period - 1e-9))
        n = platform.n_actuators
        self._reference = make_reference(size, self._last_period + 1, n)
        self._signals = Signals(*(np.zeros((size, width)) for width in (3, 3, n, 7, n)))
        self._motions: list[Motion | Callable[[], Motion] | None] = [None] * size
        self.signals = {**self._signals._asdict(), **self._plant_signals()}
        del self.signals["accumulated"]
        self.task_settings = self._make_settings()
        self.allocate()

    def allocate(self) -> None:
        """Make the arrays of all environments, those of the reference with them."""
        super().allocate()
        self._group(self._reference, self.task_settings, self._signals)

    def begin(
        self,
        index: int,
        generator: np.random.Generator,
        platform: Platform,
        options: Mapping[str, Any],
    ) -> Start:
        """Draw a motion, or take a given one; options: `motion` and the `varied_settings`.

        Raises:
            InputError: another option, or a motion that the machine cannot follow.
        """
        self._check_options(options, "motion")
        motion_option = options.get("motion")
        motion = self.settings.motion if motion_option is None else motion_option
        if motion_option is None and self._given_reference is None:
            return self._draw_motion(index, generator, platform, options)
        reference = self._given_reference if motion_option is None else self._sampled(motion)
        assert reference is not None
        self._motions[index] = motion
        if len(reference.time) > self._last_period + 1:
            self._reference = lengthened(self._reference, len(reference.time))
            self._last_period = len(reference.time) - 1
            self._group(self._reference, self.task_settings, self._signals)
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
        """Return the channels of an observation."""
        n, unit, scales = self.platform.n_actuators, self.platform.coordinate_unit, self.scales
        error_scale = np.maximum(ERROR_SCALE * scales.half, DEVIATION_SCALE * self.acting.spread)
        increment_scale = RATE_SCALE * scales.speed
        return (
            Channel("coordinate error", n, unit, error_scale),
            Channel("rate error", n, f"{unit}/s", increment_scale),
            Channel("accumulated error", n, f"{unit} s", FORGETTING_TIME * error_scale),
            Channel("coordinate", n, unit, scales.half),
            Channel("rate", n, f"{unit}/s", scales.speed),
            Channel("reference rate", n, f"{unit}/s", scales.speed),
            *(
                Channel(f"reference change {preview}", n, f"{unit}/s", increment_scale)
                for preview in range(1, self.settings.preview + 1)
            ),
            Channel("last action", self.actions[0].size, "1", 1.0),
        )

    def _make_settings(self) -> Settings:
        """Return the constants of observation, reward and termination."""
        settings, reach = self.settings, self.acting.reach
        largest_error = settings.largest_position_error or 0.5 * reach
        retention = float(np.exp(-self.batch.period / FORGETTING_TIME))
        position_scale, largest_attitude = REWARD_SCALE * reach, settings.largest_attitude_error
        return Settings(
            self.batch.period,
            settings.preview,
            retention,
            position_scale,
            position_scale / self.platform.joint_radius,
            largest_error,
            largest_attitude,
            settings.overtravel,
        )

    @property
    def motions(self) -> list[Motion | None]:
        """Reference of each environment; None before its first episode."""
        # Random motions are stored as functions and made on the first request.
        for index, motion in enumerate(self._motions):
            if not isinstance(motion, Motion | None):
                self._motions[index] = motion()
        return [motion for motion in self._motions if isinstance(motion, Motion | None)]

    def _draw_motion(
        self,
        index: int,
        generator: np.random.Generator,
        platform: Platform,
        options: Mapping[str, Any],
    ) -> Start:
        """Draw a motion for an environment."""
        settings, reference = self.settings, self._reference
        values = {
            name: positive(options[name], name) if name in options else getattr(settings, name)
            for name in self.varied_settings
        }
        values["highest_frequency"] = max(values["highest_frequency"], values["lowest_frequency"])
        if not values.keys().isdisjoint(options):
            read_settings(PoseTrackingSettings, values)
        count = int(np.ceil(settings.duration / self.batch.period - 1e-9)) + 1
        pose, coordinates, rates = (array[index, :count] for array in reference)
        self._motions[index] = random_motion(
            self.platform,
            self.scales,
            generator,
            duration=settings.duration,
            lowest_frequency=values["lowest_frequency"],
            highest_frequency=values["highest_frequency"],
            lines=settings.lines,
            fraction=values["amplitude"],
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


class Goals:
    """Observations with goals of one machine of a task.

    A goal has six numbers: position and rotation vector of the platform from home, in base axes, in
    parts of `scale`.

    Attributes:
        space: space of the observations.
        scale: `(6,)` size of a goal of one [m, rad].
    """

    def __init__(self, task: PoseTracking) -> None:
        """Keep a reference to the task, whose arrays are read after every step."""
        self._task = task
        self.scale: FloatArray = task.acting.law.bounds
        slices = channel_slices(task.observations)
        self._measured_indices = np.concatenate([np.r_[slices[name]] for name in MEASURED_CHANNELS])
        shapes = {"observation": self._measured_indices.size, "achieved_goal": 6, "desired_goal": 6}
        self.space = spaces.Dict(
            {
                name: spaces.Box(-OBSERVATION_BOUND, OBSERVATION_BOUND, (size,), np.float32)
                for name, size in shapes.items()
            }
        )

    def observation_with_goals(self, observation: FloatArray) -> dict[str, Any]:
        """Return the numbers of an observation that do not depend on the goal, and both goals."""
        task = self._task
        poses = np.stack([task.batch.pose[0], task.signals["reference_pose"][0]])
        scaled_goals = displacement(poses, task.platform.home) / self.scale
        achieved, desired = np.clip(scaled_goals, -OBSERVATION_BOUND, OBSERVATION_BOUND).astype(
            np.float32
        )
        return {
            "observation": observation[self._measured_indices],
            "achieved_goal": achieved,
            "desired_goal": desired,
        }

    def reward(self, achieved: Any, desired: Any) -> Any:
        """Return the weighted reward terms of position and orientation for goals `(..., 6)`."""
        from scipy.spatial.transform import Rotation

        task, task_settings = self._task, self._task.task_settings
        achieved_goal, desired_goal = (
            np.asarray(goal, dtype=float) * self.scale for goal in (achieved, desired)
        )
        shape = achieved_goal.shape[:-1]
        position = np.linalg.norm(achieved_goal[..., :3] - desired_goal[..., :3], axis=-1)
        rotations = (
            Rotation.from_rotvec(goal[..., 3:].reshape(-1, 3))
            for goal in (achieved_goal, desired_goal)
        )
        achieved_rotation, desired_rotation = rotations
        angle = (achieved_rotation.inv() * desired_rotation).magnitude().reshape(shape)
        weights = dict(zip(task.terms, task.weights, strict=True))
        return weights["position"] * _closeness(
            position, task_settings.position_scale, task_settings.largest_position
        ) + weights["orientation"] * _closeness(
            angle, task_settings.attitude_scale, task_settings.largest_attitude
        )


def _closeness(error: Any, scale: float, largest: float) -> Any:
    """Return `twin.kernels.tasks.task.closeness` for arrays of errors."""
    return np.maximum(0.0, 1.0 - np.log1p(error / scale) / np.log1p(largest / scale))
