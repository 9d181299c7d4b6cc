"""States and motions of the report fit slow machines, and those with a singular pose inside."""

import numpy as np
import pytest
from tolerance import assert_within

import twin
from twin.validation.measures.sampling import random_states

pytestmark = pytest.mark.quick


def test_states_are_on_home_s_side_of_singularity():
    platform = twin.load("mathworks_stewart")
    pose = random_states(platform, 500).pose
    assert platform.within_limits(pose).all()
    home = np.linalg.det(platform.jacobian(platform.home))
    assert (np.linalg.det(platform.jacobian(pose)) * home > 0.0).all()
    found = platform.forward_kinematics(platform.inverse_kinematics(pose))
    assert_within(found[:, :3], pose[:, :3], 1e-10)
