"""Files: what may be read, checksums, temporary files and atomic writing.

Checksums of tables: in the first line of a text file, or beside the layout of another.

A changed digit is a number like any other. People and other programs may change tables on purpose,
too: one that does not fit its checksum is read with a warning.
"""

from __future__ import annotations

import csv
import fcntl
import json
import os
import re
import shutil
import tempfile
import warnings
import zlib
from collections.abc import Callable, Iterable, Iterator, Sized
from contextlib import ExitStack, contextmanager, suppress
from functools import lru_cache
from io import FileIO, TextIOWrapper
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any
from zipfile import ZipFile

from twin.errors import InputError, TwinError, TwinWarning, brief

if TYPE_CHECKING:
    from twin.basics.arrays import FloatArray

MAX_BYTES = 2_000_000_000
"""[byte] Memory that one file may take; an hour of 60 columns at 1 kHz takes 1.7e9."""

MAX_COLUMNS = 10_000
"""Maximum number of columns of one table or log; those of a machine have some hundred."""

BYTES_VARIABLE = "TWIN_MAX_BYTES"
"""Environment variable that replaces `MAX_BYTES`."""

COLUMNS_VARIABLE = "TWIN_MAX_COLUMNS"
"""Environment variable that replaces `MAX_COLUMNS`."""

CHECKSUM_KEY = "crc32"
"""Key of the checksum in the JSON of the first line, or among the metadata."""

NO_CHECKSUM = "0" * 8
"""Placeholder in the file while the checksum is computed."""

CHECKSUM_ENTRY = re.compile(rb'"crc32": "([0-9a-f]{8})"(?=\}\s*\Z)')
"""Pattern of the checksum as the last entry of a first line; other entries of that name are a
user's."""

LONGEST_LINE = 1_000_000
"""[byte] Maximum length of the first line."""

AT_ONCE = 1 << 20
"""[byte] Size of the blocks in which a file is read."""

UNFINISHED_PREFIX = ".twin-"
"""Beginning of the names of unfinished files."""


def max_bytes() -> int:
    """Return the number of bytes that a file may take in memory."""
    return _limit(BYTES_VARIABLE, MAX_BYTES)


