"""Motion laws beside figure 16, and the published points."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from tolerance import assert_within, max_abs

from twin.motion.profiles import LAWS
from twin.validation.cases.rss.free_fall import (
    END_HEIGHT,
    PEAK_ACCELERATION,
    START_HEIGHT,
    stroke,
)
from twin.validation.cases.rss.tasks import landmarks, published_heave

pytestmark = pytest.mark.quick

GRAVITY = 9.8


@pytest.mark.parametrize("law", LAWS)
def test_laws_are_at_rest_at_both_ends_and_reach_the_peak(law):
    rise = np.sqrt(LAWS[law].peak * (END_HEIGHT - START_HEIGHT) / (PEAK_ACCELERATION * GRAVITY))
    time = np.linspace(0.0, rise, 20_001)
    height, rate, acceleration = stroke(LAWS[law], time, GRAVITY)
    assert_within(height[[0, -1]], [START_HEIGHT, END_HEIGHT], 1e-14)
    assert_within(rate[[0, -1]], [0.0, 0.0], 1e-14)
    assert max_abs(acceleration) == pytest.approx(PEAK_ACCELERATION * GRAVITY, rel=1e-6)
    for whole, slope in ((height, rate), (rate, acceleration)):
        change = np.diff(whole) / np.diff(time)
        off = np.abs(change - 0.5 * (slope[1:] + slope[:-1]))
        assert off.max() < 1e-4


def test_published_strokes_mirror_each_other():
    points = published_heave()
    assert_within(points.time, 0.01 * np.arange(82), 1e-12)
    for column in points[1:]:
        assert_array_equal(column[27:55], column[27::-1])
        assert_array_equal(column[54:], column[:28])
    assert points.torque[0] == points.torque.max() == 407.159138127
    assert points.torque.min() == points.torque[27] == points.torque[81]


def test_landmarks_of_a_stroke():
    assert_within(landmarks(published_heave().torque[:28]), (407.16, 227.43, 356.17, 114.48), 0.005)
    assert landmarks(np.array([3.0, 2.0, 1.0])) == (3.0, 1.0, 1.0, 1.0)
