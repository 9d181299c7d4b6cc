"""Comparisons of a supervisor; a NaN is beyond every bound."""

from __future__ import annotations

from twin.basics.arrays import FloatArray
from twin.kernels.jit import compiled


@compiled
def all_near(values: FloatArray, others: FloatArray, bounds: FloatArray) -> bool:
    """Return whether no `values` (n,) is further from `others` (n,) than `bounds` (n,)."""
    near = True
    for i in range(len(bounds)):
        near &= abs(values[i] - others[i]) <= bounds[i]
    return near


@compiled
def all_within(values: FloatArray, bounds: FloatArray) -> bool:
    """Return whether the magnitudes of `values` (n,) are at most `bounds` (n,)."""
    within = True
    for i in range(len(bounds)):
        within &= abs(values[i]) <= bounds[i]
    return within


@compiled
def any_reaches(values: FloatArray, bounds: FloatArray) -> bool:
    """Return whether the magnitude of one of `values` (n,) is at least its bound `(n,)`."""
    reached = False
    for i in range(len(bounds)):
        reached |= abs(values[i]) >= bounds[i]
    return reached
