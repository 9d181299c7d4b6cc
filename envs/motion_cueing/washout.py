"""Cueing algorithms and their motions as policies of MotionCueing, to judge trained ones by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from twin.basics.arrays import FloatArray, as_instance, one_of
from twin.envs.channels import channel_scales, channel_slices
from twin.envs.motion_cueing.task import POSE_ACTIONS, MotionCueing
from twin.envs.task import LinearLaw
from twin.errors import InputError
from twin.kernels.tasks.motion_cueing.cues import GRAVITY
from twin.motion.cueing import AdaptiveWashout, ClassicalWashout, CuedMotion
from twin.motion.cueing.algorithm import REST_FORCE
from twin.motion.cueing.classical import LEAN_SIGNS
from twin.motion.motion import AxisSample

WASHOUT_ALGORITHMS = {washout.name: washout for washout in (ClassicalWashout, AdaptiveWashout)}
"""Name -> algorithm that needs only the present sample of the manoeuvre."""

RETURN_RATE = 5.0
"""[1/s] Rate at which commanded speeds bring the command back to its reference."""

LEAN_AXES = ((0, 4, LEAN_SIGNS[0]), (1, 5, LEAN_SIGNS[1]))
"""Surge and sway: index of the axis, index of its tilt axis (pitch, roll), sign of the tilt."""


class AxisPolicy:
    """Actions that bring the command to reference axes, which subclasses compute.

    Attributes:
        task: task of the environment.
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
        self._scales = channel_scales(task.observations)
        self._slices = channel_slices(task.observations)

    def _physical_values(self, observation: Any, name: str) -> FloatArray:
        """Return the physical values of a channel."""
        columns = self._slices[name]
        return np.asarray(observation, dtype=np.float64)[columns] * self._scales[columns]

    def _action_toward(self, observation: Any, reference: AxisSample) -> FloatArray:
        """Return the action `(k,)` that leads from the command to axes one period later.

        Args:
            observation: present observation.
            reference: values and rates `(6,)` of the axes one period later.
        """
        constants = self.task.command_constants
        command = self._physical_values(observation, "commanded displacement")
        rates = self._physical_values(observation, "commanded velocity")
        free, period = constants.free, constants.period
        displacement = reference.values[free] - command
        if self.task.settings.action == "increments":
            action = displacement / constants.scale[free]
        else:
            remaining_displacement = displacement - 0.5 * period * (rates + reference.rates[free])
            rate_change = reference.rates[free] + RETURN_RATE * remaining_displacement - rates
            action = rate_change / (period * constants.scale[free])
        return np.clip(action, -1.0, 1.0)


class MotionPolicy(AxisPolicy):
    """Follows a motion of a cueing algorithm, such as `cue(platform, manoeuvre).motion`.

    Attributes:
        motion: motion to follow; its axes are about the machine's home.
    """

    def __init__(self, environment: Any, motion: CuedMotion) -> None:
        """Keep the motion; call `begin` after every reset.

        Raises:
            InputError: another task, or actions on the actuators, no cued motion.
        """
        super().__init__(environment)
        self.motion = as_instance(motion, "motion", CuedMotion)
        self.begin()

    def begin(self) -> None:
        """Start the motion from its beginning."""
        self._time = 0.0

    def __call__(self, observation: Any) -> FloatArray:
        """Return the next action `(k,)`."""
        self._time = min(self._time + self.task.command_constants.period, self.motion.duration)
        return self._action_toward(observation, self.motion.axes(self._time))


class WashoutPolicy(AxisPolicy):
    """A washout filter that sees what the environment shows of the manoeuvre, sample by sample.

    Attributes:
        algorithm: its name.
    """

    def __init__(self, environment: Any, algorithm: str = "classical", **options: Any) -> None:
        """Prepare the filter; call `begin` after every reset.

        Args:
            environment: environment of MotionCueing, with actions on the pose.
            algorithm: a key of `WASHOUT_ALGORITHMS`.
            options: options of the algorithm, such as `settings`.

        Raises:
            InputError: another task, actions on the actuators, unknown algorithm or options.
        """
        super().__init__(environment)
        self.algorithm = one_of(algorithm, "algorithm", WASHOUT_ALGORITHMS)
        self._options = options
        self.begin()

    def begin(self) -> None:
        """Reset the filter to rest."""
        task = self.task
        algorithm_type = WASHOUT_ALGORITHMS[self.algorithm]
        self._filter = algorithm_type(
            task.platform, task.head, period=task.command_constants.period, **self._options
        )
        self._row = self._filter.state.copy()

    def __call__(self, observation: Any) -> FloatArray:
        """Return the action `(k,)` for what the vehicle's driver feels now."""
        force = self._physical_values(observation, "specific force 0")
        self._filter.step(force + REST_FORCE, self._physical_values(observation, "angular rate 0"))
        previous_row, self._row = self._row, self._filter.state.copy()
        return self._action_toward(observation, self._reference(previous_row))

    def _reference(self, last_values: FloatArray) -> AxisSample:
        """Return the axes of the reference point, where the filter moves the head."""
        if not self._filter.point.any():
            return AxisSample(*self._row)
        task = self.task
        knots = np.stack([last_values, self._row], axis=1)
        motion = CuedMotion(
            task.platform.home, task.command_constants.period, knots, self._filter.point
        )
        return motion.axes(motion.duration)


