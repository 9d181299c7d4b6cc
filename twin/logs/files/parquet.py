"""Logs as Parquet files: the table of a log, or that of another program."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np

from twin.basics.checksum import CHECKSUM, table_checksum, warn_changed
from twin.basics.files import write_atomically
from twin.basics.optional import optional
from twin.basics.size_limits import check_bytes
from twin.errors import InputError
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
    schema = arrow.schema(fields, metadata={MARK: layout})

    def write(file: IO[bytes]) -> None:
        with parquet.ParquetWriter(file, schema, write_page_checksum=True) as writer:
            checksum = zlib.crc32(layout.encode())
            for block in table_rows(log):
                checksum = table_checksum(block, checksum)
                columns = [np.ascontiguousarray(column) for column in block.T]
                writer.write_table(arrow.table(columns, schema=schema))
            writer.add_key_value_metadata({CHECKSUM: str(checksum)})

    return write_atomically(path, write)


def check_size(path: Path) -> None:
    """Check that all rows of a Parquet file may be in memory at once.

    Raises:
        InputError: they take too much of it.
        MissingDependencyError: pyarrow is not installed.
    """
    found = _arrow()[1].read_metadata(path)
    check_bytes(path, 8 * found.num_rows * found.num_columns)


def read_blocks(path: Path, time: str, time_unit: str | None) -> Iterator[Log]:
    """Yield a Parquet file as logs of `AT_ONCE` rows; null and NaN are no samples.

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
        text = metadata.get(MARK.encode())
        layout = None if text is None else read_layout(text, path)
        columns = TableColumns(schema.names, layout, time, time_unit, path)
        yield columns.empty()
        checksum = zlib.crc32(text or b"")
        for batch in file.iter_batches(batch_size=AT_ONCE):
            values = [_floats(batch.column(k), name, path) for k, name in enumerate(schema.names)]
            rows = np.array(values).T.reshape(-1, len(values))
            checksum = table_checksum(rows, checksum)
            yield columns.log(rows)
        if metadata.get(CHECKSUM.encode(), b"%d" % checksum) != b"%d" % checksum:
            warn_changed(path)


def _floats(column: Any, name: str, path: Path) -> Any:
    try:
        values = np.asarray(column.to_numpy(zero_copy_only=False), dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(str(path), f"column {name!r}: is not numbers ({error})") from None
    if np.isinf(values).any():
        raise InputError(str(path), f"column {name!r}: is not finite")
    return values
