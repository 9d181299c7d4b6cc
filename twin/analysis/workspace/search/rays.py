"""Search along rays from a centre for where the workspace ends, and begins again."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from twin.analysis.workspace.admissible import Admissible, Cause, IntArray
from twin.analysis.workspace.chart import Chart
from twin.basics.arrays import FloatArray

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
    causes: IntArray
    """`(m,)` `Cause` of the first exit"""
    legs: IntArray
    """`(m,)` leg from 1 that ends it; 0 where none does"""
    ray: IntArray
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


def _sorted(ray: IntArray, radius: FloatArray) -> tuple[IntArray, FloatArray]:
    order = np.lexsort((radius, ray))
    return ray[order].astype(np.int64), radius[order]
