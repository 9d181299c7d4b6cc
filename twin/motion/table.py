"""Tables of motions: headers with units, samples and files.

Faults of recorded samples are found: time without increase or with jumps, implausible sizes. The
units of recorded columns say what they measure, and which sizes a platform can reach.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, as_floats, bounded
from twin.basics.text_table import TIME_NAMES, TextTable, parse_time
from twin.errors import InputError, brief
from twin.machine.quantity import (
    STANDARD_GRAVITY,
    TITLE_PATTERN,
    UNIT_SPELLINGS,
    UNITS,
    is_number,
)
from twin.motion.motion import MAX_SAMPLE, MAX_TIME, MIN_TIME, POSITION_AXES, axis_names

MIN_SAMPLES = 4
"""A cubic spline needs four samples; from six on the spline is quintic."""

MAX_INTERVAL = 0.5
"""[s] Longest median interval: no motion of a platform can be read from samples further apart."""

DEFAULT_GAP = 10.0
"""Largest gap in median intervals, where the caller gives no largest gap."""

MIN_INTERVAL_FRACTION = 1e-6
"""Fraction of the median interval; closer samples make the spline meaningless."""

MAX_NAME_LENGTH = 200
"""Maximum number of characters of a column name with its unit."""

BLOCK_ROWS = 1000
"""Number of rows that are in memory as text."""

MAX_FILE_SIZE = 1_000_000_000
"""[byte] Largest file; an hour of seven columns at 1 kHz has a third of it. A motion is in memory
as a whole.
"""


class Quantity(NamedTuple):
    """Physical quantity of a column."""

    name: str
    si: str
    """its SI unit as written"""
    largest: float
    """[SI] magnitude above which the unit is taken to be wrong"""

    @property
    def factors(self) -> dict[str, float]:
        """Factor to SI of each unit as written."""
        return UNITS[self.si]


TIME_QUANTITY = Quantity("time", "s", 1e6)
LENGTH_QUANTITY = Quantity("length", "m", 10.0)
ANGLE_QUANTITY = Quantity("angle", "rad", math.pi / 2.0)
ACCELERATION_QUANTITY = Quantity("acceleration", "m/s2", 500.0)
ANGULAR_ACCELERATION_QUANTITY = Quantity("angular acceleration", "rad/s2", 5000.0)
ANGULAR_RATE_QUANTITY = Quantity("angular rate", "rad/s", 50.0)


class Column(NamedTuple):
    """A column that a recording may have."""

    axis: str
    """name of the axis, or 'time'"""
    quantity: Quantity


def known_columns(convention: str) -> dict[str, Column]:
    """Return the columns of a recording: time, axes as values, axes as accelerations.

    Values are named after the axis (z, pitch). Accelerations are ax, ay, az, and the angle's
    name with `_acceleration` (pitch_acceleration: second time derivative of that angle).

    Raises:
        InputError: unknown convention.
    """
    columns = {"time": Column("time", TIME_QUANTITY)}
    for axis in axis_names(convention):
        if axis in POSITION_AXES:
            columns[axis] = Column(axis, LENGTH_QUANTITY)
            columns[f"a{axis}"] = Column(axis, ACCELERATION_QUANTITY)
        else:
            columns[axis] = Column(axis, ANGLE_QUANTITY)
            columns[f"{axis}_acceleration"] = Column(axis, ANGULAR_ACCELERATION_QUANTITY)
    return columns


class SampleError(InputError):
    """A fault in one sample.

    Attributes:
        row: number of the sample, from 0.
        column: name of its column.
    """

    def __init__(self, row: int, column: str, message: str) -> None:
        super().__init__(f"{column}[{row}]", message)
        self.row = row
        self.column = column

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the error by its three arguments, so that worker processes can raise it."""
        return type(self), (self.row, self.column, self.message)


