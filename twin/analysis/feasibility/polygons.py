"""Distances of filled polygons from each other and from segments."""

from __future__ import annotations

import numpy as np

from twin.basics.arrays import FloatArray
from twin.basics.segments import segment_distance

FLAT = 1e-12
"""Square of the sine below which a triangle has no inside, and a segment is parallel to it."""


def polygon_distance(first: FloatArray, second: FloatArray) -> FloatArray:
    """Return the smallest distances `(k,)` [m] between filled polygons; zero where they cross.

    Either two edges are nearest to each other, or a corner and an inner point of the other
    polygon, or an edge passes through the other polygon. Two corners are a segment.

    Args:
        first: corners `(k, m, 3)` [m] in order around a flat, convex polygon. Corners that are
            not quite in one plane span triangles with the corners' middle.
        second: the same, `(k, l, 3)`.
    """
    one, other = np.roll(first, -1, axis=1), np.roll(second, -1, axis=1)
    edges = segment_distance(
        first[:, :, None], one[:, :, None], second[:, None], other[:, None]
    ).min(axis=(1, 2))
    faces = np.minimum(_to_face(first, one, second), _to_face(second, other, first))
    return np.asarray(np.minimum(edges, faces))


def _to_face(corners: FloatArray, ends: FloatArray, polygon: FloatArray) -> FloatArray:
    """Return the smallest distances `(k,)` of corners from a face; zero where an edge crosses it.

    Infinite where no corner is above or below the face and none crosses it.
    """
    middle = polygon.mean(axis=1)[:, None, None]
    spokes = polygon[:, None] - middle
    across = np.roll(polygon, -1, axis=1)[:, None] - middle
    normal = np.cross(spokes, across)
    size = _dot(normal, normal)
    solid = size > FLAT * _dot(spokes, spokes) * _dot(across, across)
    safe = np.where(solid, size, 1.0)

    def inside(away: FloatArray) -> FloatArray:
        """Return whether points at `away` `(k, c, l, 3)` from the middle are over a triangle."""
        s = _dot(np.cross(away, across), normal) / safe
        t = _dot(np.cross(spokes, away), normal) / safe
        return np.asarray(solid & (s >= 0.0) & (t >= 0.0) & (s + t <= 1.0))

    start, end = corners[:, :, None] - middle, ends[:, :, None] - middle
    height, height_end = _dot(start, normal), _dot(end, normal)
    apart = np.where(inside(start), np.abs(height) / np.sqrt(safe), np.inf)
    change = height - height_end
    share = height / np.where(change == 0.0, 1.0, change)
    crosses = (change != 0.0) & (share >= 0.0) & (share <= 1.0)
    crossing = crosses & inside(start + share[..., None] * (end - start))
    return np.asarray(np.where(crossing, 0.0, apart).min(axis=(1, 2)))


def _dot(left: FloatArray, right: FloatArray) -> FloatArray:
    return np.asarray(np.einsum("...i,...i->...", left, right))
