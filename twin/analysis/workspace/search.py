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
"""First mu [scaled units] for starts that are to be improved rather than left."""

NEWTON_STEPS = 5
"""Newton steps per value of mu."""

MAX_STEP = 0.3
"""[scaled units] Largest length of one Newton step."""

BARRIER_HALVINGS = 12
"""Halvings of one Newton step at most."""

MIN_DECREASE_RATIO = 1e-4
"""Fraction of the predicted fall of F that a step must reach."""

POSES_PER_RAY = 200
"""Poses of the walk that are tried per ray: those whose places are closest to it."""

SEARCHES_PER_RAY = 3
"""Searches per ray from scattered poses of the walk."""

MIN_RADIUS_GAIN = 1e-3
"""Relative gain of radius below which another search is not worth it."""

GAP_TOLERANCE = 1e-6
"""Gap between two segments, relative to the radius, up to which they are one."""

CHAIN_COUNT = 512
"""Chains of the random walk."""

CHAIN_STEPS = 100
"""Steps of every chain."""

KEPT_STEPS = 40
"""Last steps of every chain that are returned."""

MAX_SHRINKS = 10
"""Shortenings of a step at most; after them the chain stays where it is."""


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
    size = extent(chart, directions) if reach is None else reach
    while True:
        steps = size * np.arange(samples + 1) / samples
        radii = np.broadcast_to(steps, (len(directions), samples + 1))
        poses = chart.along(directions[:, None], radii)
        inside = admissible.inside(poses.reshape(-1, 7)).reshape(len(directions), -1)
        if size >= chart.bound or not inside[:, -1].any():
            break
        size = min(RAY_GROWTH * size, chart.bound)
    ray, place = np.nonzero(inside[:, 1:] != inside[:, :-1])
    leaving = inside[ray, place]
    low, high = steps[place], steps[place + 1]
    for _ in range(BISECTION_STEPS):
        middle = 0.5 * (low + high)
        same = admissible.inside(chart.along(directions[ray], middle)) == leaving
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    whole = np.flatnonzero(inside[:, -1])
    begun = np.flatnonzero(inside[:, 0])
    start = _sorted(np.r_[begun, ray[~leaving]], np.r_[np.zeros(len(begun)), high[~leaving]])
    stop = _sorted(np.r_[ray[leaving], whole], np.r_[low[leaving], np.full(len(whole), size)])
    exits = np.zeros(len(directions))
    # Written from the last segment to the first, so that the first one stays.
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
        steps = bound * np.arange(1, COARSE_SAMPLES + 1) / COARSE_SAMPLES
        poses = chart.along(some[:, None], np.broadcast_to(steps, (len(some), COARSE_SAMPLES)))
        inside = admissible.inside(poses.reshape(-1, 7)).reshape(len(some), -1).any(axis=0)
        last = int(np.flatnonzero(inside)[-1]) + 1 if inside.any() else 0
        if last >= COARSE_SAMPLES // 8 or bound < 1e-6 * chart.bound:
            return float(min(chart.bound, RAY_MARGIN * steps[max(last, 1) - 1] + steps[0]))
        bound = float(steps[min(4 * last + 3, COARSE_SAMPLES - 1)])


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
    steps = size * np.arange(SINGULAR_SAMPLES + 1) / SINGULAR_SAMPLES
    shape = (len(directions), SINGULAR_SAMPLES + 1)
    poses = chart.along(directions[:, None], np.broadcast_to(steps, shape))
    values = determinants(chart.platform, poses.reshape(-1, 7)).reshape(shape)
    side = np.sign(values[0, 0])
    if not side:
        raise InputError("center", "is a singular pose")
    other = side * values <= 0.0
    missing = np.isnan(values)
    first_missing = np.where(missing.any(axis=1), missing.argmax(axis=1), SINGULAR_SAMPLES + 1)
    place = other.argmax(axis=1)
    ray = np.flatnonzero(other.any(axis=1) & (place < first_missing))
    low, high = steps[place[ray] - 1], steps[place[ray]]
    for _ in range(BISECTION_STEPS):
        middle = 0.5 * (low + high)
        here = determinants(chart.platform, chart.along(directions[ray], middle))
        near = side * here > 0.0
        low, high = np.where(near, middle, low), np.where(near, high, middle)
    found = np.full(len(directions), np.inf)
    found[ray] = low
    return found


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
    """`(m, 7)`"""
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
    given = np.asarray(bases, dtype=np.float64)
    origin = np.zeros((len(given), given.shape[2])) if start is None else start
    found, blocked = _descend(_Problem(chart, given, False), origin, first)
    if blocked.any():
        detour, _ = _descend(_Problem(chart, given[blocked], True), origin[blocked], first)
        rows = np.flatnonzero(blocked)[detour[:, 0] > found[blocked, 0]]
        found[rows] = detour[detour[:, 0] > found[blocked, 0]]
    return Farthest(found[:, 0].copy(), _Problem(chart, given, False).poses(found), blocked)


