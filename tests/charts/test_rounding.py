"""Round numbers: below, and at most a factor of two and a half away."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused

from twin.charts.panels import round_below

pytestmark = pytest.mark.quick


@given(st.floats(1e-9, 1e9))
def test_the_round_number_is_the_next_one_below(value):
    found = round_below(value)
    assert found <= value * (1.0 + 1e-9) < 2.5 * found * (1.0 + 1e-8)
    assert f"{found:e}"[0] in "125"
    assert round_below(found) == found


def test_numbers_without_a_round_one_are_refused(subtests):
    for value in [0.0, -1.0, float("inf"), float("nan")]:
        with subtests.test(f"{value}"), refused("above zero"):
            round_below(value)
