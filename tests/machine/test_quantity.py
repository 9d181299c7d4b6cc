"""Units of data sheets: every string is converted to SI."""

from __future__ import annotations

import math

import pytest

from twin.machine.quantity import to_si

pytestmark = pytest.mark.quick


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [
        ("100 lbf", "N", 444.82216152605),
        ("50 kgf", "N", 490.3325),
        ("20 kgf cm", "N m", 1.96133),
        ("10 lbf in", "N m", 1.1298482902761668),
        ("10 lbf ft", "N m", 13.558179483314004),
        ("3000 rpm", "rad/s", 100.0 * math.pi),
        ("180 deg", "rad", math.pi),
        ("25 mm", "m", 0.025),
        ("2 in", "m", 0.0508),
        ("5 lb", "kg", 2.26796185),
    ],
)
def test_units_of_data_sheets(text: str, unit: str, value: float) -> None:
    assert to_si(text, unit) == pytest.approx(value, rel=1e-14)
    with pytest.raises(ValueError, match="unit"):
        to_si(text, "s")