def check_time(time: FloatArray, largest_gap: Any, check_size: bool) -> None:
    """Check that times `(n,)` [s] increase, without gaps.

    Args:
        time: [s].
        largest_gap: [s] allowed between samples; None for ten median intervals.
        check_size: whether sampling slower than any platform motion is a fault.

    Raises:
        SampleError: says at which sample the fault is.
    """
    if len(time) < MIN_SAMPLES:
        raise SampleError(
            len(time) - 1, "time", f"the record ends here; it needs {MIN_SAMPLES} samples"
        )
    steps = np.diff(time)
    if (steps <= 0.0).any():
        row = int((steps <= 0.0).argmax()) + 1
        fault = "repeats" if steps[row - 1] == 0.0 else "is before"
        raise SampleError(
            row,
            "time",
            f"{time[row]:.9g} s {fault} the sample before ({time[row - 1]:.9g} s); sort the "
            "samples and remove double ones",
        )
    median = float(np.median(steps))
    if check_size and median > MAX_INTERVAL:
        raise SampleError(1, "time", f"samples are {median:g} s apart: wrong unit of time?")
    if not MIN_TIME <= time[-1] - time[0] <= MAX_TIME:
        raise SampleError(
            len(time) - 1,
            "time",
            f"the record lasts {time[-1] - time[0]:g} s, not {MIN_TIME:g} to "
            f"{MAX_TIME:g} s: wrong unit of time?",
        )
    if steps.min() < MIN_INTERVAL_FRACTION * median:
        row = int(steps.argmin()) + 1
        raise SampleError(row, "time", "hardly later than the sample before; remove one of the two")
    allowed = DEFAULT_GAP * median
    if largest_gap is not None:
        allowed = bounded(largest_gap, "largest_gap", MIN_TIME, MAX_TIME)
    if steps.max() > allowed:
        row = int(steps.argmax()) + 1
        raise SampleError(
            row,
            "time",
            f"gap of {steps[row - 1]:g} s before this sample, at most {allowed:g} s are bridged; "
            "fill in samples, or split the record",
        )


def check_sizes(columns: Mapping[str, FloatArray], definitions: Mapping[str, Column]) -> None:
    """Check that no value is larger than a platform reaches.

    Args:
        columns: column name -> values `(n,)` in SI units, without time.
        definitions: what each column measures.

    Raises:
        SampleError: says at which sample the fault is.
    """
    for name, values in columns.items():
        quantity = definitions[name].quantity
        row = int(np.abs(values).argmax())
        if np.abs(values[row]) > quantity.largest:
            other_units = ", ".join(unit for unit in quantity.factors if unit != quantity.si)
            raise SampleError(
                row,
                name,
                f"{values[row]:.6g} {quantity.si} is more than a platform reaches "
                f"({quantity.largest:.4g} {quantity.si}): wrong unit? Other units of "
                f"{quantity.name}: {other_units}",
            )
        if name == "az" and abs(abs(values.mean()) - STANDARD_GRAVITY) < 0.05 * STANDARD_GRAVITY:
            raise SampleError(
                0,
                name,
                f"its mean is {values.mean():.4g} m/s2: gravity is still in it; subtract it",
            )


def as_columns(
    time: Any, columns: Any, definitions: Mapping[str, Column]
) -> tuple[FloatArray, dict[str, FloatArray]]:
    """Return times `(n,)` and columns as finite arrays of the same length.

    Raises:
        InputError: unknown or missing column, an axis given twice, wrong shape, not finite.
    """
    times = as_floats(time, "time")
    if times.ndim != 1 or not times.size:
        raise InputError("time", f"must be a list (n,) [s], got shape {times.shape}")
    if not isinstance(columns, Mapping) or not columns:
        raise InputError(
            "columns", f"no axis is given; give at least one of {', '.join(list(definitions)[1:])}"
        )
    if np.abs(times).max() > MAX_SAMPLE:
        raise InputError("time", f"must not exceed {MAX_SAMPLE:g} s")
    result: dict[str, FloatArray] = {}
    for name, values in columns.items():
        if not isinstance(name, str) or name not in definitions or name == "time":
            raise InputError(
                "columns", f"there is no column {name!r}; known: {', '.join(definitions)}"
            )
        for other_name in result:
            if definitions[other_name].axis == definitions[name].axis:
                raise InputError(
                    name,
                    f"axis {definitions[name].axis!r} is already given by {other_name!r}; leave "
                    "one out",
                )
        result[name] = column = as_floats(values, name)
        if column.shape != times.shape:
            raise InputError(
                name, f"must hold one value per time {times.shape}, got {column.shape}"
            )
        if np.abs(column).max() > MAX_SAMPLE:
            raise InputError(name, f"must not exceed {MAX_SAMPLE:g}")
    return times, result


