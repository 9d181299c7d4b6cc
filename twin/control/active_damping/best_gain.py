"""The gain of a local law that damps the worst mode most.

Closed forms of one leg with one mass: the most damping that a local loop can give.

Two laws lead to the same polynomial. One is integral force feedback of a mass with the resonance p,

    f = -(g / s) F,

where z is the zero of its force sensor: what is left of the resonance while the sensor's force is
held at zero. The other is velocity feedback across an actuator in series with a spring. The poles s
of both are roots of

    s (s^2 + p^2) + gamma (s^2 + z^2) = 0.

A real root and a mode of frequency w and damping ratio xi are

    s (s^2 + p^2) + gamma (s^2 + z^2) = (s + b) (s^2 + 2 xi w s + w^2),
    b = 2 xi w z^2 / (w^2 - z^2),
    4 xi^2 = (p^2 - w^2) (w^2 - z^2) / (w^2 z^2).

The ratio is largest at

    w^2 = p z,   xi = (p - z) / (2 z),   gamma = p sqrt(p / z),   p <= 3 z.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import ComplexArray, positive
from twin.control.active_damping.closed_loop import Law, closed_loop, damping_ratios
from twin.control.drive_model import drive_model
from twin.control.linear.machine import LinearMachine
from twin.errors import InputError

GRID = 48


TRANSMISSION = 0.5
"""Share of sqrt(stiffness / motor's inertia) from which modes are those of the transmissions."""

FAST_WEIGHT = 2.0
"""Adopted: what the damping of such modes counts. Their own dampers end them in milliseconds, and
the platform hardly moves; a law shall not be held back by them, nor make them ring."""


class BestGain(NamedTuple):
    """Gain at which the smallest damping ratio is largest, and the poles with it."""

    gain: float
    ratio: float
    """smallest damping ratio there, of the modes below those of the transmissions"""
    poles: ComplexArray
    """[1/s] of the closed loop there"""


def best_gain(
    linear: LinearMachine, law_of: Callable[[float], Law], lowest: Any, highest: Any
) -> BestGain:
    """Return the gain between two bounds whose worst mode is damped best.

    A grid finds the right stretch, golden sections the top. Sampled laws act through the drives of
    the machine's platform; motors that swing on their transmissions count `FAST_WEIGHT`.

    Raises:
        InputError: bounds out of order or not above zero.
    """
    from scipy.optimize import minimize_scalar

    low, high = positive(lowest, "lowest"), positive(highest, "highest")
    if not low < high:
        raise InputError("highest", "must be above the lowest gain")

    limit = transmission_limit(linear)

    def worst(logarithm: float) -> float:
        poles = closed_loop(linear, law_of(float(np.exp(logarithm)))).rates
        fast = np.abs(poles) > limit
        ratios = damping_ratios(poles)
        return -float(np.where(fast & (ratios > 0.0), FAST_WEIGHT * ratios, ratios).min())

    grid = np.linspace(np.log(low), np.log(high), GRID)
    values = [worst(place) for place in grid]
    middle = int(np.argmin(values))
    bracket = (grid[max(middle - 1, 0)], grid[min(middle + 1, GRID - 1)])
    found = minimize_scalar(worst, bounds=bracket, method="bounded", options={"xatol": 1e-5})
    gain = float(np.exp(found.x if found.fun < values[middle] else grid[middle]))
    poles = closed_loop(linear, law_of(gain)).rates
    return BestGain(gain, structural_damping(linear, poles), poles)


def transmission_limit(linear: LinearMachine) -> float:
    """Return from where on modes are those of motors on transmissions [rad/s]; infinite without."""
    drives = drive_model(linear.platform)
    moving = (drives.inertia > 0.0) & (drives.compliance > 0.0)
    if not moving.any():
        return np.inf
    slowest = 1.0 / np.sqrt(float((drives.inertia * drives.compliance)[moving].max()))
    return float(TRANSMISSION * slowest)


def structural_damping(linear: LinearMachine, poles: ComplexArray) -> float:
    """Return the smallest damping ratio below the transmissions', of all if one is unstable."""
    ratios = damping_ratios(poles)
    slow = np.abs(poles) <= transmission_limit(linear)
    return float((ratios if ratios.min() < 0.0 or not slow.any() else ratios[slow]).min())


class LargestDamping(NamedTuple):
    """The best that a local loop can do for one mode."""

    ratio: float
    """damping ratio; one where the mode can be damped critically"""
    gain: float
    """gamma [rad/s]: where the ratio is reached"""
    frequency: float
    """|s| [rad/s] of the damped mode there"""


def largest_damping(pole: float, zero: float) -> LargestDamping:
    """Return the most damping on the locus from a pole to a zero on the imaginary axis.

    For force feedback of a leg of stiffness k under a mass m, beside a spring k_p that the sensor
    does not see:

        p^2 = (k + k_p) / m,   z^2 = k_p / m,   gamma = g

    For velocity feedback in series with a spring k, p with a locked actuator, z at gain zero:

        f = -g q' - k_p q
        p^2 = k / m,   z^2 = k k_p / ((k + k_p) m),   gamma = (k + k_p) / g

    Above p = 3 z critical damping is reached; the smallest gain that does is returned. With a zero
    at the origin, where there is no parallel spring, the damping is critical at gamma = 2 p.

    Args:
        pole: p [rad/s], above the zero.
        zero: z [rad/s], from zero on.

    Raises:
        InputError: not finite, or a pole that is not above the zero.

    Reference:
        Preumont, Vibration Control of Active Structures, chapter 6 (xi_max and its gain, equations
        of section 6.3.1); derived above.
    """
    upper = positive(pole, "pole")
    lower = float(zero)
    if not 0.0 <= lower < upper:
        raise InputError("zero", "must be from zero on and below the pole")
    if lower == 0.0:
        return LargestDamping(1.0, 2.0 * upper, upper)
    if upper <= 3.0 * lower:
        frequency = np.sqrt(upper * lower)
        return LargestDamping(
            (upper - lower) / (2.0 * lower), float(upper * np.sqrt(upper / lower)), frequency
        )
    # xi = 1: w^4 - (p^2 - 3 z^2) w^2 + p^2 z^2 = 0, the larger root first on the way from p.
    half = 0.5 * (upper**2 - 3.0 * lower**2)
    square = half + np.sqrt(half**2 - (upper * lower) ** 2)
    frequency = float(np.sqrt(square))
    gain = 2.0 * frequency + 2.0 * frequency * lower**2 / (square - lower**2)
    return LargestDamping(1.0, gain, frequency)


def damping_polynomial(pole: float, zero: float, gain: float) -> list[float]:
    """Return the coefficients of s (s^2 + p^2) + gain (s^2 + z^2), highest power first."""
    return [1.0, gain, pole**2, gain * zero**2]
