"""Tracking of a closed loop: errors against the reference, and a figure with the commands."""

from __future__ import annotations

from typing import Any

import numpy as np

from twin.basics.arrays import FloatArray
from twin.charts.panels import Axes, columns, legs, panels_figure
from twin.control.cascade import takes_positions
from twin.control.controller import DEFAULT_PERIOD
from twin.control.gains import POSITION_LAG_FACTOR, drive_model, loop_lag
from twin.errors import InputError
from twin.model.machine_model import MachineModel
from twin.plant.drives import equivalent_inertia
from twin.rotations import angle_between
from twin.simulation.recorded.figures import ANGLE_NAMES, POSITION_NAMES, degrees
from twin.simulation.simulate import Trajectory


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
        valid_rows = np.minimum(rows, len(trajectory.time) - 1)
        if not np.allclose(trajectory.time[valid_rows], self.time, rtol=0.0, atol=1e-9):
            raise InputError("trajectory", "must hold a state at every control instant")
        pose, reference = trajectory.pose[valid_rows], signals["reference_pose"]
        self.position = np.linalg.norm(pose[:, :3] - reference[:, :3], axis=1)
        self.rotation = angle_between(pose[:, 3:], reference[:, 3:])
        self.actuators = signals["setpoint"] - signals["measured"]

    def root_mean_square(self) -> tuple[float, float, float]:
        """Return the root mean squares: position [m], rotation [rad], actuators [m, rad]."""
        position, rotation, actuators = (
            float(np.sqrt(np.mean(errors**2)))
            for errors in (self.position, self.rotation, self.actuators)
        )
        return position, rotation, actuators


NOTED_ERROR_RATIO = 5.0
"""Ratio of the actuators' errors to `expected_error` above which a run gets a remark (engineering
choice).
"""


def expected_error(platform: MachineModel, trajectory: Trajectory) -> float:
    """Return the actuators' root mean square error [m, rad] that lags alone would leave.

    Loops as fast as a sum T of small lags allows have the stiffness m / (2 T) times 1 / (20 T). A
    setpoint of speed v and acceleration a leaves v T, and (a + friction / m) 40 T^2, with the mass
    m that an actuator moves; the readings miss half the play and a step of the encoder.

    Args:
        platform: the machine as its controller knows it.
        trajectory: of a closed loop.

    Raises:
        InputError: not the trajectory of a closed loop.
    """
    errors, drives = TrackingErrors(trajectory), drive_model(platform)
    time, setpoint = errors.time, trajectory.signals["setpoint"]
    if len(time) < 3:
        return np.inf
    rates = np.gradient(setpoint, time, axis=0)
    accelerations = np.abs(np.gradient(rates, time, axis=0))
    lag = loop_lag(platform, float(time[1] - time[0]))
    stiffness = 2.0 * POSITION_LAG_FACTOR * lag**2
    dry = drives.breakaway / equivalent_inertia(platform)
    remaining_error = lag * np.abs(rates) + stiffness * (accelerations + dry)
    yielding = drives.compliance * np.abs(trajectory.forces).max(axis=0)
    remaining_error = remaining_error + drives.half_backlash + drives.resolution + yielding
    return float(np.sqrt(np.mean(remaining_error**2)))


def tracking_remark(platform: MachineModel, trajectory: Trajectory) -> str:
    """Return a sentence where the actuators follow far worse than lags explain; else empty.

    Nothing is said of runs that were stopped or met limits, which say so themselves, and of drives
    that take positions and close their own loops.
    """
    is_limited = trajectory.stopped or trajectory.saturation.sentences()
    if is_limited or takes_positions(platform):
        return ""
    error = TrackingErrors(trajectory).root_mean_square()[2]
    expected = expected_error(platform, trajectory)
    if error <= NOTED_ERROR_RATIO * expected:
        return ""
    lag, unit = 1e3 * loop_lag(platform, DEFAULT_PERIOD), f"m{trajectory.coordinate_unit}"
    return (
        f"the actuators' error of {1e3 * error:.3g} {unit} is {error / expected:.0f} times what "
        f"the lag of {lag:.3g} ms explains ({1e3 * expected:.2g} {unit}): the loops are slow for "
        "the masses that they move; compare other controllers (feedforward knows the masses), or "
        "set the gains in [control]"
    )


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
    start_position = trajectory.pose[0, :3]
    panels = [
        Axes(
            "displacement [m]",
            [
                *columns(trajectory.time, trajectory.pose[:, :3] - start_position, POSITION_NAMES),
                *columns(
                    time,
                    reference[:, :3] - start_position,
                    [f"{n} reference" for n in POSITION_NAMES],
                    "dash",
                ),
            ],
        ),
        Axes(
            "orientation [deg]",
            [
                *columns(trajectory.time, degrees(trajectory.pose), ANGLE_NAMES),
                *columns(time, degrees(reference), [f"{n} reference" for n in ANGLE_NAMES], "dash"),
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
    stop_text = f"; stopped: {trajectory.stopped}" if trajectory.stopped else ""
    title = f"{trajectory.machine} in {trajectory.engine}, closed loop{stop_text}"
    return panels_figure(panels, "time [s]", title=title)
