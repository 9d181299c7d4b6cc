"""Logs as CSV files: ours, and those of others with times in one column."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator
from io import TextIOWrapper
from itertools import islice
from pathlib import Path
from typing import IO

import numpy as np

from twin.basics.files import write_atomically
from twin.errors import InputError
from twin.logs.files.table import (
    AT_ONCE,
    MARK,
    TableColumns,
    all_titles,
    layout_text,
    read_layout,
    table_rows,
)
from twin.logs.log import Log
from twin.logs.simulated import log_of
from twin.machine.quantity import is_number
from twin.simulation.recorded.files import MARK as TRAJECTORY
from twin.simulation.trajectory import Trajectory

COMMENT = "#"
DELIMITERS = ",;\t|"


def write_csv(log: Log, path: str | Path) -> Path:
    """Write a log as CSV: a comment with its layout, names of columns, one row per time.

    Raises:
        InputError: the place cannot be written to, or two columns would have the same name.
    """
    names = all_titles(log)

    def write(file: IO[bytes]) -> None:
        file.write(f"{COMMENT} {MARK} {layout_text(log)}\n".encode())
        text = TextIOWrapper(file, "utf-8", newline="")
        csv.writer(text, lineterminator="\n").writerow(names)
        text.detach()
        for block in table_rows(log):
            for row in block.tolist():
                cells = ("" if number != number else repr(number) for number in row)
                file.write((",".join(cells) + "\n").encode())

    return write_atomically(path, write)


def read_blocks(path: Path, time: str, time_unit: str | None) -> Iterator[Log]:
    """Yield a CSV file as logs of `AT_ONCE` rows; lines that begin with # are left out.

    The first other line has names, with units in brackets. Empty cells and NaN are no samples.

    Raises:
        InputError: names the line and column of a fault.
    """
    with path.open(encoding="utf-8-sig", newline="") as stream:
        first = stream.readline()
        if first.startswith(f"{COMMENT} {TRAJECTORY} "):
            yield log_of(Trajectory.load(path))
            return
        _, mark, text = first.partition(f"{COMMENT} {MARK} ")
        layout = read_layout(text, path) if mark else None
        before = 0
        while first.startswith(COMMENT):
            first, before = stream.readline(), before + 1
        delimiter = max(DELIMITERS, key=first.count)
        names = next(csv.reader([first.rstrip("\r\n")], delimiter=delimiter), [])
        if not names:
            raise InputError(str(path), "is empty; the first line must name the columns")
        columns = TableColumns(names, layout, time, time_unit, path)
        yield columns.empty()
        reader = csv.reader(stream, delimiter=delimiter)
        rows = ((reader.line_num + before + 1, row) for row in reader if any(map(str.strip, row)))
        while block := list(islice(rows, AT_ONCE)):
            yield columns.log(np.array([_numbers(path, line, row, names) for line, row in block]))


def _numbers(path: Path, line: int, row: list[str], names: list[str]) -> list[float]:
    if len(row) != len(names):
        message = f"line {line}: has {len(row)} cells, the header has {len(names)}"
        raise InputError(str(path), f"{message}; the file may be cut off there")
    try:
        numbers = [float(cell) if cell else math.nan for cell in row]
    except ValueError:
        column = next(k for k, cell in enumerate(row) if cell and not is_number(cell))
        message = f"line {line}, column {names[column]!r}: {row[column][:40]!r} is not a number"
        raise InputError(str(path), message) from None
    if any(map(math.isinf, numbers)):
        column = next(k for k, number in enumerate(numbers) if math.isinf(number))
        raise InputError(str(path), f"line {line}, column {names[column]!r}: is not finite")
    return numbers
