"""Logs as Parquet files: the table of a log, or that of another program."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np

from twin.basics.files import write_atomically
from twin.basics.optional import optional
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
    schema = arrow.schema(fields, metadata={MARK: layout_text(log)})

    def write(file: IO[bytes]) -> None:
        with parquet.ParquetWriter(file, schema) as writer:
            for block in table_rows(log):
                columns = [np.ascontiguousarray(column) for column in block.T]
                writer.write_table(arrow.table(columns, schema=schema))

    return write_atomically(path, write)


def read_blocks(path: Path, time: str, time_unit: str | None) -> Iterator[Log]:
    """Yield a Parquet file as logs of `AT_ONCE` rows; null and NaN are no samples.

    Raises:
        InputError: a column that is no number, or not finite.
        MissingDependencyError: pyarrow is not installed.
    """
    _, parquet = _arrow()
    with parquet.ParquetFile(path) as file:
        schema = file.schema_arrow
        if TRAJECTORY.encode() in (schema.metadata or {}):
            yield log_of(Trajectory.load(path))
            return
        text = (schema.metadata or {}).get(MARK.encode())
        layout = None if text is None else read_layout(text, path)
        columns = TableColumns(schema.names, layout, time, time_unit, path)
        yield columns.empty()
        for batch in file.iter_batches(batch_size=AT_ONCE):
            values = [_floats(batch.column(k), name, path) for k, name in enumerate(schema.names)]
            yield columns.log(np.array(values).T.reshape(-1, len(values)))


def _floats(column: Any, name: str, path: Path) -> Any:
    try:
        values = np.asarray(column.to_numpy(zero_copy_only=False), dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(str(path), f"column {name!r}: is not numbers ({error})") from None
    if np.isinf(values).any():
        raise InputError(str(path), f"column {name!r}: is not finite")
    return values
