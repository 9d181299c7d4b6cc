"""Volume and surface of a workspace over three axes, by rays from a centre.

The volume is the integral of (stop^3 - start^3) / 3 over all directions and segments, times the
scales of the axes. It counts what rays reach behind a gap; `visible` counts the first segment only.
Three numbers of rays show the convergence.

Over x, y and z this is the constant-orientation workspace; on pillars z, roll and pitch are all
degrees of freedom, and the region is the whole workspace.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from twin.analysis.workspace.admissible import Admissible, Cause, cause_text
from twin.analysis.workspace.chart import ROTATION_VECTOR, Chart, dof_axes
from twin.analysis.workspace.search import (
    REFINING_WEIGHT,
    SEPARATE_START_WEIGHT,
    FreeRays,
    Rays,
    extent,
    farthest,
    neighbour_starts,
    scattered_starts,
    search,
    sphere,
    walked_starts,
    wander,
)
from twin.basics.arrays import BoolArray, FloatArray, as_floats
from twin.errors import InputError
from twin.model.machine_model import MachineModel, as_model
from twin.rotations import angle_between

RAY_LEVELS = (16, 32, 64)
"""Heights of directions per level: 512, 2048 and 8192 rays."""

RADIAL_NODES = 8
"""Gauss-Legendre points along every segment of a ray for means over the volume."""

REACH_LEVELS = (10, 20)
"""Heights of directions per level of the reachable set: 200 and 800 rays."""

AXES = ("x", "y", "z", "angle_x", "angle_y", "angle_z")
"""Axes of a chart with a rotation vector."""

MAX_ROTATION = 1.9 * float(np.pi)
"""[rad] Longest rotation vector of the search, before all of a length are the same attitude. Half a
turn would be a wall, though the same attitudes lie behind it."""

NEIGHBOUR_ROUNDS = 4
"""Rounds in which rays try the attitudes of their neighbours."""

AXIS_SAMPLES = 1000
"""Poses tried along half an axis; gaps in a range shorter than 1/1000 of it may be missed."""

SEARCH_PARTS = 50
"""Number of blocks in which the poses are evaluated: the search stops at the first block with an
inadmissible pose.
"""

BISECTION_STEPS = 44
"""Halvings of the last step, after which rounding of the end remains."""

RANDOM_STARTS = 6
"""Searches per axis and side from random poses; the farthest pose is one of several local ones."""

VECTOR_AXES = ("x", "y", "z", "angle_z", "angle_y", "angle_x")
"""Axes that are searched for x, y, z, yaw, pitch and roll with the others free."""


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
    """volume of what straight lines from the centre reach without leaving"""

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
        return np.asarray(self.rays.directions * self.rays.exits[:, None] * self.chart.scale)

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


def mean_over(
    found: Region, quantity: Callable[[FloatArray], FloatArray], nodes: int = RADIAL_NODES
) -> tuple[float, FloatArray]:
    """Return the mean over a region's volume of a quantity, and its values `(q, nodes)`.

    Args:
        found: the region.
        quantity: function of poses `(m, 7)` that returns `(m,)`.
        nodes: points along every segment.
    """
    rays = found.rays
    node_positions, weights_of_nodes = np.polynomial.legendre.leggauss(nodes)
    half_length = 0.5 * (rays.stop - rays.start)[:, None]
    radii = rays.start[:, None] + half_length * (1.0 + node_positions)
    poses = found.chart.along(rays.directions[rays.ray][:, None], radii)
    values = quantity(poses.reshape(-1, 7)).reshape(radii.shape)
    weights = found.weights[rays.ray][:, None] * half_length * weights_of_nodes * radii**2
    return float((weights * values).sum() / weights.sum()), values


def _volume(chart: Chart, weights: FloatArray, start: FloatArray, stop: FloatArray) -> float:
    segment_volumes: Any = weights * (stop**3 - start**3) / 3.0
    return float(segment_volumes.sum() * np.prod(chart.scale))


class RaySegments(NamedTuple):
    """Reach of rays `(m,)` with free attitude [m]: up to `near`, and from `behind` to `far`."""

    near: FloatArray
    behind: FloatArray
    """radius where the ray is inside again; equal to `near` where nothing is hidden"""
    far: FloatArray
    poses: FloatArray
    """`(m, 7)` at the far end"""
    blocked: BoolArray
    """whether a singular pose or the other plate was in the way: the set may go on behind it"""


class ReachableSet(NamedTuple):
    """Reachable set, found by rays with free attitude."""

    center: FloatArray
    """pose `(7,)` from which the rays start"""
    directions: FloatArray
    """`(m, 3)` unit vectors of the finest level"""
    segments: RaySegments
    turns: FloatArray
    """`(m,)` angle [rad] between the attitude at the far end and that at the centre"""
    counts: tuple[int, ...]
    volumes: FloatArray
    """volume of each level [m^3]"""
    hidden: float
    """volume [m^3] that straight lines from the centre do not reach"""

    @property
    def volume(self) -> float:
        """Volume [m^3] of the finest level."""
        return float(self.volumes[-1])

    @property
    def uncertainty(self) -> float:
        """Change of the volume between the last two levels, per volume."""
        return float(abs(self.volumes[-1] - self.volumes[-2]) / self.volumes[-1])


def reachable_set(
    platform: MachineModel, center: Any = None, levels: tuple[int, ...] = REACH_LEVELS
) -> ReachableSet:
    """Return the positions reached with some attitude, seen from a pose (default home).

    Raises:
        InputError: a machine with fewer than six degrees of freedom, a centre not inside its
            limits, or levels that are not two growing numbers or more.
    """
    if len(levels) < 2 or list(levels) != sorted(set(levels)) or levels[0] < 2:
        raise InputError("levels", "must be two growing numbers or more, from 2 on")
    chart = _chart(platform, center)
    walked_values = wander(chart)
    volumes, ray_counts = [], []
    for level in levels:
        directions, weights = sphere(level)
        segments = _segments(chart, directions, walked_values)
        visible = float((weights * segments.near**3).sum() / 3.0)
        whole_volume = visible + float(
            (weights * (segments.far**3 - segments.behind**3)).sum() / 3.0
        )
        volumes.append(whole_volume)
        ray_counts.append(len(directions))
    return ReachableSet(
        chart.center,
        directions,
        segments,
        angle_between(segments.poses[:, 3:], chart.center[3:]),
        tuple(ray_counts),
        np.array(volumes),
        whole_volume - visible,
    )


def segments_along(platform: MachineModel, directions: Any, center: Any = None) -> RaySegments:
    """Return what rays along unit vectors `(m, 3)` from a pose (default home) reach.

    Raises:
        InputError: as for `reachable_set`, or directions of another shape.
    """
    chart = _chart(platform, center)
    return _segments(chart, as_floats(directions, "directions", 3), wander(chart))


def _chart(platform: MachineModel, center: Any) -> Chart:
    if as_model(platform).dof < 6:
        raise InputError(
            "platform",
            f"{platform.name} does not choose its place and attitude independently; its whole "
            "workspace is the region over z, roll and pitch",
        )
    chart = Chart.about(platform, AXES, center, "rotation_vector")
    return chart._replace(largest_turn=MAX_ROTATION)


def _segments(chart: Chart, directions: FloatArray, places: FloatArray) -> RaySegments:
    rays = FreeRays(chart, directions)
    rays.extend(*walked_starts(rays, places))
    rays.extend(*scattered_starts(rays, places))
    for _ in range(NEIGHBOUR_ROUNDS):
        ray, start = neighbour_starts(rays)
        if not ray.size:
            break
        rays.extend(ray, start, start)
    scale = float(chart.scale[0])
    behind = np.maximum(rays.behind, rays.near)
    return RaySegments(
        scale * rays.near, scale * behind, scale * rays.far, rays.poses, rays.blocked
    )


class HeldRange(NamedTuple):
    """Range of one axis from the centre, the other axes as at the centre."""

    axis: str
    unit: str
    alone: tuple[float, float]
    """lowest and highest [m] or [rad]"""
    ends: tuple[str, str]
    """causes of both ends"""


class AxisRange(NamedTuple):
    """Range of one axis from the centre, lowest and highest [m] or [rad]."""

    axis: str
    unit: str
    alone: tuple[float, float]
    """the other axes as at the centre"""
    ends: tuple[str, str]
    """causes of both ends"""
    free: tuple[float, float]
    """the other axes wherever they help"""


def held_ranges(platform: MachineModel, center: Any = None) -> tuple[HeldRange, ...]:
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
        low, high = (_end(chart, admissible, side) for side in (-1.0, 1.0))
        unit = "m" if axis in ("x", "y", "z") else "rad"
        ranges.append(HeldRange(axis, unit, (low[0], high[0]), (low[1], high[1])))
    return tuple(ranges)


def _end(chart: Chart, admissible: Admissible, side: float) -> tuple[float, str]:
    """Return the last value [m] or [rad] of a chart's one axis on a side, and what ends it."""
    inner_value, outer_value = 0.0, None
    search_range = side * chart.bound * float(chart.scale[0])
    for values in np.array_split(
        search_range * np.arange(1, AXIS_SAMPLES + 1) / AXIS_SAMPLES, SEARCH_PARTS
    ):
        is_inside = admissible.inside(chart.poses(values[:, None]))
        if not is_inside.all():
            first_outside = int(is_inside.argmin())
            inner_value, outer_value = (
                float(values[first_outside - 1]) if first_outside else inner_value,
                float(values[first_outside]),
            )
            break
        inner_value = float(values[-1])
    if outer_value is None:
        return inner_value, cause_text(Cause.NONE, 0, "")
    for _ in range(BISECTION_STEPS):
        trial_value = 0.5 * (inner_value + outer_value)
        if admissible.inside(chart.poses(np.array([[trial_value]])))[0]:
            inner_value = trial_value
        else:
            outer_value = trial_value
    cause, leg = admissible.causes(chart.poses(np.array([[outer_value]])))
    return inner_value, cause_text(cause[0], leg[0], chart.platform.parameters.leg.coordinate)