def check_bytes(path: str | Path, count: int) -> None:
    """Check that a file of `count` bytes may be read into memory.

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
    """Check that a file may have as many columns or channels as there are names.

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
        Exception: an error of any kind, where the file is damaged or no .npz.
    """
    import numpy as np

    with ZipFile(path) as archive:
        entries = archive.infolist()
    check_columns(path, entries)
    check_bytes(path, sum(entry.file_size for entry in entries))
    with np.load(path, allow_pickle=False) as data:
        return {name: data[name] for name in data.files}


def _limit(variable: str, default: int) -> int:
    """Return a limit that an environment variable sets."""
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


def write_checksum(file: IO[bytes]) -> None:
    """Replace `NO_CHECKSUM` in the first line of a file by the checksum of the whole file."""
    checksum = _computed(file)
    file.seek(0)
    entry = CHECKSUM_ENTRY.search(file.readline())
    assert entry is not None
    file.seek(entry.start(1))
    file.write(f"{checksum:08x}".encode())


def check_checksum(path: str | Path) -> None:
    """Warn if a file has a checksum that does not match; line ends may have changed.

    Raises:
        OSError: the file cannot be read.
    """
    with Path(path).open("rb") as file:
        entry = CHECKSUM_ENTRY.search(file.readline(LONGEST_LINE))
        if entry is None or int(entry[1], 16) == _computed(file):
            return
    warn_changed(path)


def warn_changed(path: str | Path) -> None:
    """Warn that a file does not match its checksum."""
    warnings.warn(
        f"{path} does not fit its checksum {CHECKSUM_KEY!r}: it is damaged, unless it "
        "was changed on purpose after it was written",
        TwinWarning,
        stacklevel=3,
    )


def table_checksum(values: FloatArray, start: int = 0) -> int:
    """Return the checksum of table rows `(m, columns)`, continued from the checksum `start`."""
    import numpy as np

    return zlib.crc32(np.ascontiguousarray(values).data, start)


def _computed(file: IO[bytes]) -> int:
    """Return the checksum of a file, its own entry left out."""
    file.seek(0)
    line = CHECKSUM_ENTRY.sub(
        f'"{CHECKSUM_KEY}": "{NO_CHECKSUM}"'.encode(), file.readline(LONGEST_LINE), 1
    )
    checksum = zlib.crc32(line.replace(b"\r", b""))
    while block := file.read(AT_ONCE):
        checksum = zlib.crc32(block.replace(b"\r", b""), checksum)
    return checksum


@contextmanager
def temporary_place(
    folder: str | Path | None, prefix: str, ending: str = "", *, is_folder: bool = False
) -> Iterator[Path]:
    """Provide a new file or folder that is locked inside the block, and remove it afterwards.

    It may be renamed meanwhile; then it stays. The system frees the lock of a process that is
    killed: what is not locked is a leftover, and `remove_leftovers` removes it.

    Args:
        folder: parent folder; None for the system's folder of temporary files.
        prefix: prefix of its name.
        ending: ending of its name.
        is_folder: whether it is a folder.

    Raises:
        OSError: it cannot be made.
    """
    parent = Path(tempfile.gettempdir() if folder is None else folder)
    path, lock = _locked_place(parent, prefix, ending, is_folder)
    try:
        yield path
    finally:
        _remove(path)
        os.close(lock)


def remove_leftovers(folder: str | Path, prefix: str) -> None:
    """Remove files in a folder that killed processes have left under names with a prefix.

    Where the file system has no locks, everything stays.
    """
    for path in Path(folder).glob(f"{prefix}*"):
        with suppress(OSError):
            lock = _lock(path)
            if lock is not None:
                _remove(path)
                os.close(lock)


def remove_oldest(folder: str | Path, pattern: str, keep: int) -> None:
    """Remove files of processes that no longer run, except for the newest ones.

    Args:
        folder: folder of the files.
        pattern: pattern of their names, whose first number between underscores is the process id.
        keep: number of the newest files that stay, of whatever process.
    """
    files_by_time = []
    for path in Path(folder).glob(pattern):
        with suppress(OSError):
            files_by_time.append((path.stat().st_mtime, path))
    for _, path in sorted(files_by_time, reverse=True)[keep:]:
        process_id = next((part for part in path.name.split("_") if part.isdecimal()), None)
        if process_id is None or not _is_alive(int(process_id)):
            with suppress(OSError):
                path.unlink()


def _is_alive(number: int) -> bool:
    """Return whether a process with this id exists."""
    try:
        os.kill(number, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:  # another user's
        return True
    return True


def _locked_place(folder: Path, prefix: str, ending: str, is_folder: bool) -> tuple[Path, int]:
    """Return a new temporary place and the handle that locks it."""
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
    """Return a handle that holds the lock of a file or folder; None if another process has it.

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


