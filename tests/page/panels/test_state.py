"""The strip above the controls: numbers and colours of legs, and the line about a second engine."""

import re

import numpy as np
import pytest

import twin
from twin.analysis.feasibility.course import share_text
from twin.motion import SineMotion
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


def test_a_stroke_is_filled_from_its_middle():
    for place, low, height in ((0.75, 50, 25), (0.25, 25, 25), (1.5, 50, 50)):
        text = strip(np.array([place]), np.array([0.0]), np.array([0.0]), {})
        assert f"bottom: {low}%; height: max(3px, {height}%)" in text


def test_closest_limits_have_a_row_below_all_legs():
    machine = twin.load("stewart")
    swing = SineMotion(machine.home, amplitude={"z": 0.03}, frequency=1.0, duration=1.0)
    wild = SineMotion(machine.home, amplitude={"z": 2.0}, frequency=9.0, duration=1.0)
    still = np.array([0.5])
    for motion, words in ((swing, ""), (wild, "not feasible: ")):
        worst = machine.feasibility(motion).margins[0]
        text = strip(still, still, still, {"motion": worst, "at rest": None})
        assert f">{words}{worst.quantity} {share_text(worst.share)}" in text
        assert (LIMIT_COLOUR in text) == bool(words)
        assert text.count("grid-column: 2 / -1") == 2
        assert ">at rest</span>" in text and text.endswith(">\u2013</div></div>")
