"""Sizes of faults over the last moments, from residuals and their signatures."""

from __future__ import annotations

from math import exp
from typing import NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray

WINDOW = 0.3
"""[s] Adopted: over which evidence is forgotten, a fraction of the 2 s that detection may take."""

MOVING = 0.2
"""Share of a window in which a leg must move to show its friction."""

ONE, SQUARE, FRICTION, LOAD, PAYLOAD, PLAY, FORCE, EFFORT = range(8)
"""Rows of the sums, in this order: 1, direction^2, direction r, u^2, u r, side p, r, effort^2."""


class Sizes(NamedTuple):
    """Estimated sizes of faults, and how much of the unexplained forces r each explains."""

    friction: FloatArray
    """`(n,)` rise [N, N m]"""
    backlash: FloatArray
    """`(n,)` growth [m, rad]"""
    payload: float
    """[kg]"""
    force: FloatArray
    """`(n,)` mean unexplained force [N, N m]"""
    effort: FloatArray
    """`(n,)` root mean square of the motors' forces [N, N m]"""
    friction_energy: float
    """sum of r^2 that rising friction explains, less that of falling one"""
    payload_energy: float
    """sum that a payload explains"""
    force_energy: float
    """sum that a steady force of each leg explains"""


class Evidence:
    """Sums over an exponential window, one matched filter per fault and leg."""

    def __init__(self, legs: int, period: float) -> None:
        """Begin without evidence."""
        self._keep = exp(-period / WINDOW)
        self._sums = np.zeros((8, legs))
        self._rows = np.ones((8, legs))

    def clear(self) -> None:
        """Forget all."""
        self._sums[:] = 0.0

    def add(
        self,
        unexplained: FloatArray,
        direction: FloatArray,
        load: FloatArray,
        side: FloatArray,
        effort: FloatArray,
    ) -> None:
        """Add one sample: `unexplained` `(n, 2)`, the others `(n,)`; see `Residuals`."""
        force, play = unexplained.T
        rows = self._rows
        rows[SQUARE] = direction * direction
        rows[FRICTION] = direction * force
        rows[LOAD] = load * load
        rows[PAYLOAD] = load * force
        rows[PLAY] = side * play
        rows[FORCE] = force
        rows[EFFORT] = effort * effort
        self._sums *= self._keep
        self._sums += rows

    def sizes(self) -> Sizes:
        """Return what the window shows."""
        sums = self._sums
        count = max(sums[ONE, 0], 1.0)
        moving = sums[SQUARE] > MOVING * count
        square = np.where(moving, sums[SQUARE], np.inf)
        friction = sums[FRICTION] / square
        loads = float(sums[LOAD].sum())
        payload = float(sums[PAYLOAD].sum()) / loads if loads > 0.0 else 0.0
        mean = sums[FORCE] / count
        return Sizes(
            friction,
            2.0 * sums[PLAY] / count,
            payload,
            mean,
            np.sqrt(sums[EFFORT] / count),
            float((np.abs(friction) * sums[FRICTION]).sum()),
            payload * float(sums[PAYLOAD].sum()),
            float((mean * sums[FORCE]).sum()),
        )
