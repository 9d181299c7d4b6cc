"""Numbers of a size that a machine can have, so that no product of them overflows."""

from __future__ import annotations

from typing import Any

import numpy as np

from twin.basics.arrays import FloatArray, as_floats
from twin.errors import InputError

LARGEST = 1e9
"""SI; as in parameter files."""

MOST_SAMPLES = 1_000_000
"""Times along one motion."""


def bounded(value: Any, field: str, last: int | None = None) -> FloatArray:
    """Return `value` as floats `(..., last)` of at most `LARGEST`.

    Args:
        value: anything numpy can read.
        field: name of the argument, for the message.
        last: size of the last axis; None leaves the shape open.

    Raises:
        InputError: not numeric, wrong size, not finite, too large.
    """
    array = as_floats(value, field, last)
    if array.size and np.abs(array).max() > LARGEST:
        raise InputError(field, f"beyond {LARGEST:g} in SI units: no machine; check the units")
    return array


def bounded_number(value: Any, field: str, smallest: float = -LARGEST) -> float:
    """Return `value` as one number from `smallest` to `LARGEST`.

    Args:
        value: anything numpy can read.
        field: name of the argument, for the message.
        smallest: lower bound, which is allowed.

    Raises:
        InputError: not one number, not finite, out of range.
    """
    number = bounded(value, field)
    if number.ndim or number < smallest:
        raise InputError(field, f"must be one number from {smallest:g}, got {value!r}")
    return float(number)


def whole_number(value: Any, field: str, smallest: int, largest: int) -> int:
    """Return `value` as a whole number in a range; raises InputError otherwise."""
    whole = isinstance(value, int) and not isinstance(value, bool)
    if not whole or not smallest <= value <= largest:
        raise InputError(field, f"must be a whole number from {smallest} to {largest}")
    return int(value)