def _descend(
    problem: _Problem, variables: FloatArray, first: float
) -> tuple[FloatArray, BoolArray]:
    """Return the variables at the smallest mu, and whether singular poses stood in the way."""
    if not np.isfinite(problem.value(variables, first)).all():
        raise InputError("center", "must be strictly inside the actuators' limits")
    blocked = np.zeros(len(variables), dtype=bool)
    weight = first
    while True:
        for _ in range(NEWTON_STEPS):
            variables, blocked = problem.improve(variables, weight)
        if weight <= FINAL_WEIGHT:
            return variables, blocked
        weight = max(WEIGHT_FACTOR * weight, FINAL_WEIGHT)


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
        both = np.array([unit[i] + unit[j] for i, j in self.pairs]).reshape(-1, q)
        steps = np.vstack([np.zeros((1, q)), unit, -unit, both, -both])
        self.stencil = DIFFERENCE_STEP * steps

    def poses(self, variables: FloatArray) -> FloatArray:
        """Return poses `(m, ..., 7)` of variables `(m, ..., q)`."""
        values = np.einsum("mkq,m...q->m...k", self.bases, variables) * self.chart.scale
        return self.chart.poses(values)

    def shares(self, variables: FloatArray) -> FloatArray:
        """Return the used share of every actuator's stroke, `(m, ..., n)`.

        Behind walls, the distances from them per those of the centre follow, without upper ends.
        """
        platform = self.chart.platform
        poses = self.poses(variables)
        flat = poses.reshape(-1, 7)
        low, high = platform.minimum_coordinates, platform.maximum_coordinates
        found = (coordinates(platform, flat) - low) / (high - low)
        if self.walled:
            found = np.column_stack([found, self.admissible.distances(flat) / self.units])
        return np.asarray(found.reshape((*poses.shape[:-1], -1)))

    def value(self, variables: FloatArray, weight: float) -> FloatArray:
        """Return F `(m, ...)`; infinite outside."""
        shares = self.shares(variables)
        inside = np.asarray(((shares > 0.0) & (self.upper * shares < 1.0)).all(axis=-1))
        safe = np.where(inside[..., None], shares, 0.5)
        walls = np.log(safe).sum(axis=-1) + np.log1p(-self.upper * safe).sum(axis=-1)
        return np.where(inside, -variables[..., 0] - weight * walls, np.inf)

    def improve(self, variables: FloatArray, weight: float) -> tuple[FloatArray, BoolArray]:
        """Return the variables after one Newton step, and whether a singular pose shortened it."""
        slope, curvature = self._derivatives(variables, weight)
        values, vectors = np.linalg.eigh(curvature)
        sizes = np.maximum(np.abs(values), 1e-12 * np.abs(values).max(axis=1, keepdims=True))
        # Downhill also where F curves down.
        within = np.einsum("mij,mi->mj", vectors, slope) / np.maximum(sizes, 1e-300)
        step = -np.einsum("mij,mj->mi", vectors, within)
        length = np.linalg.norm(step, axis=1, keepdims=True)
        step *= np.minimum(1.0, MAX_STEP / np.maximum(length, 1e-300))
        parts = 0.5 ** np.arange(BARRIER_HALVINGS)
        tried = variables[:, None] + parts[:, None] * step[:, None]
        fall = np.einsum("mi,mi->m", slope, step)
        before = self.value(variables, weight)
        lower = (
            self.value(tried, weight)
            <= before[:, None] + MIN_DECREASE_RATIO * parts * fall[:, None]
        )
        allowed = self.admissible.inside(self.poses(tried).reshape(-1, 7)).reshape(lower.shape)
        good = lower & allowed
        rows = np.arange(len(variables))
        place = good.argmax(axis=1)
        moved = np.where(good.any(axis=1)[:, None], tried[rows, place], variables)
        return moved, np.asarray((lower & ~allowed).any(axis=1))

    def _derivatives(self, variables: FloatArray, weight: float) -> tuple[FloatArray, FloatArray]:
        """Return slope `(m, q)` and curvature `(m, q, q)` of F."""
        q = variables.shape[1]
        shares = np.nan_to_num(self.shares(variables[:, None] + self.stencil), nan=0.5)
        here, ahead, behind = shares[:, 0], shares[:, 1 : q + 1], shares[:, q + 1 : 2 * q + 1]
        count = len(self.pairs)
        up, down = shares[:, 2 * q + 1 : 2 * q + 1 + count], shares[:, 2 * q + 1 + count :]
        first = (ahead - behind) / (2.0 * DIFFERENCE_STEP)
        second = np.empty((len(variables), q, q, shares.shape[2]))
        sums = ahead + behind
        for i in range(q):
            second[:, i, i] = sums[:, i] - 2.0 * here
        for k, (i, j) in enumerate(self.pairs):
            mixed = up[:, k] + down[:, k] - sums[:, i] - sums[:, j] + 2.0 * here
            second[:, i, j] = second[:, j, i] = 0.5 * mixed
        second /= DIFFERENCE_STEP**2
        rest = 1.0 - self.upper * here
        pull = weight * (1.0 / here - self.upper / rest)
        bend = weight * (1.0 / here**2 + self.upper / rest**2)
        slope = -np.einsum("mqn,mn->mq", first, pull)
        slope[:, 0] -= 1.0
        curvature = np.einsum("min,mn,mjn->mij", first, bend, first)
        curvature -= np.einsum("mijn,mn->mij", second, pull)
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
        found = farthest(chart, _bases(directions))
        self.near, self.far, self.behind = (found.radii.copy() for _ in range(3))
        self.poses, self.blocked = found.poses, found.blocked

    def inside(self, directions: FloatArray, variables: FloatArray) -> BoolArray:
        """Return whether radii and rotation vectors `(k, 4)` along directions are admissible."""
        values = np.hstack([variables[:, :1] * directions, variables[:, 1:]])
        return self.admissible.inside(self.chart.poses(values * self.chart.scale))

    def extend(self, ray: IndexArray, lowest: FloatArray, highest: FloatArray) -> None:
        """Search on from poses `(q, 4)` of some rays, outwards and back."""
        if not ray.size:
            return
        out = farthest(self.chart, _bases(self.directions[ray]), highest, REFINING_WEIGHT)
        better = out.radii > self.far[ray]
        ray, lowest = ray[better], lowest[better]
        if not ray.size:
            return
        self.far[ray], self.poses[ray] = out.radii[better], out.poses[better]
        self.blocked[ray] = out.blocked[better]
        turned = lowest * [-1.0, 1.0, 1.0, 1.0]
        back = farthest(self.chart, _bases(-self.directions[ray]), turned, REFINING_WEIGHT)
        begin = -back.radii
        hidden = self.behind[ray] > self.near[ray]
        begin = np.where(hidden, np.minimum(begin, self.behind[ray]), begin)
        adjacent = begin <= self.near[ray] * (1.0 + GAP_TOLERANCE)
        self.near[ray] = np.where(adjacent, self.far[ray], self.near[ray])
        self.behind[ray] = np.where(adjacent, self.far[ray], begin)