def read_header(
    table: TextTable,
    definitions: Mapping[str, Column],
    *,
    units: Mapping[str, str],
    columns: Mapping[str, str] | None,
) -> tuple[list[str | None], dict[str, str]]:
    """Return the column name of every cell, None where it is ignored, and the units by name.

    Args:
        table: the file.
        definitions: the columns that may occur.
        units: column name -> unit, for columns whose header has none.
        columns: header text without unit -> column name, for the columns to read; None for all.

    Raises:
        InputError: no header, a column unknown, missing, twice or without unit.
    """
    line, cells = table.layout.line, table.layout.names
    if all(is_number(cell) for cell in cells):
        table.fail(
            f"line {line}: holds numbers, but must name the columns; add a header line, such as: "
            "time [s],pitch [deg]"
        )
    names_and_units = [_split(table, cell) for cell in cells]
    headers = [header for header, _ in names_and_units]
    name_of_header = dict(zip(headers, headers, strict=True) if columns is None else columns)
    if "time" not in name_of_header.values():
        taken = definitions if columns is None else columns
        candidates = [n for n in headers if n.lower() in TIME_NAMES and n not in taken]
        name_of_header |= dict.fromkeys(sorted(candidates, key="time".__ne__)[:1], "time")
    names: list[str | None] = []
    unit_of_column: dict[str, str] = {}
    for header, header_unit in names_and_units:
        name = name_of_header.get(header)
        if name is None:
            names.append(None)
            continue
        if name not in definitions:
            table.fail(
                f"line {line}: there is no column {name!r}; known: {', '.join(definitions)}. "
                "Rename it, or say which column has which title (--column 'z=Heave [mm]')"
            )
        if name in unit_of_column:
            table.fail(f"line {line}: column {name!r} is there twice; remove one")
        unit_of_column[name] = _unit(table, name, header_unit, units.get(name), definitions[name])
        names.append(name)
    for header, name in (columns or {}).items():
        if name not in unit_of_column:
            table.fail(f"line {line}: there is no column {header!r} to read {name!r} from")
    return names, unit_of_column


def _split(table: TextTable, cell: str) -> tuple[str, str | None]:
    """Return the name in a cell, and the unit in its brackets."""
    if len(cell) > MAX_NAME_LENGTH:
        table.fail(f"line {table.layout.line}: {cell[:20]!r}... is too long for a column name")
    match = TITLE_PATTERN.fullmatch(cell)
    if match is None:
        table.fail(f"line {table.layout.line}: {cell!r} is no column name; write it as name [unit]")
    return match["name"], match["unit"]


def _unit(
    table: TextTable, name: str, file_unit: str | None, requested_unit: str | None, column: Column
) -> str:
    fitting = ", ".join(column.quantity.factors)
    cell = f"line {table.layout.line}, column {name!r}: "
    if file_unit and requested_unit and file_unit != requested_unit:
        table.fail(f"{cell}the file says {file_unit!r}, you say {requested_unit!r}; remove one")
    unit = (file_unit or requested_unit or "").translate(UNIT_SPELLINGS)
    if not unit:
        example = f"{name} [{column.quantity.si}]"
        table.fail(
            f"{cell}has no unit; write {example!r} in the header, or say it with the title "
            f"(--column '{name}=TITLE [{column.quantity.si}]'); units of {column.quantity.name}: "
            f"{fitting}"
        )
    if unit not in column.quantity.factors:
        table.fail(f"{cell}{unit!r} is no unit of {column.quantity.name}; use one of {fitting}")
    return unit


class Table(NamedTuple):
    """Columns of a file in SI units."""

    file: Path
    columns: dict[str, FloatArray]
    """column name -> values `(n,)`, time included"""
    lines: Sequence[int]
    """`(n,)` line of the file that each row is on"""
    units: dict[str, str]
    """column name -> unit in the file"""

    def fault(self, row: int, column: str, message: str) -> InputError:
        """Return the error of a fault in one cell, which names its line."""
        return InputError(str(self.file), f"line {self.lines[row]}, column {column!r}: {message}")


