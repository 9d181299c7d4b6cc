"""Limits of what one file may unpack to: a few bytes can declare more than any memory holds."""

from __future__ import annotations

import os
from collections.abc import Sized
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np

from twin.errors import InputError

MAX_BYTES = 2_000_000_000
"""Bytes that one file may take in memory; an hour of 60 columns at 1 kHz takes 1.7e9."""

MAX_COLUMNS = 10_000
"""Columns of one table or log; those of a machine have some hundred."""

BYTES_VARIABLE = "TWIN_MAX_BYTES"
"""Environment variable that replaces `MAX_BYTES`."""

COLUMNS_VARIABLE = "TWIN_MAX_COLUMNS"
"""Environment variable that replaces `MAX_COLUMNS`."""


def max_bytes() -> int:
    """Return how many bytes a file may take in memory."""
    return _limit(BYTES_VARIABLE, MAX_BYTES)


def check_bytes(path: str | Path, count: int) -> None:
    """Check that a file may take so many bytes in memory.

    Raises:
        InputError: names the file, the limit and the variable that raises it.
    """
    limit = max_bytes()
    if count > limit:
        raise InputError(
            str(path),
            f"takes {count / 1e9:.3g} GB of memory or more; the limit is {limit / 1e9:.3g} GB. If "
            f"you trust the file, set the environment variable {BYTES_VARIABLE} to more bytes",
        )


def check_columns(path: str | Path, names: Sized) -> None:
    """Check that a file may have columns or channels of so many names.

    Raises:
        InputError: names the file, the limit and the variable that raises it.
    """
    limit = _limit(COLUMNS_VARIABLE, MAX_COLUMNS)
    if len(names) > limit:
        raise InputError(
            str(path),
            f"has {len(names)} columns or more; the limit is {limit}. If you trust the file, set "
            f"the environment variable {COLUMNS_VARIABLE} to more",
        )


def read_arrays(path: str | Path) -> dict[str, Any]:
    """Return the arrays of an .npz file by name.

    Raises:
        InputError: they are too large.
        Exception: of any kind, where the file is damaged or no .npz.
    """
    with ZipFile(path) as archive:
        entries = archive.infolist()
    check_columns(path, entries)
    check_bytes(path, sum(entry.file_size for entry in entries))
    with np.load(path, allow_pickle=False) as data:
        return {name: data[name] for name in data.files}


def _limit(variable: str, default: int) -> int:
    text = os.environ.get(variable, "")
    if not text:
        return default
    try:
        limit = int(float(text))
    except (ValueError, OverflowError):
        limit = 0
    if limit < 1:
        raise InputError(variable, f"must be a number above zero, not {text[:40]!r}")
    return limit
