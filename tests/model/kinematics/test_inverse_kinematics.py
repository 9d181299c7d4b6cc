"""Actuator coordinates against closed geometry, and batches against single poses."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from tips import tips_of
from tolerance import assert_within
from turns import turn_of

pytestmark = pytest.mark.quick

STRAIGHT = ("ups", "strut", "viscoelastic", "rps")


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


def test_opposite_quaternion_is_the_same_pose(platform, states):
    opposite = states.pose.copy()
    opposite[:, 3:] *= -1
    assert_array_equal(
        platform.inverse_kinematics(opposite), platform.inverse_kinematics(states.pose)
    )


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
