"""Distances between the two points of every loop, measured at every step."""

from __future__ import annotations

import numpy as np

from twin.basics.arrays import FloatArray, IndexArray
from twin.kernels.jit import compiled, device
from twin.kernels.linear_algebra import Vector, add, norm, rotate, rotation, row, subtract


@compiled
def largest_distance(points: FloatArray, first: IndexArray, second: IndexArray) -> float:
    """Return the largest distance [m] between `points[first[i]]` and `points[second[i]]` (3,)."""
    largest_norm = 0.0
    for i in range(first.shape[0]):
        difference = subtract(row(points, first[i], 0), row(points, second[i], 0))
        largest_norm = np.maximum(largest_norm, norm(difference))  # keeps NaN, unlike max()
    return largest_norm


@compiled
def largest_gap(
    frames: FloatArray, first: IndexArray, second: IndexArray, ends: FloatArray, sockets: FloatArray
) -> float:
    """Return the largest distance [m] between points of moving bodies.

    Args:
        frames: `(m, 7)` of the bodies in the base: position, quaternion (scalar last).
        first: `(k,)` bodies of the first points.
        second: `(k,)` bodies of the second points.
        ends: `(k, 3)` the first points in their bodies' frames.
        sockets: `(k, 3)` the second points, likewise.
    """
    largest_norm = 0.0
    for i in range(first.shape[0]):
        first_end = _in_base(frames, first[i], row(ends, i, 0))
        socket = _in_base(frames, second[i], row(sockets, i, 0))
        largest_norm = np.maximum(largest_norm, norm(subtract(first_end, socket)))
    return largest_norm


@device
def _in_base(frames: FloatArray, body: int, point: Vector) -> Vector:
    """Return a point of a body in the base frame."""
    turn = rotation(frames[body, 6], frames[body, 3], frames[body, 4], frames[body, 5])
    return add(row(frames, body, 0), rotate(turn, point))
