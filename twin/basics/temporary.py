"""Temporary files and folders that a killed process leaves behind only until the next one."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def temporary_place(
    folder: str | Path | None, prefix: str, ending: str = "", *, is_folder: bool = False
) -> Iterator[Path]:
    """Lend a new file or folder, locked for as long as it is lent, and remove it afterwards.

    It may be renamed meanwhile; then it stays. The system frees the lock of a process that is
    killed: what is not locked is a leftover, and `remove_leftovers` removes it.

    Args:
        folder: where it lies; None for the system's folder of temporary files.
        prefix: of its name.
        ending: of its name.
        is_folder: whether it is a folder.

    Raises:
        OSError: it cannot be made.
    """
    place = Path(tempfile.gettempdir() if folder is None else folder)
    path, lock = _locked_place(place, prefix, ending, is_folder)
    try:
        yield path
    finally:
        _remove(path)
        os.close(lock)


def remove_leftovers(folder: str | Path, prefix: str) -> None:
    """Remove what killed processes left in a folder under names with a prefix."""
    for path in Path(folder).glob(f"{prefix}*"):
        lock = _lock(path)
        if lock is not None:
            _remove(path)
            os.close(lock)


def _locked_place(folder: Path, prefix: str, ending: str, is_folder: bool) -> tuple[Path, int]:
    while True:
        if is_folder:
            path = Path(tempfile.mkdtemp(ending, prefix, folder))
        else:
            handle, name = tempfile.mkstemp(ending, prefix, folder)
            os.close(handle)
            path = Path(name)
        lock = _lock(path)
        # Before it was locked, another process may have taken it for a leftover.
        if lock is not None and path.exists():
            return path, lock
        if lock is not None:
            os.close(lock)


def _lock(path: Path) -> int | None:
    """Return a handle that holds the lock of a file or folder, None where another has it."""
    try:
        handle = os.open(path, os.O_RDONLY)
    except OSError:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        return None
    return handle


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
