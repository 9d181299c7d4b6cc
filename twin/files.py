"""Writing files so that a reader never sees half of one."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from twin.errors import InputError


def write_atomically(path: str | Path, write: Callable[[IO[bytes]], Any]) -> Path:
    """Call `write(binary file)` on a temporary neighbour, then put it in place of `path`.

    Raises:
        InputError: the folder is missing or cannot be written to; an existing file is unchanged.
    """
    try:
        target = Path(path)
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    except (OSError, TypeError, ValueError) as error:
        raise InputError("path", f"cannot write {path!r} ({error})") from None
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
        raise InputError("path", f"cannot write {target} ({error.strerror})") from None
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    return target


def write_text(path: str | Path, text: str) -> Path:
    """Write UTF-8 text atomically; raises InputError as `write_atomically`."""
    return write_atomically(path, lambda file: file.write(text.encode()))
