"""Distances of polygons against a solver of quadratic programs, and by symmetry."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import nnls
from tolerance import assert_within

from twin.analysis.feasibility.course import polygon_distance
from twin.basics.arrays import rotated

pytestmark = pytest.mark.quick

PLACE = st.tuples(*[st.integers(-3, 3)] * 3)
TURN = st.tuples(*[st.integers(-2, 2)] * 4).filter(any)
"""Whole numbers: parallel, touching and crossing polygons are frequent."""


def polygon(corners, radius, place, turn):
    angles = 2.0 * np.pi * np.arange(corners) / corners
    flat = radius * np.stack([np.cos(angles), np.sin(angles), 0.0 * angles], axis=1)
    quaternion = np.array(turn, dtype=float) / np.linalg.norm(turn)
    return np.asarray(place + rotated(quaternion[None], flat))


def hull_distance(one, other):
    """Return the distance of two convex hulls: least squares over shares of their corners."""
    weight = 1e4
    shares = np.repeat(np.eye(2), [len(one), len(other)], axis=1)
    matrix = np.vstack([np.hstack([one.T, -other.T]), weight * shares])
    found, _ = nnls(matrix, np.array([0.0, 0.0, 0.0, weight, weight]))
    first, second = found[: len(one)], found[len(one) :]
    gap = first @ one / first.sum() - second @ other / second.sum()
    return float(np.linalg.norm(gap))


@given(st.tuples(st.integers(2, 6), st.integers(3, 6)), st.tuples(PLACE, PLACE), TURN, TURN)
@pytest.mark.slow
def test_against_convex_hulls(
    counts,
    places,
    turn,
    other_turn,
):
    """Two corners are a segment: a leg against a plate."""
    one = polygon(counts[0], 1.5, places[0], turn)
    other = polygon(counts[1], 1.0, places[1], other_turn)
    found = float(polygon_distance(one[None], other[None])[0])
    assert found == pytest.approx(float(polygon_distance(other[None], one[None])[0]), abs=1e-12)
    assert found == pytest.approx(hull_distance(one, other), abs=1e-6)


def test_plates_over_each_other_and_through_each_other():
    """The corners are far from every edge: faces decide."""
    level = polygon(6, 2.0, (0, 0, 0), (1, 0, 0, 0))
    above = polygon(3, 1.0, (0, 0, 1), (1, 0, 0, 0))
    through = polygon(3, 1.0, (0, 0, 0), (1, 1, 0, 0))
    both = np.stack([above, through])
    assert_within(polygon_distance(np.stack([level] * 2), both), [1.0, 0.0], 1e-12)


def test_shared_joints_are_corners_twice():
    triangle = polygon(3, 1.0, (0, 0, 0), (1, 0, 0, 0))
    twice, point = np.repeat(triangle, 2, axis=0), np.array([[[0.1, 0.1, 0.3]] * 2])
    assert_within(polygon_distance(twice[None], point), 0.3, 1e-12)
