"""Limits of the actuators and the distance from singular poses."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from paths import poses_about_home, stroke_length

from twin.errors import SingularPoseError, UnreachablePoseError

pytestmark = pytest.mark.quick


def test_limits_are_those_of_every_leg(platform):
    reach = 0.7 * stroke_length(platform)
    poses = poses_about_home(platform, reach, reach, 500, 3)
    expected = []
    for pose in poses:
        try:
            row = platform.inverse_kinematics(pose)
        except UnreachablePoseError:
            expected.append(False)
            continue
        limits = zip(platform.minimum_coordinates, row, platform.maximum_coordinates, strict=True)
        expected.append(all(low <= value <= high for low, value, high in limits))
    assert 0 < sum(expected) < len(expected), "the draw must hold poses on both sides"
    assert_array_equal(platform.within_limits(poses), expected)


def test_limits_themselves_are_inside(platform):
    for limit in (platform.minimum_coordinates, platform.maximum_coordinates):
        pose = platform.forward_kinematics(limit)
        assert platform.within_limits(pose)
    outside = platform.forward_kinematics(platform.maximum_coordinates + 1e-9)
    assert not platform.within_limits(outside)


def test_condition_number_does_not_depend_on_the_unit_of_length(platform, states):
    """Over all twists that the platform can have, moments divided by the joints' mean radius."""
    size = np.linalg.norm(platform.platform_joints, axis=1).mean()
    units = np.r_[1, 1, 1, size, size, size]
    scaled = platform.jacobian(states.pose) / units
    if platform.dof < 6:
        free = np.linalg.svd(platform.constraints(states.pose) / units)[2][:, 6 - platform.dof :]
        scaled = scaled @ free.transpose(0, 2, 1)
    # Two ways through LAPACK: rounding times the condition number, below 100.
    assert_allclose(platform.condition_number(states.pose), np.linalg.cond(scaled), rtol=1e-12)
    assert (platform.condition_number(states.pose) >= 1.0).all()


def test_flat_srspm_is_singular(srspm):
    """With the platform in the plane of the base the legs cannot hold it: no vertical force."""
    flat = np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
    numbers = srspm.condition_number([[0, 0, z, 1, 0, 0, 0] for z in (1.0, 0.1, 0.01, 0.001)])
    assert (np.diff(numbers) > 0).all()
    # Near the singular pose the smallest singular value is proportional to the height.
    assert numbers[3] / numbers[2] == pytest.approx(10.0, rel=1e-2)
    assert srspm.condition_number(flat) > 1e15
    with pytest.raises(SingularPoseError):
        srspm.inverse_dynamics(flat, np.zeros(6), np.zeros(6))
