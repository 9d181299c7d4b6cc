"""Distances between motions and between vectors, and the order of a convergence study."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray
from twin.rotations import angle_between

FLOOR_REDUCTION = 0.75
"""A smaller step that leaves more than this part of the error has reached the floor of rounding."""


def largest(values: Any) -> float:
    """Return the largest entry of an array by its size; NaN where an entry is."""
    return float(np.abs(values).max())


def position_error(pose: FloatArray, reference: FloatArray) -> FloatArray:
    """Return distances `(...)` [m] between the reference points of poses `(..., 7)`."""
    return np.asarray(np.linalg.norm(pose[..., :3] - reference[..., :3], axis=-1))


def rotation_error(pose: FloatArray, reference: FloatArray) -> FloatArray:
    """Return angles `(...)` [rad] of the rotations between poses `(..., 7)`."""
    return angle_between(pose[..., 3:], reference[..., 3:])


def relative_error(value: FloatArray, reference: FloatArray) -> FloatArray:
    """Return largest differences `(...)` of vectors `(..., k)` per largest reference entry.

    Where the whole reference is zero, as at rest without gravity, they are absolute.
    """
    largest = np.abs(reference).max(axis=-1)
    scale = np.where(largest > 0.0, largest, 1.0)
    return np.asarray(np.abs(value - reference).max(axis=-1) / scale)


class OrderFit(NamedTuple):
    """Slope of error over step in logarithms."""

    order: float
    """NaN with fewer than two usable points"""
    used: int
    """how many of the largest steps were used"""


def fitted_order(steps: FloatArray, errors: FloatArray) -> OrderFit:
    """Return the order of convergence from `steps` `(k,)` in decreasing order and `errors` `(k,)`.

    Only the steps above the floor count: from the largest one on, as long as each further step
    still reduces the error by a quarter or more.
    """
    used = 1
    while used < len(errors) and errors[used] < FLOOR_REDUCTION * errors[used - 1]:
        used += 1
    if used < 2 or not (errors[:used] > 0.0).all():
        return OrderFit(float("nan"), used)
    slope = np.polyfit(np.log(steps[:used]), np.log(errors[:used]), 1)[0]
    return OrderFit(float(slope), used)
