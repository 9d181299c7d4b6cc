"""Units of data sheets: every string is converted to SI."""

import math
import re

import pytest

from twin.machine.quantity import UNIT_QUANTITIES, UNITS, to_si

pytestmark = pytest.mark.quick


def test_units_of_data_sheets(subtests):
    for text, unit, value in [
        ("100 lbf", "N", 444.82216152605),
        ("0.14 N m/krpm", "N m s/rad", 0.14 * 0.03 / math.pi),
        ("20 kgf cm", "N m", 1.96133),
        ("10 lbf ft", "N m", 13.558179483314004),
        ("25 mm", "m", 0.025),
        ("5 lb", "kg", 2.26796185),
        ("0.8 g", "m/s2", 7.84532),
        ("16 oz", "kg", 0.45359237),
        ("9.4 kg-cm", "N m", 0.9218251),
        ("130 oz-in", "N m", 0.27801385095378125 * 130 * 0.0254),
        ("2 lbf-in", "N m", 0.22596965805524),
        ("10 N/µm", "N/m", 1e7),
        ("1 hp", "W", 745.69987158227),
        ("0.17 s/60deg", "rad/s", math.pi / 3.0 / 0.17),
        ("0.1sec/60°", "rad/s", math.pi / 3.0 / 0.1),
        ("170 ms / 60 degrees", "rad/s", math.pi / 3.0 / 0.17),
        ("2 s per 1 rev", "rad/s", math.pi),
    ]:
        with subtests.test(f"{text}"):
            assert to_si(text, unit) == pytest.approx(value, rel=1e-14)
            with pytest.raises(ValueError, match="unit"):
                to_si(text, "s")


def test_other_units_name_the_near_ones(subtests):
    for text, unit, words in [
        ("5 kg", "N", "'kg' is a unit of mass, not of force: write the number with one of kgf"),
        ("5 lbs in", "N m", "'lbs in' is no unit of torque: write the number with one of lb in"),
        ("5", "m", "no unit of the right kind; write the number with one of m, mm, cm"),
        ("80 psi", "N", "no unit of force"),
        ("5 m", "rad", "a unit of length, not of angle"),
        ("0.17 s/60deg", "m/s", "a unit of angular speed, not of speed"),
        ("0 s/60deg", "rad/s", "a time and an angle above zero"),
        ("0,17 s/60deg", "rad/s", "the decimal sign is a point"),
    ]:
        with subtests.test(f"{text}"):
            with pytest.raises(ValueError, match=re.escape(repr(text))) as caught:
                to_si(text, unit)
            assert words in str(caught.value)


def test_every_unit_is_written_as_it_is_read():
    """No unit of the table is changed by the spelling rules, and each kind has its SI unit."""
    assert UNITS.keys() == UNIT_QUANTITIES.keys()
    for si, names in UNITS.items():
        assert names[si] == 1.0
        for name, size in names.items():
            assert to_si(f"2 {name}", si) == pytest.approx(2.0 * size, rel=1e-15)
