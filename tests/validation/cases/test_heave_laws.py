"""Motion laws beside figure 16, and the published points."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from tolerance import assert_within

from twin.validation.cases.rss import landmarks, published_heave

pytestmark = pytest.mark.quick


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
