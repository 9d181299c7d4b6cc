"""Plots of recorded motions: position, orientation, actuators and their forces over time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from twin.basics.arrays import FloatArray
from twin.charts.panels import Axes, Line, columns, legs, panels_figure
from twin.errors import InputError
from twin.rotations import angle_between, angles_from_quaternion
from twin.simulation.recorded.motion import RecordedMotion

POSITIONS = ("x", "y", "z")
ANGLES = ("yaw", "pitch", "roll")


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
        Axes("displacement [m]", columns(time, displacement(trajectory), POSITIONS)),
        Axes("orientation [deg]", columns(time, degrees(trajectory.pose), ANGLES)),
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
        Axes("displacement [m]", _pairs(trajectory, reference, displacement, POSITIONS)),
        Axes("distance [m]", [Line("distance", time, _above_zero(distance))], log_y=True),
        Axes(
            "orientation [deg]",
            _pairs(trajectory, reference, lambda one: degrees(one.pose), ANGLES),
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
    """Return the way `(k, 3)` [m] of the reference point from the start."""
    return trajectory.pose[:, :3] - trajectory.pose[0, :3]


def degrees(pose: FloatArray) -> FloatArray:
    """Return yaw, pitch and roll `(m, 3)` [deg] of poses `(m, 7)`, without jumps."""
    angles = angles_from_quaternion(pose[:, 3:], "yaw_pitch_roll")
    return np.asarray(np.degrees(np.unwrap(angles, axis=0)))


def _pairs(
    trajectory: RecordedMotion,
    reference: RecordedMotion,
    quantity: Callable[[RecordedMotion], FloatArray],
    names: Sequence[str],
) -> list[Line]:
    lines = []
    for motion, style in ((reference, "line"), (trajectory, "dash")):
        labels = [f"{name}, {motion.engine}" for name in names]
        lines += columns(motion.time, quantity(motion), labels, style)
    return lines


def _above_zero(values: FloatArray) -> FloatArray:
    """Leave out zeros, which have no place on decades."""
    return np.where(values > 0.0, values, np.nan)