def walked_starts(rays: FreeRays, places: FloatArray) -> tuple[IndexArray, FloatArray, FloatArray]:
    """Return rays with poses of a walk beyond `near`: the lowest and the highest, `(q, 4)`.

    Attitudes of the poses whose places are closest to a ray are tried on it.
    """
    squares = np.einsum("ij,ij->i", places[:, :3], places[:, :3])
    ray, lowest, highest = [], [], []
    for number in range(len(rays.directions)):
        variables = _carried(rays, places, squares, number, rays.near[number])
        if len(variables):
            ray.append(number)
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
    squares = np.einsum("ij,ij->i", places[:, :3], places[:, :3])
    ray, starts = [], []
    for number in range(len(rays.directions)):
        variables = _carried(rays, places, squares, number, 0.0)
        some = random.permutation(len(variables))[:SEARCHES_PER_RAY]
        ray += [number] * len(some)
        starts.append(variables[some])
    rows, start = np.array(ray, dtype=np.int64), np.concatenate(starts)
    if not rows.size:
        return rows, start, start
    found = farthest(rays.chart, _bases(rays.directions[rows]), start, SEPARATE_START_WEIGHT)
    order = np.lexsort((-found.radii, rows))
    best = order[np.r_[True, np.diff(rows[order]) > 0]]
    best = best[found.radii[best] > rays.far[rows[best]] * (1.0 + MIN_RADIUS_GAIN)]
    ends = np.column_stack([found.radii, _attitudes(rays, found.poses)])
    return rows[best], start[best], ends[best]


