"""Joint angles of the legs: a chain of rotations that must end at the platform joints."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from twin.errors import SingularPoseError
from twin.parameters.derived import home_leg_frames
from twin.platform import Platform


def leg_rotations(platform: Platform, angles: Any) -> Any:
    """Return `(k, n, 3, 3)` leg to base by turning about the first, then the second axis."""
    frames = home_leg_frames(platform.parameters)
    first = Rotation.from_rotvec((angles[..., :1] * platform.first_axes).reshape(-1, 3)).as_matrix()
    second = Rotation.from_rotvec((angles[..., 1:] * frames[:, :, 0]).reshape(-1, 3)).as_matrix()
    return (first @ second).reshape(*angles.shape[:-1], 3, 3) @ frames


def test_angles_are_zero_at_home(platform: Platform) -> None:
    # Rounding of the home frames.
    np.testing.assert_allclose(
        platform.leg_coordinates(platform.home).angles, 0.0, rtol=0, atol=1e-15
    )


def test_chain_ends_at_the_platform_joints(platform: Platform, states: Any) -> None:
    legs = platform.leg_coordinates(states.pose)
    rotations = leg_rotations(platform, legs.angles)
    tips = platform.base_joints + legs.lengths[..., None] * rotations[..., 2]
    turn = Rotation.from_quat(states.pose[:, [4, 5, 6, 3]]).as_matrix()
    expected = states.pose[:, None, :3] + platform.platform_joints @ turn.transpose(0, 2, 1)
    # Rounding of angles and products, times lengths about one metre.
    np.testing.assert_allclose(tips, expected, rtol=0, atol=3e-15)


def test_leg_frame_is_s2_and_the_leg(platform: Platform, states: Any) -> None:
    rotations = leg_rotations(platform, platform.leg_coordinates(states.pose).angles)
    second = np.cross(platform.first_axes, rotations[..., 2])
    second /= np.linalg.norm(second, axis=-1)[..., None]
    np.testing.assert_allclose(rotations[..., 0], second, rtol=0, atol=3e-15)  # rounding
    # The second axis stays perpendicular to the first: it is a universal joint.
    np.testing.assert_allclose(
        (rotations[..., 0] * platform.first_axes).sum(-1), 0.0, rtol=0, atol=3e-15
    )


def test_angular_velocity_is_the_sum_over_the_joints(platform: Platform, states: Any) -> None:
    legs = platform.leg_coordinates(states.pose, states.twist)
    rotations = leg_rotations(platform, legs.angles)
    omega = legs.angle_rates[..., :1] * platform.first_axes
    omega = omega + legs.angle_rates[..., 1:] * rotations[..., 0]
    along = rotations[..., 2]
    tips = legs.length_rates[..., None] * along
    tips = tips + np.cross(omega, legs.lengths[..., None] * along)
    turn = Rotation.from_quat(states.pose[:, [4, 5, 6, 3]]).as_matrix()
    arms = platform.platform_joints @ turn.transpose(0, 2, 1)
    expected = states.twist[:, None, :3] + np.cross(states.twist[:, None, 3:], arms)
    # Rounding, enlarged by 1 / cos(psi) below two.
    np.testing.assert_allclose(tips, expected, rtol=0, atol=2e-14)


def test_leg_along_its_first_axis_is_an_error(srspm: Platform) -> None:
    # The first axis is y: put the platform so that leg 1 lies along it.
    start, joint = srspm.base_joints[0], srspm.platform_joints[0]
    pose = np.r_[start - joint + np.array([0.0, 0.5, 0.0]), 1.0, 0.0, 0.0, 0.0]
    with pytest.raises(SingularPoseError) as caught:
        srspm.leg_coordinates(np.stack([srspm.home, pose]))
    assert caught.value.data["index"] == 1
    np.testing.assert_array_equal(caught.value.data["pose"], pose)
