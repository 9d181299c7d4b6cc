"""TOML: reading and writing, and control characters that are refused."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from twin.errors import ParameterError, brief

CONTROL_CHARACTERS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff"
    "\ufffe\uffff]"
)
"""Control characters except for tabs and line feeds, direction marks, and invalid Unicode."""

LARGEST_FILE = 1_000_000
"""[byte] Maximum size of a file; those of machines, sweeps and distributions have a few
thousand."""

MAX_DEPTH = 30
"""Maximum depth of nested tables and lists; files of this package have at most ten levels."""


def visible(text: str) -> str:
    r"""Return a text whose control characters are written as escapes, such as `\x1b`."""
    return CONTROL_CHARACTERS.sub(lambda match: match[0].encode("unicode_escape").decode(), text)


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
        ParameterError: not UTF-8, not TOML, nested too deeply, with an integer too long, or with
            control characters in a text.
    """
    try:
        content = tomllib.loads(raw.decode("utf-8"))
        message = _fault(content)
        if not message:
            return content
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


def flat_table(table: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return values by dotted path of nested tables: TOML splits keys without quotes at dots."""
    values: dict[str, Any] = {}
    for key, value in table.items():
        if isinstance(value, dict):
            values |= flat_table(value, f"{prefix}{key}.")
        else:
            values[f"{prefix}{key}"] = value
    return values


def _fault(content: Any) -> str:
    """Return the first fault of a content, level by level; empty if there is none."""
    level = [content]
    for _ in range(MAX_DEPTH):
        next_level: list[Any] = []
        for container in level:
            is_table = isinstance(container, dict)
            for name, entry in container.items() if is_table else enumerate(container, 1):
                if isinstance(entry, dict | list):
                    next_level.append(entry)
                if CONTROL_CHARACTERS.search(f"{name}{entry if isinstance(entry, str) else ''}"):
                    fault_text = f"{name} = {brief(entry)}" if isinstance(entry, str) else str(name)
                    return f"has control characters in {visible(fault_text)}; remove them"
        if not next_level:
            return ""
        level = next_level
    return f"is nested more than {MAX_DEPTH} levels deep"


def toml_value(value: Any) -> str:
    """Return a text, a number, or a list of these, as TOML; infinity is `inf`."""
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, Iterable):
        return f"[{', '.join(map(toml_value, value))}]"
    return str(value) if isinstance(value, int) else repr(float(value))
