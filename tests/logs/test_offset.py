"""Time offsets of known truth are estimated well below a sample, and removed."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from refusals import refused

from twin.logs import Channel, Log, aligned, time_offset

pytestmark = pytest.mark.quick

SPEEDS, PHASES = np.array([2.0, 5.1, 11.3, 23.0]), np.array([0.3, 1.7, 2.9, 4.1])


def moved(time):
    """Return two columns of a motion that does not repeat."""
    waves = np.sin(np.multiply.outer(time, SPEEDS) + PHASES)
    return np.column_stack([waves @ [1.0, 0.5, 0.3, 0.1], waves @ [0.2, -0.6, 0.4, 0.1]])


def recorded(rate, offset, noise=0.0, seed=1):
    """Return the motion, irregularly sampled, stamped too late by `offset`."""
    random = np.random.default_rng(seed)
    time = (np.arange(int(4.0 * rate)) + random.uniform(-0.2, 0.2, int(4.0 * rate))) / rate
    values = moved(time) + noise * random.normal(size=(len(time), 2))
    return Channel("signal", time + offset, values, "m")


@settings(max_examples=15)
@given(offset=st.floats(-0.45, 0.45), rate=st.sampled_from([50.0, 120.0, 333.0]))
def test_offset_is_known_to_a_hundredth_of_a_sample(offset, rate):
    reference = recorded(100.0, 0.0, seed=2)
    found = time_offset(recorded(rate, offset), reference)
    assert abs(found.seconds - offset) < 1e-4
    assert found.correlation > 0.9999


def test_scale_and_zero_do_not_matter():
    channel = recorded(200.0, 0.0123)
    other = replace(channel, values=7.0 * channel.values + [3.0, -2.0])
    reference = recorded(100.0, 0.0, noise=0.02, seed=2)
    assert time_offset(other, reference).seconds == pytest.approx(0.0123, abs=5e-4)


def test_offset_is_removed():
    late = replace(recorded(120.0, 0.0371), name="b")
    log = Log((recorded(100.0, 0.0, seed=2), late))
    found = time_offset(log["b"], log["signal"])
    again = aligned(log, "b", found)
    assert abs(time_offset(again["b"], again["signal"]).seconds) < 1e-5
    assert_array_equal(again["b"].values, log["b"].values)


def test_what_cannot_be_compared_is_refused():
    channel, time = recorded(100.0, 0.0), np.linspace(0.0, 4.0, 401)
    still = Channel("still", time, np.ones((401, 2)), "m")
    noise = Channel("noise", time, np.random.default_rng(5).normal(size=(401, 2)), "m")
    for first, second, most, words in (
        (channel, still, 0.5, "does not move"),
        (noise, channel, 0.5, "is no copy"),
        (channel, channel, 2.5, "too much for the time"),
        (channel, channel, -1.0, "above zero"),
        (recorded(100.0, 0.3), channel, 0.05, "is no copy|larger than"),
        (Channel("a", time, time, "m"), channel, 0.5, "columns"),
        (channel.kept([0, 0, 1]), channel, 0.5, "not later"),
    ):
        with refused(words):
            time_offset(first, second, most)
