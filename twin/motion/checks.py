"""Bounds of the numbers that describe a motion, so that no result can overflow."""

from __future__ import annotations

from typing import Any

from twin.basics.arrays import as_floats
from twin.errors import InputError, brief

SHORTEST_TIME = 1e-6
"""[s] Below the step of any engine."""

LONGEST_TIME = 1e6
"""[s] Above eleven days."""

LARGEST_FREQUENCY = 1e4
"""[Hz] Above what any platform of this kind can follow."""

LARGEST_AMPLITUDE = 1e6
"""[m] or [rad] Keeps amplitude times frequency squared finite."""

LARGEST_SAMPLE = 1e30
"""Of recorded columns in any unit; keeps sums, integrals and conversions finite."""


def seed_number(value: Any) -> int:
    """Return `value` as a seed: a whole number from 0; raises InputError otherwise."""
    number = as_floats(value, "seed")
    if number.ndim or not 0 <= number < 2**53 or number != int(number):
        raise InputError("seed", f"must be a whole number from 0, got {brief(value)}")
    return int(number)
