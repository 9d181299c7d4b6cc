"""Search along rays from a centre for where the workspace ends, and begins again.

Directions in space and their shares of the full solid angle.

Distance to singular poses along rays: where the determinant of the Jacobian changes sign.

The actuators' limits do not count here: the question is how far they keep the machine away.
Machines with more actuators than degrees of freedom have no determinant; their smallest singular
value (`twin.analysis.workspace.dexterity`) shows singularity without a distance.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from twin.analysis.workspace.admissible import Admissible, Cause, determinants, square
from twin.analysis.workspace.chart import Chart
from twin.basics.arrays import FloatArray, IndexArray
from twin.errors import InputError

SAMPLES = 128
"""Poses tried along a ray; gaps and lobes thinner than 1/128 of the workspace may be missed."""

HALVINGS = 44
"""Of a step between two samples: rounding of the radius remains."""

COARSE = 200
"""Samples along the rays that find how far the workspace extends at all."""

GROWTH = 1.25
"""Rays are made this much longer while one of them ends inside the workspace."""

ROOM = 1.05
"""Rays end this much beyond the farthest point found on the coarse ones."""


class Rays(NamedTuple):
    """Stretches of rays from a chart's centre inside the workspace; radii in scaled units."""

    directions: FloatArray
    """`(m, k)` unit vectors in scaled units"""
    exits: FloatArray
    """`(m,)` radius up to which everything is inside"""
    causes: IndexArray
    """`(m,)` `Cause` of the first exit"""
    legs: IndexArray
    """`(m,)` leg from 1 that ends it; 0 where none does"""
    ray: IndexArray
    """`(q,)` ray of each stretch inside the workspace"""
    start: FloatArray
    """`(q,)` radius where it begins"""
    stop: FloatArray
    """`(q,)` radius where it ends"""


def search(
    chart: Chart, directions: FloatArray, reach: float | None = None, samples: int = SAMPLES
) -> Rays:
    """Return where rays along scaled `directions` `(m, k)` are inside the workspace.

    Samples up to the radius `reach` (default: found by `extent`; longer if a ray needs it) bracket
    every change, bisection finds it.

    Raises:
        InputError: the centre is outside the workspace or singular.
    """
    admissible = Admissible(chart.platform, chart.center)
    size = extent(chart, directions) if reach is None else reach
    while True:
        steps = size * np.arange(samples + 1) / samples
        radii = np.broadcast_to(steps, (len(directions), samples + 1))
        poses = chart.along(directions[:, None], radii)
        inside = admissible.inside(poses.reshape(-1, 7)).reshape(len(directions), -1)
        if size >= chart.bound or not inside[:, -1].any():
            break
        size = min(GROWTH * size, chart.bound)
    ray, place = np.nonzero(inside[:, 1:] != inside[:, :-1])
    leaving = inside[ray, place]
    low, high = steps[place], steps[place + 1]
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        same = admissible.inside(chart.along(directions[ray], middle)) == leaving
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    whole = np.flatnonzero(inside[:, -1])
    begun = np.flatnonzero(inside[:, 0])
    start = _sorted(np.r_[begun, ray[~leaving]], np.r_[np.zeros(len(begun)), high[~leaving]])
    stop = _sorted(np.r_[ray[leaving], whole], np.r_[low[leaving], np.full(len(whole), size)])
    exits = np.zeros(len(directions))
    # Written from the last stretch to the first, so that the first one stays.
    exits[stop[0][::-1]] = stop[1][::-1]
    exits[~inside[:, 0]] = 0.0
    causes = np.full(len(directions), int(Cause.NONE))
    legs = np.zeros(len(directions), dtype=np.int64)
    first = np.flatnonzero(leaving)[::-1]
    causes[ray[first]], legs[ray[first]] = (
        array[::-1]
        for array in admissible.causes(chart.along(directions[ray[leaving]], high[leaving]))
    )
    return Rays(directions, exits, causes, legs, start[0], start[1], stop[1])


