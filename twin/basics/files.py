"""Writing files so that a reader never sees half of one."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import lru_cache
from io import FileIO
from pathlib import Path
from typing import IO, Any

from twin.basics.temporary import remove_leftovers, temporary_place
from twin.errors import InputError, TwinError, brief

PREFIX = ".twin-"
"""Of names of files that are not whole yet."""


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
            temporary = stack.enter_context(temporary_place(target.parent, PREFIX))
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
    """Remove what killed processes left in a folder, once in this process."""
    remove_leftovers(folder, PREFIX)


def write_text(path: str | Path, text: str) -> Path:
    """Write UTF-8 text atomically; raises InputError as `write_atomically`."""
    return write_atomically(path, lambda file: file.write(text.encode()))


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
    end = file.seek(0, os.SEEK_END)
    try:
        while data:
            data = data[file.write(data) or 0 :]
    except OSError:
        file.truncate(end)
        raise


@contextmanager
def new_folder(path: str | Path, field: str) -> Iterator[Path]:
    """Make a folder, if need be, to write into; one that is new goes again where that fails.

    Args:
        path: the folder; those above it are made too.
        field: name of the argument, for the message.

    Raises:
        InputError: it cannot be made, or what is written inside fails for the system.
    """
    made: list[Path] = []
    try:
        target = Path(path)
        made = [each for each in (target, *target.parents) if not each.exists()]
        target.mkdir(parents=True, exist_ok=True)
        yield target
    except BaseException as error:
        if made:
            shutil.rmtree(made[0], ignore_errors=True)
        for each in made[1:]:
            with suppress(OSError):
                each.rmdir()
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


def check_place(path: str | Path, *endings: str) -> None:
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