def read_table(
    path: Any,
    definitions: Mapping[str, Column],
    *,
    units: Mapping[str, str] | None = None,
    columns: Mapping[str, str] | None = None,
) -> Table:
    """Return the columns of a CSV file in SI units, however a program wrote it; see `TextTable`.

    Args:
        path: a text file with a header that names the columns, each with its unit in brackets,
            such as `pitch [deg]`.
        definitions: the columns that may occur.
        units: column name -> unit, for columns whose header has none.
        columns: header text without unit -> column name; when given, all other columns of the
            file are ignored, but for the time.

    Raises:
        InputError: the file cannot be read, a column is unknown, missing, there twice or without
            unit, a row is too short or long, a cell is no finite number.
    """
    if not isinstance(path, (str, Path)) or not str(path) or "\0" in str(path):
        raise InputError("path", f"must be the path of a CSV file, got {brief(path)}")
    given_units = _text_mapping(units, "units", definitions)
    name_of_header = None if columns is None else _text_mapping(columns, "columns", None)
    text = TextTable(path)
    if text.path.stat().st_size > MAX_FILE_SIZE:
        text.fail(f"is larger than {MAX_FILE_SIZE} bytes; cut or decimate it")
    names, found_units = read_header(text, definitions, units=given_units, columns=name_of_header)
    line_numbers, numbers = _numbers(text, names)
    if not line_numbers:
        text.fail("has a header but no data; add one line per sample")
    table = {name: np.frombuffer(column) for name, column in numbers.items()}
    for name, values in table.items():
        values *= definitions[name].quantity.factors[found_units[name]]
    return Table(text.path, table, line_numbers, found_units)


def _numbers(
    text: TextTable, names: list[str | None]
) -> tuple[array[int], dict[str, array[float]]]:
    """Return the line of each row, and the numbers of the columns that have a name."""
    line_numbers, rows = array("I"), text.rows()
    columns_read = {name: (i, array("d")) for i, name in enumerate(names) if name is not None}
    while chunk := list(islice(rows, BLOCK_ROWS)):
        line_numbers.extend(line for line, _ in chunk)
        for name, (i, column) in columns_read.items():
            column.frombytes(_column(text, name, i, chunk).tobytes())
    return line_numbers, {name: column for name, (_, column) in columns_read.items()}


def _column(text: TextTable, name: str, i: int, rows: list[tuple[int, list[str]]]) -> FloatArray:
    """Return the numbers in cell i of some rows, one by one only for dates and to name a fault."""
    try:
        values = np.array([float(cells[i]) for _, cells in rows])
    except ValueError:
        values = np.full(1, np.nan)
    if (np.abs(values) <= MAX_SAMPLE).all():
        return values
    return np.array([_number(text, line, name, cells[i]) for line, cells in rows])


def _text_mapping(
    value: Any, field: str, definitions: Mapping[str, Column] | None
) -> dict[str, str]:
    if value is None:
        return {}
    if not isinstance(value, Mapping) or not all(
        isinstance(text, str) for entry in value.items() for text in entry
    ):
        raise InputError(field, f"must map names to names, got {brief(value)}")
    for name in value:
        if definitions is not None and name not in definitions:
            raise InputError(field, f"there is no column {name!r}; known: {', '.join(definitions)}")
    return dict(value)


def _number(text: TextTable, line: int, name: str, cell: str) -> float:
    cell_location = f"line {line}, column {name!r}: "
    if not cell:
        text.fail(f"{cell_location}is empty; fill it in or remove the line")
    try:
        value = parse_time(cell) if name == "time" else float(cell)
    except ValueError:
        hint = "write decimals with a point" if "," in cell else "remove or correct the line"
        text.fail(f"{cell_location}{cell[:40]!r} is not a number; {hint}")
    if not math.isfinite(value):
        text.fail(f"{cell_location}is {cell}; fill it in or remove the line")
    if abs(value) > MAX_SAMPLE:
        text.fail(
            f"{cell_location}{cell[:40]} is too large for any unit; correct or remove the line"
        )
    return value