def motion_ranges(platform: MachineModel, center: Any = None) -> tuple[AxisRange, ...]:
    """Return the ranges of all axes from a pose (default home).

    Those of `held_ranges`, and with the other axes free, which are never smaller. Yaw, pitch and
    roll with the others free are the components about z, y and x of the rotation vector from the
    centre's attitude, up to half a turn: unlike angles of three turns, they mean the same at any
    tilt. Collisions of legs are not searched, see `twin.analysis.feasibility`.

    Raises:
        InputError: not a machine, or a centre not strictly inside the limits.
    """
    names, convention = dof_axes(platform), None
    if platform.dof == 6:
        names, convention = VECTOR_AXES, ROTATION_VECTOR
    chart = Chart.about(platform, names, center, convention)
    count = len(chart.axes)
    bases = np.stack(
        [
            side * np.roll(np.eye(count), -column, axis=1)
            for column in range(count)
            for side in (-1.0, 1.0)
        ]
    )
    free_radii = _farthest(chart, bases).reshape(-1, 2)
    ranges = []
    for held_range, radii, scale in zip(
        held_ranges(platform, center), free_radii, chart.scale, strict=True
    ):
        low, high = -float(scale * radii[0]), float(scale * radii[1])
        range_ends = min(low, held_range.alone[0]), max(high, held_range.alone[1])
        ranges.append(AxisRange(*held_range, range_ends))
    return tuple(ranges)


def _farthest(chart: Chart, bases: FloatArray) -> FloatArray:
    """Return the farthest along the first vector of every basis, from the centre and a walk.

    Searches begin at the walk's farthest pose and at some others of its farther half.
    """
    walked_values = wander(chart)
    order = np.argsort(-(walked_values @ bases[:, :, 0].T), axis=0)
    random_indices = np.random.default_rng(0).integers(len(walked_values) // 2, size=RANDOM_STARTS)
    radii_of_searches = [farthest(chart, bases).radii]
    for rank, first_weight in (
        (0, REFINING_WEIGHT),
        *((int(rank), SEPARATE_START_WEIGHT) for rank in random_indices),
    ):
        start = np.einsum("mkq,mk->mq", bases, walked_values[order[rank]])
        radii_of_searches.append(farthest(chart, bases, start, first_weight).radii)
    return np.asarray(np.max(radii_of_searches, axis=0))