def write_atomically(path: str | Path, write: Callable[[IO[bytes]], Any]) -> Path:
    """Call `write(binary file)` on a temporary neighbour, then put it in place of `path`.

    Raises:
        InputError: the folder is missing or cannot be written to; an existing file is unchanged.
    """
    with ExitStack() as stack:
        try:
            target = Path(path)
            if "\0" in str(target):
                raise ValueError("embedded null byte")
            _clean(target.parent)
            temporary = stack.enter_context(temporary_place(target.parent, UNFINISHED_PREFIX))
        except (OSError, TypeError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise InputError("path", f"cannot write {path} ({reason})") from None
        try:
            with temporary.open("w+b") as file:
                write(file)
            mask = os.umask(0)
            os.umask(mask)
            temporary.chmod(0o666 & ~mask)
            temporary.replace(target)
        except OSError as error:
            reason = error.strerror or error
            raise InputError("path", f"cannot write {target} ({reason})") from None
    return target


@lru_cache(maxsize=1024)
def _clean(folder: Path) -> None:
    """Remove the leftovers of killed processes in a folder, once in each process."""
    remove_leftovers(folder, UNFINISHED_PREFIX)


def write_text(path: str | Path, text: str) -> Path:
    """Write UTF-8 text atomically; raises InputError as `write_atomically`."""
    return write_atomically(path, lambda file: file.write(text.encode()))


def write_csv_table(
    path: str | Path, mark: str, layout: dict[str, Any], titles: Iterable[str], rows: Iterable[Any]
) -> Path:
    """Write a table as CSV below a comment with its mark, layout and checksum; returns its path.

    Args:
        path: the file.
        mark: opens the comment.
        layout: content of the comment.
        titles: of the columns.
        rows: lists of numbers; NaN becomes an empty cell.

    Raises:
        InputError: as `write_atomically`.
    """

    def write(file: IO[bytes]) -> None:
        file.write(f"# {mark} {json.dumps(layout | {CHECKSUM_KEY: NO_CHECKSUM})}\n".encode())
        text = TextIOWrapper(file, "utf-8", newline="")
        csv.writer(text, lineterminator="\n").writerow(titles)
        text.detach()
        for row in rows:
            cells = ("" if cell != cell else repr(cell) for cell in row)
            file.write((",".join(cells) + "\n").encode())
        write_checksum(file)

    return write_atomically(path, write)


def append_text(path: str | Path, text: str) -> None:
    """Add UTF-8 text at the end of a file, all of it or nothing.

    Raises:
        OSError: it cannot be written.
    """
    with Path(path).open("ab", buffering=0) as file:
        append_bytes(file, text.encode())


def append_bytes(file: FileIO, data: bytes) -> None:
    """Add bytes at the end of an open file, all of them or none.

    Raises:
        OSError: they cannot be written.
    """
    original_size = file.seek(0, os.SEEK_END)
    try:
        # Without a buffer a write may take only a part of the data.
        while data:
            data = data[file.write(data) or 0 :]
    except OSError:
        file.truncate(original_size)
        raise


@contextmanager
def new_folder(path: str | Path, field: str) -> Iterator[Path]:
    """Create a folder, if necessary, to write into; a new one is removed after an error.

    Args:
        path: the folder; those above it are made too.
        field: name of the argument, for the message.

    Raises:
        InputError: it cannot be made, or what is written inside fails for the system.
    """
    new_folders: list[Path] = []
    try:
        target = Path(path)
        new_folders = [folder for folder in (target, *target.parents) if not folder.exists()]
        target.mkdir(parents=True, exist_ok=True)
        yield target
    except BaseException as error:
        if new_folders:
            shutil.rmtree(new_folders[0], ignore_errors=True)
        for folder in new_folders[1:]:
            with suppress(OSError):
                folder.rmdir()
        if isinstance(error, TwinError) or not isinstance(error, OSError | TypeError | ValueError):
            raise
        reason = getattr(error, "strerror", None) or error
        raise InputError(field, f"cannot make the folder {brief(path)} ({reason})") from None


def as_path(value: Any, field: str = "path") -> Path:
    """Return the path that a text or a Path names; the file need not exist.

    Raises:
        InputError: no path, or one that the system cannot look up, such as one that is too long.
    """
    if not isinstance(value, str | Path) or not str(value) or "\0" in str(value):
        raise InputError(field, f"must be the path of a file or folder, not {brief(value)}")
    path = Path(value)
    try:
        path.exists()
    except OSError as error:
        raise InputError(field, f"cannot use the path {brief(value)} ({error.strerror})") from None
    return path


def check_writable(path: str | Path, *endings: str) -> None:
    """Check that a file can probably be written, before the work that makes its content.

    Args:
        path: the file.
        endings: what its name must end in, one of them; none or empty for anything.

    Raises:
        InputError: wrong ending, a folder, or a file in a folder that does not exist.
    """
    file = as_path(path)
    if endings and not file.name.endswith(endings):
        raise InputError("path", f"must end in {' or '.join(endings)}, got {str(path)!r}")
    if file.is_dir():
        raise InputError("path", f"{file} is a folder; give the name of a file")
    if not file.absolute().parent.is_dir():
        raise InputError("path", f"{file} lies in a folder that does not exist; make it first")


def check_replaced(path: str | Path, field: str, *, replace: bool) -> None:
    """Raise InputError, which names `field`, where a file exists and is not to be replaced."""
    if as_path(path, field).exists() and not replace:
        raise InputError(field, f"{path} exists; name another file, or add --replace")
