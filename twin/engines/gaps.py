"""Distances between rods' tips and their joints on the platform, measured at every step."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from twin.arrays import FloatArray
from twin.compiled.jit import compiled
from twin.compiled.vectors import add, norm, rotate, rotation, row, subtract

Indices = NDArray[np.int64]


@compiled
def largest_distance(points: FloatArray, tips: Indices, sockets: Indices) -> float:
    """Return the largest distance [m] between `points[tips[i]]` and `points[sockets[i]]` (3,)."""
    largest = 0.0
    for i in range(tips.shape[0]):
        apart = subtract(row(points, tips[i], 0), row(points, sockets[i], 0))
        largest = np.maximum(largest, norm(apart))  # keeps NaN, unlike max()
    return largest


@compiled
def largest_gap(
    platform: FloatArray, rods: FloatArray, sockets: FloatArray, tips: FloatArray
) -> float:
    """Return the largest distance [m] between points of moving bodies.

    Args:
        platform: its frame in base, in the first seven entries: position, quaternion (scalar
            last).
        rods: `(n, 7)` the rods' frames, likewise.
        sockets: `(n, 3)` joints in the platform's frame.
        tips: `(n, 3)` tips in the rods' frames.
    """
    center = (platform[0], platform[1], platform[2])
    turn = rotation(platform[6], platform[3], platform[4], platform[5])
    largest = 0.0
    for i in range(rods.shape[0]):
        rod = rotation(rods[i, 6], rods[i, 3], rods[i, 4], rods[i, 5])
        tip = add(row(rods, i, 0), rotate(rod, row(tips, i, 0)))
        socket = add(center, rotate(turn, row(sockets, i, 0)))
        largest = np.maximum(largest, norm(subtract(tip, socket)))
    return largest
