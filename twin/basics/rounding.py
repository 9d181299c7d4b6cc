"""Round numbers: 1, 2 or 5 times a power of ten."""

from __future__ import annotations

from math import floor, isfinite, log10

from twin.errors import InputError

STEPS = (5.0, 2.0, 1.0)
ROUNDING = 1e-9
"""Relative: a number so close below a round one is that one."""


def round_below(value: float) -> float:
    """Return the largest of 1, 2 and 5 times powers of ten that is not above `value`.

    Raises:
        InputError: not above zero, or not finite.
    """
    if not (isfinite(value) and value > 0.0):
        raise InputError("value", f"must be above zero and finite, got {value!r}")
    power = floor(log10(value * (1.0 + ROUNDING)))
    scale = float(f"1e{power}")
    digit = next(step for step in STEPS if step * scale <= value * (1.0 + ROUNDING))
    return float(f"{digit:g}e{power}")
