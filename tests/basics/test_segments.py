"""Distances of segments against brute force and by symmetry."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from tolerance import assert_within

from twin.basics.arrays import segment_distance

pytestmark = pytest.mark.quick

POINT = st.tuples(*[st.integers(-4, 4)] * 3)
"""Whole numbers: parallel, crossing, touching and vanishing segments are frequent."""


def brute_force(ends, count=201):
    """Return the smallest distance of points along two segments."""
    along = np.linspace(0.0, 1.0, count)[:, None]
    one = ends[0] + along * (ends[1] - ends[0])
    other = ends[2] + along * (ends[3] - ends[2])
    return float(np.linalg.norm(one[:, None] - other, axis=2).min())


@given(st.tuples(POINT, POINT, POINT, POINT))
def test_against_points_along_both(points):
    ends = np.array(points, dtype=float)
    found = float(segment_distance(*ends))
    sampled = brute_force(ends)
    # The nearest of the sampled points are within half a step of the true ones on each segment.
    step = sum(np.linalg.norm(ends[i + 1] - ends[i]) for i in (0, 2)) / 400.0
    assert found <= sampled + 1e-12
    assert sampled <= found + step
    assert_within(found, float(segment_distance(*ends[[2, 3, 0, 1]])), 1e-12)
    assert_within(found, float(segment_distance(*ends[[1, 0, 2, 3]])), 1e-12)


def test_batches_broadcast():
    first, up = np.zeros((2, 4, 1, 3))
    up[..., 2] = 1.0
    other = np.array([[1.0, 0.0, 0.5], [0.0, 2.0, 3.0]])
    found = segment_distance(first, up, other, other)
    assert_allclose(found, np.tile([1.0, np.hypot(2.0, 2.0)], (4, 1)))
