"""Closed forms of one leg with one mass: the most damping that a local loop can give.

Integral force feedback f = -(g / s) F of a mass between its resonance w_0 and the zero z of its
force sensor (what is left of w_0 with the sensor's force at zero), and velocity feedback across an
actuator in series with a spring, both lead to

    s (s^2 + p^2) + gamma (s^2 + z^2) = 0.

Matching it with (s + b)(s^2 + 2 xi w s + w^2) gives b = 2 xi w z^2 / (w^2 - z^2) and

    4 xi^2 = (p^2 - w^2)(w^2 - z^2) / (w^2 z^2),

which is largest at w^2 = p z: xi = (p - z) / (2 z) with gamma = p sqrt(p / z), as long as p <= 3 z.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from twin.basics.arrays import positive
from twin.errors import InputError


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

    Force feedback of a leg of stiffness k under a mass m beside a spring k_p that the sensor does
    not see: p^2 = (k + k_p)/m, z^2 = k_p/m, gamma = g. Velocity feedback f = -g q' - k_p q in
    series with a spring k: p^2 = k/m (actuator locked), z^2 = k k_p / ((k + k_p) m) (gain zero),
    gamma = (k + k_p)/g.

    Above p = 3 z critical damping is reached; the smallest gain that does is returned. A zero at
    the origin (no parallel spring) gives s^2 + gamma s + p^2: critical at gamma = 2 p.

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
