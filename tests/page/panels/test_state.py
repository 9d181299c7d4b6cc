"""The strip above the controls: numbers and colours of legs, and the line about a second engine."""

import re

import numpy as np
import pytest

from twin.page.panels.state import (
    LIMIT_COLOUR,
    NEAR_COLOUR,
    NORMAL_COLOUR,
    strip,
)

pytestmark = pytest.mark.quick


def test_every_leg_has_a_column_with_its_shares():
    text = strip(np.array([0.5, 0.25]), np.array([0.1, 0.42]), np.array([np.nan, 0.07]), {})
    assert re.findall(r">(\d+ %|\u2013)<", text) == ["10 %", "42 %", "\u2013", "7 %"]
    assert "repeat(2, 1fr)" in text
    assert LIMIT_COLOUR not in text and NEAR_COLOUR not in text
    assert "&gt; 999 %" in strip(np.array([0.5]), np.array([5e3]), np.array([1.0]), {})


def test_colours_tell_how_near_a_limit_is(subtests):
    for share, colour in [
        (0.5, NORMAL_COLOUR),
        (0.8, NEAR_COLOUR),
        (0.97, LIMIT_COLOUR),
        (2.0, LIMIT_COLOUR),
    ]:
        with subtests.test(f"{share}"):
            middle, none = np.array([0.5]), np.array([np.nan])
            assert f"{colour}55" in strip(middle, none, np.array([share]), {})
            for place in (0.5 + 0.5 * share, 0.5 - 0.5 * share):
                assert f"background: {colour}" in strip(np.array([place]), none, none, {})
