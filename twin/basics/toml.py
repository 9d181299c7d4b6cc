"""Texts in TOML: every fault is one message, whatever the text holds."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from twin.errors import ParameterError

LARGEST_FILE = 1_000_000
"""Bytes; files of machines, sweeps and distributions have a few thousand."""

DEEPEST = 30
"""Tables and lists inside each other; files of this package have at most ten."""


def read_toml(path: str | Path) -> dict[str, Any]:
    """Return the content of a TOML file.

    Raises:
        ParameterError: unreadable, larger than `LARGEST_FILE`, or not TOML.
    """
    return toml_content(read_limited(path), path)


def read_limited(path: str | Path) -> bytes:
    """Return the bytes of a file of at most `LARGEST_FILE` bytes.

    Raises:
        ParameterError: it cannot be read, or is larger.
    """
    try:
        with Path(path).open("rb") as stream:
            raw = stream.read(LARGEST_FILE + 1)
    except (OSError, TypeError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ParameterError(str(path), [("file", f"cannot be read ({reason})")]) from None
    if len(raw) > LARGEST_FILE:
        raise ParameterError(path, [("file", f"larger than {LARGEST_FILE} bytes")])
    return raw


def toml_content(raw: bytes, file: str | Path) -> dict[str, Any]:
    """Return the content of a TOML text; `file` names it in errors.

    Raises:
        ParameterError: not UTF-8, not TOML, nested too deeply, or with an integer too long.
    """
    try:
        content = tomllib.loads(raw.decode("utf-8"))
        if not _too_deep(content):
            return content
        message = f"is nested more than {DEEPEST} levels deep"
    except UnicodeDecodeError as error:
        message = f"is not UTF-8 text ({error.reason})"
    except tomllib.TOMLDecodeError as error:
        message = f"is not valid TOML: {error}"
    except ValueError as error:
        # Python refuses to read integers of several thousand digits.
        message = f"has a number too long to read ({error})"
    except RecursionError:
        message = "is nested too deeply"
    raise ParameterError(file, [("file", message)])


def _too_deep(content: Any) -> bool:
    level = [content]
    for _ in range(DEEPEST):
        inside: list[Any] = []
        for each in level:
            entries = each.values() if isinstance(each, dict) else each
            inside += [entry for entry in entries if isinstance(entry, dict | list)]
        if not inside:
            return False
        level = inside
    return True
