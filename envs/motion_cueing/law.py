"""A linear law for `MotionCueing`: surge, lean and turns from what the environment shows."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from twin.basics.arrays import bounded
from twin.envs.linear_law import LinearLaw
from twin.envs.motion_cueing.task import MotionCueing
from twin.errors import InputError
from twin.kernels.tasks.motion_cueing.car import GRAVITY
from twin.motion.cueing.adaptive import LEAN

LEANING = ((0, 4, LEAN[0]), (1, 5, LEAN[1]))
"""Surge and sway: index of the axis, of its lean (pitch, roll), sign of the lean for the axis."""

HEAVE, YAW = 2, 3


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
        for axis, lean, sign in LEANING:
            force[axis, axis] = k.surge
            place[axis, lean] = -k.surge * k.given * GRAVITY * sign
            place[axis, axis], speed[axis, axis] = _oscillator(k.frequency, k.damping)
            force[lean, axis] = k.lean_frequency**2 * k.lean * sign / GRAVITY
            place[lean, lean], speed[lean, lean] = _oscillator(k.lean_frequency, k.lean_damping)
            # Yaw, pitch, roll turn about z, y, x.
            rate[lean, 5 - lean] = k.turn
            speed[lean, lean] -= k.turn
        force[HEAVE, HEAVE] = k.heave
        place[HEAVE, HEAVE], speed[HEAVE, HEAVE] = _oscillator(k.heave_frequency, 1.0)
        rate[YAW, 2], place[YAW, YAW], speed[YAW, YAW] = k.yaw, -k.yaw * k.yaw_return, -k.yaw
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
