"""Local laws: each leg's actuator force follows from the measurements of that leg alone.

All are linear in the deviations from the reference: y = (dq, dq', df) of coordinate, rate and
actuator force, and the deviation df. Continuous laws serve the theory, sampled ones run.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, not_negative, one_or_each, positive
from twin.control.linear.machine import StateSpace, spring_constants
from twin.errors import InputError
from twin.model.machine_model import MachineModel


class LocalLaw(NamedTuple):
    """State z per leg: z[k+1] = keep z + take y, df = hold z + feedthrough y; y = (dq, dq', df)."""

    keep: FloatArray
    """`(n,)` factor of a leg's state from period to period"""
    take: FloatArray
    """`(n, 3)` gains from (dq, dq', df) to the next state"""
    hold: FloatArray
    """`(n,)` factor from the state to the force deviation"""
    feedthrough: FloatArray
    """`(n, 3)` gains from (dq, dq', df) to the force deviation"""
    period: float
    """[s] control period"""

    def system(self) -> StateSpace:
        """Return the law as a sampled state space from (q, q', F, added forces) to forces.

        F are the actuators' forces as read: those of the past period, what was added included.
        """
        n = len(self.keep)
        input_blocks = [np.diag(column) for column in self.take.T]
        feedthrough = [np.diag(column) for column in self.feedthrough.T]
        return StateSpace(
            np.diag(self.keep),
            np.hstack([*input_blocks, np.zeros((n, n))]),
            np.diag(self.hold),
            np.hstack([*feedthrough, np.eye(n)]),
            self.period,
        )

    def update(
        self, state: FloatArray, coordinates: FloatArray, rates: FloatArray, forces: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return force deviations `(n,)` and the next state for measured deviations `(n,)`."""
        feedthrough, input_gains = self.feedthrough, self.take
        force = self.hold * state + feedthrough[:, 0] * coordinates + feedthrough[:, 1] * rates
        next_state = self.keep * state + input_gains[:, 0] * coordinates + input_gains[:, 1] * rates
        return force + feedthrough[:, 2] * forces, next_state + input_gains[:, 2] * forces


def force_feedback(
    platform: MachineModel, gain: Any, period: float, *, leak: float = 0.0
) -> LocalLaw:
    """Return integral force feedback of struts, df = -g / (s + leak) dF with F = f + spring.

    Sampled as df[k] = exp(-leak T) df[k-1] - (1 - exp(-g T)) F[k]: exact for a spring force that
    is held over the period, so that its own state never grows, whatever the gain.

    Args:
        platform: with struts.
        gain: g [1/s], one number or one per leg, from zero on.
        period: T [s].
        leak: [1/s]; with it the legs keep the share leak / (leak + g) of their static stiffness.

    Raises:
        InputError: a machine without struts, or numbers that cannot be used.
    """
    sample_time, rates, leak_rates = _checked(platform, gain, period, leak)
    stiffness, damping = spring_constants(platform)
    n = platform.n_actuators
    gain_fraction = 1.0 - np.exp(-rates * sample_time)
    decay = np.full(n, np.exp(-leak_rates * sample_time))
    sensor_gains = np.column_stack([-stiffness, -damping, np.ones(n)])
    input_gains = -gain_fraction[:, None] * sensor_gains
    return LocalLaw(decay, input_gains, decay, input_gains, sample_time)


def velocity_feedback(
    platform: MachineModel, gain: Any, period: float, *, stiffness: Any = 0.0
) -> LocalLaw:
    """Return direct velocity feedback df = -g dq' - k_p dq.

    Args:
        platform: any.
        gain: g [N s/m], one number or one per leg, from zero on.
        period: [s].
        stiffness: k_p [N/m] that holds an actuator in series with a spring; one number or `(n,)`.

    Raises:
        InputError: numbers that cannot be used.
    """
    sample_time, damper, _ = _checked(platform, gain, period, 0.0, springs=False)
    n = platform.n_actuators
    spring = one_or_each(stiffness, "stiffness", n, zero=True)
    feedthrough = np.column_stack([-spring, -damper, np.zeros(n)])
    return LocalLaw(np.zeros(n), np.zeros((n, 3)), np.zeros(n), feedthrough, sample_time)


def position_force_feedback(
    platform: MachineModel,
    gain: Any,
    period: float,
    *,
    leak: float = 0.0,
    stiffness: Any,
    damping: Any,
) -> LocalLaw:
    """Return integral force feedback of actuators in series with springs.

    A force that the actuator itself exerts says nothing new to it; integral force feedback needs an
    actuator that commands its place u (Preumont's active strut). A stiff loop makes it one:

        u' = -leak u - (g / k) dF,    df = P (u - dq) - D dq',    F = f.

    With P and D large this is s^2 + g s + w^2 for a leg without losses: the actuator is a damper
    k / g in series with the spring.

    Args:
        platform: with viscoelastic legs.
        gain: g [1/s], one number or one per leg, from zero on.
        period: [s].
        leak: [1/s]; with it the actuator comes back to its reference.
        stiffness: P [N/m], one number or one per leg.
        damping: D [N s/m], likewise.

    Raises:
        InputError: a machine without springs in series, or numbers that cannot be used.

    Reference:
        Preumont, Vibration Control of Active Structures, section 6.3 (active strut).
    """
    if not platform.n_deflections:
        raise InputError("platform", f"{platform.name} has no springs in series")
    sample_time, rates, leak_rates = _checked(platform, gain, period, leak, springs=False)
    n = platform.n_actuators
    position_stiffness, damper = (
        one_or_each(stiffness, "stiffness", n, zero=True),
        one_or_each(damping, "damping", n, zero=True),
    )
    decay = np.full(n, np.exp(-leak_rates * sample_time))
    displacement_per_force = (1.0 - np.exp(-rates * sample_time)) / spring_constants(platform)[0]
    zeros = np.zeros(n)
    input_gains = np.column_stack([zeros, zeros, -displacement_per_force])
    feedthrough = np.column_stack(
        [-position_stiffness, -damper, -position_stiffness * displacement_per_force]
    )
    return LocalLaw(decay, input_gains, position_stiffness * decay, feedthrough, sample_time)


def continuous_force_feedback(
    platform: MachineModel, gain: Any, *, leak: float = 0.0
) -> StateSpace:
    """Return integral force feedback of struts from (q, q', added forces r), not sampled.

    f = x + r,   x' = -leak x - g (f - k dq - c dq').

    Raises:
        InputError: a machine without struts, or numbers that cannot be used.
    """
    _, rates, leak_rates = _checked(platform, gain, 1.0, leak)
    stiffness, damping = spring_constants(platform)
    identity = np.eye(platform.n_actuators)
    input_blocks = [np.diag(rates * stiffness), np.diag(rates * damping), -np.diag(rates)]
    feedthrough = np.hstack([0.0 * identity, 0.0 * identity, identity])
    return StateSpace(-np.diag(leak_rates + rates), np.hstack(input_blocks), identity, feedthrough)


def continuous_velocity_feedback(
    platform: MachineModel, gain: Any, *, stiffness: Any = 0.0
) -> StateSpace:
    """Return direct velocity feedback from (q, q', added forces) to forces, not sampled.

    Raises:
        InputError: numbers that cannot be used.
    """
    law = velocity_feedback(platform, gain, 1.0, stiffness=stiffness)
    n = platform.n_actuators
    feedthrough = np.hstack([*(np.diag(column) for column in law.feedthrough.T[:2]), np.eye(n)])
    return StateSpace(np.zeros((0, 0)), np.zeros((0, 3 * n)), np.zeros((n, 0)), feedthrough)


def _checked(
    platform: MachineModel, gain: Any, period: float, leak: float, springs: bool = True
) -> tuple[float, FloatArray, float]:
    if springs and not platform.leg.has_axial_spring:
        raise InputError("platform", f"{platform.name} has no struts")
    gains = one_or_each(gain, "gain", platform.n_actuators, zero=True)
    return positive(period, "period"), gains, not_negative(leak, "leak")
