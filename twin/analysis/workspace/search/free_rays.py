"""Rays along which the attitude is free, and poses from which to search on along them.

Poses on a ray are given by variables `(4,)`: the scaled radius, and the rotation vector from the
attitude of the centre.

Random admissible poses: a walk through the workspace that starts at the centre.

Many chains at once; every step goes a random way along a random direction of the chart, shortened
until the pose is admissible. The chains spread over the part of the workspace that hangs together
with the centre, so that searches can start there which would not find it from the centre.

Reference: Neal, Slice sampling, 2003 (shrinkage), along random directions.
"""

from __future__ import annotations

import numpy as np

from twin.analysis.workspace.admissible import Admissible
from twin.analysis.workspace.chart import Chart
from twin.analysis.workspace.search.barrier import APART, NEAR, farthest
from twin.basics.arrays import BoolArray, FloatArray, IndexArray

TRIED = 200
"""Poses of the walk tried per ray: those whose places are closest to it."""

TRIES = 3
"""Searches per ray from scattered poses of the walk."""

NEIGHBOURS, PARTS = 24, 8
"""Rays beside a ray whose attitudes are tried on it, and radii tried with each."""

MARGIN = 1e-3
"""Gains of radius below this part of it are not worth another search."""

CLOSED = 1e-6
"""Gaps between two stretches up to this part of the radius are none."""


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
        out = farthest(self.chart, _bases(self.directions[ray]), highest, NEAR)
        better = out.radii > self.far[ray]
        ray, lowest = ray[better], lowest[better]
        if not ray.size:
            return
        self.far[ray], self.poses[ray] = out.radii[better], out.poses[better]
        self.blocked[ray] = out.blocked[better]
        turned = lowest * [-1.0, 1.0, 1.0, 1.0]
        back = farthest(self.chart, _bases(-self.directions[ray]), turned, NEAR)
        begin = -back.radii
        hidden = self.behind[ray] > self.near[ray]
        begin = np.where(hidden, np.minimum(begin, self.behind[ray]), begin)
        seen = begin <= self.near[ray] * (1.0 + CLOSED)
        self.near[ray] = np.where(seen, self.far[ray], self.near[ray])
        self.behind[ray] = np.where(seen, self.far[ray], begin)


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
        some = random.permutation(len(variables))[:TRIES]
        ray += [number] * len(some)
        starts.append(variables[some])
    rows, start = np.array(ray, dtype=np.int64), np.concatenate(starts)
    if not rows.size:
        return rows, start, start
    found = farthest(rays.chart, _bases(rays.directions[rows]), start, APART)
    order = np.lexsort((-found.radii, rows))
    best = order[np.r_[True, np.diff(rows[order]) > 0]]
    best = best[found.radii[best] > rays.far[rows[best]] * (1.0 + MARGIN)]
    ends = np.column_stack([found.radii, _attitudes(rays, found.poses)])
    return rows[best], start[best], ends[best]


def _carried(
    rays: FreeRays, places: FloatArray, squares: FloatArray, ray: int, beyond: float
) -> FloatArray:
    """Return admissible radii and attitudes `(q, 4)` on a ray: of walked poses near it."""
    direction = rays.directions[ray]
    along = places[:, :3] @ direction
    aside = np.where(along > beyond, squares - along**2, np.inf)
    some = np.argpartition(aside, TRIED)[:TRIED]
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
    """Return rays that get farther with the attitude of a ray beside them, and where, `(q, 4)`."""
    attitudes = _attitudes(rays, rays.poses)
    count = min(NEIGHBOURS, len(rays.directions) - 1)
    closest = np.argsort(-rays.directions @ rays.directions.T, axis=1)[:, 1 : count + 1]
    # From just beyond what a ray has to as far as its neighbour got, [ray, neighbour, part].
    own, other = rays.far[:, None, None], rays.far[closest][:, :, None]
    radii = own + (MARGIN + np.arange(PARTS) / PARTS) * np.maximum(other - own, MARGIN * own)
    shape = radii.shape
    turns = np.broadcast_to(attitudes[closest][:, :, None], (*shape, 3))
    variables = np.concatenate([radii[..., None], turns], axis=-1).reshape(-1, 4)
    along = np.broadcast_to(rays.directions[:, None, None], (*shape, 3)).reshape(-1, 3)
    inside = rays.inside(along, variables).reshape(shape[0], -1)
    reached = np.where(inside, radii.reshape(shape[0], -1), -np.inf)
    best = reached.argmax(axis=1)
    ray = np.flatnonzero(inside.any(axis=1))
    return ray, variables.reshape(shape[0], -1, 4)[ray, best[ray]]


CHAINS = 512

STEPS = 100

KEPT = 40
"""Last steps of every chain that are returned."""

SHRINKS = 10
"""Times a step is shortened before the chain stays where it is."""


def wander(chart: Chart, seed: int = 0) -> FloatArray:
    """Return scaled axis values `(CHAINS * KEPT, k)` of admissible poses.

    Raises:
        InputError: the centre is outside the workspace or singular.
    """
    random = np.random.default_rng(seed)
    admissible = Admissible(chart.platform, chart.center)
    place = np.zeros((CHAINS, len(chart.axes)))
    kept = []
    for step in range(STEPS):
        direction = random.normal(size=place.shape)
        direction /= np.linalg.norm(direction, axis=1, keepdims=True)
        low, high = -np.ones(CHAINS), np.ones(CHAINS)
        waiting = np.arange(CHAINS)
        for _ in range(SHRINKS):
            part = random.uniform(low[waiting], high[waiting])
            tried = place[waiting] + part[:, None] * direction[waiting]
            fine = admissible.inside(chart.poses(tried * chart.scale))
            place[waiting[fine]] = tried[fine]
            waiting, part = waiting[~fine], part[~fine]
            if not waiting.size:
                break
            low[waiting] = np.where(part < 0.0, part, low[waiting])
            high[waiting] = np.where(part < 0.0, high[waiting], part)
        if step >= STEPS - KEPT:
            kept.append(place.copy())
    return np.concatenate(kept)
