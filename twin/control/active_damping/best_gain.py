"""The gain of a local law that damps the worst mode most."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from twin.basics.arrays import positive
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
    poles: NDArray[np.complex128]
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


def structural_damping(linear: LinearMachine, poles: NDArray[np.complex128]) -> float:
    """Return the smallest damping ratio below the transmissions', of all if one is unstable."""
    ratios = damping_ratios(poles)
    slow = np.abs(poles) <= transmission_limit(linear)
    return float((ratios if ratios.min() < 0.0 or not slow.any() else ratios[slow]).min())
