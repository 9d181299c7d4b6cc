"""Volume and surface of a workspace over three axes, by rays from a centre.

The volume is the integral of (stop^3 - start^3) / 3 over all directions and segments, times the
scales of the axes. It counts what rays reach behind a gap; `visible` counts the first segment only.
Three numbers of rays show the convergence.

Over x, y and z this is the constant-orientation workspace; on pillars z, roll and pitch are all
degrees of freedom, and the region is the whole workspace.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from twin.analysis.workspace.search import (
    Admissible,
    Cause,
    Chart,
    Rays,
    bisected,
    cause_text,
    dof_axes,
    extent,
    search,
    sphere,
)
from twin.basics.arrays import FloatArray
from twin.errors import InputError
from twin.model.machine_model import MachineModel

RAY_LEVELS = (16, 32, 64)
"""Heights of directions per level: 512, 2048 and 8192 rays."""

RADIAL_NODES = 8
"""Gauss-Legendre points along every segment of a ray for means over the volume."""

AXIS_SAMPLES = 1000
"""Poses tried along half an axis; gaps in a range shorter than 1/1000 of it may be missed."""

SEARCH_PARTS = 50
"""Number of blocks in which the poses are evaluated: the search stops at the first block with an
inadmissible pose.
"""


class Region(NamedTuple):
    """Workspace over three axes of a chart, found by rays."""

    chart: Chart
    rays: Rays
    """rays of the finest level"""
    weights: FloatArray
    """`(m,)` weights of the rays in the solid angle"""
    counts: tuple[int, ...]
    """rays per level"""
    volumes: FloatArray
    """volume of each level [m^3], on pillars [m rad^2]"""
    visible: float
    """volume of the points that straight lines from the centre reach inside the workspace"""

    @property
    def volume(self) -> float:
        """Volume of the finest level."""
        return float(self.volumes[-1])

    @property
    def uncertainty(self) -> float:
        """Change of the volume between the last two levels, per volume."""
        return float(abs(self.volumes[-1] - self.volumes[-2]) / self.volumes[-1])

    @property
    def surface(self) -> FloatArray:
        """Axis values `(m, 3)` from the centre where the rays first leave."""
        return self.rays.directions * self.rays.exits[:, None] * self.chart.scale

    @property
    def extremes(self) -> tuple[FloatArray, FloatArray]:
        """Lowest and highest values `(3,)` of the axes on the surface."""
        return self.surface.min(axis=0), self.surface.max(axis=0)

    @property
    def shares(self) -> dict[str, float]:
        """Fractions of the solid angle by the cause that ends the workspace first."""
        total_weight = self.weights.sum()
        return {
            cause.name.lower(): float(self.weights[self.rays.causes == cause].sum() / total_weight)
            for cause in Cause
        }


def region(chart: Chart, levels: tuple[int, ...] = RAY_LEVELS) -> Region:
    """Return the workspace over the three axes of a chart.

    Args:
        chart: of three axes.
        levels: heights of directions, growing; each takes `2 level^2` rays.

    Raises:
        InputError: not three axes, levels that do not grow, a centre outside the workspace.
    """
    if len(chart.axes) != 3:
        raise InputError("chart", "must have three axes")
    if len(levels) < 2 or list(levels) != sorted(set(levels)) or levels[0] < 2:
        raise InputError("levels", "must be two growing numbers or more, from 2 on")
    max_radius = extent(chart, sphere(levels[0])[0])
    volumes, ray_counts = [], []
    for level in levels:
        directions, weights = sphere(level)
        rays = search(chart, directions, max_radius)
        volumes.append(_volume(chart, weights[rays.ray], rays.start, rays.stop))
        ray_counts.append(len(directions))
    visible = _volume(chart, weights, np.zeros(len(weights)), rays.exits)
    return Region(chart, rays, weights, tuple(ray_counts), np.array(volumes), visible)


def volume_nodes(region: Region) -> tuple[FloatArray, FloatArray]:
    """Return poses `(q, 7)` throughout a region, and weights `(q,)` for means over its volume.

    They are the nodes of Gauss-Legendre quadrature along every segment of a ray.
    """
    rays = region.rays
    node_positions, node_weights = np.polynomial.legendre.leggauss(RADIAL_NODES)
    half_length = 0.5 * (rays.stop - rays.start)[:, None]
    radii = rays.start[:, None] + half_length * (1.0 + node_positions)
    poses = region.chart.along(rays.directions[rays.ray][:, None], radii)
    weights = region.weights[rays.ray][:, None] * half_length * node_weights * radii**2
    return poses.reshape(-1, 7), weights.ravel()


def _volume(chart: Chart, weights: FloatArray, start: FloatArray, stop: FloatArray) -> float:
    segment_volumes = weights * (stop**3 - start**3) / 3.0
    return float(segment_volumes.sum() * np.prod(chart.scale))


class AxisRange(NamedTuple):
    """Range of one axis from the centre, the other axes as at the centre."""

    axis: str
    unit: str
    span: tuple[float, float]
    """lowest and highest [m] or [rad], in a summary of a machine [deg]"""
    ends: tuple[str, str]
    """causes of both ends"""


def motion_ranges(platform: MachineModel, center: Any = None) -> tuple[AxisRange, ...]:
    """Return the ranges of all axes from a pose (default home), the others as there.

    Axes are x, y, z, yaw, pitch and roll, on pillars z, roll and pitch. A range is the connected
    one about the centre: inside the actuators' limits, before singular poses, and up to a half
    turn, pitch up to 89 degrees.

    Raises:
        InputError: not a machine, or a centre outside the limits, or a singular one.
    """
    ranges = []
    for axis in dof_axes(platform):
        chart = Chart.about(platform, (axis,), center)
        admissible = Admissible(platform, chart.center)
        (low, low_end), (high, high_end) = (_end(chart, admissible, side) for side in (-1.0, 1.0))
        unit = "m" if axis in "xyz" else "rad"
        ranges.append(AxisRange(axis, unit, (low, high), (low_end, high_end)))
    return tuple(ranges)


def _end(chart: Chart, admissible: Admissible, direction: float) -> tuple[float, str]:
    """Return the last value [m] or [rad] of a chart's one axis on a side, and what ends it."""
    inner_value = 0.0
    search_range = direction * chart.bound * float(chart.scale[0])
    for values in np.array_split(
        search_range * np.arange(1, AXIS_SAMPLES + 1) / AXIS_SAMPLES, SEARCH_PARTS
    ):
        is_inside = admissible.inside(chart.poses(values[:, None]))
        if not is_inside.all():
            first_outside = int(is_inside.argmin())
            inner_value = values[first_outside - 1] if first_outside else inner_value
            outer_value = values[first_outside]
            break
        inner_value = values[-1]
    else:
        return float(inner_value), cause_text(Cause.NONE, 0, "")
    inner, outer = bisected(
        lambda values: admissible.inside(chart.poses(values[:, None])),
        np.array([inner_value]),
        np.array([outer_value]),
    )
    cause, leg = admissible.causes(chart.poses(outer[:, None]))
    coordinate = chart.platform.parameters.leg.coordinate
    return float(inner[0]), cause_text(cause[0], leg[0], coordinate)
