"""Limits of the actuators, asked with poses or with coordinates."""

import numpy as np
import pytest
from refusals import refused

import twin

pytestmark = pytest.mark.quick


@pytest.mark.parametrize("name", twin.machine_names())
def test_lengths_are_judged_as_the_poses_they_have(name):
    platform = twin.load(name)
    shift = np.linspace(-0.6, 0.6, 25) * np.min(
        platform.maximum_coordinates - platform.minimum_coordinates
    )
    moves = shift[:, None] * [0.0, 0.0, 1.0, 0.0, 0.0, 0.0]
    poses = platform.constrain(twin.rotations.displaced(platform.home, moves)).pose
    lengths = platform.inverse_kinematics(poses[platform.within_limits(poses)])
    assert 0 < len(lengths) < len(poses)
    assert platform.within_limits(lengths).all()
    assert platform.within_limits(lengths=platform.maximum_coordinates)
    beyond = platform.maximum_coordinates + np.eye(platform.n_actuators)
    assert not platform.within_limits(beyond).any()
    assert platform.within_limits(beyond).shape == (platform.n_actuators,)


@pytest.mark.parametrize("given", [{}, {"pose": [0.0] * 6, "lengths": [0.0] * 6}])
def test_one_of_the_two_is_needed(stewart, given):
    with refused("give one of the two"):
        stewart.within_limits(**given)


def test_a_wrong_shape_says_what_a_pose_is(stewart):
    with refused(r"got shape \(5,\): a pose is x y z qw qx qy qz; twin"):
        stewart.within_limits(np.zeros(5))
    for call in (stewart.inverse_kinematics, stewart.jacobian, twin.angles):
        with refused(r"got shape \(6,\).*twin\.pose"):
            call(np.zeros(6))
