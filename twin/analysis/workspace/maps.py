"""Maps over two axes: workspace, dexterity and stiffness."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from twin.analysis.workspace.admissible import Admissible, square
from twin.analysis.workspace.chart import Chart
from twin.analysis.workspace.dexterity import Dexterity, StiffnessRange, dexterity, stiffness_range
from twin.analysis.workspace.search.rays import circle, search, singular_distance
from twin.basics.arrays import FloatArray
from twin.errors import InputError
from twin.model.machine_model import MachineModel

POINTS = 101
"""Per axis of a map."""

DIRECTIONS = 360
"""Rays in the plane for the boundary."""

ROOM = 1.06
"""Size of a map per that of the workspace in it."""


class PlaneMap(NamedTuple):
    """Quantities over two axes of a chart; NaN outside the workspace."""

    chart: Chart
    x: FloatArray
    """`(k,)` values of the first axis from the centre [m] or [rad]"""
    y: FloatArray
    """`(k,)` values of the second axis"""
    dexterity: Dexterity
    """fields `(k, k)`, rows along y"""
    stiffness: StiffnessRange
    """fields `(k, k)`"""
    boundary: FloatArray
    """`(m, 2)` closed curve where rays from the centre first leave"""
    singular: FloatArray
    """`(m, 2)` first singular poses along the same rays, limits aside; NaN where there is none"""

    @property
    def extremes(self) -> tuple[FloatArray, FloatArray]:
        """Lowest and highest values `(2,)` of the boundary."""
        return self.boundary.min(axis=0), self.boundary.max(axis=0)

    @property
    def area(self) -> float:
        """Area inside the boundary [m^2], [m rad] or [rad^2]."""
        x, y = self.boundary.T
        return float(0.5 * abs(np.sum(x[:-1] * y[1:] - x[1:] * y[:-1])))


def plane_map(
    platform: MachineModel,
    axes: Sequence[str],
    center: Any = None,
    *,
    stiffness: Any = None,
    points: int = POINTS,
) -> PlaneMap:
    """Return the map over two axes about a pose (default home).

    Args:
        platform: the machine.
        axes: two names, see `Chart.about`; for places ("x", "z"), for attitudes ("pitch", "roll").
        center: pose `(7,)`, default home.
        stiffness: of the actuators, see `leg_stiffness`.
        points: per axis.

    Raises:
        InputError: not two axes, a centre outside the workspace, or as for `leg_stiffness`.
    """
    chart = Chart.about(platform, axes, center)
    if len(chart.axes) != 2:
        raise InputError("axes", "must be two")
    around = circle(DIRECTIONS)
    rays = search(chart, around)
    ends = around[rays.ray] * rays.stop[:, None] * chart.scale
    low, high = ends.min(axis=0), ends.max(axis=0)
    middle, half = 0.5 * (low + high), 0.5 * ROOM * (high - low)
    x, y = (np.linspace(m - h, m + h, points) for m, h in zip(middle, half, strict=True))
    poses = chart.poses(np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2))
    inside = Admissible(platform, chart.center).inside(poses)

    def field(values: FloatArray) -> FloatArray:
        whole = np.full(len(poses), np.nan)
        whole[inside] = values
        return whole.reshape(points, points)

    moves, holds = (
        dexterity(platform, poses[inside]),
        stiffness_range(platform, poses[inside], stiffness),
    )
    closed = np.r_[np.arange(DIRECTIONS), 0]
    boundary = (around * rays.exits[:, None] * chart.scale)[closed]
    far = np.full((DIRECTIONS, 2), np.nan)
    if square(platform):
        radii = singular_distance(chart, around)
        known = np.isfinite(radii)
        far[known] = around[known] * radii[known, None] * chart.scale
    return PlaneMap(
        chart,
        x,
        y,
        Dexterity(*(field(part) for part in moves)),
        StiffnessRange(*(field(part) for part in holds)),
        boundary,
        far[closed],
    )
