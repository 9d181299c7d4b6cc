"""Writing files so that a reader never sees half of one."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from twin.errors import InputError, TwinError, brief


def write_atomically(path: str | Path, write: Callable[[IO[bytes]], Any]) -> Path:
    """Call `write(binary file)` on a temporary neighbour, then put it in place of `path`.

    Raises:
        InputError: the folder is missing or cannot be written to; an existing file is unchanged.
    """
    try:
        target = Path(path)
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    except (OSError, TypeError, ValueError) as error:
        raise InputError(
            "path", f"cannot write {path} ({getattr(error, 'strerror', None) or error})"
        ) from None
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            write(file)
        mask = os.umask(0)
        os.umask(mask)
        temporary.chmod(0o666 & ~mask)
        temporary.replace(target)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        reason = error.strerror or error
        raise InputError("path", f"cannot write {target} ({reason})") from None
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    return target


def write_text(path: str | Path, text: str) -> Path:
    """Write UTF-8 text atomically; raises InputError as `write_atomically`."""
    return write_atomically(path, lambda file: file.write(text.encode()))


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
    """Return the path that a text or a Path names; raises InputError otherwise."""
    if not isinstance(value, str | Path) or not str(value) or "\0" in str(value):
        raise InputError(field, f"must be the path of a file or folder, not {brief(value)}")
    return Path(value)


def check_place(path: str | Path, *endings: str) -> None:
    """Check that a file can probably be written, before the work that makes its content.

    Args:
        path: the file.
        endings: what its name must end in, one of them; none or empty for anything.

    Raises:
        InputError: wrong ending, a folder, or a file in a folder that does not exist.
    """
    file = Path(path)
    if endings and not file.name.endswith(endings):
        raise InputError("path", f"must end in {' or '.join(endings)}, got {str(path)!r}")
    if file.is_dir():
        raise InputError("path", f"{file} is a folder; give the name of a file")
    if not file.absolute().parent.is_dir():
        raise InputError("path", f"{file} lies in a folder that does not exist; make it first")
