"""Defaults of local laws from the machine they damp: period, leak, springs, gain."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from twin.basics.arrays import FloatArray
from twin.control.active_damping.best_gain import best_gain, structural_damping
from twin.control.active_damping.closed_loop import closed_loop
from twin.control.active_damping.laws import LocalLaw, force_feedback, position_force_feedback
from twin.control.drive_model import drive_model
from twin.control.linear.machine import LinearMachine, spring_constants
from twin.errors import InputError

SAMPLES = 20
"""Control periods in a period of the fastest mode."""

LEAK = 0.05
"""Leak of struts' force feedback per slowest mode [rad/s]: it lags by 3 deg there."""

SERIES_LEAK = 0.4
"""The same of actuators that command their place: more damps slow modes less; less leaves them too
soft to carry the platform above its joints, and slow to come back."""

SERIES_SHARE = 0.25
"""k_p of velocity feedback per stiffness of the spring in series."""

TRACKING = 0.25
"""Natural frequency of the loop that makes an actuator command its place, times its reaction."""

TRACKING_DAMPING = 0.7


def suitable_period(linear: LinearMachine) -> float:
    """Return a control period [s] for a machine's springs.

    It is 1 ms, or the longest of 0.5, 0.2, 0.1, 0.05, ... ms that is short enough.
    """
    fastest_mode = fastest(linear)
    longest = 2.0 * np.pi / (SAMPLES * fastest_mode) if fastest_mode > 0.0 else 1e-3
    steps = (float(f"{digit}e-{power}") for power in range(3, 12) for digit in (5, 2, 1))
    return 1e-3 if longest >= 1e-3 else next(step for step in steps if step <= longest)


def fastest(linear: LinearMachine) -> float:
    """Return the largest pole [rad/s] under constant actuator forces."""
    return float(np.abs(linear.system("forces", "rates").poles).max())


def slowest(linear: LinearMachine) -> float:
    """Return the lowest frequency [rad/s] at which the springs let the platform swing.

    With blocked actuators where springs are in series with them.

    Raises:
        InputError: nothing swings.
    """
    held = linear.locked() if linear.platform.n_deflections else linear
    poles = held.system("wrench", "twist").poles
    swinging = np.abs(poles[poles.imag > 0.0])
    if not swinging.size:
        raise InputError("platform", f"{linear.platform.name} does not swing on its springs")
    return float(swinging.min())


def suitable_leak(linear: LinearMachine) -> float:
    """Return the default leak of force feedback [1/s]."""
    return (SERIES_LEAK if linear.platform.n_deflections else LEAK) * slowest(linear)


def moved_masses(linear: LinearMachine) -> FloatArray:
    """Return what each actuator alone accelerates at once `(n,)` [kg]."""
    mobility = linear.force_input.T @ np.linalg.solve(linear.mass, linear.force_input)
    return np.asarray(1.0 / np.diag(mobility))


def reaction(linear: LinearMachine, period: float) -> float:
    """Return the lag of a loop through the drives [s]: period, delay, lag, differences."""
    drives = drive_model(linear.platform)
    counted = 0.5 * period if drives.resolution.any() else 0.0
    return period + drives.delay + drives.lag + counted


def series_stiffness(linear: LinearMachine) -> FloatArray:
    """Return the default k_p `(n,)` [N/m]: a quarter of springs in series, zero for struts."""
    share = SERIES_SHARE if linear.platform.n_deflections else 0.0
    return np.asarray(share * spring_constants(linear.platform)[0])


def force_law(linear: LinearMachine, gain: Any, period: float, leak: float) -> LocalLaw:
    """Return integral force feedback as the machine's legs need it.

    Raises:
        InputError: no such legs, or numbers that cannot be used.
    """
    platform = linear.platform
    if not platform.n_deflections:
        return force_feedback(platform, gain, period, leak=leak)
    rate, masses = TRACKING / reaction(linear, period), moved_masses(linear)
    return position_force_feedback(
        platform,
        gain,
        period,
        leak=leak,
        stiffness=masses * rate**2,
        damping=2.0 * TRACKING_DAMPING * masses * rate,
    )


def chosen_gain(
    linear: LinearMachine, gain: Any, law_of: Callable[[Any], LocalLaw], highest: float
) -> Any:
    """Return the gain that is given; without one, the gain that damps the worst mode best.

    Raises:
        InputError: a machine without springs in its legs, or drives behind which no gain damps
            more than none.
    """
    if not linear.platform.leg.has_spring:
        raise InputError(
            "platform", f"{linear.platform.name} has no springs in its legs to be damped"
        )
    if gain is not None:
        return gain
    best = best_gain(linear, law_of, 1e-3 * highest, highest)
    without = structural_damping(linear, closed_loop(linear, law_of(0.0)).rates)
    if best.ratio <= max(without, 0.0):
        raise InputError(
            "platform",
            f"no gain damps {linear.platform.name} through its drives (worst ratio at best "
            f"{best.ratio:.3g}, {without:.3g} without): they are too late or swing on their "
            "transmissions; shorten delay and lag, or take a controller of coordinates",
        )
    return best.gain
