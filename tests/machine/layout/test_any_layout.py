"""Layouts and homes at random: each is a machine at its home, or refused with a field."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from laid_out import SERVO_BASE, SERVO_TOP, laid_out

from twin.errors import ParameterError

pytestmark = pytest.mark.quick

NUMBERS = st.one_of(
    st.sampled_from([0.0, 1e-12, 1e-3, 0.1, 0.5, 1.0, 10.0, 1e8, -0.3]), st.floats(-1.0, 1.0)
)
JUNK = st.sampled_from([None, True, "x", [], {}, [[]], [[1, 2]], float("nan"), 10**400, "1 kg"])
SIX = st.lists(NUMBERS, min_size=6, max_size=6)
POINT = st.lists(NUMBERS, min_size=3, max_size=3)
ORDER = st.one_of(st.just("nearest"), st.lists(st.integers(0, 7), min_size=5, max_size=7), JUNK)

CIRCLES = st.dictionaries(
    st.sampled_from(["radius", "half_spacing", "spacing", "chord", "between_pairs", "shift"]),
    NUMBERS,
    min_size=1,
    max_size=3,
).map(lambda fields: {"center_angle": 0.0} | fields)
POLAR = st.fixed_dictionaries(
    {"angles": SIX, "radius": st.one_of(NUMBERS, SIX, JUNK)}, optional={"order": ORDER}
)
POINTS = st.fixed_dictionaries(
    {"coordinates": st.lists(POINT, min_size=5, max_size=7)}, optional={"order": ORDER}
)
SIDES = st.one_of(CIRCLES, POLAR, POINTS, st.just(SERVO_BASE), st.just(SERVO_TOP))

COORDINATES = st.one_of(NUMBERS, SIX, JUNK)
HOMES = st.one_of(
    st.sampled_from(["mid_stroke", "mid_range", "middle", 3]),
    st.builds(lambda name, value: {"source": "Test", name: value},
              st.sampled_from(["lengths", "angles", "position", "at"]), COORDINATES),
)  # fmt: skip


def check(*arguments, **changes):
    """Load a machine that is at its home, or that is refused by name."""
    try:
        machine = laid_out(*arguments, **changes)
    except ParameterError as error:
        assert all(field and message for field, message in error.problems)
        return
    assert np.isfinite(machine.home_coordinates).all()
    assert np.isfinite(machine.home_jacobian).all()


@given(base=SIDES, top=SIDES, home=HOMES)
@settings(max_examples=150, deadline=None)
def test_any_joints(base, top, home):
    check(base, top, home=home)
