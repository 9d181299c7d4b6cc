"""Margins: what a task requires of a machine beside a limit, and what would mend it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from twin.analysis.feasibility.course import Course
from twin.basics.arrays import FloatArray

ROUNDING = 1e-9
"""Share beyond one that is rounding: poses at the end of a range lie on a limit."""

TIGHT = 0.8
"""Share of a limit above which a margin is called tight."""


class Quantity(NamedTuple):
    """A quantity over a task, `(k, m)`: one row per time, one column per leg or pair of legs."""

    name: str
    unit: str
    required: FloatArray
    """`(k, m)`, signed"""
    limit: FloatArray
    """`(k, m)`, infinite where there is none"""
    share: FloatArray
    """`(k, m)` of the limit that is used; above 1 it is violated"""
    legs: Sequence[tuple[int, ...]]
    """numbers from 1 of the legs of each column; none for the whole machine"""
    remedy: Callable[[int, int], str]
    """sentences about the violation at a row and column"""
    at_least: bool = False
    """whether the limit is the smallest value instead of the largest"""
    whole: bool = False
    """whether the value belongs to the whole motion and not to a time"""


class Margin(NamedTuple):
    """Entry of a quantity that comes closest to its limit."""

    quantity: str
    unit: str
    required: float
    """signed"""
    limit: float
    share: float
    """of the limit that is used: required per limit, limit per required where it is a minimum;
    of a stroke, the distance from its middle per half of it. Above 1: violated"""
    at_least: bool
    """whether the limit is the smallest allowed value"""
    legs: tuple[int, ...]
    """numbers from 1; none where it concerns the whole machine"""
    time: float | None
    """[s]; None at rest and for the whole motion"""
    place: str
    """the time or the name of the pose"""
    pose: FloatArray
    """`(7,)`"""
    remedy: str
    """what is violated, by how much, and what would mend it; empty where the limit holds"""

    @property
    def holds(self) -> bool:
        """Whether the limit is kept."""
        return self.share <= 1.0 + ROUNDING

    @property
    def margin(self) -> float:
        """Distance to the limit in the quantity's unit; negative where it is violated."""
        size = self.required if self.quantity.startswith("stroke") else abs(self.required)
        return size - self.limit if self.at_least else self.limit - size


def margin_of(quantity: Quantity, course: Course) -> Margin:
    """Return the margin of the entry of a quantity that comes closest to its limit.

    Of entries that differ by rounding, as those of symmetrical legs do, the first one.
    """
    shares = np.where(np.isnan(quantity.share), np.inf, quantity.share)
    highest = float(shares.max())
    nearly = highest - ROUNDING * max(1.0, highest) if highest < np.inf else np.inf
    row, column = divmod(int((shares >= nearly).argmax()), shares.shape[1])
    share = float(shares[row, column])
    resting = bool(course.places)
    timed = not (resting or quantity.whole)
    return Margin(
        quantity.name,
        quantity.unit,
        float(quantity.required[row, column]),
        float(quantity.limit[row, column]),
        share,
        quantity.at_least,
        quantity.legs[column],
        float(course.time[row]) if timed else None,
        "whole motion" if quantity.whole and not resting else course.place(row),
        course.motion.pose[row].copy(),
        "" if share <= 1.0 + ROUNDING else quantity.remedy(row, column),
    )


def legs_text(legs: Sequence[int]) -> str:
    """Return "leg 2" or "legs 1 and 2"; "the machine" for none."""
    if not legs:
        return "the machine"
    numbers = [str(number) for number in legs]
    if len(numbers) == 1:
        return f"leg {numbers[0]}"
    return f"legs {', '.join(numbers[:-1])} and {numbers[-1]}"


def share_text(share: float) -> str:
    """Return a share of a limit as a percentage, from ten on as a factor, or "beyond"."""
    if not np.isfinite(share):
        return "beyond"
    return f"{100.0 * share:.3g} %" if share < 9.995 else f"{share:,.4g} times"


def factor(value: float) -> str:
    """Return a factor above one with three digits, four where it is close to one."""
    return f"{value:.4g}" if value < 1.1 else f"{value:,.3g}" if value < 1e3 else f"{value:,.0f}"


def amount(value: float, unit: str = "") -> str:
    """Return a number with four digits, thousands apart, and its unit."""
    text = f"{value:,.0f}" if 1e3 <= abs(value) < 1e7 else f"{value:.4g}"
    return f"{text} {unit}".strip()
