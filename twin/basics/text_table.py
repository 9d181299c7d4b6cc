"""Tables in text files as programs write them: encoding, delimiter, decimals and header are found.

Spreadsheets, controllers and data loggers write CSV in many ways: with commas, semicolons, tabs or
bars, with decimal points or commas, in UTF-8 (with or without a mark) or a Windows code page, and
with lines above the header. The format follows from a row of names with a row of numbers below it.
"""

from __future__ import annotations

import codecs
import csv
import math
import re
from collections.abc import Iterable, Iterator
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
"""Mark that begins a comment line."""

SAMPLE_LINES = 60
"""Number of lines in which the header is searched."""

BODY_LINES = 5
"""Number of lines below a possible header by which it is judged."""

LEAST_NUMBERS = 0.75
"""Minimum fraction of numbers among the cells of a row that are not empty."""

SAMPLE_BYTES = 1 << 20
"""Number of bytes by which the encoding is determined: the words of a file are in and above its
header."""

LONGEST_LINE = 1_000_000
"""Maximum number of characters in a line; longer lines are no table."""

DECIMAL_COMMA = re.compile(r"[-+]?\d*,\d+([eE][-+]?\d+)?")
"""A number with a decimal comma."""


def csv_text(titles: Iterable[str], columns: Iterable[Iterable[float]]) -> str:
    """Return columns of numbers as CSV with their titles above, ten digits each."""
    rows = (",".join(f"{value:.10g}" for value in row) for row in zip(*columns, strict=True))
    return "\n".join([",".join(titles), *rows]) + "\n"


class Layout(NamedTuple):
    """Format of a table as a program wrote it."""

    encoding: str
    delimiter: str
    decimal: str
    """decimal mark, a point or a comma"""
    line: int
    """line number of the header, from 1"""
    names: tuple[str, ...]
    """cells of the header"""


class TextTable:
    """A table in a text file.

    Attributes:
        path: the file.
        layout: format in which it is written.
        first_line: the first line of the file, without its end.
    """

    def __init__(self, path: str | Path) -> None:
        """Determine the format of a file.

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
        has_decimal_comma = layout.decimal == ","
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
                    yield (
                        line,
                        [cell.replace(",", ".") for cell in cells] if has_decimal_comma else cells,
                    )
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
            first_bytes = stream.read(SAMPLE_BYTES)
        if first_bytes.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            return "utf-16"
        try:
            codecs.getincrementaldecoder("utf-8")().decode(first_bytes)
        except UnicodeDecodeError:
            return "cp1252"
        return "utf-8-sig"

    def _layout(self, encoding: str, lines: list[str]) -> Layout:
        """Return the format that fits the first lines best."""
        nonempty_lines = [(k + 1, line) for k, line in enumerate(lines) if line.strip(" ,;|\t")]
        content_lines = [
            (k, line) for k, line in nonempty_lines if not line.lstrip().startswith(COMMENT_MARK)
        ]
        if not content_lines:
            self.fail("is empty; the first line must name the columns, such as: time [s],z [m]")
        best_layout: Layout | None = None
        for line_index, (line, text) in enumerate(content_lines):
            rows_below = [
                row for _, row in content_lines[line_index + 1 : line_index + 1 + BODY_LINES]
            ]
            for delimiter in DELIMITERS:
                names = _cells(text, delimiter)
                if all(_is_number(name, delimiter) for name in names):
                    continue
                row_matches = [
                    _is_row(_cells(row, delimiter), len(names), delimiter) for row in rows_below
                ]
                has_more_columns = best_layout is None or len(names) > len(best_layout.names)
                if rows_below and 2 * sum(row_matches) >= len(row_matches) and has_more_columns:
                    best_layout = Layout(encoding, delimiter, ".", line, tuple(names))
        if best_layout is None:
            line, text = content_lines[0]
            delimiter = max(DELIMITERS, key=text.count)
            best_layout = Layout(encoding, delimiter, ".", line, tuple(_cells(text, delimiter)))
        rows = [
            _cells(text, best_layout.delimiter)
            for line, text in content_lines
            if line > best_layout.line
        ]
        body_cells = [cell for row in rows for cell in row]
        any_comma = any(DECIMAL_COMMA.fullmatch(cell) for cell in body_cells)
        any_point = any(
            DECIMAL_COMMA.fullmatch(cell.replace(".", ",")) for cell in body_cells if "." in cell
        )
        return best_layout._replace(decimal="," if any_comma and not any_point else ".")


def parse_time(cell: str) -> float:
    """Return the time [s] of a number or of an ISO 8601 date and time; UTC without a zone.

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
    """Return whether cells are a row of numbers; some may be empty or times, few may be words."""
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
