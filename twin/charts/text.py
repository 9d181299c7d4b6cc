"""Numbers and values as short texts, the same in console and report, and round numbers."""

from __future__ import annotations

import math
from typing import Any

from twin.errors import InputError


def number(value: float | None, digits: int = 6) -> str:
    """Return a number with at most `digits` significant digits; None and NaN as "not finite"."""
    if value is None or not math.isfinite(value):
        return "not finite"
    return f"{value + 0.0:.{digits}g}"


def value_text(value: Any, unit: str = "", digits: int = 6) -> str:
    """Return a number, text, list or list of lists as one line; angles in degrees too.

    Lists whose entries are the same text are shortened to one entry and their number.
    """
    if isinstance(value, (list, tuple)):
        entries = [value_text(entry, "", digits) for entry in value]
        if len(entries) > 3 and len(set(entries)) == 1:
            return f"{entries[0]} ({len(entries)} times)"
        if value and isinstance(value[0], (list, tuple)):
            return "; ".join(entries)
        return ", ".join(entries)
    if isinstance(value, float):
        degrees = f" ({number(math.degrees(value), digits)} deg)" if unit == "rad" and value else ""
        return number(value, digits) + degrees
    return str(value)


STEPS = (5.0, 2.0, 1.0)
ROUNDING = 1e-9
"""Relative: a number so close below a round one is that one."""


def round_below(value: float) -> float:
    """Return the largest of 1, 2 and 5 times powers of ten that is not above `value`.

    Raises:
        InputError: not above zero, or not finite.
    """
    if not (math.isfinite(value) and value > 0.0):
        raise InputError("value", f"must be above zero and finite, got {value!r}")
    power = math.floor(math.log10(value * (1.0 + ROUNDING)))
    scale = float(f"1e{power}")
    digit = next(step for step in STEPS if step * scale <= value * (1.0 + ROUNDING))
    return float(f"{digit:g}e{power}")
