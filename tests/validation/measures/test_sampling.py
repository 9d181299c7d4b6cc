"""States and motions of the report fit slow machines, and those with a singular pose inside."""

import numpy as np
import pytest
from tolerance import assert_within, max_abs

import twin
from twin.validation.cases.closed_loop import HEAVE_FRACTION, heave
from twin.validation.measures.sampling import random_states, stroke

pytestmark = pytest.mark.quick


def test_states_are_on_home_s_side_of_singularity():
    platform = twin.load("mathworks_stewart")
    pose = random_states(platform, 500).pose
    assert platform.within_limits(pose).all()
    home = np.linalg.det(platform.jacobian(platform.home))
    assert (np.linalg.det(platform.jacobian(pose)) * home > 0.0).all()
    found = platform.forward_kinematics(platform.inverse_kinematics(pose))
    assert_within(found[:, :3], pose[:, :3], 1e-10)


@pytest.mark.parametrize("name", ["lsst_m2", "pi_h824", "stewart"])
def test_the_heave_keeps_to_speed_and_stroke(name):
    platform = twin.load(name)
    motion = heave(platform, 1.0)
    points = [motion(time) for time in np.linspace(0.0, 1.0, 401)]
    speed = platform.parameters.leg.actuator.speed
    fastest = max(max_abs(platform.jacobian(p.pose) @ p.twist) for p in points)
    assert 0.1 * speed < fastest < speed
    share = motion.amplitude[2] / stroke(platform)
    assert share == pytest.approx(HEAVE_FRACTION) if name == "stewart" else share < HEAVE_FRACTION
