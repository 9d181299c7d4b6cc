"""Displacements lead from one pose to another, and back."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused
from scipy.spatial.transform import Rotation
from tolerance import assert_within
from turns import turn_of

from twin.rotations import displaced, displacement, pose_from_angles

NUMBER = st.floats(-1.0, 1.0)
STEP = st.lists(NUMBER, min_size=6, max_size=6)


@given(STEP, STEP)
def test_displacement_inverts_displaced(start, step):
    pose = pose_from_angles(start[:3], start[3:], "rotation_vector")
    assert_within(displacement(displaced(pose, step), pose), step, 1e-14)


def test_turns_act_in_base_axes():
    pose = pose_from_angles([0.1, 0.2, 0.3], [0.5, -0.4, 0.3])
    moved = displaced(pose, [1.0, 2.0, 3.0, 0.1, 0.2, -0.3])
    turn = Rotation.from_rotvec([0.1, 0.2, -0.3]) * turn_of(pose)
    assert_within(moved[:3], [1.1, 2.2, 3.3], 1e-15)
    difference = turn.inv() * turn_of(moved)
    assert difference.magnitude() < 1e-15


def test_batches_broadcast():
    pose = pose_from_angles(np.zeros((4, 1, 3)), np.zeros(3))
    assert displaced(pose, np.zeros((2, 6))).shape == (4, 2, 7)
    assert displacement(pose, pose[0, 0]).shape == (4, 1, 6)
    with refused("displacement"):
        displaced(pose, np.zeros(5))
