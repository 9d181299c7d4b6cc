"""Dropouts of sensors, and seeds of their random errors."""

from __future__ import annotations

from typing import Any

import numpy as np

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


def seed_sequence(seed: Any, part: str) -> np.random.SeedSequence:
    """Return the seeds of a named part, which depend on no other part and on no order.

    Raises:
        InputError: a seed that is no whole number, zero or more.
    """
    if type(seed) is not int or seed < 0:
        raise InputError("seed", f"must be a whole number, zero or more, not {seed!r}")
    return np.random.SeedSequence([seed, *part.encode()])