HEAVE_AXIS, YAW_AXIS = 2, 3
"""Indices of heave and yaw among the axes x, y, z, yaw, pitch, roll."""


@dataclass(frozen=True, kw_only=True)
class TiltGains:
    """Gains of `TiltLaw`; found by a search for the largest return on `stewart`."""

    surge: float = 0.31
    """[1] factor from the specific force that the tilt does not provide to the acceleration along
    the axis, in surge and in sway"""
    tilt_subtraction: float = 0.47
    """[1] fraction of the tilt's specific force that counts as provided by the tilt"""
    frequency: float = 2.28
    """[rad/s] natural frequency with which surge and sway return to the centre"""
    damping: float = 3.77
    """[1] damping ratio of that return"""
    lean: float = 0.6
    """[1] fraction of the steady specific force that tilt provides"""
    lean_frequency: float = 38.0
    """[rad/s] natural frequency of the tilt"""
    lean_damping: float = 0.97
    """[1] damping ratio of the tilt"""
    turn: float = 1.84
    """[1/s] rate at which roll and pitch rates follow those of the manoeuvre"""
    heave: float = 2.11
    """[1] the same factor for heave, where there is no tilt"""
    heave_frequency: float = 6.17
    """[rad/s] natural frequency with which heave returns, critically damped"""
    yaw: float = 13.8
    """[1/s] rate at which the yaw rate follows that of the manoeuvre"""
    yaw_return: float = 0.39
    """[1/s] rate at which yaw returns to the centre"""


class TiltLaw(LinearLaw):
    """Accelerations of the command in proportion to force, rate, displacement and velocity.

    With f the specific force along an axis less that at rest, b the lean that gives a part of it,
    q the manoeuvre's rate of lean and the constants of `TiltGains`:

        x'' = surge (f - tilt_subtraction g b) - 2 damping frequency x' - frequency^2 x
        b'' = lean_frequency^2 (lean f / g - b) - 2 lean_damping lean_frequency b' + turn (q - b')

    Heave has the first line without lean, yaw'' = yaw (q - yaw' - yaw_return yaw). It is a washout
    of second order with tilt coordination whose states are those of the command.
    """

    def __init__(self, task: MotionCueing) -> None:
        """Compute the gains for the spaces of a task.

        Args:
            task: task of an environment, `env.unwrapped.task`.

        Raises:
            InputError: another task, or other actions than accelerations.
        """
        if not isinstance(task, MotionCueing) or task.settings.action != "accelerations":
            raise InputError("task", "must be of MotionCueing with action='accelerations'")
        k = TiltGains()
        force_gain, rate_gain, pose_gain, speed_gain = (
            np.zeros((6, size)) for size in (3, 3, 6, 6)
        )
        for axis, tilt_axis, sign in LEAN_AXES:
            force_gain[axis, axis] = k.surge
            pose_gain[axis, tilt_axis] = -k.surge * k.tilt_subtraction * GRAVITY * sign
            pose_gain[axis, axis], speed_gain[axis, axis] = _oscillator(k.frequency, k.damping)
            force_gain[tilt_axis, axis] = k.lean_frequency**2 * k.lean * sign / GRAVITY
            pose_gain[tilt_axis, tilt_axis], speed_gain[tilt_axis, tilt_axis] = _oscillator(
                k.lean_frequency, k.lean_damping
            )
            # Yaw, pitch, roll turn about z, y, x.
            rate_gain[tilt_axis, 5 - tilt_axis] = k.turn
            speed_gain[tilt_axis, tilt_axis] -= k.turn
        force_gain[HEAVE_AXIS, HEAVE_AXIS] = k.heave
        pose_gain[HEAVE_AXIS, HEAVE_AXIS], speed_gain[HEAVE_AXIS, HEAVE_AXIS] = _oscillator(
            k.heave_frequency, 1.0
        )
        rate_gain[YAW_AXIS, 2], pose_gain[YAW_AXIS, YAW_AXIS], speed_gain[YAW_AXIS, YAW_AXIS] = (
            k.yaw,
            -k.yaw * k.yaw_return,
            -k.yaw,
        )
        free = task.command_constants.free
        parts = {
            "specific force 0": force_gain[free],
            "angular rate 0": rate_gain[free],
            "commanded displacement": pose_gain[np.ix_(free, free)],
            "commanded velocity": speed_gain[np.ix_(free, free)],
        }
        super().__init__(task, parts)


def _oscillator(frequency: float, damping: float) -> tuple[float, float]:
    """Return the acceleration's gains for displacement and velocity of a damped oscillator."""
    return -(frequency**2), -2.0 * damping * frequency
