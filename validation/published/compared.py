"""One printed number beside ours: a measure that judges it and a statement that shows it."""

from __future__ import annotations

from typing import NamedTuple

from twin.validation.results import Measure, Statement

HALF_UNIT = "half a unit of the last printed digit"


class PrintedValue(NamedTuple):
    """A number that a paper prints."""

    source: str
    """paper and section, figure, table or equation"""
    quantity: str
    value: float
    unit: str
    tolerance: float
    """half a unit of the last printed digit"""


class Comparison(NamedTuple):
    """A printed value and ours."""

    measure: Measure
    statement: Statement


def compared(printed: PrintedValue, ours: float, known: str = "") -> Comparison:
    """Return the measure and the statement of our value of a printed quantity.

    Args:
        printed: what the paper has.
        ours: the same quantity in the same unit.
        known: explains a known difference, which then informs instead of failing.
    """
    unit = "" if printed.unit == "1" else f" {printed.unit}"
    apart = abs(ours - printed.value)
    measure = Measure(
        f"{printed.quantity} against the printed {printed.value:.8g}{unit}",
        apart,
        None if known else printed.tolerance,
        known or HALF_UNIT,
        unit=printed.unit,
    )
    words = (printed.source, f"{printed.quantity} {printed.value:.8g}{unit}", f"{ours:.8g}{unit}")
    same = apart <= printed.tolerance
    statement = Statement.judged(*words, same, known) if known else Statement.judged(*words, same)
    return Comparison(measure, statement)
