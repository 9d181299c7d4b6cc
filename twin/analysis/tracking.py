"""Tracking of a closed loop: errors against the reference, and a figure with the commands."""

from __future__ import annotations

from typing import Any

import numpy as np

from twin.basics.arrays import FloatArray
from twin.charts.panels import Axes, columns, legs, panels_figure
from twin.errors import InputError
from twin.rotations import angle_between
from twin.simulation.recorded.figures import ANGLES, POSITIONS, degrees
from twin.simulation.trajectory import Trajectory


class TrackingErrors:
    """Distances of a machine from its reference at the control instants.

    Attributes:
        time: `(m,)` [s].
        position: `(m,)` [m] of the reference point.
        rotation: `(m,)` [rad].
        actuators: `(m, n)` setpoint minus measured coordinates [m, rad].
    """

    time: FloatArray
    position: FloatArray
    rotation: FloatArray
    actuators: FloatArray

    def __init__(self, trajectory: Trajectory) -> None:
        """Compare a closed loop's motion with its reference.

        Raises:
            InputError: not the trajectory of a closed loop, or one that kept too few states.
        """
        signals = getattr(trajectory, "signals", None)
        if not signals:
            raise InputError("trajectory", "must be of a closed loop; simulate with a controller")
        self.time = signals["time"]
        rows = np.searchsorted(trajectory.time, self.time - 1e-9 * (1.0 + self.time))
        kept = np.minimum(rows, len(trajectory.time) - 1)
        if not np.allclose(trajectory.time[kept], self.time, rtol=0.0, atol=1e-9):
            raise InputError("trajectory", "must hold a state at every control instant")
        pose, reference = trajectory.pose[kept], signals["reference_pose"]
        self.position = np.linalg.norm(pose[:, :3] - reference[:, :3], axis=1)
        self.rotation = angle_between(pose[:, 3:], reference[:, 3:])
        self.actuators = signals["setpoint"] - signals["measured"]

    def root_mean_square(self) -> tuple[float, float, float]:
        """Return the root mean squares: position [m], rotation [rad], actuators [m, rad]."""
        parts = (self.position, self.rotation, self.actuators)
        position, rotation, actuators = (float(np.sqrt(np.mean(part**2))) for part in parts)
        return position, rotation, actuators


def tracking_figure(trajectory: Trajectory) -> Any:
    """Return a plotly figure of a closed loop, panels over time [s].

    Displacement of the platform and of its reference [m], their angles [deg], errors of the
    actuators [mm] or [mrad], commands (speeds or forces, whichever the controller gives), and
    forces on the legs [N] or torques [N m].

    Raises:
        InputError: not the trajectory of a closed loop.
        MissingDependencyError: plotly is not installed.
    """
    errors = TrackingErrors(trajectory)
    signals, time = trajectory.signals, errors.time
    names = legs(errors.actuators.shape[1])
    rotary = trajectory.coordinate_unit == "rad"
    reference = signals["reference_pose"]
    start = trajectory.pose[0, :3]
    panels = [
        Axes(
            "displacement [m]",
            [
                *columns(trajectory.time, trajectory.pose[:, :3] - start, POSITIONS),
                *columns(
                    time, reference[:, :3] - start, [f"{n} reference" for n in POSITIONS], "dash"
                ),
            ],
        ),
        Axes(
            "orientation [deg]",
            [
                *columns(trajectory.time, degrees(trajectory.pose), ANGLES),
                *columns(time, degrees(reference), [f"{n} reference" for n in ANGLES], "dash"),
            ],
        ),
        Axes(
            "actuator error [mrad]" if rotary else "actuator error [mm]",
            columns(time, 1e3 * errors.actuators, names),
        ),
        Axes(
            "command [rad/s or N m]" if rotary else "command [m/s or N]",
            columns(time, signals["command"], names, "steps"),
        ),
        Axes(
            "crank torque [N m]" if rotary else "leg force [N]",
            columns(trajectory.time, trajectory.forces, names, "steps"),
        ),
    ]
    stop = f"; stopped: {trajectory.stopped}" if trajectory.stopped else ""
    title = f"{trajectory.machine} in {trajectory.engine}, closed loop{stop}"
    return panels_figure(panels, "time [s]", title=title)
