"""Cueing algorithms and their motions as policies of MotionCueing, to judge trained ones by."""

from __future__ import annotations

from typing import Any

import numpy as np

from twin.basics.arrays import FloatArray
from twin.envs.channels import channel_scales, channel_slices
from twin.envs.motion_cueing.arrays import POSE_ACTIONS
from twin.envs.motion_cueing.task import MotionCueing
from twin.errors import InputError, brief
from twin.motion.axes import AxisSample
from twin.motion.cueing import AdaptiveWashout, ClassicalWashout, CuedMotion
from twin.motion.cueing.algorithm import REST

WASHOUTS = {each.name: each for each in (ClassicalWashout, AdaptiveWashout)}
"""Name -> algorithm that needs the present sample of the manoeuvre alone."""

RETURN = 5.0
"""[1/s] at which commanded speeds bring the command back to its reference."""


class AxisPolicy:
    """Actions that bring the command to reference axes, which subclasses compute.

    Attributes:
        task: of the environment.
    """

    def __init__(self, environment: Any) -> None:
        """Take an environment of MotionCueing whose actions are on the pose.

        Raises:
            InputError: another task, or actions on the actuators.
        """
        task = getattr(getattr(environment, "unwrapped", environment), "task", None)
        if not isinstance(task, MotionCueing) or task.settings.action not in POSE_ACTIONS:
            raise InputError("environment", "must be MotionCueing with actions on the pose")
        self.task = task
        self._sizes = channel_scales(task.observations)
        self._places = channel_slices(task.observations)

    def _seen(self, observation: Any, name: str) -> FloatArray:
        """Return the physical values of a channel."""
        place = self._places[name]
        return np.asarray(observation, dtype=np.float64)[place] * self._sizes[place]

    def _toward(self, observation: Any, reference: AxisSample) -> FloatArray:
        """Return the action `(k,)` that leads from the command to axes one period later.

        Args:
            observation: now.
            reference: values and rates `(6,)`.
        """
        machine = self.task.machine
        command = self._seen(observation, "commanded displacement")
        rates = self._seen(observation, "commanded velocity")
        free, period = machine.free, machine.period
        away = reference.values[free] - command
        if self.task.settings.action == "increments":
            action = away / machine.scale[free]
        else:
            left = away - 0.5 * period * (rates + reference.rates[free])
            change = reference.rates[free] + RETURN * left - rates
            action = change / (period * machine.scale[free])
        return np.asarray(np.clip(action, -1.0, 1.0))


class MotionPolicy(AxisPolicy):
    """Follows a motion of a cueing algorithm, such as `cue(platform, manoeuvre).motion`.

    Attributes:
        motion: which; its axes about the machine's home.
    """

    def __init__(self, environment: Any, motion: CuedMotion) -> None:
        """Take the motion; call `begin` after every reset.

        Raises:
            InputError: another task, or actions on the actuators, no cued motion.
        """
        super().__init__(environment)
        if not isinstance(motion, CuedMotion):
            raise InputError("motion", f"must be a CuedMotion, not {brief(motion)}")
        self.motion = motion
        self.begin()

    def begin(self) -> None:
        """Start again."""
        self._time = 0.0

    def __call__(self, observation: Any) -> FloatArray:
        """Return the next action `(k,)`."""
        self._time = min(self._time + self.task.machine.period, self.motion.duration)
        return self._toward(observation, self.motion.axes(self._time))


class WashoutPolicy(AxisPolicy):
    """A washout filter that sees what the environment shows of the manoeuvre, sample by sample.

    Attributes:
        algorithm: its name.
    """

    def __init__(self, environment: Any, algorithm: str = "classical", **options: Any) -> None:
        """Prepare the filter; call `begin` after every reset.

        Args:
            environment: of MotionCueing, with actions on the pose.
            algorithm: a key of `WASHOUTS`.
            options: of the algorithm, such as `settings`.

        Raises:
            InputError: another task, actions on the actuators, unknown algorithm or options.
        """
        super().__init__(environment)
        if algorithm not in WASHOUTS:
            raise InputError("algorithm", f"{algorithm!r} is none of {', '.join(WASHOUTS)}")
        self.algorithm, self._options = algorithm, options
        self.begin()

    def begin(self) -> None:
        """Put the filter at rest."""
        task = self.task
        make = WASHOUTS[self.algorithm]
        self._filter = make(task.platform, task.head, period=task.machine.period, **self._options)
        self._row = self._filter.row()

    def __call__(self, observation: Any) -> FloatArray:
        """Return the action `(k,)` for what the vehicle's driver feels now."""
        force = self._seen(observation, "specific force 0")
        self._filter.step(force + REST, self._seen(observation, "angular rate 0"))
        before, self._row = self._row, self._filter.row()
        return self._toward(observation, self._reference(before))

    def _reference(self, before: FloatArray) -> AxisSample:
        """Return the axes of the reference point, where the filter moves the head."""
        if not self._filter.point.any():
            return AxisSample(*self._row)
        task = self.task
        knots = np.stack([before, self._row], axis=1)
        motion = CuedMotion(task.platform.home, task.machine.period, knots, self._filter.point)
        return motion.axes(motion.duration)
