"""Faults of encoders from readings alone, beside a model that stands."""

from functools import cache

import numpy as np
import pytest

from twin.analysis.platform import load
from twin.control.gains import drive_model
from twin.shadow.model import EncoderWatch, ShadowModel

pytestmark = pytest.mark.quick

COUNTS = np.array([0.0, 1.0, 0.0, -1.0])
"""What a leg at work reads at least: some counts to and fro."""


@cache
def standing_model():
    """A machine at home."""
    machine = load("rss", "hardware")
    model = ShadowModel(machine, 1e-3, "velocity")
    model.start(machine.home_coordinates, np.zeros(6))
    return model


def resolution():
    """What one count of every encoder is."""
    return drive_model(standing_model().machine).resolution


@pytest.fixture
def watch():
    """Its encoders."""
    return EncoderWatch(standing_model(), 6.0)


def after(watch, steps, jump=0.0, standing=0, *, noise=0.0, learning=False):
    """Return alarms of steps in which the first `standing` legs stand; one jumps by so much."""
    alarms, random = [], np.random.default_rng(3)
    at, count = standing_model().coordinates, resolution()
    for step in steps:
        reading = at + count * COUNTS[step % 4]
        reading[:standing] = at[:standing]
        reading[0] += jump
        reading += noise * count * random.standard_normal(6)
        innovation = watch.innovation(reading, 0)
        alarms += watch.check(1e-3 * step, reading, innovation, is_learning=learning)
    return alarms


@pytest.mark.parametrize(("share", "kind"), [(1e-3, "counts"), (0.15, "sensor")])
def test_a_jump_of_a_tenth_of_the_stroke_is_no_lost_count(watch, share, kind):
    """Small jumps are lost counts; a reading that leaps through the stroke is dead."""
    machine = standing_model().machine
    stroke = float(machine.maximum_coordinates[0] - machine.minimum_coordinates[0])
    assert not after(watch, range(50))
    (alarm,) = after(watch, range(50, 100), jump=share * stroke)
    assert (alarm.kind, alarm.leg) == (kind, 1)


@pytest.mark.parametrize(("standing", "steps", "legs"), [(1, 260, [1]), (1, 150, []), (2, 260, [])])
def test_a_steady_force_behind_one_reading_that_stands(watch, standing, steps, legs):
    """The one leg that stands for long is named; after a short time, or of two legs, none is."""
    assert not after(watch, range(steps), standing=standing)
    assert [alarm.leg for alarm in watch.frozen_encoder_alarm(1e-3 * steps)] == legs


def test_noise_is_learned_and_raises_nothing(watch):
    """Five counts of noise are no lost counts, while it is learned and after; fifty counts are."""
    assert not after(watch, range(2000), noise=5.0, learning=True)
    assert not after(watch, range(2000, 6000), noise=5.0)
    lost = 60.0 * float(resolution()[0])
    [alarm] = after(watch, range(6000, 6100), noise=5.0, jump=lost)
    assert (alarm.kind, alarm.leg) == ("counts", 1)
