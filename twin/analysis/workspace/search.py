"""Searches for the boundary of a workspace: rays, random walks, interior point.

Rays: from a centre, in directions each of which has its share of the full solid angle, a search
finds where the workspace ends, and where it begins again.

Distance to singular poses along rays: where the determinant of the Jacobian changes sign. The
actuators' limits do not count here: the question is how far they keep the machine away. Machines
with more actuators than degrees of freedom have no determinant; their smallest singular value
(`twin.analysis.workspace.dexterity`) shows singularity without a distance.

Largest displacement along one axis while others are free: an interior-point search. It maximises
the first of the variables u (m problems at once) over poses whose actuator coordinates q stay
inside their limits, by Newton's method on

    F(u) = -u_1 - mu sum_i [log s_i + log(1 - s_i)],    s_i = (q_i - minimum_i) / stroke_i,

with mu falling to nothing. Slopes and curvatures of s are central differences of the inverse
kinematics. A step is shortened until F falls and the pose is admissible, so that the way from the
centre to the result never leaves the workspace and never passes a singular pose.

Reference: Boyd and Vandenberghe, Convex Optimization, chapter 11.

Rays along which the attitude is free: poses on a ray are given by variables `(4,)`, the scaled
radius, and the rotation vector from the attitude of the centre. Searches go on from the attitudes
of neighbouring rays and from random poses.

Random admissible poses: a walk through the workspace that starts at the centre. Many chains run at
once; every step goes a random way along a random direction of the chart, shortened until the pose
is admissible. The chains fill the part of the workspace that is connected with the centre, so that
searches can start where they would not get from the centre.

Reference: Neal, Slice sampling, 2003 (shrinkage), along random directions.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from twin.analysis.workspace.admissible import Admissible, Cause, coordinates, determinants, square
from twin.analysis.workspace.chart import Chart
from twin.basics.arrays import BoolArray, FloatArray, IndexArray
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

DIFFERENCE_STEP = 1e-4
"""Step of the differences in scaled units: curvatures are good to 1e-8, slopes to 1e-8."""

SEPARATE_START_WEIGHT = 0.03
"""First mu [scaled units] for starts away from the centre: smaller ones end in more corners, larger
ones go back to where the search from the centre passes."""

REFINING_WEIGHT = 1e-5
"""Initial mu [scaled units] for starts that are only refined."""

NEWTON_STEPS = 5
"""Number of Newton steps per value of mu."""

MAX_STEP = 0.3
"""[scaled units] Largest length of one Newton step."""

BARRIER_HALVINGS = 12
"""Maximum number of halvings of one Newton step."""

MIN_DECREASE_RATIO = 1e-4
"""Fraction of the predicted decrease of F that a step must reach (Armijo)."""

POSES_PER_RAY = 200
"""Poses of the walk that are tried per ray: those whose places are closest to it."""

SEARCHES_PER_RAY = 3
"""Searches per ray from scattered poses of the walk."""

MIN_RADIUS_GAIN = 1e-3
"""Relative gain of radius below which another search is not worth it."""

GAP_TOLERANCE = 1e-6
"""Gap between two segments, relative to the radius, up to which they are one."""

CHAIN_COUNT = 512
"""Number of chains of the random walk."""

CHAIN_STEPS = 100
"""Number of steps of every chain."""

KEPT_STEPS = 40
"""Number of the last steps of every chain that are returned."""

MAX_SHRINKS = 10
"""Maximum number of times that a step is shortened; after them the chain stays where it is."""


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


def search(
    chart: Chart, directions: FloatArray, reach: float | None = None, samples: int = RAY_SAMPLES
) -> Rays:
    """Return where rays along scaled `directions` `(m, k)` are inside the workspace.

    Samples up to the radius `reach` (default: found by `extent`; longer if a ray needs it) bracket
    every change, bisection finds it.

    Raises:
        InputError: the centre is outside the workspace or singular.
    """
    admissible = Admissible(chart.platform, chart.center)
    max_radius = extent(chart, directions) if reach is None else reach
    while True:
        sample_radii = max_radius * np.arange(samples + 1) / samples
        radii = np.broadcast_to(sample_radii, (len(directions), samples + 1))
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


INITIAL_WEIGHT = 0.3
"""[scaled units] mu at the beginning of the search."""

FINAL_WEIGHT = 1e-9
"""[scaled units] mu at the end of the search."""

WEIGHT_FACTOR = 0.1
"""Factor from one value of mu to the next."""


class Farthest(NamedTuple):
    """End of the search."""

    radii: FloatArray
    """`(m,)` largest first variable [scaled units]"""
    poses: FloatArray
    """poses `(m, 7)` that were found"""
    blocked: BoolArray
    """`(m,)` whether a singular pose or the other plate stood in the way"""


def farthest(
    chart: Chart, bases: Any, start: FloatArray | None = None, first: float = INITIAL_WEIGHT
) -> Farthest:
    """Return the farthest poses along the first vector of every basis.

    Searches that run into singular poses or the other plate are made again with walls there, as
    log(det J / det J of the centre) in F, so that they pass beside them where they can.

    Args:
        chart: of one machine.
        bases: `(m, k, q)` vectors over the chart's axes in scaled units; the first is gone along,
            the others are free.
        start: variables `(m, q)` strictly inside; default the chart's centre.
        first: value of mu to begin with; a small one stays close to the start.

    Raises:
        InputError: a start that is not strictly inside the workspace.
    """
    given_bases = np.asarray(bases, dtype=np.float64)
    origin = np.zeros((len(given_bases), given_bases.shape[2])) if start is None else start
    solution, blocked = _descend(_Problem(chart, given_bases, False), origin, first)
    if blocked.any():
        detour, _ = _descend(_Problem(chart, given_bases[blocked], True), origin[blocked], first)
        rows = np.flatnonzero(blocked)[detour[:, 0] > solution[blocked, 0]]
        solution[rows] = detour[detour[:, 0] > solution[blocked, 0]]
    return Farthest(
        solution[:, 0].copy(), _Problem(chart, given_bases, False).poses(solution), blocked
    )


def _descend(
    problem: _Problem, variables: FloatArray, first: float
) -> tuple[FloatArray, BoolArray]:
    """Return the variables at the smallest mu, and whether singular poses stood in the way."""
    if not np.isfinite(problem.value(variables, first)).all():
        raise InputError("center", "must be strictly inside the actuators' limits")
    blocked = np.zeros(len(variables), dtype=bool)
    barrier_weight = first
    while True:
        for _ in range(NEWTON_STEPS):
            variables, blocked = problem.improve(variables, barrier_weight)
        if barrier_weight <= FINAL_WEIGHT:
            return variables, blocked
        barrier_weight = max(WEIGHT_FACTOR * barrier_weight, FINAL_WEIGHT)


class _Problem:
    """The searches of one chart, one per basis; `walled` off as `Admissible.distances` or not."""

    def __init__(self, chart: Chart, bases: FloatArray, walled: bool) -> None:
        self.chart, self.bases, self.walled = chart, bases, walled
        self.admissible = Admissible(chart.platform, chart.center)
        self.units = self.admissible.distances(chart.center[None])[0] if walled else np.zeros(0)
        self.upper = np.ones(chart.platform.n_actuators + len(self.units))
        self.upper[chart.platform.n_actuators :] = 0.0
        q = bases.shape[2]
        unit = np.eye(q)
        self.pairs = [(i, j) for i in range(q) for j in range(i)]
        diagonal_steps = np.array([unit[i] + unit[j] for i, j in self.pairs]).reshape(-1, q)
        steps = np.vstack([np.zeros((1, q)), unit, -unit, diagonal_steps, -diagonal_steps])
        self.stencil = DIFFERENCE_STEP * steps

    def poses(self, variables: FloatArray) -> FloatArray:
        """Return poses `(m, ..., 7)` of variables `(m, ..., q)`."""
        values = np.einsum("mkq,m...q->m...k", self.bases, variables) * self.chart.scale
        return self.chart.poses(values)

    def shares(self, variables: FloatArray) -> FloatArray:
        """Return the used fraction of every actuator's stroke, `(m, ..., n)`.

        With walls, the distances from them over those of the centre follow, which have no upper
        limit.
        """
        platform = self.chart.platform
        poses = self.poses(variables)
        flat_poses = poses.reshape(-1, 7)
        low, high = platform.minimum_coordinates, platform.maximum_coordinates
        fractions = (coordinates(platform, flat_poses) - low) / (high - low)
        if self.walled:
            fractions = np.column_stack(
                [fractions, self.admissible.distances(flat_poses) / self.units]
            )
        return np.asarray(fractions.reshape((*poses.shape[:-1], -1)))

    def value(self, variables: FloatArray, weight: float) -> FloatArray:
        """Return the barrier objective F `(m, ...)`; infinite outside the workspace."""
        fractions = self.shares(variables)
        is_inside = np.asarray(((fractions > 0.0) & (self.upper * fractions < 1.0)).all(axis=-1))
        # Outside, any fraction within the stroke keeps the logarithms finite.
        safe_fractions = np.where(is_inside[..., None], fractions, 0.5)
        walls = np.log(safe_fractions).sum(axis=-1) + np.log1p(-self.upper * safe_fractions).sum(
            axis=-1
        )
        return np.where(is_inside, -variables[..., 0] - weight * walls, np.inf)

    def improve(self, variables: FloatArray, weight: float) -> tuple[FloatArray, BoolArray]:
        """Return the variables after one Newton step, and whether a singular pose shortened it."""
        slope, curvature = self._derivatives(variables, weight)
        values, vectors = np.linalg.eigh(curvature)
        curvatures = np.maximum(np.abs(values), 1e-12 * np.abs(values).max(axis=1, keepdims=True))
        # Downhill also where F curves down.
        newton_components = np.einsum("mij,mi->mj", vectors, slope) / np.maximum(curvatures, 1e-300)
        step = -np.einsum("mij,mj->mi", vectors, newton_components)
        length = np.linalg.norm(step, axis=1, keepdims=True)
        step *= np.minimum(1.0, MAX_STEP / np.maximum(length, 1e-300))
        step_fractions = 0.5 ** np.arange(BARRIER_HALVINGS)
        trial_variables = variables[:, None] + step_fractions[:, None] * step[:, None]
        predicted_slope = np.einsum("mi,mi->m", slope, step)
        value_before = self.value(variables, weight)
        lower = (
            self.value(trial_variables, weight)
            <= value_before[:, None]
            + MIN_DECREASE_RATIO * step_fractions * predicted_slope[:, None]
        )
        allowed = self.admissible.inside(self.poses(trial_variables).reshape(-1, 7)).reshape(
            lower.shape
        )
        is_accepted = lower & allowed
        rows = np.arange(len(variables))
        accepted_index = is_accepted.argmax(axis=1)
        new_variables = np.where(
            is_accepted.any(axis=1)[:, None], trial_variables[rows, accepted_index], variables
        )
        return new_variables, np.asarray((lower & ~allowed).any(axis=1))

    def _derivatives(self, variables: FloatArray, weight: float) -> tuple[FloatArray, FloatArray]:
        """Return gradient `(m, q)` and Hessian `(m, q, q)` of F."""
        q = variables.shape[1]
        fractions = np.nan_to_num(self.shares(variables[:, None] + self.stencil), nan=0.5)
        at_center, at_plus, at_minus = (
            fractions[:, 0],
            fractions[:, 1 : q + 1],
            fractions[:, q + 1 : 2 * q + 1],
        )
        count = len(self.pairs)
        at_plus_plus, at_minus_minus = (
            fractions[:, 2 * q + 1 : 2 * q + 1 + count],
            fractions[:, 2 * q + 1 + count :],
        )
        first_derivatives = (at_plus - at_minus) / (2.0 * DIFFERENCE_STEP)
        second_derivatives = np.empty((len(variables), q, q, fractions.shape[2]))
        plus_and_minus = at_plus + at_minus
        for i in range(q):
            second_derivatives[:, i, i] = plus_and_minus[:, i] - 2.0 * at_center
        for k, (i, j) in enumerate(self.pairs):
            mixed_difference = (
                at_plus_plus[:, k]
                + at_minus_minus[:, k]
                - plus_and_minus[:, i]
                - plus_and_minus[:, j]
                + 2.0 * at_center
            )
            second_derivatives[:, i, j] = second_derivatives[:, j, i] = 0.5 * mixed_difference
        second_derivatives /= DIFFERENCE_STEP**2
        upper_margin = 1.0 - self.upper * at_center
        barrier_slope = weight * (1.0 / at_center - self.upper / upper_margin)
        barrier_curvature = weight * (1.0 / at_center**2 + self.upper / upper_margin**2)
        slope = -np.einsum("mqn,mn->mq", first_derivatives, barrier_slope)
        slope[:, 0] -= 1.0
        curvature = np.einsum(
            "min,mn,mjn->mij", first_derivatives, barrier_curvature, first_derivatives
        )
        curvature -= np.einsum("mijn,mn->mij", second_derivatives, barrier_slope)
        return slope, curvature


NEIGHBOUR_RAYS = 24
"""Rays next to a ray whose attitudes are tried on it."""

RADII_PER_NEIGHBOUR = 8
"""Radii that are tried with the attitude of each neighbour."""


class FreeRays:
    """Rays of one chart and how far they have got; radii in scaled units."""

    def __init__(self, chart: Chart, directions: FloatArray) -> None:
        """Search along unit vectors `(m, 3)` from the centre.

        Raises:
            InputError: the centre is not strictly inside the workspace.
        """
        self.chart, self.directions = chart, directions
        self.admissible = Admissible(chart.platform, chart.center)
        first_search = farthest(chart, _bases(directions))
        self.near, self.far, self.behind = (first_search.radii.copy() for _ in range(3))
        self.poses, self.blocked = first_search.poses, first_search.blocked

    def inside(self, directions: FloatArray, variables: FloatArray) -> BoolArray:
        """Return whether radii and rotation vectors `(k, 4)` along directions are admissible."""
        values = np.hstack([variables[:, :1] * directions, variables[:, 1:]])
        return self.admissible.inside(self.chart.poses(values * self.chart.scale))

    def extend(self, ray: IndexArray, lowest: FloatArray, highest: FloatArray) -> None:
        """Search on from poses `(q, 4)` of some rays, outwards and back."""
        if not ray.size:
            return
        outward = farthest(self.chart, _bases(self.directions[ray]), highest, REFINING_WEIGHT)
        is_farther = outward.radii > self.far[ray]
        ray, lowest = ray[is_farther], lowest[is_farther]
        if not ray.size:
            return
        self.far[ray], self.poses[ray] = outward.radii[is_farther], outward.poses[is_farther]
        self.blocked[ray] = outward.blocked[is_farther]
        reversed_start = lowest * [-1.0, 1.0, 1.0, 1.0]
        inward = farthest(
            self.chart, _bases(-self.directions[ray]), reversed_start, REFINING_WEIGHT
        )
        segment_start = -inward.radii
        is_hidden = self.behind[ray] > self.near[ray]
        segment_start = np.where(
            is_hidden, np.minimum(segment_start, self.behind[ray]), segment_start
        )
        is_adjacent = segment_start <= self.near[ray] * (1.0 + GAP_TOLERANCE)
        self.near[ray] = np.where(is_adjacent, self.far[ray], self.near[ray])
        self.behind[ray] = np.where(is_adjacent, self.far[ray], segment_start)


def walked_starts(rays: FreeRays, places: FloatArray) -> tuple[IndexArray, FloatArray, FloatArray]:
    """Return rays with poses of a walk beyond `near`: the lowest and the highest, `(q, 4)`.

    Attitudes of the poses whose places are closest to a ray are tried on it.
    """
    squared_radii = np.einsum("ij,ij->i", places[:, :3], places[:, :3])
    ray, lowest, highest = [], [], []
    for ray_index in range(len(rays.directions)):
        variables = _carried(rays, places, squared_radii, ray_index, rays.near[ray_index])
        if len(variables):
            ray.append(ray_index)
            lowest.append(variables[variables[:, 0].argmin()])
            highest.append(variables[variables[:, 0].argmax()])
    return np.array(ray, dtype=np.int64), np.array(lowest), np.array(highest)


def scattered_starts(
    rays: FreeRays, places: FloatArray
) -> tuple[IndexArray, FloatArray, FloatArray]:
    """Return rays that get farther from elsewhere, and where the search began and ended, `(q, 4)`.

    They begin at random poses of a walk, carried over to the ray, at any radius.
    """
    random = np.random.default_rng(0)
    squared_radii = np.einsum("ij,ij->i", places[:, :3], places[:, :3])
    ray, starts = [], []
    for ray_index in range(len(rays.directions)):
        variables = _carried(rays, places, squared_radii, ray_index, 0.0)
        random_choice = random.permutation(len(variables))[:SEARCHES_PER_RAY]
        ray += [ray_index] * len(random_choice)
        starts.append(variables[random_choice])
    rows, search_starts = np.array(ray, dtype=np.int64), np.concatenate(starts)
    if not rows.size:
        return rows, search_starts, search_starts
    solution = farthest(
        rays.chart, _bases(rays.directions[rows]), search_starts, SEPARATE_START_WEIGHT
    )
    order = np.lexsort((-solution.radii, rows))
    best_searches = order[np.r_[True, np.diff(rows[order]) > 0]]
    best_searches = best_searches[
        solution.radii[best_searches] > rays.far[rows[best_searches]] * (1.0 + MIN_RADIUS_GAIN)
    ]
    search_ends = np.column_stack([solution.radii, _attitudes(rays, solution.poses)])
    return rows[best_searches], search_starts[best_searches], search_ends[best_searches]


def _carried(
    rays: FreeRays, places: FloatArray, squares: FloatArray, ray: int, beyond: float
) -> FloatArray:
    """Return admissible radii and attitudes `(q, 4)` on a ray: of walked poses near it."""
    direction = rays.directions[ray]
    distance_along = places[:, :3] @ direction
    squared_distance = np.where(distance_along > beyond, squares - distance_along**2, np.inf)
    nearest_poses = np.argpartition(squared_distance, POSES_PER_RAY)[:POSES_PER_RAY]
    nearest_poses = nearest_poses[np.isfinite(squared_distance[nearest_poses])]
    variables = np.column_stack([distance_along[nearest_poses], places[nearest_poses, 3:]])
    return variables[rays.inside(np.broadcast_to(direction, (len(nearest_poses), 3)), variables)]


def _attitudes(rays: FreeRays, poses: FloatArray) -> FloatArray:
    """Return the rotation vectors `(m, 3)` from the centre's attitude to those of poses."""
    from scipy.spatial.transform import Rotation

    rotation = Rotation.from_quat(poses[:, [4, 5, 6, 3]])
    center = Rotation.from_quat(rays.chart.center[[4, 5, 6, 3]])
    return np.asarray((rotation * center.inv()).as_rotvec())


