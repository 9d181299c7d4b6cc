"""Tables in text files as programs write them: encoding, delimiter, decimals and header are found.

Spreadsheets, controllers and data loggers write CSV in many ways: with commas, semicolons, tabs or
bars, with decimal points or commas, in UTF-8 (with or without a mark) or a Windows code page, and
with lines above the header. One row of names with a row of numbers below it tells which it is.
"""

from __future__ import annotations

import codecs
import csv
import math
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, NamedTuple, NoReturn

from twin.basics.files import as_path
from twin.errors import InputError

DELIMITERS = ",;\t|"
"""Characters between cells."""

TIME_NAMES = (
    "time", "t", "timestamp", "time stamp", "stamp", "datetime", "date", "utc", "zeit",
    "zeitstempel",
)  # fmt: skip
"""Names of the column of times, in the order of preference."""

COMMENT_MARK = "#"
"""Begins a line that is left out."""

SAMPLE_LINES = 60
"""Lines in which the header is looked for."""

BODY_LINES = 5
"""Lines below a header that tell whether it is one."""

LEAST_NUMBERS = 0.75
"""Least share of numbers among the cells of a row that are not empty."""

SAMPLE_BYTES = 1 << 20
"""Bytes that tell the encoding: words stand in the header and above it, below it are numbers."""

LONGEST_LINE = 1_000_000
"""Characters; longer lines are no table."""

DECIMAL_COMMA = re.compile(r"[-+]?\d*,\d+([eE][-+]?\d+)?")
"""A number with a decimal comma."""


class Layout(NamedTuple):
    """Layout of a table as a program wrote it."""

    encoding: str
    delimiter: str
    decimal: str
    """A point or a comma"""
    line: int
    """Number of the header's line, from 1"""
    names: tuple[str, ...]
    """Cells of the header"""


class TextTable:
    """A table in a text file.

    Attributes:
        path: the file.
        layout: how it is written.
        first_line: the first line of the file, without its end.
    """

    def __init__(self, path: str | Path) -> None:
        """Find out how a file is written.

        Raises:
            InputError: no file, no text, or nothing in it.
        """
        self.path = as_path(path)
        try:
            if not self.path.is_file():
                self.fail("is no file; check the path")
            encoding = self._encoding()
            with self._open(encoding) as stream:
                lines = [stream.readline(LONGEST_LINE) for _ in range(SAMPLE_LINES)]
        except OSError as error:
            self.fail(f"cannot be read ({error.strerror})")
        if any("\0" in line for line in lines):
            self.fail("is no text; save it as CSV")
        lines = [line.rstrip("\r\n") for line in lines]
        self.first_line = lines[0]
        self.layout = self._layout(encoding, lines)

    def fail(self, message: str) -> NoReturn:
        """Raise the InputError of a fault in the file."""
        raise InputError(str(self.path), message)

    def rows(self) -> Iterator[tuple[int, list[str]]]:
        """Yield line number and cells of each row below the header; empty lines are left out.

        Raises:
            InputError: a line that is no CSV, or a row with another number of cells.
        """
        layout = self.layout
        swap = layout.decimal == ","
        with self._open(layout.encoding) as stream:
            for _ in range(layout.line):
                stream.readline()
            reader = csv.reader(stream, delimiter=layout.delimiter, strict=True)
            try:
                for row in reader:
                    cells = [cell.strip() for cell in row]
                    if not any(cells) or cells[0].startswith(COMMENT_MARK):
                        continue
                    line = layout.line + reader.line_num
                    if len(cells) != len(layout.names):
                        self.fail(
                            f"line {line}: has {len(cells)} cells, the header has "
                            f"{len(layout.names)}; complete the line, remove it, or write decimals "
                            "with a point"
                        )
                    yield line, [cell.replace(",", ".") for cell in cells] if swap else cells
            except csv.Error as error:
                line = layout.line + reader.line_num
                self.fail(f"line {line}: is not CSV ({error}); check quotes and line ends")
            except OSError as error:
                self.fail(f"cannot be read ({error.strerror})")

    def _open(self, encoding: str) -> IO[str]:
        return self.path.open(encoding=encoding, errors="replace", newline="")

    def _encoding(self) -> str:
        """Return the encoding: UTF-8 unless a mark or a byte says otherwise."""
        with self.path.open("rb") as stream:
            begin = stream.read(SAMPLE_BYTES)
        if begin.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            return "utf-16"
        try:
            codecs.getincrementaldecoder("utf-8")().decode(begin)
        except UnicodeDecodeError:
            return "cp1252"
        return "utf-8-sig"

    def _layout(self, encoding: str, lines: list[str]) -> Layout:
        filled = [(k + 1, line) for k, line in enumerate(lines) if line.strip(" ,;|\t")]
        plain = [(k, line) for k, line in filled if not line.lstrip().startswith(COMMENT_MARK)]
        if not plain:
            self.fail("is empty; the first line must name the columns, such as: time [s],z [m]")
        best: Layout | None = None
        for place, (line, text) in enumerate(plain):
            body = [row for _, row in plain[place + 1 : place + 1 + BODY_LINES]]
            for delimiter in DELIMITERS:
                names = _cells(text, delimiter)
                if all(_is_number(name, delimiter) for name in names):
                    continue
                fits = [_is_row(_cells(row, delimiter), len(names), delimiter) for row in body]
                wider = best is None or len(names) > len(best.names)
                if body and 2 * sum(fits) >= len(fits) and wider:
                    best = Layout(encoding, delimiter, ".", line, tuple(names))
        if best is None:
            line, text = plain[0]
            delimiter = max(DELIMITERS, key=text.count)
            best = Layout(encoding, delimiter, ".", line, tuple(_cells(text, delimiter)))
        rows = [_cells(text, best.delimiter) for line, text in plain if line > best.line]
        numbers = [cell for row in rows for cell in row]
        commas = any(DECIMAL_COMMA.fullmatch(cell) for cell in numbers)
        points = any(
            DECIMAL_COMMA.fullmatch(cell.replace(".", ",")) for cell in numbers if "." in cell
        )
        return best._replace(decimal="," if commas and not points else ".")


def parse_time(cell: str) -> float:
    """Return the seconds that a number or an ISO 8601 date and time means; without zone, UTC.

    Raises:
        ValueError: neither of the two.
    """
    try:
        return float(cell)
    except ValueError:
        moment = datetime.fromisoformat(cell)
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _cells(line: str, delimiter: str) -> list[str]:
    try:
        return [cell.strip() for cell in next(csv.reader([line], delimiter=delimiter), [""])]
    except csv.Error:
        return [line]


def _is_row(cells: list[str], count: int, delimiter: str) -> bool:
    """Return whether cells are a row of numbers: some may be empty or a time, few may be words."""
    if len(cells) != count:
        return False
    numbers = [_is_number(cell, delimiter) for cell in cells if cell]
    return any(numbers) and sum(numbers) >= LEAST_NUMBERS * len(numbers)


def _is_number(cell: str, delimiter: str) -> bool:
    if delimiter != "," and DECIMAL_COMMA.fullmatch(cell):
        return True
    try:
        return not math.isinf(parse_time(cell))
    except ValueError:
        return False
