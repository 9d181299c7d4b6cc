"""Distances between straight segments."""

from __future__ import annotations

import numpy as np

from twin.basics.arrays import FloatArray

PARALLEL = 1e-12
"""Square of the sine between directions below which segments count as parallel."""


def segment_distance(
    first: FloatArray, first_end: FloatArray, second: FloatArray, second_end: FloatArray
) -> FloatArray:
    """Return the smallest distances `(...)` [m] between segments with ends `(..., 3)` [m].

    The smallest is between inner points, where the common perpendicular meets both segments, or
    between an end of one and the nearest point of the other.
    """
    one, other, gap = first_end - first, second_end - second, first - second
    best = np.minimum(_to_segment(first, second, other), _to_segment(first_end, second, other))
    best = np.minimum(best, _to_segment(second, first, one))
    best = np.minimum(best, _to_segment(second_end, first, one))
    a, b, c = _dot(one, one), _dot(one, other), _dot(other, other)
    d, e = _dot(one, gap), _dot(other, gap)
    determinant = a * c - b * b
    crossing = determinant > PARALLEL * a * c
    safe = np.where(crossing, determinant, 1.0)
    s, t = (b * e - c * d) / safe, (a * e - b * d) / safe
    inside = crossing & (s > 0.0) & (s < 1.0) & (t > 0.0) & (t < 1.0)
    between = gap + s[..., None] * one - t[..., None] * other
    return np.sqrt(np.where(inside, np.minimum(best, _dot(between, between)), best))


def _to_segment(point: FloatArray, start: FloatArray, vector: FloatArray) -> FloatArray:
    """Return the squares of the distances of points to segments `start + [0, 1] vector`."""
    away = point - start
    size = _dot(vector, vector)
    share = _dot(away, vector) / np.where(size > 0.0, size, 1.0)
    rest = away - np.clip(share, 0.0, 1.0)[..., None] * vector
    return _dot(rest, rest)


def _dot(left: FloatArray, right: FloatArray) -> FloatArray:
    return np.asarray(np.einsum("...i,...i->...", left, right))
