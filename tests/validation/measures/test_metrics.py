"""Distances between motions, and fitted orders of convergence."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from tolerance import assert_within

from twin.validation.measures.sampling import (
    fitted_order,
    position_error,
    relative_error,
    rotation_error,
)

pytestmark = pytest.mark.quick


def test_rotation_error_is_the_angle_between(subtests):
    axis = np.array([2.0, -1.0, 2.0]) / 3.0
    start = Rotation.from_rotvec([0.3, -0.7, 0.2])
    for angle in [0.0, 1e-12, 1e-6, 0.3, 3.0, np.pi]:
        with subtests.test(f"{angle}"):
            turns = (start, Rotation.from_rotvec(angle * axis) * start)
            poses = [np.append(np.zeros(3), turn.as_quat(scalar_first=True)) for turn in turns]
            rounding = 5e-16 if angle < 1.0 else 2e-15
            # A quaternion and its negative are the same rotation.
            for sign in (1.0, -1.0):
                found = rotation_error(sign * poses[1][None], poses[0][None])
                assert_within(found, angle, rounding)


def test_position_error_is_the_distance():
    pose, reference = np.zeros((3, 7)), np.ones((3, 7))
    pose[1, :3] = [4.0, 5.0, 1.0]
    assert position_error(pose, reference) == pytest.approx([3**0.5, 5.0, 3**0.5])


def test_relative_error_is_per_largest_entry():
    reference = np.array([[100.0, 0.0], [0.0, -10.0]])
    off = np.array([[0.0, 1.0], [1.0, 0.0]])
    assert relative_error(reference + off, reference) == pytest.approx([0.01, 0.1])


def test_order_is_fitted_above_the_floor(subtests):
    for order in [1.0, 2.0, 3.0, 4.0]:
        with subtests.test(f"{order}"):
            steps = 2.0 ** -np.arange(10.0)
            floor = 1e-6
            errors = np.maximum(steps**order, floor)
            fit = fitted_order(steps, errors)
            above = int((steps**order > floor).sum())
            assert above <= fit.used <= above + 1
            # The step that lands on the floor bends the line a little.
            assert fit.order == pytest.approx(order, rel=0.1)


def test_order_is_unknown_when_no_step_helps():
    assert np.isnan(fitted_order(np.array([1.0, 0.5]), np.array([1e-9, 1e-9])).order)
