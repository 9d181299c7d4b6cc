"""Options of environments and algorithms from words like name=value."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from twin.errors import InputError


def settings_from(words: Iterable[str], option: str) -> dict[str, Any]:
    """Return names and values; a value is JSON, or else the word itself.

    Args:
        words: such as "preview=5", "motion=null", "layers=[64, 64]".
        option: for the message.

    Raises:
        InputError: a word without =, or a name that comes twice.
    """
    found: dict[str, Any] = {}
    for word in words:
        name, equals, text = word.partition("=")
        if not equals or not name.strip():
            raise InputError(option, f"must look like name=value, not {word!r}")
        if name in found:
            raise InputError(option, f"{name} is given twice")
        try:
            found[name] = json.loads(text)
        except ValueError:
            found[name] = text
    return found


def environment_options(given: Mapping[str, Any], words: Iterable[str]) -> dict[str, Any]:
    """Return the options of an environment: those given by their own options, and words.

    Raises:
        InputError: a word that is none, or an option that is given both ways.
    """
    found = settings_from(words, "option")
    for name, value in given.items():
        if value is None:
            continue
        if name in found:
            raise InputError("option", f"{name} is given twice")
        found[name] = value
    return found
