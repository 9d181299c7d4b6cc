"""Searches for the boundary of a workspace and for singular poses along rays.

Rays: from a centre, in directions each of which has its share of the full solid angle, a search
finds where the workspace ends, and where it begins again.

Distance to singular poses along rays: where the determinant of the Jacobian changes sign. The
actuators' limits do not count here: the question is how far they keep the machine away. Machines
with more actuators than degrees of freedom have no determinant; their smallest singular value
(`twin.analysis.workspace.dexterity`) shows singularity without a distance.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from twin.analysis.workspace.admissible import Admissible, Cause, determinants, square
from twin.analysis.workspace.chart import Chart
from twin.basics.arrays import FloatArray, IndexArray
from twin.errors import InputError

RAY_SAMPLES = 128
"""Poses tried along a ray; gaps and lobes thinner than 1/128 of the workspace may be missed."""

BISECTION_STEPS = 44
"""Halvings of a step between two samples, after which rounding of the radius remains."""

COARSE_SAMPLES = 200
"""Samples along the rays that find how far the workspace extends at all."""

RAY_GROWTH = 1.25
"""Factor by which rays are lengthened while one of them ends inside the workspace."""

RAY_MARGIN = 1.05
"""Length of the rays per distance of the farthest point found on the coarse ones."""

SINGULAR_SAMPLES = 240
"""Poses tried along a ray; two sign changes closer to each other than 1/240 of it are missed."""


class Rays(NamedTuple):
    """Segments of rays from a chart's centre inside the workspace; radii in scaled units."""

    directions: FloatArray
    """`(m, k)` unit vectors in scaled units"""
    exits: FloatArray
    """`(m,)` radius up to which everything is inside"""
    causes: IndexArray
    """`(m,)` `Cause` of the first exit"""
    legs: IndexArray
    """`(m,)` leg from 1 that ends it; 0 where none does"""
    ray: IndexArray
    """`(q,)` ray of each segment inside the workspace"""
    start: FloatArray
    """`(q,)` radius where it begins"""
    stop: FloatArray
    """`(q,)` radius where it ends"""


def search(chart: Chart, directions: FloatArray, reach: float | None = None) -> Rays:
    """Return where rays along scaled `directions` `(m, k)` are inside the workspace.

    Samples up to the radius `reach` (default: found by `extent`; longer if a ray needs it) bracket
    every change, bisection finds it.

    Raises:
        InputError: the centre is outside the workspace or singular.
    """
    admissible = Admissible(chart.platform, chart.center)
    max_radius = extent(chart, directions) if reach is None else reach
    while True:
        sample_radii = max_radius * np.arange(RAY_SAMPLES + 1) / RAY_SAMPLES
        radii = np.broadcast_to(sample_radii, (len(directions), RAY_SAMPLES + 1))
        poses = chart.along(directions[:, None], radii)
        is_inside = admissible.inside(poses.reshape(-1, 7)).reshape(len(directions), -1)
        if max_radius >= chart.bound or not is_inside[:, -1].any():
            break
        max_radius = min(RAY_GROWTH * max_radius, chart.bound)
    ray, sample_index = np.nonzero(is_inside[:, 1:] != is_inside[:, :-1])
    leaving = is_inside[ray, sample_index]
    lower_radius, upper_radius = sample_radii[sample_index], sample_radii[sample_index + 1]
    for _ in range(BISECTION_STEPS):
        trial_radius = 0.5 * (lower_radius + upper_radius)
        is_same_side = admissible.inside(chart.along(directions[ray], trial_radius)) == leaving
        lower_radius, upper_radius = (
            np.where(is_same_side, trial_radius, lower_radius),
            np.where(is_same_side, upper_radius, trial_radius),
        )
    rays_inside_at_end = np.flatnonzero(is_inside[:, -1])
    rays_inside_at_start = np.flatnonzero(is_inside[:, 0])
    segment_starts = _sorted(
        np.r_[rays_inside_at_start, ray[~leaving]],
        np.r_[np.zeros(len(rays_inside_at_start)), upper_radius[~leaving]],
    )
    segment_ends = _sorted(
        np.r_[ray[leaving], rays_inside_at_end],
        np.r_[lower_radius[leaving], np.full(len(rays_inside_at_end), max_radius)],
    )
    exits = np.zeros(len(directions))
    # Written from the last segment to the first, so that the first one stays.
    exits[segment_ends[0][::-1]] = segment_ends[1][::-1]
    exits[~is_inside[:, 0]] = 0.0
    causes = np.full(len(directions), int(Cause.NONE))
    legs = np.zeros(len(directions), dtype=np.int64)
    first_exits = np.flatnonzero(leaving)[::-1]
    causes[ray[first_exits]], legs[ray[first_exits]] = (
        array[::-1]
        for array in admissible.causes(chart.along(directions[ray[leaving]], upper_radius[leaving]))
    )
    return Rays(
        directions, exits, causes, legs, segment_starts[0], segment_starts[1], segment_ends[1]
    )


