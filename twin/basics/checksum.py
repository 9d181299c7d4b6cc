"""Checksums of tables: in the first line of a text file, or beside the layout of another.

A changed digit is a number like any other. People and other programs may change tables on purpose,
too: one that does not fit its checksum is read with a warning.
"""

from __future__ import annotations

import re
import warnings
import zlib
from pathlib import Path
from typing import IO

import numpy as np

from twin.basics.arrays import FloatArray
from twin.errors import TwinWarning

CHECKSUM = "crc32"
"""Name of the checksum in the JSON of the first line, or among the metadata."""

NO_CHECKSUM = "0" * 8
"""In its place while it is computed."""

ENTRY = re.compile(rb'"crc32": "([0-9a-f]{8})"(?=\}\s*\Z)')
"""The last entry of a first line; others of the name are a user's."""

LONGEST_LINE = 1_000_000
"""[byte] Of a first line."""

AT_ONCE = 1 << 20
"""[byte] That are read at once."""


def write_checksum(file: IO[bytes]) -> None:
    """Put the checksum of a whole file in place of `NO_CHECKSUM` in its first line."""
    checksum = _computed(file)
    file.seek(0)
    entry = ENTRY.search(file.readline())
    assert entry is not None
    file.seek(entry.start(1))
    file.write(f"{checksum:08x}".encode())


def check_checksum(path: str | Path) -> None:
    """Warn where a file has a checksum that does not fit; ends of lines may have changed.

    Raises:
        OSError: the file cannot be read.
    """
    with Path(path).open("rb") as file:
        entry = ENTRY.search(file.readline(LONGEST_LINE))
        if entry is None or int(entry[1], 16) == _computed(file):
            return
    warn_changed(path)


def warn_changed(path: str | Path) -> None:
    """Warn that a file does not fit its checksum."""
    warnings.warn(
        f"{path} does not fit its checksum {CHECKSUM!r}: it is damaged, unless it was changed on "
        "purpose after it was written",
        TwinWarning,
        stacklevel=3,
    )


def table_checksum(values: FloatArray, start: int = 0) -> int:
    """Return the checksum of the rows `(m, columns)` of a table that go on after `start`."""
    return zlib.crc32(np.ascontiguousarray(values).data, start)


def _computed(file: IO[bytes]) -> int:
    file.seek(0)
    line = ENTRY.sub(f'"{CHECKSUM}": "{NO_CHECKSUM}"'.encode(), file.readline(LONGEST_LINE), 1)
    checksum = zlib.crc32(line.replace(b"\r", b""))
    while part := file.read(AT_ONCE):
        checksum = zlib.crc32(part.replace(b"\r", b""), checksum)
    return checksum