def _bases(directions: FloatArray) -> FloatArray:
    """Return what `farthest` varies: the radius along unit vectors `(m, 3)`, and the attitude."""
    bases = np.zeros((len(directions), 6, 4))
    bases[:, :3, 0] = directions
    bases[:, 3:, 1:] = np.eye(3)
    return bases


def neighbour_starts(rays: FreeRays) -> tuple[IndexArray, FloatArray]:
    """Return rays that get farther with the attitude of a neighbour, and where, `(q, 4)`."""
    attitudes = _attitudes(rays, rays.poses)
    count = min(NEIGHBOUR_RAYS, len(rays.directions) - 1)
    closest = np.argsort(-rays.directions @ rays.directions.T, axis=1)[:, 1 : count + 1]
    # From just beyond what a ray has to as far as its neighbour got, [ray, neighbour, part].
    own_radius, neighbour_radius = rays.far[:, None, None], rays.far[closest][:, :, None]
    radius_fractions = MIN_RADIUS_GAIN + np.arange(RADII_PER_NEIGHBOUR) / RADII_PER_NEIGHBOUR
    radii = own_radius + radius_fractions * np.maximum(
        neighbour_radius - own_radius, MIN_RADIUS_GAIN * own_radius
    )
    shape = radii.shape
    neighbour_attitudes = np.broadcast_to(attitudes[closest][:, :, None], (*shape, 3))
    variables = np.concatenate([radii[..., None], neighbour_attitudes], axis=-1).reshape(-1, 4)
    ray_directions = np.broadcast_to(rays.directions[:, None, None], (*shape, 3)).reshape(-1, 3)
    is_inside = rays.inside(ray_directions, variables).reshape(shape[0], -1)
    reached_radii = np.where(is_inside, radii.reshape(shape[0], -1), -np.inf)
    best_variant = reached_radii.argmax(axis=1)
    ray = np.flatnonzero(is_inside.any(axis=1))
    return ray, variables.reshape(shape[0], -1, 4)[ray, best_variant[ray]]


