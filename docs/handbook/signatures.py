"""Signatures of the interface as a reader wants them: types without their checks."""

from __future__ import annotations

from typing import Any

CHECKED = "~typing.Annotated["


def without_checks(text: str) -> str:
    """Return a signature in which `Annotated[type, checks ...]` is the type alone."""
    while (start := text.find(CHECKED)) >= 0:
        begin = start + len(CHECKED)
        depth = 0
        ends: list[int] = []
        for place in range(begin, len(text)):
            letter = text[place]
            depth += (letter in "[({") - (letter in "])}")
            if depth < 0 or (depth == 0 and letter == "," and not ends):
                ends.append(place)
            if depth < 0:
                break
        text = text[:start] + text[begin : ends[0]] + text[ends[-1] + 1 :]
    return text


def plain_signature(*event: Any) -> tuple[str | None, str | None]:
    """Return arguments and result as Sphinx asks for them with `autodoc-process-signature`."""
    arguments, result = event[-2:]
    return without_checks(arguments or "") or None, without_checks(result or "") or None
