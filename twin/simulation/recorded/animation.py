"""An animated picture of a recorded motion: base, legs and platform as lines."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from twin.basics.arrays import FloatArray
from twin.basics.quaternions import rotated
from twin.charts.animation import MovingLine, animated_figure
from twin.charts.style import INK, MUTED, curve_color
from twin.errors import InputError
from twin.model.machine_model import MachineModel
from twin.simulation.recorded.machine import check_machine, machine_of
from twin.simulation.recorded.motion import RecordedMotion

RATE, MOST = 20.0, 200
"""Frames per second of the motion, and the most of all."""


def animation(motion: RecordedMotion, machine: MachineModel | str | Path | None = None) -> Any:
    """Return a plotly figure that plays a motion at its own speed.

    Args:
        motion: with one row or more.
        machine: that it was made with, or its name or file; default: the shipped one of its name.

    Raises:
        InputError: a motion without rows, or not of this machine.
        MissingDependencyError: plotly is not installed.
    """
    if not len(motion):
        raise InputError("trajectory", "has no rows")
    model = machine if isinstance(machine, MachineModel) else machine_of(motion, machine).platform
    check_machine(motion, model)
    span = float(motion.time[-1] - motion.time[0])
    count = min(MOST, round(RATE * span) + 1, len(motion))
    times = np.linspace(motion.time[0], motion.time[-1], max(count, 2 if span else 1))
    rows = np.minimum(np.searchsorted(motion.time, times), len(motion) - 1)
    title = f"{motion.machine} in {motion.engine}"
    return animated_figure(_lines(model, motion.pose[rows], motion.lengths[rows]), times, title)


def _lines(model: MachineModel, poses: FloatArray, coordinates: FloatArray) -> list[MovingLine]:
    """Return the outlines of both joint patterns and the legs over poses `(k, 7)`."""
    bottom, top = model.base_joints, model.platform_joints
    k, n = len(poses), model.n_actuators
    tips = rotated(np.repeat(poses[:, 3:], n, axis=0), np.tile(top, (k, 1))).reshape(k, n, 3)
    tips = tips + poses[:, None, :3]
    base = np.broadcast_to(bottom[_around(bottom)], (k, n + 1, 3))
    lines = [MovingLine("base", base, MUTED, 5.0)]
    middle = _elbows(model, coordinates)
    for leg in range(n):
        ends = [np.broadcast_to(bottom[leg], (k, 3)), tips[:, leg]]
        points = ends if middle is None else [ends[0], middle[:, leg], ends[1]]
        lines.append(MovingLine(f"leg {leg + 1}", np.stack(points, axis=1), curve_color(leg), 6.0))
    lines.append(MovingLine("platform", tips[:, _around(top)], INK, 7.0))
    return lines


def _around(points: FloatArray) -> Any:
    """Return the indices `(n + 1,)` of joints in their order around their middle, closed."""
    arms = points - points.mean(axis=0)
    order = np.argsort(np.arctan2(arms[:, 1], arms[:, 0]))
    return np.append(order, order[0])


def _elbows(model: MachineModel, angles: FloatArray) -> FloatArray | None:
    """Return the ends `(k, n, 3)` of the cranks at angles `(k, n)`; None without cranks."""
    if not model.leg.has_crank:
        return None
    parameters: Any = model.parameters
    elbows = []
    for leg, place, angle in zip(parameters.legs, parameters.home_places, angles.T, strict=True):
        crank = leg.home_geometry(place)
        side = np.cross(crank.axis, crank.zero)
        along = np.cos(angle)[:, None] * crank.zero + np.sin(angle)[:, None] * side
        elbows.append(place.base + leg.crank_length * along)
    return np.stack(elbows, axis=1)
