"""Thresholds of the detectors: what noise and the spread of a machine's data make without fault."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray
from twin.shadow.evidence import WINDOW, Sizes

FALSE_ALARMS = 1.0
"""[1/h] Of all detectors together, at most."""

SLOW = 3
"""Number of slow detectors: of friction, of backlash, and of the load on the platform."""

BEYOND = 2.0
"""Adopted: threshold per largest size that healthy machines show; a few do not show the worst."""


class Thresholds(NamedTuple):
    """Sizes above which a fault is reported; noise and uncertain data make smaller ones."""

    friction: float
    """[N, N m]"""
    backlash: float
    """[m, rad]; infinite where no pose is measured"""
    payload: float
    """[kg]"""
    force: float
    """root mean square over the legs of the unexplained force [N, N m]"""
    jump: float
    """of an innovation, in standard deviations"""


def quantiles(legs: int, rate: float) -> tuple[float, float]:
    """Return how many standard deviations slow and fast detectors must allow.

    Every kind has an equal part of `FALSE_ALARMS`. Slow ones look anew every two windows, fast
    ones at every sample; n legs each; normal errors, either sign.
    """
    from scipy.stats import norm

    share = FALSE_ALARMS / (SLOW + 1)
    looks = np.array([3600.0 / (2.0 * WINDOW), 3600.0 * rate]) * legs
    slow, fast = norm.isf(0.5 * share / looks)
    return float(slow), float(fast)


class Collection:
    """Sizes that healthy machines show, collected for their thresholds."""

    def __init__(self) -> None:
        """Begin without sizes."""
        self._rows: list[tuple[FloatArray, ...]] = []
        self._jump = 0.0

    def add(self, sizes: Sizes) -> None:
        """Add what a healthy machine shows."""
        force = np.sqrt(np.mean(sizes.force**2))
        self._rows.append((sizes.friction, sizes.backlash, np.array(sizes.payload), force))

    def add_jump(self, jump: float) -> None:
        """Add the largest innovation of a sample, in standard deviations."""
        self._jump = max(self._jump, jump)

    def thresholds(self, legs: int, rate: float) -> Thresholds:
        """Return the thresholds: normal quantile or `BEYOND` the largest, whichever is more."""
        slow, fast = quantiles(legs, rate)
        columns = [np.abs(np.array(column)) for column in zip(*self._rows, strict=True)]
        found = [
            max(slow * float(np.sqrt(np.mean(column**2))), BEYOND * float(column.max()))
            for column in columns
        ]
        friction, backlash, payload, force = found
        jump = max(fast, BEYOND * self._jump)
        return Thresholds(friction, backlash or np.inf, payload, force, jump)
