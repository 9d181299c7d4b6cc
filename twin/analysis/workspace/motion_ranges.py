"""Motion range of every axis: alone, and with all other axes free."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from twin.analysis.workspace.admissible import Admissible, Cause, cause_text
from twin.analysis.workspace.chart import ROTATION_VECTOR, Chart, own_axes
from twin.analysis.workspace.search.barrier import APART, NEAR, farthest
from twin.analysis.workspace.search.free_rays import wander
from twin.basics.arrays import FloatArray
from twin.model.machine_model import MachineModel

SAMPLES = 1000
"""Poses tried along half an axis; gaps in a range shorter than 1/1000 of it may be missed."""

PARTS = 50
"""The poses are tried in so many parts: most are beyond the end and need not be evaluated."""

HALVINGS = 44
"""Of the last step: rounding of the end remains."""

SCATTERED = 6
"""Searches per axis and side from random poses; the farthest pose is one of several local ones."""


VECTOR_AXES = ("x", "y", "z", "angle_z", "angle_y", "angle_x")
"""Axes that are searched for x, y, z, yaw, pitch and roll with the others free."""


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
    for axis in own_axes(platform):
        chart = Chart.about(platform, (axis,), center)
        admissible = Admissible(platform, chart.center)
        low, high = (_end(chart, admissible, side) for side in (-1.0, 1.0))
        unit = "m" if axis in ("x", "y", "z") else "rad"
        ranges.append(HeldRange(axis, unit, (low[0], high[0]), (low[1], high[1])))
    return tuple(ranges)


def _end(chart: Chart, admissible: Admissible, side: float) -> tuple[float, str]:
    """Return the last value [m] or [rad] of a chart's one axis on a side, and what ends it."""
    low, high = 0.0, None
    span = side * chart.bound * float(chart.scale[0])
    for values in np.array_split(span * np.arange(1, SAMPLES + 1) / SAMPLES, PARTS):
        inside = admissible.inside(chart.poses(values[:, None]))
        if not inside.all():
            first = int(inside.argmin())
            low, high = float(values[first - 1]) if first else low, float(values[first])
            break
        low = float(values[-1])
    if high is None:
        return low, cause_text(Cause.NONE, 0, "")
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        if admissible.inside(chart.poses(np.array([[middle]])))[0]:
            low = middle
        else:
            high = middle
    cause, leg = admissible.causes(chart.poses(np.array([[high]])))
    return low, cause_text(cause[0], leg[0], chart.platform.parameters.leg.coordinate)


def motion_ranges(platform: MachineModel, center: Any = None) -> tuple[AxisRange, ...]:
    """Return the ranges of all axes from a pose (default home).

    Those of `held_ranges`, and with the other axes free, which are never smaller. Yaw, pitch and
    roll with the others free are the components about z, y and x of the rotation vector from the
    centre's attitude, up to half a turn: unlike angles of three turns, they mean the same at any
    tilt. Collisions of legs are not searched, see `twin.analysis.feasibility`.

    Raises:
        InputError: not a machine, or a centre not strictly inside the limits.
    """
    names, convention = own_axes(platform), None
    if platform.dof == 6:
        names, convention = VECTOR_AXES, ROTATION_VECTOR
    whole = Chart.about(platform, names, center, convention)
    count = len(whole.axes)
    bases = np.stack(
        [
            side * np.roll(np.eye(count), -column, axis=1)
            for column in range(count)
            for side in (-1.0, 1.0)
        ]
    )
    free = _farthest(whole, bases).reshape(-1, 2)
    ranges = []
    for held, radii, scale in zip(held_ranges(platform, center), free, whole.scale, strict=True):
        low, high = -float(scale * radii[0]), float(scale * radii[1])
        ends = min(low, held.alone[0]), max(high, held.alone[1])
        ranges.append(AxisRange(*held, ends))
    return tuple(ranges)


def _farthest(chart: Chart, bases: FloatArray) -> FloatArray:
    """Return the farthest along the first vector of every basis, from the centre and a walk.

    Searches begin at the walk's farthest pose and at some others of its farther half.
    """
    places = wander(chart)
    order = np.argsort(-(places @ bases[:, :, 0].T), axis=0)
    some = np.random.default_rng(0).integers(len(places) // 2, size=SCATTERED)
    found = [farthest(chart, bases).radii]
    for rank, first in ((0, NEAR), *((int(rank), APART) for rank in some)):
        start = np.einsum("mkq,mk->mq", bases, places[order[rank]])
        found.append(farthest(chart, bases, start, first).radii)
    return np.asarray(np.max(found, axis=0))
