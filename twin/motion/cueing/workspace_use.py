"""Use of the actuators' limits by a motion, and files of manoeuvres and of motions.

The module also finds the manoeuvre that the driver of a platform perceives from a motion.
Manoeuvres are CSV files with specific force and angular rate of a vehicle's head point. Motions
are written as CSV files that `twin.motion.read_recording` reads.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, as_instance, as_vector, cross, positive, rotated
from twin.basics.files import check_writable, write_text
from twin.basics.text_table import csv_text
from twin.errors import InputError
from twin.kernels.tasks.motion_cueing.cues import GRAVITY
from twin.model.machine_model import MachineModel, actuator_derivatives, as_model
from twin.motion.cueing.manoeuvre import MAX_SPECIFIC_FORCE, Manoeuvre
from twin.motion.motion import Motion
from twin.motion.recording import constrained_motion
from twin.motion.table import (
    ACCELERATION_QUANTITY,
    ANGULAR_RATE_QUANTITY,
    TIME_QUANTITY,
    Column,
    SampleError,
    check_time,
    known_columns,
    read_table,
)

MAX_SAMPLES = 1_000_000
"""Largest number of times at which a motion is looked at."""

SPECIFIC_FORCE_QUANTITY = ACCELERATION_QUANTITY._replace(
    name="specific force", largest=MAX_SPECIFIC_FORCE
)

FORCE_COLUMNS = ("fx", "fy", "fz")

RATE_COLUMNS = ("wx", "wy", "wz")

MANOEUVRE_COLUMNS = {
    "time": Column("time", TIME_QUANTITY),
    **{name: Column(name, SPECIFIC_FORCE_QUANTITY) for name in FORCE_COLUMNS},
    **{name: Column(name, ANGULAR_RATE_QUANTITY) for name in RATE_COLUMNS},
}
"""Columns of a manoeuvre's file: all are needed but the rates, which are zero when left out."""


def sensed_manoeuvre(
    platform: MachineModel, motion: Motion, head: Any = (0.0, 0.0, 0.0), period: Any = 5e-3
) -> Manoeuvre:
    """Return specific force and angular rate at the head, in platform axes, along a motion.

    The motion is first fitted to what the machine can do. Specific force is the acceleration of
    the head minus gravity, turned into the platform's axes by its true attitude.

    Args:
        platform: the machine.
        motion: of its reference point.
        head: `(3,)` [m] from the reference point, platform axes.
        period: [s] between samples.

    Raises:
        InputError: not a machine, no point, period not above zero, longer than a third of the
            motion.
    """
    machine = as_model(platform)
    point = as_vector(head, "head", 3)
    time = sample_times(motion, positive(period, "period"))
    pose, twist, acceleration = constrained_motion(machine, motion, time)
    arm = rotated(pose[:, 3:], np.broadcast_to(point, (len(time), 3)))
    spin = twist[:, 3:]
    head_acceleration = (
        acceleration[:, :3] + cross(acceleration[:, 3:], arm) + cross(spin, cross(spin, arm))
    )
    head_acceleration[:, 2] += GRAVITY
    to_platform = pose[:, 3:] * [1.0, -1.0, -1.0, -1.0]
    return Manoeuvre(
        "platform", time, rotated(to_platform, head_acceleration), rotated(to_platform, spin)
    )


def sample_times(motion: Motion, period: float) -> FloatArray:
    """Return times [s] at an even period from 0 to the end of a motion or just before.

    Raises:
        InputError: not a motion, a period longer than it, or more than `MAX_SAMPLES` times.
    """
    as_instance(motion, "motion", Motion)  # type: ignore[type-abstract]
    if period > motion.duration:
        raise InputError("period", f"must not be longer than the motion's {motion.duration:g} s")
    count = int(motion.duration / period * (1.0 + 1e-12)) + 1
    if count > MAX_SAMPLES:
        raise InputError("period", f"gives {count:.3g} samples; at most {MAX_SAMPLES} are taken")
    return np.arange(count, dtype=np.float64) * period


class WorkspaceUse(NamedTuple):
    """Coordinates and their rates along a motion, and fractions of the limits: 1 is all of it."""

    time: FloatArray
    """times `(k,)` [s] of the samples"""
    coordinates: FloatArray
    """actuator coordinates `(k, n)` [m, rad]"""
    rates: FloatArray
    """actuator rates `(k, n)` [m/s, rad/s]"""
    accelerations: FloatArray
    """actuator accelerations `(k, n)` [m/s2, rad/s2]"""
    length: float
    """largest departure from mid-range over half the range"""
    speed: float
    """largest rate over its limit; 0 without one"""
    acceleration: float
    """largest acceleration over its limit; 0 without one"""

    @property
    def largest(self) -> float:
        """The largest of the three fractions."""
        return max(self.length, self.speed, self.acceleration)


