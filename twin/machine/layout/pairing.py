"""Pairs of base and platform joints: which joint above belongs to which leg."""

from __future__ import annotations

import numpy as np

from twin.basics.arrays import FloatArray, IndexArray

TIED = 1e-6
"""Sums of squared distances that differ by less than this share are equal."""


def places(points: FloatArray, tolerance: float) -> list[int]:
    """Return the index of the first point within `tolerance` [m] of each point of `(n, 3)`."""
    near = np.linalg.norm(points[:, None] - points, axis=2) < tolerance
    return [int(i) for i in near.argmax(axis=1)]


def nearest_shift(base: FloatArray, top: FloatArray, tolerance: float) -> int | None:
    """Return by how many places to rotate the list `top` `(n, 3)` for the shortest legs.

    Rotations that join two legs to the same two points do not count. None where two rotations
    are equally good, or none counts.

    Args:
        base: `(n, 3)` base joints [m].
        top: `(n, 3)` platform joints [m], turned into the base frame.
        tolerance: distance [m] of points that are one.
    """
    below, costs = places(base, tolerance), []
    for shift in range(len(top)):
        rotated = np.roll(top, shift, axis=0)
        double = len({*zip(below, places(rotated, tolerance), strict=True)}) < len(top)
        costs.append(np.inf if double else float(((base - rotated) ** 2).sum()))
    best, second = sorted(costs)[:2]
    return None if not best < (1.0 - TIED) * second else costs.index(best)


def nearest_order(base: FloatArray, top: FloatArray, tolerance: float) -> IndexArray | None:
    """Return the indices of the platform joints leg by leg that give the shortest legs.

    Both lists are taken in their order around the z axis, so that no two legs cross there. None
    where two orders are equally good. Arguments as for `nearest_shift`.
    """
    around_base, around_top = _around(base), _around(top)
    shift = nearest_shift(base[around_base], top[around_top], tolerance)
    if shift is None:
        return None
    order = np.empty(len(base), dtype=np.int64)
    order[around_base] = np.roll(around_top, shift)
    return order


def _around(points: FloatArray) -> IndexArray:
    x, y = (points - points.mean(axis=0))[:, :2].T
    return np.argsort(np.arctan2(y, x), kind="stable")
