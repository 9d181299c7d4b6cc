"""Temporary files and folders that a killed process leaves behind only until the next one."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
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
    """Remove what killed processes left in a folder under names with a prefix.

    Where the file system has no locks, everything stays.
    """
    for path in Path(folder).glob(f"{prefix}*"):
        with suppress(OSError):
            lock = _lock(path)
            if lock is not None:
                _remove(path)
                os.close(lock)


def remove_oldest(folder: str | Path, pattern: str, keep: int) -> None:
    """Remove files of processes that are gone, but for the newest ones.

    Args:
        folder: where they lie.
        pattern: of their names, whose first number between underscores is that of the process.
        keep: number of the newest files that stay, whosever they are.
    """
    found = []
    for path in Path(folder).glob(pattern):
        with suppress(OSError):
            found.append((path.stat().st_mtime, path))
    for _, path in sorted(found, reverse=True)[keep:]:
        number = next((part for part in path.name.split("_") if part.isdecimal()), None)
        if number is None or not _is_alive(int(number)):
            with suppress(OSError):
                path.unlink()


def _is_alive(number: int) -> bool:
    """Return whether there is a process of a number."""
    try:
        os.kill(number, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:  # another user's
        return True
    return True


def _locked_place(folder: Path, prefix: str, ending: str, is_folder: bool) -> tuple[Path, int]:
    while True:
        if is_folder:
            path = Path(tempfile.mkdtemp(ending, prefix, folder))
        else:
            handle, name = tempfile.mkstemp(ending, prefix, folder)
            os.close(handle)
            path = Path(name)
        try:
            lock = _lock(path)
        except OSError:  # a file system without locks
            return path, os.open(path, os.O_RDONLY)
        # Before it was locked, another process may have taken it for a leftover.
        if lock is not None and path.exists():
            return path, lock
        if lock is not None:
            os.close(lock)


def _lock(path: Path) -> int | None:
    """Return a handle that holds the lock of a file or folder, None where another has it.

    Raises:
        OSError: the file system has no locks.
    """
    try:
        handle = os.open(path, os.O_RDONLY)
    except OSError:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(handle)
        if isinstance(error, BlockingIOError):
            return None
        raise
    return handle


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
