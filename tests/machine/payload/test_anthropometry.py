"""The published fractions add up to a body."""

import pytest

from twin.machine.payload.anthropometry import (
    BODIES,
    PAIRED_SEGMENTS,
    SEXES,
    SITTING_HEIGHT,
    mass_sum,
)
from twin.validation.cases.compliant_legs import CHAIR_MASS, CHAIR_SEAT_HEIGHT

POUND, INCH = 0.45359237, 0.0254
"""[kg], [m]"""

TRUNK = ("pelvis", "abdomen", "thorax")


@pytest.mark.parametrize("sex", SEXES)
def test_masses_add_up_to_one(sex):
    # Published to four digits: 0.9999 for women.
    assert mass_sum(BODIES[sex]) == pytest.approx(1.0, abs=1.5e-4)


@pytest.mark.parametrize(
    ("sex", "trunk", "length"), [("male", 0.4346, 0.6033), ("female", 0.4257, 0.6148)]
)
def test_parts_of_the_trunk_add_up_to_the_trunk(sex, trunk, length):
    """De Leva gives the trunk as a whole, too."""
    parts = [BODIES[sex].segments[name] for name in TRUNK]
    assert sum(part.mass for part in parts) == pytest.approx(trunk, abs=1e-12)
    assert sum(part.length for part in parts) == pytest.approx(length, abs=1e-12)


@pytest.mark.parametrize(("sex", "center"), [("male", 0.5138), ("female", 0.4964)])
def test_centers_of_the_trunk_add_up_to_the_trunks(sex, center):
    """From the cervicale down, share of the length to mid-hip."""
    parts = [BODIES[sex].segments[name] for name in reversed(TRUNK)]
    start, moment = 0.0, 0.0
    for part in parts:
        moment += part.mass * (start + part.center * part.length)
        start += part.length
    found = moment / sum(part.mass for part in parts) / start
    # The published whole and its parts were measured apart: 3 mm of 603 mm.
    assert found == pytest.approx(center, abs=6e-3)


@pytest.mark.parametrize("sex", SEXES)
def test_segments_are_bodies(sex):
    segments = BODIES[sex].segments
    assert set(PAIRED_SEGMENTS) < set(segments)
    for part in segments.values():
        assert 0.0 < part.center < 1.0
        radii = sorted((part.sagittal**2, part.transverse**2, part.longitudinal**2))
        assert radii[2] < radii[0] + radii[1]


@pytest.mark.parametrize("sex", SEXES)
def test_trunk_and_head_are_lower_than_a_sitting_person(sex):
    body = BODIES[sex]
    upright = sum(body.segments[name].length for name in (*TRUNK, "head"))
    flesh = SITTING_HEIGHT * body.stature - upright
    assert 0.03 < flesh < 0.08


def test_the_wheelchair_is_the_lightest_and_lowest_of_its_class():
    """Medicare's class K0001: more than 36 lb, seat at 19 in or more."""
    assert 36.0 * POUND < CHAIR_MASS < 36.0 * POUND + 1.0
    assert 19.0 * INCH <= CHAIR_SEAT_HEIGHT < 19.0 * INCH + 0.01
