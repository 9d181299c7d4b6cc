"""Reading a table of numbers from a CSV file: every fault names file, line and column."""

from __future__ import annotations

import math
from array import array
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray
from twin.basics.text_table import TextTable, parse_time
from twin.errors import InputError, brief
from twin.motion.axes import LARGEST_SAMPLE
from twin.motion.samples import Column
from twin.motion.table_header import read_header

AT_ONCE = 1000
"""Rows that are held as text."""


LARGEST_FILE = 1_000_000_000
"""Bytes; an hour of seven columns at 1 kHz has a third of it. A motion is held whole."""


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
    known: Mapping[str, Column],
    *,
    units: Mapping[str, str] | None = None,
    columns: Mapping[str, str] | None = None,
) -> Table:
    """Return the columns of a CSV file in SI units, however a program wrote it; see `TextTable`.

    Args:
        path: a text file with a header that names the columns, each with its unit in brackets,
            such as `pitch [deg]`.
        known: the columns that may occur.
        units: column name -> unit, for columns whose header has none.
        columns: header text without unit -> column name; when given, all other columns of the
            file are ignored, but for the time.

    Raises:
        InputError: the file cannot be read, a column is unknown, missing, there twice or without
            unit, a row is too short or long, a cell is no finite number.
    """
    if not isinstance(path, (str, Path)) or not str(path) or "\0" in str(path):
        raise InputError("path", f"must be the path of a CSV file, got {brief(path)}")
    given_units = _text_mapping(units, "units", known)
    renamed = None if columns is None else _text_mapping(columns, "columns", None)
    text = TextTable(path)
    if text.path.stat().st_size > LARGEST_FILE:
        text.fail(f"is larger than {LARGEST_FILE} bytes; cut or decimate it")
    names, found_units = read_header(text, known, units=given_units, columns=renamed)
    lines, numbers = _numbers(text, names)
    if not lines:
        text.fail("has a header but no data; add one line per sample")
    table = {name: np.frombuffer(column) for name, column in numbers.items()}
    for name, values in table.items():
        values *= known[name].quantity.factors[found_units[name]]
    return Table(text.path, table, lines, found_units)


def _numbers(
    text: TextTable, names: list[str | None]
) -> tuple[array[int], dict[str, array[float]]]:
    """Return the line of each row, and the numbers of the columns that have a name."""
    lines, rows = array("I"), text.rows()
    picked = {name: (i, array("d")) for i, name in enumerate(names) if name is not None}
    while chunk := list(islice(rows, AT_ONCE)):
        lines.extend(line for line, _ in chunk)
        for name, (i, column) in picked.items():
            column.frombytes(_column(text, name, i, chunk).tobytes())
    return lines, {name: column for name, (_, column) in picked.items()}


def _column(text: TextTable, name: str, i: int, rows: list[tuple[int, list[str]]]) -> FloatArray:
    """Return the numbers in cell i of some rows; only those with a fault are read one by one."""
    try:
        values = np.array([float(cells[i]) for _, cells in rows])
    except ValueError:
        values = np.full(1, np.nan)
    if (np.abs(values) <= LARGEST_SAMPLE).all():
        return values
    return np.array([_number(text, line, name, cells[i]) for line, cells in rows])


def _text_mapping(value: Any, field: str, known: Mapping[str, Column] | None) -> dict[str, str]:
    if value is None:
        return {}
    if not isinstance(value, Mapping) or not all(
        isinstance(text, str) for pair in value.items() for text in pair
    ):
        raise InputError(field, f"must map names to names, got {brief(value)}")
    for name in value:
        if known is not None and name not in known:
            raise InputError(field, f"there is no column {name!r}; known: {', '.join(known)}")
    return dict(value)


def _number(text: TextTable, line: int, name: str, cell: str) -> float:
    where = f"line {line}, column {name!r}: "
    if not cell:
        text.fail(f"{where}is empty; fill it in or remove the line")
    try:
        value = parse_time(cell) if name == "time" else float(cell)
    except ValueError:
        hint = "write decimals with a point" if "," in cell else "remove or correct the line"
        text.fail(f"{where}{cell[:40]!r} is not a number; {hint}")
    if not math.isfinite(value):
        text.fail(f"{where}is {cell}; fill it in or remove the line")
    if abs(value) > LARGEST_SAMPLE:
        text.fail(f"{where}{cell[:40]} is too large for any unit; correct or remove the line")
    return value