def extent(chart: Chart, directions: FloatArray) -> float:
    """Return a scaled radius beyond the workspace along all of `directions` `(m, k)`.

    Raises:
        InputError: the centre is outside the workspace or singular.
    """
    admissible = Admissible(chart.platform, chart.center)
    some = directions[:: max(1, len(directions) // 300)]
    bound = chart.bound
    while True:
        steps = bound * np.arange(1, COARSE + 1) / COARSE
        poses = chart.along(some[:, None], np.broadcast_to(steps, (len(some), COARSE)))
        inside = admissible.inside(poses.reshape(-1, 7)).reshape(len(some), -1).any(axis=0)
        last = int(np.flatnonzero(inside)[-1]) + 1 if inside.any() else 0
        if last >= COARSE // 8 or bound < 1e-6 * chart.bound:
            return float(min(chart.bound, ROOM * steps[max(last, 1) - 1] + steps[0]))
        bound = float(steps[min(4 * last + 3, COARSE - 1)])


def _sorted(ray: IndexArray, radius: FloatArray) -> tuple[IndexArray, FloatArray]:
    order = np.lexsort((radius, ray))
    return ray[order].astype(np.int64), radius[order]


def sphere(count: int) -> tuple[FloatArray, FloatArray]:
    """Return `(2 count^2, 3)` unit vectors and their weights, which add up to 4 pi.

    Gauss-Legendre nodes along the axis, even steps about it: exact for polynomials of degree
    2 count - 1. The first index is the height, from below to above.
    """
    heights, shares = np.polynomial.legendre.leggauss(count)
    angles = np.pi * np.arange(2 * count) / count
    radius = np.sqrt(1.0 - heights**2)
    vectors = np.stack(
        [
            radius[:, None] * np.cos(angles),
            radius[:, None] * np.sin(angles),
            np.broadcast_to(heights[:, None], (count, 2 * count)),
        ],
        axis=-1,
    )
    weights = np.repeat(shares * np.pi / count, 2 * count)
    return vectors.reshape(-1, 3), weights


def circle(count: int) -> FloatArray:
    """Return `(count, 2)` unit vectors at even steps."""
    angles = 2.0 * np.pi * np.arange(count) / count
    return np.stack([np.cos(angles), np.sin(angles)], axis=1)


SINGULAR_SAMPLES = 240
"""Poses tried along a ray; two sign changes closer to each other than 1/240 of it are missed."""

HALVINGS = 44


def singular_distance(
    chart: Chart, directions: FloatArray, reach: float | None = None
) -> FloatArray:
    """Return the scaled radii `(m,)` of the first singular pose along `directions` `(m, k)`.

    A ray ends at the radius `reach` (default the chart's bound), or where a leg no longer reaches.
    Infinite where it meets no singular pose before.

    Raises:
        InputError: a machine without a square Jacobian, or a singular centre.
    """
    if not square(chart.platform):
        raise InputError("platform", f"{chart.platform.name} has no square Jacobian")
    size = chart.bound if reach is None else reach
    steps = size * np.arange(SINGULAR_SAMPLES + 1) / SINGULAR_SAMPLES
    shape = (len(directions), SINGULAR_SAMPLES + 1)
    poses = chart.along(directions[:, None], np.broadcast_to(steps, shape))
    values = determinants(chart.platform, poses.reshape(-1, 7)).reshape(shape)
    side = np.sign(values[0, 0])
    if not side:
        raise InputError("center", "is a singular pose")
    other = side * values <= 0.0
    missing = np.isnan(values)
    ended = np.where(missing.any(axis=1), missing.argmax(axis=1), SINGULAR_SAMPLES + 1)
    place = other.argmax(axis=1)
    ray = np.flatnonzero(other.any(axis=1) & (place < ended))
    low, high = steps[place[ray] - 1], steps[place[ray]]
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        here = determinants(chart.platform, chart.along(directions[ray], middle))
        near = side * here > 0.0
        low, high = np.where(near, middle, low), np.where(near, high, middle)
    found = np.full(len(directions), np.inf)
    found[ray] = low
    return found
