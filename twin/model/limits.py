"""Limits of the actuators: coordinates or poses to be judged, and the judgement."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from twin.basics.arrays import FloatArray, as_floats
from twin.errors import InputError

BoolArray = NDArray[np.bool_]

ROUNDING = 1e-12
"""In parts of a limit."""


def coordinates_given(pose: Any, lengths: Any, n: int) -> tuple[tuple[int, ...], FloatArray | None]:
    """Return the batch shape and actuator coordinates `(..., n)`, None where poses are given.

    Args:
        pose: poses `(..., 7)`; also coordinates `(..., n)` unless n is seven.
        lengths: coordinates `(..., n)`.
        n: number of actuators.

    Raises:
        InputError: both or none of the two, wrong shapes, not finite.
    """
    if (pose is None) == (lengths is None):
        raise InputError("pose, lengths", "give one of the two")
    if lengths is not None:
        values = as_floats(lengths, "lengths", n)
        return values.shape[:-1], values
    values = as_floats(pose, "pose")
    return values.shape[:-1], values if n != 7 and values.shape[-1:] == (n,) else None


def inside(coordinates: FloatArray, low: FloatArray, high: FloatArray) -> BoolArray:
    """Return `(...)` whether all coordinates `(..., n)` are within limits `(n,)`; NaN is not."""
    slack = ROUNDING * np.maximum(np.abs(low), np.abs(high))
    return np.asarray(((coordinates >= low - slack) & (coordinates <= high + slack)).all(axis=-1))
