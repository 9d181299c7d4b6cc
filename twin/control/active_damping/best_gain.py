"""The gain of a local law that damps the worst mode most."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from twin.arrays import positive
from twin.control.active_damping.closed_loop import Law, closed_loop, smallest_damping
from twin.control.linear.machine import LinearMachine
from twin.errors import InputError

GRID = 48


class BestGain(NamedTuple):
    """Where the smallest damping ratio is largest."""

    gain: float
    ratio: float
    """smallest damping ratio there"""
    poles: NDArray[np.complex128]
    """[1/s] of the closed loop there"""


def best_gain(
    linear: LinearMachine, law_of: Callable[[float], Law], lowest: Any, highest: Any
) -> BestGain:
    """Return the gain between two bounds whose worst mode is damped best.

    A grid finds the right stretch, golden sections the top.

    Raises:
        InputError: bounds out of order or not above zero.
    """
    from scipy.optimize import minimize_scalar

    low, high = positive(lowest, "lowest"), positive(highest, "highest")
    if not low < high:
        raise InputError("highest", "must be above the lowest gain")

    def worst(logarithm: float) -> float:
        return -smallest_damping(closed_loop(linear, law_of(float(np.exp(logarithm)))).rates)

    grid = np.linspace(np.log(low), np.log(high), GRID)
    values = [worst(place) for place in grid]
    middle = int(np.argmin(values))
    bracket = (grid[max(middle - 1, 0)], grid[min(middle + 1, GRID - 1)])
    found = minimize_scalar(worst, bounds=bracket, method="bounded", options={"xatol": 1e-5})
    gain = float(np.exp(found.x if found.fun < values[middle] else grid[middle]))
    poles = closed_loop(linear, law_of(gain)).rates
    return BestGain(gain, smallest_damping(poles), poles)
