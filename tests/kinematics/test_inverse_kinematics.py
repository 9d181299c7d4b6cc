"""Leg lengths against the vector formula, and batches against single poses."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from twin.platform import Platform


def test_lengths_are_the_distances_between_the_joints(platform: Platform, states: Any) -> None:
    rotation = Rotation.from_quat(states.pose[:, [4, 5, 6, 3]]).as_matrix()
    tips = states.pose[:, None, :3] + platform.platform_joints @ rotation.transpose(0, 2, 1)
    expected = np.linalg.norm(tips - platform.base_joints, axis=-1)
    # The same sum in another order: a few roundings of lengths about one metre.
    np.testing.assert_allclose(
        platform.inverse_kinematics(states.pose), expected, rtol=0, atol=5e-15
    )


def test_home_lengths(platform: Platform) -> None:
    np.testing.assert_allclose(
        platform.inverse_kinematics(platform.home), platform.home_lengths, rtol=0, atol=5e-16
    )


def test_opposite_quaternion_is_the_same_pose(platform: Platform, states: Any) -> None:
    opposite = states.pose.copy()
    opposite[:, 3:] *= -1
    np.testing.assert_array_equal(
        platform.inverse_kinematics(opposite), platform.inverse_kinematics(states.pose)
    )


def test_turning_everything_about_gravity_changes_no_length(stewart: Platform) -> None:
    # The machine repeats itself every 120 degrees: legs move on by one pair.
    third = Rotation.from_rotvec([0.0, 0.0, 2 * np.pi / 3])
    pose = np.array([0.05, -0.03, 0.9, 0.99, 0.05, -0.08, 0.1])
    pose[3:] /= np.linalg.norm(pose[3:])
    start = Rotation.from_quat(pose[[4, 5, 6, 3]])
    turned = np.concatenate(
        [third.apply(pose[:3]), (third * start * third.inv()).as_quat()[[3, 0, 1, 2]]]
    )
    np.testing.assert_allclose(
        stewart.inverse_kinematics(turned),
        np.roll(stewart.inverse_kinematics(pose), 2),
        rtol=0,
        atol=1e-15,  # rounding of lengths about one metre
    )


def test_batch_equals_single_bit_for_bit(platform: Platform, states: Any) -> None:
    batch = platform.inverse_kinematics(states.pose.reshape(2, -1, 7))
    single = [platform.inverse_kinematics(pose) for pose in states.pose]
    np.testing.assert_array_equal(batch.reshape(-1, platform.n_actuators), single)


def test_shapes(platform: Platform) -> None:
    n = platform.n_actuators
    for shape in ((), (1,), (3,), (2, 3), (0,), (4, 0)):
        poses = np.broadcast_to(platform.home, (*shape, 7))
        assert platform.inverse_kinematics(poses).shape == (*shape, n)
        assert platform.jacobian(poses).shape == (*shape, n, 6)
        assert platform.within_limits(poses).shape == shape
        assert platform.condition_number(poses).shape == shape
        assert platform.leg_coordinates(poses).angles.shape == (*shape, n, 2)
