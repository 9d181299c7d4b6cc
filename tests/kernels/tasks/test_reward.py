"""Reward terms that tasks share."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from twin.kernels.jit import interpreted
from twin.kernels.tasks import task as reward

pytestmark = pytest.mark.quick

calmness, closeness = interpreted(reward.calmness), interpreted(reward.closeness)
economy, smoothness = interpreted(reward.economy), interpreted(reward.smoothness)
stillness, stroke = interpreted(reward.stillness), interpreted(reward.stroke)


@given(st.floats(0.0, 1.0), st.floats(1e-5, 1e-1))
@settings(max_examples=50, deadline=None)
def test_closeness_falls_from_one_to_zero(error, scale):
    largest = 0.5
    value = closeness(error, scale, largest)
    assert 0.0 <= value <= 1.0
    assert closeness(0.0, scale, largest) == 1.0
    assert closeness(largest, scale, largest) <= 1e-12
    assert closeness(error + 1e-3, scale, largest) <= value


def test_terms_of_actions_and_efforts():
    assert smoothness(np.array([1.0, -1.0]), np.array([1.0, 1.0])) == -2.0
    assert economy(np.array([3.0, 0.0]), np.array([6.0, 1.0])) == -0.125
    assert stroke(np.array([1.0, 3.0]), np.array([0.0, 3.0]), np.array([2.0, 5.0])) == -0.125


def test_terms_of_motion():
    assert calmness(0.1, 0.2) == -0.25
    assert calmness(5.0, 0.2) == -1.0
    assert stillness(0.0, 0.3) == 1.0 and stillness(3.0, 0.3) <= 1e-12 and stillness(9.0, 0.3) == 0
    assert stillness(0.3, 0.3) == pytest.approx(0.48, abs=0.005)
    assert stillness(0.03, 0.3) == pytest.approx(0.85, abs=0.005)
