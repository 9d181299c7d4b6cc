"""A log as a table: one row per time, a column for each column of a channel, empty cells as NaN."""

from __future__ import annotations

import json
import math
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import IO, Any

import numpy as np

from twin.basics.arrays import FloatArray
from twin.basics.files import (
    CHECKSUM_KEY,
    check_bytes,
    check_checksum,
    check_columns,
    table_checksum,
    warn_changed,
    write_atomically,
    write_csv_table,
)
from twin.basics.optional import optional
from twin.basics.text_table import COMMENT_MARK, TIME_NAMES, TextTable, parse_time
from twin.errors import InputError, listed
from twin.logs.log import Channel, Log
from twin.logs.simulated import log_of
from twin.machine.quantity import TITLE_PATTERN, to_si
from twin.simulation.recorded.files import FILE_MARK as TRAJECTORY
from twin.simulation.simulate import Trajectory

LAYOUT_MARK = "twin log"
"""Text before the layout: in the first line of a CSV file, as key in other files."""

BLOCK_ROWS = 4096
"""Number of rows that are in memory as text or table."""

EPOCH_UNITS = ((1e17, 1e-9), (1e14, 1e-6), (1e11, 1e-3))
"""Smallest time without unit, and its unit [s]: nanoseconds, microseconds and milliseconds since
1970. Smaller numbers are seconds: 1e11 s are 3,000 years.
"""


Layout = dict[str, Any]
"""`channels`: name -> units of its columns; `metadata`: of the log."""


def layout_of(log: Log) -> Layout:
    """Return the layout of a log."""
    channels = {channel.name: channel.units for channel in log.channels}
    return {"channels": channels, "metadata": log.metadata}


def read_layout(text: str | bytes, path: Any) -> Layout:
    """Return the layout in a JSON text.

    Raises:
        InputError: it is damaged.
    """
    try:
        layout = json.loads(text)
        channels, metadata = layout["channels"], layout["metadata"]
        for units in channels.values():
            if not (isinstance(units, list) and units and all(isinstance(u, str) for u in units)):
                raise TypeError("units are no texts")
        if not isinstance(metadata, dict):
            raise TypeError("metadata are no table")
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        message = f"the line after '{LAYOUT_MARK}' is damaged ({type(error).__name__}: {error})"
        raise InputError(str(path), message) from None
    return {"channels": channels, "metadata": metadata}


def titles(name: str, units: Sequence[str]) -> list[str]:
    """Return the names of a channel's columns, with their units in brackets."""
    labels = [name] if len(units) == 1 else [f"{name} {k + 1}" for k in range(len(units))]
    return [f"{a} [{b}]" if b else a for a, b in zip(labels, units, strict=True)]


def all_titles(log: Log) -> list[str]:
    """Return the names of all columns of a log's table, time first.

    Raises:
        InputError: two columns would have the same name.
    """
    names = [
        "time [s]",
        *(t for channel in log.channels for t in titles(channel.name, channel.units)),
    ]
    repeated = sorted(name for name, count in Counter(names).items() if count > 1)
    if repeated:
        message = f"two columns would be called {listed(repeated)}; rename a channel"
        raise InputError("channels", message)
    return names


def table_rows(log: Log) -> Iterator[FloatArray]:
    """Yield the table of a log, time first, in blocks of at most `BLOCK_ROWS` rows.

    Channels with the same times share rows. Rows are in order of time; where a channel's clock
    steps back, its samples stay in the order in which they were recorded.
    """
    groups: list[tuple[FloatArray, list[tuple[int, Channel]]]] = []
    first_column = 1
    for channel in log.channels:
        same_time = (members for time, members in groups if np.array_equal(time, channel.time))
        members = next(same_time, [])
        if not members:
            groups.append((channel.time, members))
        members.append((first_column, channel))
        first_column += channel.width
    order = merge_order([time for time, _ in groups])
    for start in range(0, len(order), BLOCK_ROWS):
        order_block = order[start : start + BLOCK_ROWS]
        block = np.full((len(order_block), first_column), np.nan)
        for group_index, (time, members) in enumerate(groups):
            # Columns of the order: index of the group, index of the row in it.
            is_of_group = order_block[:, 0] == group_index
            rows = order_block[is_of_group, 1]
            block[is_of_group, 0] = time[rows]
            for column, channel in members:
                block[is_of_group, column : column + channel.width] = channel.values[rows]
        yield block


