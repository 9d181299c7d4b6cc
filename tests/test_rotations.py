"""Angle conventions against products of elementary rotations, and there and back."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from refusals import refused
from scipy.spatial.transform import Rotation
from tolerance import assert_within
from turns import turn_of

import twin
from twin.rotations import (
    CONVENTIONS,
    angle_between,
    angles_from_quaternion,
    is_singular_when_level,
    pose_from_angles,
    quaternion_from_angles,
)

pytestmark = pytest.mark.quick

angle = st.floats(-1.2, 1.2)  # away from the gimbal lock of every convention


def about(axis, turn):
    c, s = np.cos(turn), np.sin(turn)
    return {
        "x": np.array([[1, 0, 0], [0, c, -s], [0, s, c]]),
        "y": np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]]),
        "z": np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]),
    }[axis]


def cayley(c):
    """Return (I - [c])^-1 (I + [c]): the rotation by twice the arc tangent of |c| about c."""
    skew = np.array([[0, -c[2], c[1]], [c[2], 0, -c[0]], [-c[1], c[0], 0]])
    return np.linalg.solve(np.eye(3) - skew, np.eye(3) + skew)


PRODUCTS = {
    "yaw_pitch_roll": lambda a, b, c: about("z", a) @ about("y", b) @ about("x", c),
    "fixed_xyz": lambda a, b, c: about("z", c) @ about("y", b) @ about("x", a),
    "moving_xyz": lambda a, b, c: about("x", a) @ about("y", b) @ about("z", c),
    "roll_pitch": lambda a, b, _: about("x", a) @ about("y", b),
    "compliant": lambda a, b, c: about("y", a) @ about("x", b) @ about("z", c),
    "ZXZ": lambda a, b, c: about("z", a) @ about("x", b) @ about("z", c),
    "ZYZ": lambda a, b, c: about("z", a) @ about("y", b) @ about("z", c),
    "rodrigues": lambda a, b, c: cayley(np.array([a, b, c])),
    "rotation_vector": lambda a, b, c: Rotation.from_rotvec([a, b, c]).as_matrix(),
}


def test_every_convention_has_its_product():
    assert set(PRODUCTS) == set(CONVENTIONS)


@pytest.mark.parametrize("name", CONVENTIONS)
@given(angles=st.tuples(angle, angle, angle))
def test_convention(name, angles):
    if is_singular_when_level(name):
        angles = (angles[0], 1.3 + 0.5 * angles[1], angles[2])  # 0.7 to 1.9 rad
    given_angles = angles[: len(CONVENTIONS[name].angles)]
    quaternion = quaternion_from_angles(given_angles, name)
    matrix = Rotation.from_quat(quaternion[[1, 2, 3, 0]]).as_matrix()
    # A few products of sines and cosines.
    assert_within(matrix, PRODUCTS[name](*angles), 1e-15)
    assert quaternion[0] >= 0
    # Away from the singular angles they come back; cos(1.2) enlarges rounding threefold.
    back = angles_from_quaternion(quaternion, name)
    assert_within(back, given_angles, 2e-15)


def test_batches(subtests):
    for name in CONVENTIONS:
        with subtests.test(f"{name}"):
            count = len(CONVENTIONS[name].angles)
            angles = np.random.default_rng(1).uniform(-1, 1, (2, 3, count))
            quaternions = quaternion_from_angles(angles, name)
            assert quaternions.shape == (2, 3, 4)
            assert_array_equal(quaternions[1, 2], quaternion_from_angles(angles[1, 2], name))
            assert angles_from_quaternion(quaternions, name).shape == angles.shape
            assert quaternion_from_angles(np.empty((0, count)), name).shape == (0, 4)
            assert angles_from_quaternion(np.empty((0, 4)), name).shape == (0, count)


def test_pose_from_angles_broadcasts():
    pose = pose_from_angles([0.0, 0.1, 0.9], np.zeros((4, 3)))
    assert pose.shape == (4, 7)
    assert_array_equal(pose[2], [0.0, 0.1, 0.9, 1.0, 0.0, 0.0, 0.0])
    with refused("broadcast"):
        pose_from_angles(np.zeros((2, 3)), np.zeros((3, 3)))


@given(st.floats(0.0, np.pi), st.sampled_from([1.0, -1.0]))
def test_angle_between_is_the_angle_of_the_turn(angle, sign):
    start = quaternion_from_angles([0.3, -0.2, 0.1])
    turn = Rotation.from_rotvec(angle * np.array([0.6, 0.0, 0.8]))
    end = (turn * Rotation.from_quat(start[[1, 2, 3, 0]])).as_quat(scalar_first=True)
    # A few products of numbers of order one.
    assert angle_between(sign * end, start) == pytest.approx(angle, abs=2e-15)


def test_angle_between_broadcasts_and_refuses():
    home, turned = np.eye(4)[0], quaternion_from_angles([[0.1, 0.0, 0.0], [0.2, 0.0, 0.0]])
    # Rounding of angles of order one.
    assert_within(angle_between(turned, home), [0.1, 0.2], 1e-15)
    for bad in ([1.0, 0.0, 0.0], [2.0, 0.0, 0.0, 0.0], np.ones((3, 4)) / 2.0):
        with refused():
            angle_between(turned, bad)


def test_rodrigues_cannot_hold_half_a_turn():
    with refused("half a turn"):
        angles_from_quaternion([0.0, 0.0, 1.0, 0.0], "rodrigues")


def test_level_platforms_have_no_angles_about_z_twice(subtests):
    for tilt in [0.0, 1e-9, np.pi]:
        for name in ["ZXZ", "ZYZ"]:
            with subtests.test(f"{tilt}, {name}"):
                level = quaternion_from_angles([[0.3, 1.0, 0.2], [0.3, tilt, 0.2]], name)
                with refused(rf"quaternion\[1\]: {name} is singular for a level"):
                    angles_from_quaternion(level, name)
                # Just beside it they come back; a tilt of 1e-6 rad enlarges rounding 1e6 times.
                angles = [0.3, abs(tilt - 1e-6), 0.2]
                back = angles_from_quaternion(quaternion_from_angles(angles, name), name)
                assert_within(back, angles, 1e-9)


def test_roll_pitch_cannot_hold_yaw():
    turned = quaternion_from_angles([0.1, 0.2, 0.3])
    with refused("roll_pitch"):
        angles_from_quaternion(turned, "roll_pitch")


def test_unknown_conventions_are_named(subtests):
    for name in ["", "euler", None, 5, ["rodrigues"]]:
        with subtests.test(f"{name}"), refused("yaw_pitch_roll"):
            quaternion_from_angles([0.0, 0.0, 0.0], name)


def test_poses_from_places_and_angles():
    turns = np.radians([10.0, -20.0, 30.0])
    expected = about("z", turns[2]) @ about("y", turns[1]) @ about("x", turns[0])
    made = twin.pose(0.1, 0.2, 0.3, roll=10.0, pitch=-20.0, yaw=30.0, degrees=True)
    assert_array_equal(made[:3], [0.1, 0.2, 0.3])
    found = turn_of(made).as_matrix()
    assert_within(found, expected, 1e-15)
    assert_within(twin.angles(made), turns, 1e-15)
    assert_array_equal(twin.pose(), [0, 0, 0, 1, 0, 0, 0])


def test_pose_helpers_broadcast():
    made = twin.pose(x=np.zeros((4, 1)), yaw=np.linspace(0.0, 1.0, 3))
    assert made.shape == (4, 3, 7)
    assert_within(twin.angles(made)[2, :, 2], [0.0, 0.5, 1.0], 1e-15)
    assert twin.rotations.pose is twin.pose


def test_wrong_places_and_angles_are_refused(subtests):
    for wrong in [{"x": "1"}, {"roll": np.nan}, {"x": [1, 2], "y": [1, 2, 3]}]:
        with subtests.test(f"{wrong}"):
            with refused(next(iter(wrong))):
                twin.pose(**wrong)
            with refused("degrees"):
                twin.pose(degrees=1)
