"""Reading actions and writing observations: scaled and clipped."""

from __future__ import annotations

from math import inf
from typing import Any

from twin.basics.arrays import FloatArray, IndexArray
from twin.kernels.control.task_state import rotation_error
from twin.kernels.jit import compiled, device

INFINITY = inf

LARGEST = 10.0
"""Bound of every observation, in parts of a channel's scale; larger values are clipped."""


@device
def put_scalar(out: Any, at: int, value: float) -> int:
    """Write a value without unit, clipped, zero for NaN; return the next index."""
    out[at] = min(max(value, -LARGEST), LARGEST) if value == value else 0.0
    return at + 1


@device
def put(out: Any, at: int, value: float, scale: FloatArray) -> int:
    """Write `value` in parts of `scale[at]` to `out[at]`, clipped; return the next index."""
    return put_scalar(out, at, value / scale[at])


@device
def put_all(out: Any, at: int, values: FloatArray, scale: FloatArray) -> int:
    """Write all `values` (k,) as `put` does; return the next index."""
    for j in range(values.shape[0]):
        at = put(out, at, values[j], scale)
    return at


@device
def put_difference(
    out: Any, at: int, values: FloatArray, origin: FloatArray, scale: FloatArray
) -> int:
    """Write `values` (k,) less `origin` (k,) as `put` does; return the next index."""
    for j in range(values.shape[0]):
        at = put(out, at, values[j] - origin[j], scale)
    return at


@device
def fill_pose_error(
    reference: FloatArray, pose: FloatArray, position: FloatArray, rotation: FloatArray
) -> None:
    """Fill `position` (3,) and `rotation` (3,), the rotation vector from `pose` to `reference`.

    Both in base axes; the rotation is the shorter way round.
    """
    turn = rotation_error(reference, pose)
    for k in range(3):
        position[k] = reference[k] - pose[k]
        rotation[k] = turn[k]


@compiled
def accept(actions: Any, out: FloatArray) -> bool:
    """Fill `out` (N, a) with `actions` clipped to 1; return False where one is not finite."""
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            value = float(actions[i, j])
            if not abs(value) < INFINITY:
                return False
            out[i, j] = min(max(value, -1.0), 1.0)
    return True


@device
def count(actions: FloatArray, steps: IndexArray, last: FloatArray, before: FloatArray) -> None:
    """Add a control period with `actions` (N, a), none where N is 0, to arrays of a `History`."""
    for i in range(actions.shape[0]):
        steps[i] += 1
        for j in range(actions.shape[1]):
            before[i, j] = last[i, j]
            last[i, j] = actions[i, j]