def merge_order(times: Sequence[FloatArray]) -> Any:
    """Return `(rows, 2)`, merged by time: index of the list of times, and index of its entry."""
    time_keys = [np.maximum.accumulate(time) for time in times if len(time)]
    if not time_keys:
        return np.empty((0, 2), dtype=int)
    channel_of_entry = np.concatenate([np.full(len(time), k) for k, time in enumerate(times)])
    row_of_entry = np.concatenate([np.arange(len(time)) for time in times])
    order = np.argsort(np.concatenate(time_keys), kind="stable")
    return np.column_stack([channel_of_entry, row_of_entry])[order]


def _epoch_unit(first_time: float) -> float:
    return next((unit for min_value, unit in EPOCH_UNITS if abs(first_time) >= min_value), 1.0)


class TableColumns:
    """The columns of a file's table: where the time is, and which make which channel.

    Attributes:
        time: number of the column of the times.
    """

    def __init__(
        self,
        names: Sequence[str],
        layout: Layout | None,
        time: str,
        time_unit: str | None,
        path: Any,
    ) -> None:
        """Find the columns.

        Raises:
            InputError: no time, a name twice, no name, a unit of another kind, a column missing, or
                too many columns.
        """
        check_columns(path, names)
        self._path, self._count = str(path), len(names)
        matches = [TITLE_PATTERN.fullmatch(name.strip()) for name in names]
        names_and_units = [(m["name"], m["unit"] or "") if m else ("", "") for m in matches]
        self.time = self._time_column([name for name, _ in names_and_units], names, time)
        unit = time_unit or names_and_units[self.time][1]
        try:
            self._time_factor = to_si(f"1 {unit}", "s") if unit else None
        except ValueError as error:
            raise InputError(self._path, f"column {names[self.time]!r}: {error}") from None
        index = {name: k for k, name in enumerate(names) if k != self.time}
        if len(index) != len(names) - 1 or "" in (name for name, _ in names_and_units):
            raise InputError(self._path, f"columns need names that differ, got {listed(names)}")
        self._metadata = {} if layout is None else layout["metadata"]
        self._channels: list[tuple[str, list[int], tuple[str, ...]]] = []
        if layout is None:
            for k in index.values():
                name, unit = names_and_units[k]
                self._channels.append((name, [k], (unit,)))
            return
        for name, units in layout["channels"].items():
            missing_titles = [title for title in titles(name, units) if title not in index]
            if missing_titles:
                raise InputError(self._path, f"the table has no column {listed(missing_titles)}")
            self._channels.append((name, [index[t] for t in titles(name, units)], tuple(units)))

    def _time_column(self, labels: Sequence[str], names: Sequence[str], time: str) -> int:
        """Return the column of the times; by default, one with a common name of times."""
        wanted_names = TIME_NAMES if time.lower() == TIME_NAMES[0] else (time.lower(),)
        for name in wanted_names:
            time_columns = [k for k, label in enumerate(labels) if label.lower() == name]
            if len(time_columns) > 1:
                message = f"has {len(time_columns)} columns {name!r}; it has {listed(names)}"
                raise InputError(self._path, message)
            if time_columns:
                return time_columns[0]
        raise InputError(
            self._path,
            f"has no column {time!r}; it has {listed(names)}. Write time = NAME in the mapping",
        )

    def log(self, rows: FloatArray) -> Log:
        """Return the log of a block of rows `(m, columns)`.

        Raises:
            InputError: a row without time, or with a part of a channel's columns.
        """
        if self._time_factor is None and len(rows):
            self._time_factor = _epoch_unit(float(rows[0, self.time]))
        time = rows[:, self.time] * (self._time_factor or 1.0)
        has_no_time = np.isnan(time) & ~np.isnan(rows).all(axis=1)
        if has_no_time.any():
            raise InputError(self._path, f"row {int(has_no_time.argmax())} of a block has no time")
        channels = []
        for name, columns, units in self._channels:
            empty = np.isnan(rows[:, columns])
            has_values = ~empty.all(axis=1)
            is_incomplete = has_values & empty.any(axis=1)
            if is_incomplete.any():
                row = int(is_incomplete.argmax())
                message = f"channel {name!r}: a part of the cells is empty at {time[row]:.9g} s"
                raise InputError(self._path, message)
            channels.append(Channel(name, time[has_values], rows[has_values][:, columns], units))
        return Log(tuple(channels), self._metadata)

    def empty(self) -> Log:
        """Return an empty log with the table's channels."""
        return self.log(np.empty((0, self._count)))


