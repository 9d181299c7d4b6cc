"""Occupants against published segments typed a second time, summed without tensors."""

import pytest
from tolerance import assert_within

from twin.machine.payload import Occupant, Wheelchair, rigid_sum
from twin.machine.payload.anthropometry import BODIES
from twin.validation.cases.compliant_legs import CHAIR_MASS, CHAIR_SEAT_HEIGHT, seated_sum

pytestmark = pytest.mark.quick

POUND, INCH = 0.45359237, 0.0254


def test_mass_properties_are_those_of_the_published_segments(subtests):
    for sex in BODIES:
        for in_chair in [False, True]:
            with subtests.test(f"{sex}, {in_chair}"):
                chair = Wheelchair() if in_chair else None
                found = rigid_sum(Occupant(1.68, 64.0, sex, wheelchair=chair).segments())
                wanted = seated_sum(sex, 1.68, 64.0, in_chair)
                assert found.mass == pytest.approx(wanted.mass, rel=1e-13)
                assert found.center[2] == pytest.approx(wanted.center[2], rel=1e-13)
                assert_within(found.inertia, wanted.inertia, 1e-13 * wanted.inertia.max())


def test_the_wheelchair_is_the_lightest_and_lowest_of_its_class():
    """Medicare's class K0001: more than 36 lb, seat at 19 in or more."""
    assert 36.0 * POUND < CHAIR_MASS < 36.0 * POUND + 1.0
    assert 19.0 * INCH <= CHAIR_SEAT_HEIGHT < 19.0 * INCH + 0.01
