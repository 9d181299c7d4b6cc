"""Manoeuvres from CSV files: specific force and angular rate of a vehicle's head point.

Motions are written as CSV files that `twin.motion.read_recording` reads.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from twin.basics.arrays import positive
from twin.basics.files import check_place, write_text
from twin.errors import InputError, brief
from twin.motion.cueing.manoeuvre import LARGEST_FORCE, LARGEST_RATE, Manoeuvre
from twin.motion.cueing.workspace_use import sample_times
from twin.motion.motion import Motion
from twin.motion.samples import (
    ACCELERATION,
    TIME,
    Column,
    Quantity,
    SampleError,
    check_time,
    known_columns,
)
from twin.motion.table_file import read_table

ANGULAR_RATE = Quantity(
    "angular rate", "rad/s", {"rad/s": 1.0, "deg/s": math.pi / 180.0}, LARGEST_RATE
)
SPECIFIC_FORCE = ACCELERATION._replace(name="specific force", largest=LARGEST_FORCE)

FORCES = ("fx", "fy", "fz")
RATES = ("wx", "wy", "wz")

COLUMNS = {
    "time": Column("time", TIME),
    **{name: Column(name, SPECIFIC_FORCE) for name in FORCES},
    **{name: Column(name, ANGULAR_RATE) for name in RATES},
}
"""Columns of a manoeuvre's file: all are needed but the rates, which are zero when left out."""


def read_manoeuvre(
    path: Any,
    *,
    units: Mapping[str, str] | None = None,
    columns: Mapping[str, str] | None = None,
    largest_gap: Any = None,
) -> Manoeuvre:
    """Return the manoeuvre recorded in a CSV file.

    The first line names the columns, each with its unit:
    `time [s],fx [m/s2],fy [m/s2],fz [g],wx [deg/s]`. fx, fy, fz: specific force (with gravity: fz
    is +1 g at rest) at the head in vehicle axes, x forward, y left, z up; wx, wy, wz: angular rate
    about them, zero where left out. Units: s, ms, us, min; m/s2, mm/s2, g; rad/s, deg/s.

    Args:
        path: the file.
        units: column name -> unit, for columns whose header has none.
        columns: header text without unit -> column name; when given, all others are ignored.
        largest_gap: [s] to bridge between samples; default ten median intervals.

    Raises:
        InputError: names file, line and column of the fault and what to do.
    """
    table = read_table(path, COLUMNS, units=units, columns=columns)
    missing = [name for name in ("time", *FORCES) if name not in table.columns]
    if missing:
        raise InputError(
            str(table.file),
            f"line 1: has no column {', '.join(missing)}; a file needs time, {', '.join(FORCES)}"
            f" and may have {', '.join(RATES)}",
        )
    time = table.columns["time"]
    try:
        check_time(time, largest_gap, True)
    except SampleError as error:
        raise table.fault(error.row, error.column, error.message) from None
    for name, values in table.columns.items():
        largest, row = COLUMNS[name].quantity.largest, int(np.abs(values).argmax())
        if np.abs(values[row]) > largest:
            unit = COLUMNS[name].quantity.si
            raise table.fault(
                row, name, f"{values[row]:.6g} {unit} is above {largest:g} {unit}: wrong unit?"
            )
    zero = np.zeros(len(time))
    force = np.stack([table.columns[name] for name in FORCES], axis=1)
    rate = np.stack([table.columns.get(name, zero) for name in RATES], axis=1)
    try:
        return Manoeuvre(Path(path).stem, time, force, rate)
    except InputError as error:
        raise InputError(str(table.file), f"{error.field}: {error.message}") from None


def write_motion(motion: Motion, path: str | Path, period: Any = 0.01) -> Path:
    """Write the axes of a motion, with time and units in the header; returns the path.

    The columns are displacements from the motion's centre [m] and the angles of its convention
    [rad], ten digits after the point. `read_recording(path, motion.center)` gives the motion back
    as splines through these samples.

    Args:
        motion: any.
        path: the file to write.
        period: [s] between the lines.

    Raises:
        InputError: not a motion, the period longer than a tenth of it, the place cannot be written
            to.
    """
    if not isinstance(motion, Motion):
        raise InputError("motion", f"must be a Motion, not {brief(motion)}")
    step = positive(period, "period")
    if step > 0.1 * motion.duration:
        raise InputError("period", f"must be at most a tenth of the motion's {motion.duration:g} s")
    check_place(path)
    names = ["time", *motion.axis_names]
    known = known_columns(motion.convention)
    time = sample_times(motion, step)
    values = np.column_stack([time, motion.axes(time).values])
    lines = [",".join(f"{name} [{known[name].quantity.si}]" for name in names)]
    lines += [",".join(f"{value:.10f}" for value in row) for row in values + 0.0]
    return write_text(path, "\n".join(lines) + "\n")
