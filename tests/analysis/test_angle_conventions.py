"""Fixed axes against the bushing joint's moving axes: one example, and the way between them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tolerance import assert_within

import twin
from twin.rotations import (
    angle_between,
    angles_from_quaternion,
    pose_from_angles,
    quaternion_from_angles,
)

ANGLES = [0.1, 0.2, 0.05]
SMALL = st.lists(st.floats(-1.2, 1.2), min_size=3, max_size=3)


def turn(axis, angle):
    """Return the matrix of a turn about x, y or z, written out."""
    matrix = np.eye(3)
    i, j = (axis + 1) % 3, (axis + 2) % 3
    matrix[[i, j], [i, j]] = np.cos(angle)
    matrix[i, j], matrix[j, i] = -np.sin(angle), np.sin(angle)
    return matrix


def matrix(quaternion):
    """Return the rotation matrix of a quaternion, scalar first."""
    w, x, y, z = quaternion
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + 2.0 * (w * cross + cross @ cross)


def test_conventions_are_the_printed_products():
    x, y, z = (turn(axis, angle) for axis, angle in enumerate(ANGLES))
    fixed = matrix(quaternion_from_angles(ANGLES, "fixed_xyz"))
    moving = matrix(quaternion_from_angles(ANGLES, "moving_xyz"))
    assert_within(fixed, z @ y @ x, 1e-15)
    assert_within(moving, x @ y @ z, 1e-15)


def test_same_numbers_are_different_attitudes():
    fixed = quaternion_from_angles(ANGLES, "fixed_xyz")
    moving = quaternion_from_angles(ANGLES, "moving_xyz")
    assert angle_between(fixed, moving) == pytest.approx(0.0228574828, abs=1e-10)
    machine = twin.load("micro_hexapod")
    place = np.add(machine.home[:3], [0.01, 0.02, 0.03])
    lengths = [
        machine.inverse_kinematics(pose_from_angles(place, ANGLES, name))
        for name in ("fixed_xyz", "moving_xyz")
    ]
    assert np.abs(lengths[1] - lengths[0]).max() == pytest.approx(2.8e-3, rel=0.01)


def test_angles_for_the_bushing_joint():
    converted = angles_from_quaternion(quaternion_from_angles(ANGLES, "fixed_xyz"), "moving_xyz")
    assert_within(converted, [0.09185691, 0.20382779, 0.03055766], 5e-9)


@given(SMALL)
def test_conversion_keeps_the_attitude_both_ways(angles):
    for source, target in (("fixed_xyz", "moving_xyz"), ("moving_xyz", "fixed_xyz")):
        attitude = quaternion_from_angles(angles, source)
        converted = angles_from_quaternion(attitude, target)
        assert angle_between(quaternion_from_angles(converted, target), attitude) < 1e-14
        again = angles_from_quaternion(quaternion_from_angles(converted, target), source)
        assert_within(again, angles, 1e-12)


@given(st.floats(-1.2, 1.2), st.integers(0, 2))
def test_one_angle_alone_is_the_same_in_both(angle, axis):
    angles = np.zeros(3)
    angles[axis] = angle
    attitudes = [quaternion_from_angles(angles, name) for name in ("fixed_xyz", "moving_xyz")]
    assert angle_between(*attitudes) < 1e-15


@given(SMALL)
def test_fixed_axes_are_moving_axes_in_the_opposite_order(angles):
    fixed = quaternion_from_angles(angles, "fixed_xyz")
    assert angle_between(fixed, quaternion_from_angles(angles[::-1], "yaw_pitch_roll")) < 1e-14
