"""Printed numbers beside ours: the values that their digits stand for, measures and statements."""

from __future__ import annotations

from decimal import Decimal
from typing import NamedTuple

from twin.validation.results import Measure, Statement

HALF_UNIT = "half a unit of the last printed digit"


class PrintedValue(NamedTuple):
    """A number that a paper prints."""

    source: str
    """paper and section, figure, table or equation"""
    quantity: str
    text: str
    """with the digits that are printed; "about 220" leaves trailing zeros out of them"""
    unit: str = "1"

    @property
    def value(self) -> float:
        """The number."""
        return float(self.text.removeprefix("about "))

    @property
    def tolerance(self) -> float:
        """Half a unit of the last printed digit that counts."""
        digits = Decimal(self.text.removeprefix("about "))
        if self.text.startswith("about "):
            digits = digits.normalize()
        return 0.5 * 10.0 ** int(digits.as_tuple().exponent)

    def holds(self, ours: float) -> bool:
        """Return whether `ours` rounds to the printed number."""
        # A printed number may lie on the edge; its binary form does not do so exactly.
        return abs(ours - self.value) <= self.tolerance * (1.0 + 1e-9)


class Comparison(NamedTuple):
    """A printed value and ours."""

    measure: Measure
    statement: Statement


def compared(printed: PrintedValue, ours: float) -> Comparison:
    """Return the measure and the statement of our value of a printed quantity.

    Args:
        printed: the printed number.
        ours: the same quantity in the same unit.
    """
    unit = "" if printed.unit == "1" else f" {printed.unit}"
    measure = Measure(
        f"{printed.quantity} against the printed {printed.text}{unit}",
        abs(ours - printed.value),
        printed.tolerance,
        HALF_UNIT,
        unit=printed.unit,
    )
    text = f"{printed.quantity} {printed.text}{unit}"
    same = printed.holds(ours)
    return Comparison(measure, Statement.judged(printed.source, text, f"{ours:.8g}{unit}", same))