def extent(chart: Chart, directions: FloatArray) -> float:
    """Return a scaled radius beyond the workspace along all of `directions` `(m, k)`.

    Raises:
        InputError: the centre is outside the workspace or singular.
    """
    admissible = Admissible(chart.platform, chart.center)
    some_directions = directions[:: max(1, len(directions) // 300)]
    bound = chart.bound
    while True:
        sample_radii = bound * np.arange(1, COARSE_SAMPLES + 1) / COARSE_SAMPLES
        poses = chart.along(
            some_directions[:, None],
            np.broadcast_to(sample_radii, (len(some_directions), COARSE_SAMPLES)),
        )
        is_inside = (
            admissible.inside(poses.reshape(-1, 7)).reshape(len(some_directions), -1).any(axis=0)
        )
        last_inside = int(np.flatnonzero(is_inside)[-1]) + 1 if is_inside.any() else 0
        # An eighth of the samples inside resolves the extent; below a millionth the search ends.
        if last_inside >= COARSE_SAMPLES // 8 or bound < 1e-6 * chart.bound:
            return float(
                min(
                    chart.bound,
                    RAY_MARGIN * sample_radii[max(last_inside, 1) - 1] + sample_radii[0],
                )
            )
        bound = float(sample_radii[min(4 * last_inside + 3, COARSE_SAMPLES - 1)])


def _sorted(ray: IndexArray, radius: FloatArray) -> tuple[IndexArray, FloatArray]:
    order = np.lexsort((radius, ray))
    return ray[order].astype(np.int64), radius[order]


def sphere(count: int) -> tuple[FloatArray, FloatArray]:
    """Return `(2 count^2, 3)` unit vectors and their weights, which add up to 4 pi.

    Gauss-Legendre nodes along the axis, even steps about it: exact for polynomials of degree
    2 count - 1. The first index is the height, from below to above.
    """
    heights, node_weights = np.polynomial.legendre.leggauss(count)
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
    weights = np.repeat(node_weights * np.pi / count, 2 * count)
    return vectors.reshape(-1, 3), weights


def circle(count: int) -> FloatArray:
    """Return `(count, 2)` unit vectors at even steps."""
    angles = 2.0 * np.pi * np.arange(count) / count
    return np.stack([np.cos(angles), np.sin(angles)], axis=1)


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
    sample_radii = size * np.arange(SINGULAR_SAMPLES + 1) / SINGULAR_SAMPLES
    shape = (len(directions), SINGULAR_SAMPLES + 1)
    poses = chart.along(directions[:, None], np.broadcast_to(sample_radii, shape))
    values = determinants(chart.platform, poses.reshape(-1, 7)).reshape(shape)
    side = np.sign(values[0, 0])
    if not side:
        raise InputError("center", "is a singular pose")
    has_other_sign = side * values <= 0.0
    is_unreached = np.isnan(values)
    first_missing = np.where(
        is_unreached.any(axis=1), is_unreached.argmax(axis=1), SINGULAR_SAMPLES + 1
    )
    sample_index = has_other_sign.argmax(axis=1)
    ray = np.flatnonzero(has_other_sign.any(axis=1) & (sample_index < first_missing))
    low, high = sample_radii[sample_index[ray] - 1], sample_radii[sample_index[ray]]
    for _ in range(BISECTION_STEPS):
        trial_radius = 0.5 * (low + high)
        trial_values = determinants(chart.platform, chart.along(directions[ray], trial_radius))
        is_before = side * trial_values > 0.0
        low, high = np.where(is_before, trial_radius, low), np.where(is_before, high, trial_radius)
    distances = np.full(len(directions), np.inf)
    distances[ray] = low
    return distances
