"""Motion ranges: closed forms, and limits kept."""

import numpy as np
import pytest
from tolerance import assert_within

import twin
from twin.analysis.machine_summary import axis_ranges
from twin.analysis.workspace.region import motion_ranges


@pytest.mark.slow
def test_ranges_are_those_of_the_summary(platform):
    found = motion_ranges(platform)
    known = {one.axis: one.span for one in axis_ranges(platform)}
    assert {one.axis for one in found} == set(known)
    for one in found:
        scale = 1.0 if one.unit == "m" else 180.0 / np.pi
        ends = scale * np.array(one.span)
        assert_within(ends, known[one.axis], 1e-9 * scale)
        assert one.span[0] < 0.0 < one.span[1]
        assert all(text.startswith("leg ") for text in one.ends)


def test_ranges_neither_turn_twice_nor_pass_the_base():
    """Legs of a gallery machine reach far enough to turn it over."""
    platform = twin.load("tssm_l16")
    for one in motion_ranges(platform):
        if one.unit == "rad":
            assert -np.pi <= one.span[0] < one.span[1] <= np.pi
        if one.axis == "z":
            assert platform.home[2] + one.span[0] > platform.base_joints[:, 2].mean()
