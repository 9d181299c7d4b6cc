"""Delay and noise of signals between policies and machines."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from twin.envs.episodes import DelayLine

pytestmark = pytest.mark.quick

START = np.array([9.0, -9.0])


def pushed(line, periods):
    """Return what arrives `(periods, 2, 2)` while the numbers of the periods are pushed."""
    return np.array([line.push(np.full((2, 2), float(k))).copy() for k in range(periods)])


def test_a_longer_delay_of_another_environment_loses_nothing():
    line, generator = DelayLine(2, bound=100.0), np.random.default_rng(1)
    for index in (0, 1):
        line.reset(index, START, delay_steps=2, noise_std=0.0, generator=generator)
    pushed(line, 5)
    line.reset(1, START, delay_steps=6, noise_std=0.0, generator=generator)
    assert_array_equal(pushed(line, 3)[:, 0, 0], [3.0, 4.0, 0.0])


def test_noise_stays_within_the_bound():
    line = DelayLine(1, bound=0.5)
    zeros = np.zeros(4000)
    line.reset(0, zeros, delay_steps=0, noise_std=1.0, generator=np.random.default_rng(2))
    assert np.abs(line.push(zeros[None])).max() == 0.5
