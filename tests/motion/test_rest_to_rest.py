"""Transition laws: at rest at both ends, exact derivatives, peak accelerations as stated."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused
from tolerance import assert_within, max_abs

from twin.motion.profiles import LAWS, RestToRestMotion, shortest_rise

HOME = [0.0, 0.0, 0.3]
ALL_AXES = {"x": 0.02, "y": 0.03, "z": 0.04, "yaw": 0.2, "pitch": 0.3, "roll": 0.25}
SMOOTH = ("cycloidal", "minimum_jerk")


@pytest.mark.parametrize("law", LAWS)
def test_ends_are_at_rest(law):
    motion = RestToRestMotion(HOME, displacement={"z": 0.1}, rise=0.4, law=law)
    sample = motion([0.0, 0.2, 0.4])
    assert_within(sample.pose[:, 2], [0.3, 0.35, 0.4], 1e-15)
    assert_within(sample.twist[[0, 2]], 0.0, 1e-14)
    assert_within(sample.acceleration[1], 0.0, 1e-14)
    still = max_abs(sample.acceleration[[0, 2], 2]) < 1e-12
    assert still == (law in SMOOTH)


@pytest.mark.parametrize("law", LAWS)
def test_derivatives(law):
    motion = RestToRestMotion(HOME, displacement=ALL_AXES, rise=0.7, law=law)
    time, step = np.linspace(0.01, 0.69, 50), 1e-5
    middle = motion(time)
    before, after = motion(time - step), motion(time + step)
    velocity = (after.pose[:, :3] - before.pose[:, :3]) / (2.0 * step)
    acceleration = (after.twist - before.twist) / (2.0 * step)
    assert_within(middle.twist[:, :3], velocity, 1e-8)
    assert_within(middle.acceleration, acceleration, 1e-7)


@given(st.floats(1e-3, 10.0), st.floats(1e-2, 100.0), st.sampled_from(sorted(LAWS)))
def test_shortest_rise_reaches_the_peak(distance, peak, law):
    rise = shortest_rise(distance, peak, law)
    motion = RestToRestMotion(HOME, displacement={"z": distance}, rise=rise, law=law)
    accelerations = motion(np.linspace(0.0, rise, 4001)).acceleration[:, 2]
    assert max_abs(accelerations) == pytest.approx(peak, rel=1e-5)


def test_bad_arguments():
    good = {"displacement": {"z": 0.1}, "rise": 0.5}
    for bad in ({"law": "square"}, {"rise": 0.0}, {"displacement": {"up": 1.0}}, {"rise": None}):
        with refused() as error:
            RestToRestMotion(HOME, **{**good, **bad})
        assert error.value.field in (*bad, "displacement")
    for values in ((0.0, 1.0), (1.0, -1.0), ("far", 1.0)):
        with refused():
            shortest_rise(*values)
    with refused("law"):
        shortest_rise(1.0, 1.0, "square")
