"""Logs as CSV files: ours, and those of others with times in one column."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Iterator
from io import TextIOWrapper
from itertools import islice
from pathlib import Path
from typing import IO

import numpy as np

from twin.basics.checksum import CHECKSUM, NO_CHECKSUM, check_checksum, write_checksum
from twin.basics.files import write_atomically
from twin.basics.text_table import COMMENT, TextTable, parse_time
from twin.logs.files.table import (
    AT_ONCE,
    MARK,
    TableColumns,
    all_titles,
    layout_of,
    read_layout,
    table_rows,
)
from twin.logs.log import Log
from twin.logs.simulated import log_of
from twin.simulation.recorded.files import MARK as TRAJECTORY
from twin.simulation.trajectory import Trajectory


def write_csv(log: Log, path: str | Path) -> Path:
    """Write a log as CSV: a comment with its layout, names of columns, one row per time.

    Raises:
        InputError: the place cannot be written to, or two columns would have the same name.
    """
    names = all_titles(log)

    def write(file: IO[bytes]) -> None:
        layout = json.dumps(layout_of(log) | {CHECKSUM: NO_CHECKSUM})
        file.write(f"{COMMENT} {MARK} {layout}\n".encode())
        text = TextIOWrapper(file, "utf-8", newline="")
        csv.writer(text, lineterminator="\n").writerow(names)
        text.detach()
        for block in table_rows(log):
            for row in block.tolist():
                cells = ("" if number != number else repr(number) for number in row)
                file.write((",".join(cells) + "\n").encode())
        write_checksum(file)

    return write_atomically(path, write)


def read_blocks(path: Path, time: str, time_unit: str | None) -> Iterator[Log]:
    """Yield a CSV file as logs of `AT_ONCE` rows, however a program wrote it; see `TextTable`.

    The header has names, with units in brackets. Empty cells and NaN are no samples.

    Raises:
        InputError: names the line and column of a fault.
    """
    table = TextTable(path)
    check_checksum(path)
    if table.first_line.startswith(f"{COMMENT} {TRAJECTORY} "):
        yield log_of(Trajectory.load(path))
        return
    _, mark, text = table.first_line.partition(f"{COMMENT} {MARK} ")
    layout = read_layout(text, path) if mark else None
    columns = TableColumns(table.layout.names, layout, time, time_unit, path)
    yield columns.empty()
    rows = table.rows()
    while block := list(islice(rows, AT_ONCE)):
        yield columns.log(
            np.array([_numbers(table, line, row, columns.time) for line, row in block])
        )


def _numbers(table: TextTable, line: int, row: list[str], time: int) -> list[float]:
    """Return the numbers of a row; in column `time` a date and time is one as well."""
    try:
        numbers = [float(cell) if cell else math.nan for cell in row]
    except ValueError:
        numbers = [
            _number(table, line, k, cell, date=k == time) if cell else math.nan
            for k, cell in enumerate(row)
        ]
    if any(map(math.isinf, numbers)):
        column = next(k for k, number in enumerate(numbers) if math.isinf(number))
        table.fail(f"line {line}, column {table.layout.names[column]!r}: is not finite")
    return numbers


def _number(table: TextTable, line: int, column: int, cell: str, *, date: bool) -> float:
    try:
        return parse_time(cell) if date else float(cell)
    except ValueError:
        name = table.layout.names[column]
        table.fail(f"line {line}, column {name!r}: {cell[:40]!r} is not a number")