def workspace_use(platform: MachineModel, motion: Motion, period: Any = 5e-3) -> WorkspaceUse:
    """Return what a motion, fitted to the machine, takes of the actuators' limits.

    Args:
        platform: the machine.
        motion: of its reference point.
        period: [s] between the instants looked at.

    Raises:
        InputError: not a machine, period not above zero.
        UnreachablePoseError: a leg cannot reach a pose.
    """
    machine = as_model(platform)
    time = sample_times(motion, positive(period, "period"))
    leg_state = leg_motion(machine, *constrained_motion(machine, motion, time))
    return WorkspaceUse(time, *leg_state, *limit_fractions(machine, *leg_state))


def leg_motion(
    platform: MachineModel, pose: FloatArray, twist: FloatArray, acceleration: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return coordinates, rates and accelerations `(k, n)` of motions fitted to the machine.

    Raises:
        InputError: wrong shapes, not finite.
        UnreachablePoseError: a leg cannot reach a pose.
    """
    fitted = platform.constrain(pose, twist, acceleration)
    rates, accelerations = actuator_derivatives(platform, *fitted)
    return platform.inverse_kinematics(fitted.pose), rates, accelerations


def limit_fractions(
    platform: MachineModel, coordinates: FloatArray, rates: FloatArray, accelerations: FloatArray
) -> tuple[float, float, float]:
    """Return the largest fractions of length, speed and acceleration limits that are used."""
    low, high = platform.minimum_coordinates, platform.maximum_coordinates
    actuator = platform.parameters.leg.actuator
    length_fraction = np.abs(coordinates - 0.5 * (low + high)) / (0.5 * (high - low))
    speed, acceleration = (
        0.0 if limit is None else float(np.abs(values).max() / limit)
        for values, limit in (
            (rates, actuator.speed),
            (accelerations, getattr(actuator, "acceleration", None)),
        )
    )
    return float(length_fraction.max()), speed, acceleration


def read_manoeuvre(path: Any) -> Manoeuvre:
    """Return the manoeuvre recorded in a CSV file.

    The first line names the columns, each with its unit:
    `time [s],fx [m/s2],fy [m/s2],fz [g],wx [deg/s]`. fx, fy, fz: specific force (with gravity: fz
    is +1 g at rest) at the head in vehicle axes, x forward, y left, z up; wx, wy, wz: angular rate
    about them, zero where left out. Units are those of machine files.

    Raises:
        InputError: names file, line and column of the fault and what to do.
    """
    table = read_table(path, MANOEUVRE_COLUMNS)
    missing_columns = [name for name in ("time", *FORCE_COLUMNS) if name not in table.columns]
    if missing_columns:
        raise InputError(
            str(table.file),
            f"line 1: has no column {', '.join(missing_columns)}; a file needs time, "
            f"{', '.join(FORCE_COLUMNS)} and may have {', '.join(RATE_COLUMNS)}",
        )
    time = table.columns["time"]
    try:
        check_time(time, None, True)
    except SampleError as error:
        raise table.fault(error.row, error.column, error.message) from None
    for name, values in table.columns.items():
        largest, row = MANOEUVRE_COLUMNS[name].quantity.largest, int(np.abs(values).argmax())
        if np.abs(values[row]) > largest:
            unit = MANOEUVRE_COLUMNS[name].quantity.si
            raise table.fault(
                row, name, f"{values[row]:.6g} {unit} is above {largest:g} {unit}: wrong unit?"
            )
    zeros = np.zeros(len(time))
    force = np.stack([table.columns[name] for name in FORCE_COLUMNS], axis=1)
    rate = np.stack([table.columns.get(name, zeros) for name in RATE_COLUMNS], axis=1)
    try:
        return Manoeuvre(Path(path).stem, time, force, rate)
    except InputError as error:
        raise InputError(str(table.file), f"{error.field}: {error.message}") from None


def write_motion(motion: Motion, path: str | Path, period: Any = 0.01) -> Path:
    """Write the axes of a motion, with time and units in the header; returns the path.

    The columns are displacements from the motion's centre [m] and the angles of its convention
    [rad], ten digits each. `read_recording(path, motion.center)` gives the motion back
    as splines through these samples.

    Args:
        motion: any.
        path: the file to write.
        period: [s] between the lines.

    Raises:
        InputError: not a motion, the period longer than a tenth of it, the place cannot be written
            to.
    """
    as_instance(motion, "motion", Motion)  # type: ignore[type-abstract]
    step = positive(period, "period")
    if step > 0.1 * motion.duration:
        raise InputError("period", f"must be at most a tenth of the motion's {motion.duration:g} s")
    check_writable(path)
    names = ["time", *motion.axis_names]
    columns = known_columns(motion.convention)
    time = sample_times(motion, step)
    titles = [f"{name} [{columns[name].quantity.si}]" for name in names]
    return write_text(path, csv_text(titles, [time, *motion.axes(time).values.T]))
