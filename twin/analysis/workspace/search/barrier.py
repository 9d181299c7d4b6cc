"""Largest displacement along one axis while others are free: an interior-point search.

Maximises the first of the variables u (m problems at once) over poses whose actuator coordinates q
stay inside their limits, by Newton's method on

    F(u) = -u_1 - mu sum_i [log s_i + log(1 - s_i)],    s_i = (q_i - minimum_i) / stroke_i,

with mu falling to nothing. Slopes and curvatures of s are central differences of the inverse
kinematics. A step is shortened until F falls and the pose is admissible, so that the way from the
centre to the result never leaves the workspace and never passes a singular pose.

Reference: Boyd and Vandenberghe, Convex Optimization, chapter 11.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from twin.analysis.workspace.admissible import Admissible, coordinates
from twin.analysis.workspace.chart import Chart
from twin.basics.arrays import BoolArray, FloatArray
from twin.errors import InputError

DIFFERENCE = 1e-4
"""Step in scaled units: curvatures are good to 1e-8, slopes to 1e-8."""

FIRST, LAST, FACTOR = 0.3, 1e-9, 0.1
"""mu at the beginning and at the end [scaled units], and its steps."""

APART = 0.03
"""First mu [scaled units] for starts of their own: smaller ones end in more corners, larger ones
go back to where the search from the centre passes."""

NEAR = 1e-5
"""First mu [scaled units] for starts that are to be improved rather than left."""

NEWTON_STEPS = 5
"""Per value of mu."""

LARGEST_STEP = 0.3
"""[scaled units] of one Newton step."""

HALVINGS = 12

DESCENT = 1e-4
"""Part of the predicted fall of F that a step must reach."""


class Farthest(NamedTuple):
    """End of the search."""

    radii: FloatArray
    """`(m,)` largest first variable [scaled units]"""
    poses: FloatArray
    """`(m, 7)`"""
    blocked: BoolArray
    """`(m,)` whether a singular pose or the other plate stood in the way"""


def farthest(
    chart: Chart, bases: Any, start: FloatArray | None = None, first: float = FIRST
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
        beside, _ = _descend(_Problem(chart, given[blocked], True), origin[blocked], first)
        rows = np.flatnonzero(blocked)[beside[:, 0] > found[blocked, 0]]
        found[rows] = beside[beside[:, 0] > found[blocked, 0]]
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
        if weight <= LAST:
            return variables, blocked
        weight = max(FACTOR * weight, LAST)


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
        self.stencil = DIFFERENCE * steps

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
        step *= np.minimum(1.0, LARGEST_STEP / np.maximum(length, 1e-300))
        parts = 0.5 ** np.arange(HALVINGS)
        tried = variables[:, None] + parts[:, None] * step[:, None]
        fall = np.einsum("mi,mi->m", slope, step)
        before = self.value(variables, weight)
        lower = self.value(tried, weight) <= before[:, None] + DESCENT * parts * fall[:, None]
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
        first = (ahead - behind) / (2.0 * DIFFERENCE)
        second = np.empty((len(variables), q, q, shares.shape[2]))
        sums = ahead + behind
        for i in range(q):
            second[:, i, i] = sums[:, i] - 2.0 * here
        for k, (i, j) in enumerate(self.pairs):
            mixed = up[:, k] + down[:, k] - sums[:, i] - sums[:, j] + 2.0 * here
            second[:, i, j] = second[:, j, i] = 0.5 * mixed
        second /= DIFFERENCE**2
        rest = 1.0 - self.upper * here
        pull = weight * (1.0 / here - self.upper / rest)
        bend = weight * (1.0 / here**2 + self.upper / rest**2)
        slope = -np.einsum("mqn,mn->mq", first, pull)
        slope[:, 0] -= 1.0
        curvature = np.einsum("min,mn,mjn->mij", first, bend, first)
        curvature -= np.einsum("mijn,mn->mij", second, pull)
        return slope, curvature