def wander(chart: Chart, seed: int = 0) -> FloatArray:
    """Return scaled axis values `(CHAIN_COUNT * KEPT_STEPS, k)` of admissible poses.

    Raises:
        InputError: the centre is outside the workspace or singular.
    """
    random = np.random.default_rng(seed)
    admissible = Admissible(chart.platform, chart.center)
    chain_values = np.zeros((CHAIN_COUNT, len(chart.axes)))
    kept_values = []
    for step in range(CHAIN_STEPS):
        direction = random.normal(size=chain_values.shape)
        direction /= np.linalg.norm(direction, axis=1, keepdims=True)
        low, high = -np.ones(CHAIN_COUNT), np.ones(CHAIN_COUNT)
        waiting = np.arange(CHAIN_COUNT)
        for _ in range(MAX_SHRINKS):
            step_length = random.uniform(low[waiting], high[waiting])
            trial_values = chain_values[waiting] + step_length[:, None] * direction[waiting]
            is_admissible = admissible.inside(chart.poses(trial_values * chart.scale))
            chain_values[waiting[is_admissible]] = trial_values[is_admissible]
            waiting, step_length = waiting[~is_admissible], step_length[~is_admissible]
            if not waiting.size:
                break
            low[waiting] = np.where(step_length < 0.0, step_length, low[waiting])
            high[waiting] = np.where(step_length < 0.0, high[waiting], step_length)
        if step >= CHAIN_STEPS - KEPT_STEPS:
            kept_values.append(chain_values.copy())
    return np.concatenate(kept_values)
