"""Vectors in the work arrays, and the linear map between a leg's joint rates and its tip's."""

from __future__ import annotations

from twin.basics.arrays import FloatArray
from twin.kernels.jit import device
from twin.kernels.vectors import Vector, add, dot, row, scale


@device
def put(array: FloatArray, i: int, start: int, a: Vector) -> None:
    """Write a vector to entries `start` to `start + 2` of row i."""
    array[i, start], array[i, start + 1], array[i, start + 2] = a


@device
def part(array: FloatArray, start: int) -> Vector:
    """Return entries `start` to `start + 2` as a vector."""
    return array[start], array[start + 1], array[start + 2]


@device
def joints_from_tip(inverse: FloatArray, change: Vector) -> Vector:
    """Return T^-1 times a change of the tip; `inverse` (3, 3) is T^-1."""
    return (
        dot(row(inverse, 0, 0), change),
        dot(row(inverse, 1, 0), change),
        dot(row(inverse, 2, 0), change),
    )


@device
def tip_from_joints(columns: FloatArray, changes: Vector) -> Vector:
    """Return T times a change of a leg's joint coordinates; `columns` (3, 3) is T transposed."""
    return add(
        add(scale(changes[0], row(columns, 0, 0)), scale(changes[1], row(columns, 1, 0))),
        scale(changes[2], row(columns, 2, 0)),
    )