def _carried(
    rays: FreeRays, places: FloatArray, squares: FloatArray, ray: int, beyond: float
) -> FloatArray:
    """Return admissible radii and attitudes `(q, 4)` on a ray: of walked poses near it."""
    direction = rays.directions[ray]
    along = places[:, :3] @ direction
    aside = np.where(along > beyond, squares - along**2, np.inf)
    some = np.argpartition(aside, POSES_PER_RAY)[:POSES_PER_RAY]
    some = some[np.isfinite(aside[some])]
    variables = np.column_stack([along[some], places[some, 3:]])
    return variables[rays.inside(np.broadcast_to(direction, (len(some), 3)), variables)]


def _attitudes(rays: FreeRays, poses: FloatArray) -> FloatArray:
    """Return the rotation vectors `(m, 3)` from the centre's attitude to those of poses."""
    from scipy.spatial.transform import Rotation

    turn = Rotation.from_quat(poses[:, [4, 5, 6, 3]])
    center = Rotation.from_quat(rays.chart.center[[4, 5, 6, 3]])
    return np.asarray((turn * center.inv()).as_rotvec())


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
    far, other = rays.far[:, None, None], rays.far[closest][:, :, None]
    parts = MIN_RADIUS_GAIN + np.arange(RADII_PER_NEIGHBOUR) / RADII_PER_NEIGHBOUR
    radii = far + parts * np.maximum(other - far, MIN_RADIUS_GAIN * far)
    shape = radii.shape
    turns = np.broadcast_to(attitudes[closest][:, :, None], (*shape, 3))
    variables = np.concatenate([radii[..., None], turns], axis=-1).reshape(-1, 4)
    along = np.broadcast_to(rays.directions[:, None, None], (*shape, 3)).reshape(-1, 3)
    inside = rays.inside(along, variables).reshape(shape[0], -1)
    reached = np.where(inside, radii.reshape(shape[0], -1), -np.inf)
    best = reached.argmax(axis=1)
    ray = np.flatnonzero(inside.any(axis=1))
    return ray, variables.reshape(shape[0], -1, 4)[ray, best[ray]]


def wander(chart: Chart, seed: int = 0) -> FloatArray:
    """Return scaled axis values `(CHAIN_COUNT * KEPT_STEPS, k)` of admissible poses.

    Raises:
        InputError: the centre is outside the workspace or singular.
    """
    random = np.random.default_rng(seed)
    admissible = Admissible(chart.platform, chart.center)
    place = np.zeros((CHAIN_COUNT, len(chart.axes)))
    kept = []
    for step in range(CHAIN_STEPS):
        direction = random.normal(size=place.shape)
        direction /= np.linalg.norm(direction, axis=1, keepdims=True)
        low, high = -np.ones(CHAIN_COUNT), np.ones(CHAIN_COUNT)
        waiting = np.arange(CHAIN_COUNT)
        for _ in range(MAX_SHRINKS):
            part = random.uniform(low[waiting], high[waiting])
            tried = place[waiting] + part[:, None] * direction[waiting]
            fine = admissible.inside(chart.poses(tried * chart.scale))
            place[waiting[fine]] = tried[fine]
            waiting, part = waiting[~fine], part[~fine]
            if not waiting.size:
                break
            low[waiting] = np.where(part < 0.0, part, low[waiting])
            high[waiting] = np.where(part < 0.0, high[waiting], part)
        if step >= CHAIN_STEPS - KEPT_STEPS:
            kept.append(place.copy())
    return np.concatenate(kept)
