"""Files of recorded motions: .npz with the arrays, .csv and .parquet with the table."""

from __future__ import annotations

import csv
import json
import re
import warnings
import zlib
from collections.abc import Callable, Iterator
from io import TextIOWrapper
from pathlib import Path
from typing import IO, Any, TypeVar

import numpy as np

from twin.basics.checksum import (
    CHECKSUM,
    NO_CHECKSUM,
    check_checksum,
    table_checksum,
    warn_changed,
    write_checksum,
)
from twin.basics.files import as_path, write_atomically
from twin.basics.optional import optional
from twin.basics.size_limits import check_bytes, check_columns, read_arrays
from twin.errors import InputError, TwinError, brief
from twin.simulation.recorded.motion import ARRAYS, RecordedMotion
from twin.simulation.recorded.table import (
    FORMAT,
    SIGNAL,
    content_of,
    metadata_of,
    shapes_of,
    table_of,
)

MARK = "twin trajectory"
"""Before the metadata: in the first line of a CSV file, as key in a Parquet file."""

Recorded = TypeVar("Recorded", bound=RecordedMotion)

EMPTY = re.compile(r"^(?=,)|(?<=,)(?=,|\n|$)")
"""Empty cells of a line of numbers."""


def write(motion: RecordedMotion, path: str | Path) -> Path:
    """Write a file of the kind that its ending says: .npz, .csv or .parquet.

    Raises:
        InputError: another ending, or as `write_atomically`.
        MissingDependencyError: a Parquet file, and pyarrow is not installed.
    """
    ending = Path(path).suffix if isinstance(path, (str, Path)) else ""
    if ending not in WRITERS:
        raise InputError("path", f"must end in {' or '.join(WRITERS)}, got {brief(path)}")
    return WRITERS[ending](motion, path)


def write_npz(motion: RecordedMotion, path: str | Path) -> Path:
    """Write all arrays and where they come from; raises InputError as `write_atomically`."""
    arrays = {name: getattr(motion, name) for name in ARRAYS}
    arrays |= {SIGNAL + name: value for name, value in motion.signals.items()}
    metadata = json.dumps(metadata_of(motion))
    return write_atomically(
        path, lambda file: np.savez_compressed(file, metadata=metadata, **arrays)
    )


def write_csv(motion: RecordedMotion, path: str | Path) -> Path:
    """Write the table; raises InputError as `write_atomically`."""
    names, values = table_of(motion)

    def write(file: IO[bytes]) -> None:
        layout = json.dumps(_layout(motion) | {CHECKSUM: NO_CHECKSUM})
        file.write(f"# {MARK} {layout}\n".encode())
        text = TextIOWrapper(file, "utf-8", newline="")
        csv.writer(text, lineterminator="\n").writerow(names)
        text.detach()
        for row in values:
            cells = ("" if number != number else repr(number) for number in row.tolist())
            file.write((",".join(cells) + "\n").encode())
        write_checksum(file)

    return write_atomically(path, write)


def write_parquet(motion: RecordedMotion, path: str | Path) -> Path:
    """Write the table.

    Raises:
        InputError: as `write_atomically`.
        MissingDependencyError: pyarrow is not installed.
    """
    arrow, parquet = (optional(name, "Parquet files") for name in ("pyarrow", "pyarrow.parquet"))
    names, values = table_of(motion)
    columns = [np.ascontiguousarray(column) for column in values.T]
    layout = json.dumps(_layout(motion))
    checksum = str(table_checksum(values, zlib.crc32(layout.encode())))
    metadata = {MARK: layout, CHECKSUM: checksum}
    table = arrow.table(columns, names=names).replace_schema_metadata(metadata)
    return write_atomically(
        path, lambda file: parquet.write_table(table, file, write_page_checksum=True)
    )


def read(path: str | Path, kind: type[Recorded]) -> Recorded:
    """Return a motion of a kind from a file: .csv, .parquet, else .npz.

    Raises:
        InputError: no such file, not a trajectory, or written by a later format.
        MissingDependencyError: a Parquet file, and pyarrow is not installed.
    """
    ending = as_path(path).suffix
    try:
        content = READERS.get(ending, _read_npz)(path)
        if content.pop("format") != FORMAT:
            raise InputError("path", f"{path} was written in another format")
        return kind(**content)
    except TwinError:
        raise
    except FileNotFoundError:
        raise InputError("path", f"{path} does not exist") from None
    except Exception as error:
        raise InputError(
            "path", f"{path} is not a saved trajectory ({type(error).__name__}: {error})"
        ) from None


def _read_npz(path: Any) -> dict[str, Any]:
    arrays = read_arrays(path)
    content: dict[str, Any] = json.loads(str(arrays.pop("metadata")))
    names = [name for name in arrays if name.startswith(SIGNAL)]
    content["signals"] = {name.removeprefix(SIGNAL): arrays.pop(name) for name in names}
    return content | arrays


def _read_csv(path: Any) -> dict[str, Any]:
    check_checksum(path)
    with Path(path).open(encoding="utf-8", newline="") as file:
        before, mark, metadata = file.readline().partition(f"# {MARK} ")
        if before or not mark:
            raise ValueError(f"the first line does not begin with '# {MARK}'")
        names = next(csv.reader([file.readline().rstrip("\r\n")]))
        check_columns(path, names)
        lines: Iterator[str] = (EMPTY.sub("nan", line.rstrip("\r\n")) for line in file)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of a motion without rows
            values = np.loadtxt(lines, delimiter=",", ndmin=2).reshape(-1, len(names))
    layout = json.loads(metadata)
    layout.pop(CHECKSUM, None)
    return content_of(names, values, layout)


def _read_parquet(path: Any) -> dict[str, Any]:
    library = optional("pyarrow.parquet", "Parquet files")
    with library.ParquetFile(path, page_checksum_verification=True) as file:
        check_columns(path, file.schema_arrow.names)
        check_bytes(path, 8 * file.metadata.num_rows * len(file.schema_arrow.names))
        table = file.read()
    values = np.array([column.to_numpy() for column in table.columns], dtype=np.float64).T
    metadata = table.schema.metadata or {}
    layout, rows = metadata[MARK.encode()], values.reshape(-1, table.num_columns)
    checksum = b"%d" % table_checksum(rows, zlib.crc32(layout))
    if metadata.get(CHECKSUM.encode(), checksum) != checksum:
        warn_changed(path)
    return content_of(table.column_names, rows, json.loads(layout))


def _layout(motion: RecordedMotion) -> dict[str, Any]:
    return {**metadata_of(motion), **shapes_of(motion)}


WRITERS: dict[str, Callable[[RecordedMotion, str | Path], Path]] = {
    ".npz": write_npz,
    ".csv": write_csv,
    ".parquet": write_parquet,
}
"""By the ending of the file."""

READERS: dict[str, Callable[[Any], dict[str, Any]]] = {
    ".csv": _read_csv,
    ".parquet": _read_parquet,
}
"""By the ending of the file; others are .npz."""