def write_csv(log: Log, path: str | Path) -> Path:
    """Write a log as CSV: a comment with its layout, names of columns, one row per time.

    Raises:
        InputError: the place cannot be written to, or two columns would have the same name.
    """
    names = all_titles(log)
    rows = (row for block in table_rows(log) for row in block.tolist())
    return write_csv_table(path, LAYOUT_MARK, layout_of(log), names, rows)


def read_csv_blocks(path: Path, time: str, time_unit: str | None) -> Iterator[Log]:
    """Yield a CSV file as logs of `BLOCK_ROWS` rows, however a program wrote it; see `TextTable`.

    The header has names, with units in brackets. Empty cells and NaN are no samples.

    Raises:
        InputError: names the line and column of a fault.
    """
    table = TextTable(path)
    check_checksum(path)
    if table.first_line.startswith(f"{COMMENT_MARK} {TRAJECTORY} "):
        yield log_of(Trajectory.load(path))
        return
    _, mark, text = table.first_line.partition(f"{COMMENT_MARK} {LAYOUT_MARK} ")
    layout = read_layout(text, path) if mark else None
    columns = TableColumns(table.layout.names, layout, time, time_unit, path)
    yield columns.empty()
    rows = table.rows()
    while block := list(islice(rows, BLOCK_ROWS)):
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


def _arrow() -> tuple[Any, Any]:
    arrow, parquet = (optional(name, "Parquet files") for name in ("pyarrow", "pyarrow.parquet"))
    return arrow, parquet


def write_parquet(log: Log, path: str | Path) -> Path:
    """Write a log as a Parquet file with its layout in the metadata.

    Raises:
        InputError: the place cannot be written to, or two columns would have the same name.
        MissingDependencyError: pyarrow is not installed.
    """
    arrow, parquet = _arrow()
    fields = [arrow.field(name, arrow.float64()) for name in all_titles(log)]
    layout = json.dumps(layout_of(log))
    schema = arrow.schema(fields, metadata={LAYOUT_MARK: layout})

    def write(file: IO[bytes]) -> None:
        with parquet.ParquetWriter(file, schema, write_page_checksum=True) as writer:
            checksum = zlib.crc32(layout.encode())
            for block in table_rows(log):
                checksum = table_checksum(block, checksum)
                columns = [np.ascontiguousarray(column) for column in block.T]
                writer.write_table(arrow.table(columns, schema=schema))
            writer.add_key_value_metadata({CHECKSUM_KEY: str(checksum)})

    return write_atomically(path, write)


def check_size(path: Path) -> None:
    """Check that all rows of a Parquet file may be in memory at once.

    Raises:
        InputError: they take too much of it.
        MissingDependencyError: pyarrow is not installed.
    """
    file_metadata = _arrow()[1].read_metadata(path)
    check_bytes(path, 8 * file_metadata.num_rows * file_metadata.num_columns)


def read_parquet_blocks(path: Path, time: str, time_unit: str | None) -> Iterator[Log]:
    """Yield a Parquet file as logs of `BLOCK_ROWS` rows; null and NaN are no samples.

    Raises:
        InputError: a column that is no number, or not finite.
        MissingDependencyError: pyarrow is not installed.
    """
    _, parquet = _arrow()
    with parquet.ParquetFile(path, page_checksum_verification=True) as file:
        schema, metadata = file.schema_arrow, file.metadata.metadata or {}
        if TRAJECTORY.encode() in metadata:
            yield log_of(Trajectory.load(path))
            return
        groups = map(file.metadata.row_group, range(file.metadata.num_row_groups))
        check_bytes(path, max((group.total_byte_size for group in groups), default=0))
        text = metadata.get(LAYOUT_MARK.encode())
        layout = None if text is None else read_layout(text, path)
        columns = TableColumns(schema.names, layout, time, time_unit, path)
        yield columns.empty()
        checksum = zlib.crc32(text or b"")
        for batch in file.iter_batches(batch_size=BLOCK_ROWS):
            values = [_floats(batch.column(k), name, path) for k, name in enumerate(schema.names)]
            rows = np.array(values).T.reshape(-1, len(values))
            checksum = table_checksum(rows, checksum)
            yield columns.log(rows)
        if metadata.get(CHECKSUM_KEY.encode(), b"%d" % checksum) != b"%d" % checksum:
            warn_changed(path)


def _floats(column: Any, name: str, path: Path) -> Any:
    """Return a column of a table as finite numbers."""
    try:
        values = np.asarray(column.to_numpy(zero_copy_only=False), dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(str(path), f"column {name!r}: is not numbers ({error})") from None
    if np.isinf(values).any():
        raise InputError(str(path), f"column {name!r}: is not finite")
    return values
