"""Angles to rotational motion: against scipy and against differences, for every convention."""

import numpy as np
import pytest
from refusals import refused
from scipy.spatial.transform import Rotation
from tolerance import assert_within, max_abs

from twin.motion import rotational_motion
from twin.rotations import CONVENTIONS, quaternion_from_angles

STEP = 1e-4


def path(time, size, seed=0):
    """Angles of `size` axes with their exact derivatives, far from small."""
    generator = np.random.default_rng(seed)
    amplitude = generator.uniform(0.5, 1.2, size)
    omega = generator.uniform(1.5, 3.0, size)
    phase = generator.uniform(0.0, 6.0, size)
    argument = omega * time[:, None] + phase
    return (
        amplitude * np.sin(argument),
        amplitude * omega * np.cos(argument),
        -amplitude * omega**2 * np.sin(argument),
    )


def test_quaternion_is_that_of_the_convention(subtests):
    for name in CONVENTIONS:
        with subtests.test(f"{name}"):
            angles, rates, accelerations = path(
                np.linspace(0.0, 3.0, 50), len(CONVENTIONS[name].angles)
            )
            got = rotational_motion(angles, rates, accelerations, name).quaternion
            expected = quaternion_from_angles(angles, name)
            # A quaternion and its negative are one rotation.
            got = got * np.sign(np.sum(got * expected, axis=1, keepdims=True))
            assert_within(got, expected, 5e-15)
            assert_within(np.linalg.norm(got, axis=1), 1.0, 1e-15)


@pytest.mark.parametrize("name", CONVENTIONS)
def test_velocity_and_acceleration_match_differences(name):
    size = len(CONVENTIONS[name].angles)
    time = np.linspace(0.0, 3.0, 60)
    middle = rotational_motion(*path(time, size), name)
    before = rotational_motion(*path(time - STEP, size), name)
    after = rotational_motion(*path(time + STEP, size), name)

    def rotation(sample):
        return Rotation.from_quat(sample.quaternion[:, [1, 2, 3, 0]])

    turned = (rotation(after) * rotation(before).inv()).as_rotvec() / (2.0 * STEP)
    # Central differences err by step^2 times third derivatives, here below 100.
    assert_within(middle.velocity, turned, 1e-6)
    difference = (after.velocity - before.velocity) / (2.0 * STEP)
    assert_within(middle.acceleration, difference, 1e-6)
    assert max_abs(middle.velocity) > 0.5
    assert max_abs(middle.acceleration) > 0.5


@pytest.mark.parametrize("angle", [0.0, 1e-9, 1e-3, 0.5, 0.999999, 1.000001, 3.0, 6.0])
def test_rotation_vector_has_no_weak_spot(angle):
    axis = np.array([2.0, -1.0, 2.0]) / 3.0
    rate, second = np.array([0.3, -0.2, 0.9]), np.array([-0.5, 0.1, 0.4])

    def at(t):
        vector = angle * axis + rate * t + 0.5 * second * t**2
        return rotational_motion(vector, rate + second * t, second, "rotation_vector")

    difference = (at(STEP).velocity - at(-STEP).velocity) / (2.0 * STEP)
    # Step^2 times third derivatives of order one, and rounding over the step: both below 1e-8.
    assert_within(at(0.0).acceleration, difference, 3e-8)


def test_batches_broadcast_and_bad_shapes_are_named():
    sample = rotational_motion(np.zeros((4, 1, 3)), np.ones((5, 3)), np.zeros(3))
    assert sample.quaternion.shape == (4, 5, 4)
    assert sample.velocity.shape == sample.acceleration.shape == (4, 5, 3)
    for arguments in (
        (np.zeros(2), np.zeros(3), np.zeros(3)),
        (np.zeros(3), np.zeros((2, 3)), np.zeros((3, 3))),
        (np.zeros(3), [0.0, np.nan, 0.0], np.zeros(3)),
        (np.zeros(3), "abc", np.zeros(3)),
    ):
        with refused():
            rotational_motion(*arguments)
    with refused("known: yaw_pitch_roll"):
        rotational_motion(np.zeros(3), np.zeros(3), np.zeros(3), "euler")
