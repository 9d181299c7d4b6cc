"""Actuator coordinates against closed geometry, and batches against single poses."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.transform import Rotation
from tolerance import assert_within
from turns import turn_of

import twin

pytestmark = pytest.mark.quick

STRAIGHT = ("ups", "strut", "viscoelastic", "rps")

TRIPLE = [name for name in twin.machine_names() if twin.load(name).n_actuators == 6]
"""Machines that repeat themselves every 120 degrees: legs move on by one pair."""


def tips_of(platform, poses):
    """Return the platform joints `(k, n, 3)` in the base frame."""
    turn = turn_of(poses).as_matrix()
    return poses[:, None, :3] + platform.platform_joints @ turn.transpose(0, 2, 1)


def test_coordinates_are_what_geometry_says(platform, states):
    """Distances; lines at a right angle to the platform, down to the floor; cranks and rods."""
    tips, found = tips_of(platform, states.pose), platform.inverse_kinematics(states.pose)
    # The same sums in another order: a few roundings of lengths about one metre.
    if platform.kind == "upu":  # its slide alone; the twist is that of test_screws
        expected = np.linalg.norm(tips - platform.base_joints, axis=-1)
        slides = platform.leg_coordinates(states.pose).values[..., 2]
        assert_within(slides + platform.home_coordinates, expected, 5e-15)
    elif platform.kind in STRAIGHT:
        expected = np.linalg.norm(tips - platform.base_joints, axis=-1)
        assert_within(found, expected, 5e-15)
    elif platform.kind == "pillar":
        turn = turn_of(states.pose).as_matrix()
        feet = tips - found[..., None] * turn[:, None, :, 2]
        heights = np.broadcast_to(platform.base_joints[:, 2], found.shape)
        assert_within(feet[..., 2], heights, 5e-16)
    else:
        leg = platform.parameters.leg
        axes, zero = platform.first_axes, np.array([0.0, 0.0, 1.0])
        turned = np.cos(found)[..., None] * zero + np.sin(found)[..., None] * np.cross(axes, zero)
        rods = np.linalg.norm(tips - platform.base_joints - leg.crank_length * turned, axis=-1)
        assert_within(rods, leg.rod_length, 5e-15)


def test_home_coordinates(platform):
    assert_allclose(
        platform.inverse_kinematics(platform.home),
        platform.home_coordinates,
        rtol=0,
        atol=5e-16 if platform.coordinate_unit == "m" else 5e-15,  # arc cosines lose a digit
    )


def test_opposite_quaternion_is_the_same_pose(platform, states):
    opposite = states.pose.copy()
    opposite[:, 3:] *= -1
    assert_array_equal(
        platform.inverse_kinematics(opposite), platform.inverse_kinematics(states.pose)
    )


def test_third_of_a_turn_about_gravity_moves_the_coordinates_on(subtests):
    for name in TRIPLE:
        with subtests.test(f"{name}"):
            platform = twin.load(name)
            third = Rotation.from_rotvec([0.0, 0.0, 2 * np.pi / 3])
            pose = platform.home + np.array([0.02, -0.03, 0.01, 0.0, 0.02, -0.03, 0.04])
            pose[3:] /= np.linalg.norm(pose[3:])
            start = turn_of(pose)
            turned = np.concatenate(
                [third.apply(pose[:3]), (third * start * third.inv()).as_quat(scalar_first=True)]
            )
            found, before = platform.inverse_kinematics(turned), platform.inverse_kinematics(pose)
            assert np.ptp(before) > 0.01
            assert_within(
                found, np.roll(before, 2), 1e-15 if platform.kind != "rss" else 1e-14
            )  # rounding of lengths about one metre, and of arc cosines


def test_batch_equals_single_bit_for_bit(platform, states):
    batch = platform.inverse_kinematics(states.pose.reshape(2, -1, 7))
    single = [platform.inverse_kinematics(pose) for pose in states.pose]
    assert_array_equal(batch.reshape(-1, platform.n_actuators), single)


def test_shapes(platform):
    n, joints = platform.n_actuators, {"viscoelastic": 4, "rps": 2, "upu": 6}.get(platform.kind, 3)
    for shape in ((), (1,), (3,), (2, 3), (0,), (4, 0)):
        poses = np.broadcast_to(platform.home, (*shape, 7))
        assert platform.inverse_kinematics(poses).shape == (*shape, n)
        assert platform.jacobian(poses).shape == (*shape, n, 6)
        assert platform.constraints(poses).shape == (*shape, 6 - platform.dof, 6)
        assert platform.within_limits(poses).shape == shape
        assert platform.condition_number(poses).shape == shape
        assert platform.constrain(poses).acceleration.shape == (*shape, 6)
        legs = platform.leg_coordinates(poses)
        for part in legs:
            assert part.shape == (*shape, n, joints)
