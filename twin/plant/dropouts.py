"""Spans of time in which sensors give nothing."""

from __future__ import annotations

from typing import Any

from twin.errors import InputError

Spans = tuple[tuple[float, float], ...]


def as_spans(value: Any) -> Spans:
    """Return spans (begin, end) [s].

    Raises:
        InputError: no list of pairs, or one that does not begin before it ends.
    """
    try:
        return tuple(_span(span) for span in value)
    except TypeError:
        raise InputError(
            "dropouts", f"must be a list of spans (begin, end) [s], not {value!r}"
        ) from None


def _span(value: Any) -> tuple[float, float]:
    try:
        begin, end = (float(entry) for entry in value)
    except (TypeError, ValueError):
        raise InputError("dropouts", f"must be spans (begin, end) [s], not {value!r}") from None
    if not begin < end:
        raise InputError("dropouts", f"a span begins before it ends, unlike {value!r}")
    return begin, end
