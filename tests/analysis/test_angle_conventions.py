"""Fixed axes against the bushing joint's moving axes: one example, and the way between them."""

import numpy as np
import pytest
from tolerance import assert_within

import twin
from twin.rotations import (
    angle_between,
    angles_from_quaternion,
    pose_from_angles,
    quaternion_from_angles,
)

ANGLES = [0.1, 0.2, 0.05]


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
