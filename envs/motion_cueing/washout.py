"""Cueing algorithms and their motions as policies of MotionCueing, to judge trained ones by."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from twin.basics.arrays import FloatArray, bounded
from twin.envs.channels import channel_scales, channel_slices
from twin.envs.motion_cueing.task import POSE_ACTIONS, MotionCueing
from twin.envs.task import LinearLaw
from twin.errors import InputError, brief
from twin.kernels.tasks.motion_cueing.cues import GRAVITY
from twin.motion.cueing import AdaptiveWashout, ClassicalWashout, CuedMotion
from twin.motion.cueing.adaptive import LEAN_SIGNS
from twin.motion.cueing.algorithm import REST_FORCE
from twin.motion.motion import AxisSample

WASHOUT_ALGORITHMS = {each.name: each for each in (ClassicalWashout, AdaptiveWashout)}
"""Name -> algorithm that needs the present sample of the manoeuvre alone."""

RETURN_RATE = 5.0
"""[1/s] at which commanded speeds bring the command back to its reference."""

LEAN_AXES = ((0, 4, LEAN_SIGNS[0]), (1, 5, LEAN_SIGNS[1]))
"""Surge and sway: index of the axis, of its lean (pitch, roll), sign of the lean for the axis."""


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
            change = reference.rates[free] + RETURN_RATE * left - rates
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
            algorithm: a key of `WASHOUT_ALGORITHMS`.
            options: of the algorithm, such as `settings`.

        Raises:
            InputError: another task, actions on the actuators, unknown algorithm or options.
        """
        super().__init__(environment)
        if algorithm not in WASHOUT_ALGORITHMS:
            raise InputError(
                "algorithm", f"{algorithm!r} is none of {', '.join(WASHOUT_ALGORITHMS)}"
            )
        self.algorithm, self._options = algorithm, options
        self.begin()

    def begin(self) -> None:
        """Put the filter at rest."""
        task = self.task
        make = WASHOUT_ALGORITHMS[self.algorithm]
        self._filter = make(task.platform, task.head, period=task.machine.period, **self._options)
        self._row = self._filter.row()

    def __call__(self, observation: Any) -> FloatArray:
        """Return the action `(k,)` for what the vehicle's driver feels now."""
        force = self._seen(observation, "specific force 0")
        self._filter.step(force + REST_FORCE, self._seen(observation, "angular rate 0"))
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


HEAVE_AXIS, YAW_AXIS = 2, 3


@dataclass(frozen=True, kw_only=True)
class TiltGains:
    """Gains of `TiltLaw`; found by a search for the largest return on `stewart`."""

    surge: float = 0.31
    """[1] of the specific force that the lean does not give, as acceleration along the axis"""
    given: float = 0.47
    """[1] share of the lean's part that is taken off"""
    frequency: float = 2.28
    """[rad/s] at which surge and sway come back to the middle"""
    damping: float = 3.77
    """[1] ratio of it"""
    lean: float = 0.6
    """[1] share of the specific force that the lean gives in the end"""
    lean_frequency: float = 38.0
    """[rad/s] of the lean"""
    lean_damping: float = 0.97
    """[1] ratio of it"""
    turn: float = 1.84
    """[1/s] at which rates of roll and pitch follow those of the manoeuvre"""
    heave: float = 2.11
    """[1] as `surge`"""
    heave_frequency: float = 6.17
    """[rad/s] at which heave comes back, critically damped"""
    yaw: float = 13.8
    """[1/s] at which the yaw rate follows that of the manoeuvre"""
    yaw_return: float = 0.39
    """[1/s] at which yaw comes back"""

    def __post_init__(self) -> None:
        """Check the numbers; raises InputError."""
        for each in fields(self):
            value = bounded(getattr(self, each.name), each.name, 0.0, 1e3)
            object.__setattr__(self, each.name, value)


class TiltLaw(LinearLaw):
    """Accelerations of the command in proportion to force, rate, displacement and velocity.

    With f the specific force along an axis less that at rest, b the lean that gives a part of it,
    q the manoeuvre's rate of lean and the constants of `TiltGains`:

        x'' = surge (f - given g b) - 2 damping frequency x' - frequency^2 x
        b'' = lean_frequency^2 (lean f / g - b) - 2 lean_damping lean_frequency b' + turn (q - b')

    Heave has the first line without lean, yaw'' = yaw (q - yaw' - yaw_return yaw). It is a washout
    of second order with tilt coordination whose states are those of the command.
    """

    def __init__(self, task: MotionCueing, gains: TiltGains | None = None) -> None:
        """Compute the gains for the spaces of a task.

        Args:
            task: of an environment, `env.unwrapped.task`.
            gains: default those of `TiltGains`.

        Raises:
            InputError: another task, or other actions than accelerations.
        """
        if not isinstance(task, MotionCueing) or task.settings.action != "accelerations":
            raise InputError("task", "must be of MotionCueing with action='accelerations'")
        k = TiltGains() if gains is None else gains
        force, rate, place, speed = (np.zeros((6, size)) for size in (3, 3, 6, 6))
        for axis, lean, sign in LEAN_AXES:
            force[axis, axis] = k.surge
            place[axis, lean] = -k.surge * k.given * GRAVITY * sign
            place[axis, axis], speed[axis, axis] = _oscillator(k.frequency, k.damping)
            force[lean, axis] = k.lean_frequency**2 * k.lean * sign / GRAVITY
            place[lean, lean], speed[lean, lean] = _oscillator(k.lean_frequency, k.lean_damping)
            # Yaw, pitch, roll turn about z, y, x.
            rate[lean, 5 - lean] = k.turn
            speed[lean, lean] -= k.turn
        force[HEAVE_AXIS, HEAVE_AXIS] = k.heave
        place[HEAVE_AXIS, HEAVE_AXIS], speed[HEAVE_AXIS, HEAVE_AXIS] = _oscillator(
            k.heave_frequency, 1.0
        )
        rate[YAW_AXIS, 2], place[YAW_AXIS, YAW_AXIS], speed[YAW_AXIS, YAW_AXIS] = (
            k.yaw,
            -k.yaw * k.yaw_return,
            -k.yaw,
        )
        free = task.machine.free
        parts = {
            "specific force 0": force[free],
            "angular rate 0": rate[free],
            "commanded displacement": place[np.ix_(free, free)],
            "commanded velocity": speed[np.ix_(free, free)],
        }
        super().__init__(task, parts)


def _oscillator(frequency: float, damping: float) -> tuple[float, float]:
    """Return the gains of displacement and velocity of an oscillator."""
    return -(frequency**2), -2.0 * damping * frequency
