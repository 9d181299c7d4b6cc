"""Logs of inertial sensors as files: CSV with units in the header, and the thesis' raw numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from twin.basics.arrays import FloatArray, positive
from twin.basics.files import write_text
from twin.errors import InputError, brief
from twin.motion.samples import ACCELERATION, TIME, Column, Quantity
from twin.motion.table_file import read_table
from twin.plant.inertial_sensor import InertialLog

ANGULAR_RATE = Quantity(
    "angular rate",
    "rad/s",
    {
        "rad/s": 1.0,
        "mrad/s": 1e-3,
        "deg/s": math.pi / 180.0,
        "deg/h": math.pi / 648000.0,
        "rpm": math.pi / 30.0,
    },
    100.0,
)

CHANNELS = ("fx", "fy", "fz", "wx", "wy", "wz")
"""Specific force and angular rate along the sensor's axes, in the order of the columns."""

COLUMNS = {
    "time": Column("time", TIME),
    **{name: Column(name, ACCELERATION) for name in CHANNELS[:3]},
    **{name: Column(name, ANGULAR_RATE) for name in CHANNELS[3:]},
}

THESIS_RATE = 200.0
"""[Hz] Thesis, appendix A.4: `t=0:1/200:...`."""

THESIS_COLUMNS = 7
"""Message count, three specific forces, three rates. The script names the first (`count`) and the
fifth (`vR`, which it plots against the reference motion); the others are inferred from these
two."""


def read_inertial_log(
    path: Any,
    *,
    units: Mapping[str, str] | None = None,
    columns: Mapping[str, str] | None = None,
) -> InertialLog:
    """Return the log in a CSV file whose first line names the columns, each with its unit.

    Columns: `time`, specific force `fx`, `fy`, `fz`, angular rate `wx`, `wy`, `wz`, such as
    `time [s],fz [g],wy [deg/s]`. Those that are missing are NaN in the log.

    Args:
        path: the file, UTF-8 text.
        units: column name -> unit, for columns whose header has none.
        columns: header text without unit -> column name; all other columns are ignored then.

    Raises:
        InputError: names file, line and column of the fault and what to do.
    """
    table = read_table(path, COLUMNS, units=units, columns=columns)
    if "time" not in table.columns or len(table.columns) < 2:
        raise InputError(
            str(table.file), f"line 1: needs 'time' and one of {', '.join(CHANNELS)} at least"
        )
    time = table.columns["time"]
    late = np.flatnonzero(~(np.diff(time) > 0.0))
    if late.size:
        raise table.fault(int(late[0]) + 1, "time", "is not later than the line before")
    rows = np.full((len(time), 6), np.nan)
    for k, name in enumerate(CHANNELS):
        if name in table.columns:
            rows[:, k] = table.columns[name]
    return InertialLog(time, rows[:, :3], rows[:, 3:])


def read_thesis_log(
    path: Any,
    *,
    rate: Any = THESIS_RATE,
    force_unit: str = "g",
    rate_unit: str = "deg/s",
) -> InertialLog:
    """Return the log in a file of bare numbers, as the thesis' script loads `imuData.txt`.

    Seven columns split by blanks or commas: message count, specific force x y z, angular rate
    x y z. Time follows from the count, so that lost messages leave a gap; a count that begins
    again at zero goes on.

    Args:
        path: the file.
        rate: messages per second [Hz].
        force_unit: of columns 2 to 4: m/s2, mm/s2 or g. The thesis does not print it.
        rate_unit: of columns 5 to 7: rad/s, mrad/s, deg/s, deg/h or rpm. Likewise.

    Raises:
        InputError: no such file, not seven columns of numbers, unknown units.

    Reference:
        Stewart thesis, appendix A.4.
    """
    factors = []
    for unit, quantity in ((force_unit, ACCELERATION), (rate_unit, ANGULAR_RATE)):
        if unit not in quantity.factors:
            known = ", ".join(quantity.factors)
            raise InputError("unit", f"{unit!r} is no unit of {quantity.name}; use one of {known}")
        factors.append(quantity.factors[unit])
    rows = _bare_numbers(path)
    steps = np.diff(rows[:, 0])
    if (steps != np.floor(steps)).any() or (steps == 0.0).any():
        raise InputError(str(path), "the first column must count messages in whole numbers")
    if (steps < 0.0).any():
        modulus = 2.0 ** np.ceil(np.log2(rows[:, 0].max() + 1.0))
        steps = np.where(steps < 0.0, steps + modulus, steps)
    time = np.concatenate([[0.0], np.cumsum(steps)]) / positive(rate, "rate")
    return InertialLog(time, rows[:, 1:4] * factors[0], rows[:, 4:] * factors[1])


def _bare_numbers(path: Any) -> FloatArray:
    if not isinstance(path, (str, Path)) or not str(path) or "\0" in str(path):
        raise InputError("path", f"must be the path of a text file, got {brief(path)}")
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(str(path), f"cannot be read as text ({error})") from None
    rows = []
    for number, line in enumerate(lines, 1):
        cells = line.replace(",", " ").split()
        if not cells:
            continue
        try:
            values = [float(cell) for cell in cells]
        except ValueError:
            raise InputError(str(path), f"line {number}: is not numbers alone") from None
        if len(values) != THESIS_COLUMNS or not np.isfinite(values).all():
            raise InputError(
                str(path),
                f"line {number}: must be {THESIS_COLUMNS} finite numbers, got {len(cells)}",
            )
        rows.append(values)
    if len(rows) < 2:
        raise InputError(str(path), "holds fewer than two lines of numbers")
    return np.array(rows)


def write_inertial_log(log: InertialLog, path: str | Path) -> Path:
    """Write a log as CSV that `read_inertial_log` reads, atomically; returns its path.

    Raises:
        InputError: the place cannot be written to.
    """
    kept = [k for k in range(6) if not np.isnan(log.readings[:, k]).any()]
    units = ["m/s2"] * 3 + ["rad/s"] * 3
    names = ["time [s]", *(f"{CHANNELS[k]} [{units[k]}]" for k in kept)]
    return write_text(path, table_text(names, [log.time, *log.readings[:, kept].T]))


def table_text(names: Sequence[str], columns: Sequence[FloatArray]) -> str:
    """Return columns `(k,)` as CSV with their names above, ten digits each."""
    lines = [",".join(names)]
    lines += [",".join(f"{value:.10g}" for value in row) for row in zip(*columns, strict=True)]
    return "\n".join(lines) + "\n"
