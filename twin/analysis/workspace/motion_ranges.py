"""Motion range of every axis: alone, and with all other axes free."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from twin.analysis.workspace.admissible import cause_text
from twin.analysis.workspace.chart import Chart, own_axes
from twin.analysis.workspace.search.barrier import APART, NEAR, farthest
from twin.analysis.workspace.search.free_rays import wander
from twin.analysis.workspace.search.rays import search
from twin.basics.arrays import FloatArray
from twin.model.machine_model import MachineModel

SAMPLES = 2000
"""Poses tried along half an axis."""

SCATTERED = 6
"""Searches per axis and side from random poses; the farthest pose is one of several local ones."""


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


def motion_ranges(platform: MachineModel, center: Any = None) -> tuple[AxisRange, ...]:
    """Return the ranges of all axes from a pose (default home).

    Axes are x, y, z, yaw, pitch and roll, on pillars z, roll and pitch. The range alone is the
    connected one about the centre; with the others free it is never smaller.

    Raises:
        InputError: not a machine, or a centre not strictly inside the limits.
    """
    whole = Chart.about(platform, own_axes(platform), center)
    count = len(whole.axes)
    sides = np.array([[-1.0], [1.0]])
    bases = np.stack(
        [
            side * np.roll(np.eye(count), -column, axis=1)
            for column in range(count)
            for side in (-1.0, 1.0)
        ]
    )
    free = _farthest(whole, bases).reshape(-1, 2)
    ranges = []
    for column, axis in enumerate(whole.axes):
        chart = Chart.about(platform, (axis,), center)
        found = search(chart, sides, samples=SAMPLES)
        scale = float(chart.scale[0])
        ends = [
            cause_text(cause, leg, platform.parameters.leg.coordinate)
            for cause, leg in zip(found.causes, found.legs, strict=True)
        ]
        ranges.append(
            AxisRange(
                axis,
                "m" if axis in ("x", "y", "z") else "rad",
                _pair(scale * found.exits),
                (ends[0], ends[1]),
                _pair(scale * np.maximum(free[column], found.exits)),
            )
        )
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


def _pair(radii: FloatArray) -> tuple[float, float]:
    return -float(radii[0]), float(radii[1])
