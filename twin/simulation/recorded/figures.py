"""Plots of recorded motions: position, orientation, actuators and their forces over time."""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from twin.basics.arrays import FloatArray, rotated
from twin.charts.animation import MovingLine, animated_figure
from twin.charts.panels import Axes, Line, columns, legs, panels_figure
from twin.charts.style import MUTED_COLOR, TEXT_COLOR, curve_color
from twin.errors import InputError
from twin.machine.legs.rss import crank_vectors
from twin.model.machine_model import MachineModel
from twin.rotations import angle_between, angles_from_quaternion
from twin.simulation.recorded.files import RecordedMotion, check_machine, machine_of

POSITION_NAMES = ("x", "y", "z")

ANGLE_NAMES = ("yaw", "pitch", "roll")


def trajectory_figure(trajectory: RecordedMotion) -> Any:
    """Return a plotly figure of one motion, panels over time [s].

    Displacement [m] from the start in the base frame, yaw, pitch and roll [deg], leg lengths [m] or
    crank angles [rad], leg forces [N] or crank torques [N m]; a fifth with the springs [m] of legs
    that have some.

    Raises:
        InputError: not a trajectory.
        MissingDependencyError: plotly is not installed.
    """
    time, names = _checked(trajectory).time, legs(trajectory.lengths.shape[1])
    cranks = trajectory.coordinate_unit == "rad"
    panels = [
        Axes("displacement [m]", columns(time, displacement(trajectory), POSITION_NAMES)),
        Axes("orientation [deg]", columns(time, degrees(trajectory.pose), ANGLE_NAMES)),
        Axes(
            "crank angle [rad]" if cranks else "leg length [m]",
            columns(time, trajectory.lengths, names),
        ),
        Axes(
            "crank torque [N m]" if cranks else "leg force [N]",
            columns(time, trajectory.forces, names, "steps"),
        ),
    ]
    springs = trajectory.deflection[:, : trajectory.deflection.shape[1] // 2]
    if springs.size:
        panels.append(Axes("spring extension [m]", columns(time, springs, names)))
    return panels_figure(panels, "time [s]", title=_title(trajectory))


def comparison_figure(trajectory: RecordedMotion, reference: RecordedMotion) -> Any:
    """Return a plotly figure of a motion against a reference on the same times [s].

    Four panels: displacements [m] of both from their start, the distance [m] between their
    positions, yaw, pitch and roll [deg] of both, the angle [rad] between their orientations.

    Raises:
        InputError: not trajectories, or times that differ.
        MissingDependencyError: plotly is not installed.
    """
    time = _checked(trajectory).time
    if len(_checked(reference, "reference").time) != len(time) or not np.allclose(
        reference.time, time, rtol=0.0, atol=1e-9
    ):
        raise InputError("reference", "must have the same times as the trajectory")
    distance = np.linalg.norm(trajectory.pose[:, :3] - reference.pose[:, :3], axis=1)
    angle = angle_between(trajectory.pose[:, 3:], reference.pose[:, 3:])
    panels = [
        Axes("displacement [m]", _pairs(trajectory, reference, displacement, POSITION_NAMES)),
        Axes("distance [m]", [Line("distance", time, _above_zero(distance))], log_y=True),
        Axes(
            "orientation [deg]",
            _pairs(trajectory, reference, lambda one: degrees(one.pose), ANGLE_NAMES),
        ),
        Axes("angle [rad]", [Line("angle", time, _above_zero(angle))], log_y=True),
    ]
    title = f"{trajectory.machine}: {trajectory.engine} against {reference.engine}"
    return panels_figure(panels, "time [s]", title=title)


def _checked(trajectory: Any, field: str = "trajectory") -> RecordedMotion:
    if not isinstance(trajectory, RecordedMotion):
        raise InputError(field, f"must be a Trajectory, not {type(trajectory).__name__}")
    return trajectory


def _title(trajectory: RecordedMotion) -> str:
    x, y, z = trajectory.pose[0, :3]
    return (
        f"{trajectory.machine} in {trajectory.engine} ({trajectory.fidelity}, "
        f"{1e3 * trajectory.timestep:g} ms), start at ({x:.4g}, {y:.4g}, {z:.4g}) m"
    )


def displacement(trajectory: RecordedMotion) -> FloatArray:
    """Return the displacement `(k, 3)` [m] of the reference point from the start."""
    return trajectory.pose[:, :3] - trajectory.pose[0, :3]


def degrees(pose: FloatArray) -> FloatArray:
    """Return yaw, pitch and roll `(m, 3)` [deg] of poses `(m, 7)`, without jumps."""
    angles = angles_from_quaternion(pose[:, 3:], "yaw_pitch_roll")
    return np.degrees(np.unwrap(angles, axis=0))


def _pairs(
    trajectory: RecordedMotion,
    reference: RecordedMotion,
    quantity: Callable[[RecordedMotion], FloatArray],
    names: Sequence[str],
) -> list[Line]:
    """Return the lines of one quantity: of the reference solid, of the trajectory dashed."""
    lines = []
    for motion, style in ((reference, "line"), (trajectory, "dash")):
        labels = [f"{name}, {motion.engine}" for name in names]
        lines += columns(motion.time, quantity(motion), labels, style)
    return lines


def _above_zero(values: FloatArray) -> FloatArray:
    """Replace zeros by NaN, because a logarithmic axis cannot show them."""
    return np.where(values > 0.0, values, np.nan)


FRAME_RATE = 20.0
"""[Hz] Frames per second of the motion."""

MAX_FRAMES = 200
"""Largest number of frames in an animation."""


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
    duration = float(motion.time[-1] - motion.time[0])
    n_frames = min(MAX_FRAMES, round(FRAME_RATE * duration) + 1, len(motion))
    times = np.linspace(motion.time[0], motion.time[-1], max(n_frames, 2 if duration else 1))
    frame_rows = np.minimum(np.searchsorted(motion.time, times), len(motion) - 1)
    title = f"{motion.machine} in {motion.engine}"
    return animated_figure(
        _lines(model, motion.pose[frame_rows], motion.lengths[frame_rows]), times, title
    )


def _lines(model: MachineModel, poses: FloatArray, coordinates: FloatArray) -> list[MovingLine]:
    """Return the outlines of both joint patterns and the legs over poses `(k, 7)`."""
    bottom, top = model.base_joints, model.platform_joints
    k, n = len(poses), model.n_actuators
    tips = rotated(np.repeat(poses[:, 3:], n, axis=0), np.tile(top, (k, 1))).reshape(k, n, 3)
    tips = tips + poses[:, None, :3]
    base = np.broadcast_to(bottom[_angular_order(bottom)], (k, n + 1, 3))
    lines = [MovingLine("base", base, MUTED_COLOR, 5.0)]
    elbows = bottom + crank_vectors(model.parameters, coordinates) if model.leg.has_crank else None
    for leg in range(n):
        ends = [np.broadcast_to(bottom[leg], (k, 3)), tips[:, leg]]
        points = ends if elbows is None else [ends[0], elbows[:, leg], ends[1]]
        lines.append(MovingLine(f"leg {leg + 1}", np.stack(points, axis=1), curve_color(leg), 6.0))
    lines.append(MovingLine("platform", tips[:, _angular_order(top)], TEXT_COLOR, 7.0))
    return lines


def _angular_order(points: FloatArray) -> Any:
    """Return joint indices `(n + 1,)` in angular order around their centre, the first repeated."""
    arms = points - points.mean(axis=0)
    order = np.argsort(np.arctan2(arms[:, 1], arms[:, 0]))
    return np.append(order, order[0])


def notebook_html(motion: RecordedMotion) -> str:
    """Return HTML of a motion for notebooks: its origin, signals, and why it was stopped."""
    lines = [
        repr(motion)[1:-1],
        f"{motion.fidelity}, {1e3 * motion.timestep:g} ms, {motion.lengths.shape[1]} actuators",
    ]
    if motion.signals:
        lines.append(f"signals: {', '.join(motion.signals)}")
    if motion.stopped:
        lines.append(f"stopped: {motion.stopped}")
    text = "<br>".join(map(html.escape, lines))
    return f"<div>{text}<br>plot() draws it</div>"
