"""Forward kinematics: the inverse of the inverse, everywhere inside the leg limits."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import least_squares
from scipy.spatial.transform import Rotation

import twin
from twin.errors import ForwardKinematicsError, TwinError
from twin.platform import Platform

RESIDUAL = 1e-12
"""[m] the project's bar; float64 holds a length of one metre to 1e-16."""

POSE = 1e-11
"""[m, rad]: the residual times the largest entry of the inverse Jacobian, which is below ten."""

machines = st.sampled_from(twin.machine_names()).map(twin.load)
fractions = st.lists(st.floats(0.0, 1.0), min_size=6, max_size=6)


def distance(pose: Any, other: Any) -> float:
    """Return the largest difference in position [m] and angle [rad]."""
    rotation = Rotation.from_quat(np.asarray(pose)[..., [4, 5, 6, 3]])
    turn = rotation.inv() * Rotation.from_quat(np.asarray(other)[..., [4, 5, 6, 3]])
    return float(
        max(np.abs(pose[..., :3] - other[..., :3]).max(), np.asarray(turn.magnitude()).max())
    )


def test_inverts_the_inverse(platform: Platform, states: Any) -> None:
    found = platform.forward_kinematics(platform.inverse_kinematics(states.pose))
    assert distance(found, states.pose) <= POSE


def test_home_is_a_fixed_point(platform: Platform) -> None:
    np.testing.assert_allclose(
        platform.forward_kinematics(platform.home_lengths), platform.home, rtol=0, atol=1e-14
    )  # a few roundings: the lengths are met to the last digit


@given(platform=machines, fraction=fractions)
def test_any_lengths_of_the_actuators(platform: Platform, fraction: list[float]) -> None:
    lower, upper = platform.minimum_lengths, platform.maximum_lengths
    lengths = lower + np.array(fraction) * (upper - lower)
    pose = platform.forward_kinematics(lengths)
    assert np.abs(platform.inverse_kinematics(pose) - lengths).max() <= RESIDUAL
    assert abs(np.linalg.norm(pose[3:]) - 1.0) <= 1e-15  # normalised to rounding


@pytest.mark.parametrize("name", twin.machine_names())
def test_all_corners_of_the_actuators(name: str) -> None:
    platform = twin.load(name)
    corners = np.array(
        list(itertools.product(*np.stack([platform.minimum_lengths, platform.maximum_lengths], 1)))
    )
    assert len(corners) == 64
    poses = platform.forward_kinematics(corners)
    assert np.abs(platform.inverse_kinematics(poses) - corners).max() <= RESIDUAL


def test_random_box_stays_on_the_branch_of_home(platform: Platform, states: Any) -> None:
    branch = np.sign(np.linalg.det(platform.jacobian(platform.home)))
    found = platform.forward_kinematics(platform.inverse_kinematics(states.pose))
    assert (np.sign(np.linalg.det(platform.jacobian(found))) == branch).all()


def test_lengths_out_of_reach_never_end_on_another_branch(platform: Platform) -> None:
    """Most of these cannot be reached; Newton alone would find poses behind singular ones."""
    random = np.random.default_rng(13)
    branch = np.sign(np.linalg.det(platform.jacobian(platform.home)))
    reached = []
    for lengths in platform.home_lengths * random.uniform(0.6, 1.4, (500, 6)):
        try:
            reached.append(platform.forward_kinematics(lengths))
        except ForwardKinematicsError:
            continue
    assert 20 < len(reached) < 480, "the draw must hold lengths of both kinds"
    assert (np.sign(np.linalg.det(platform.jacobian(reached))) == branch).all()


def test_poses_reached_by_walking_inside_the_limits(platform: Platform) -> None:
    """Walks go where boxes of random poses do not: into the corners of the workspace."""
    random = np.random.default_rng(11)
    poses = np.tile(platform.home, (200, 1))
    heading = random.normal(size=(200, 6))
    for _ in range(300):
        step = heading / np.linalg.norm(heading, axis=1)[:, None]
        turn = Rotation.from_rotvec(0.02 * step[:, 3:])
        moved = np.hstack(
            [
                poses[:, :3] + 0.01 * step[:, :3],
                (turn * Rotation.from_quat(poses[:, [4, 5, 6, 3]])).as_quat()[:, [3, 0, 1, 2]],
            ]
        )
        inside = platform.within_limits(moved)
        poses[inside] = moved[inside]
        heading[~inside] += random.normal(size=(200, 6))[~inside]
    assert np.linalg.norm(poses[:, :3] - platform.home[:3], axis=1).min() > 1e-3
    found = platform.forward_kinematics(platform.inverse_kinematics(poses))
    assert distance(found, poses) <= POSE


def test_guess_chooses_the_branch(stewart: Platform) -> None:
    below = np.array([0.0, 0.0, -0.87, 1.0, 0.0, 0.0, 0.0])
    found = stewart.forward_kinematics(stewart.inverse_kinematics(below), guess=below)
    assert distance(found, below) <= POSE
    above = stewart.forward_kinematics(stewart.inverse_kinematics(below))
    assert above[2] > 0.8


def test_batch_equals_single_bit_for_bit(platform: Platform, states: Any) -> None:
    lengths = platform.inverse_kinematics(states.pose)
    batch = platform.forward_kinematics(lengths)
    single = [platform.forward_kinematics(row) for row in lengths]
    np.testing.assert_array_equal(batch, single)


def test_guesses_broadcast(platform: Platform, states: Any) -> None:
    lengths = platform.inverse_kinematics(states.pose[:4])
    found = platform.forward_kinematics(lengths, guess=np.tile(platform.home, (3, 1, 1)))
    assert found.shape == (3, 4, 7)
    np.testing.assert_array_equal(found[2], platform.forward_kinematics(lengths))


@pytest.mark.parametrize("stretched", [3.0, 0.1])
def test_unreachable_lengths_are_an_error_with_data(platform: Platform, stretched: float) -> None:
    lengths = np.stack([platform.home_lengths, platform.home_lengths])
    lengths[1, 2] *= stretched

    def miss(x: Any) -> Any:
        pose = np.concatenate([x[:3], Rotation.from_rotvec(x[3:]).as_quat()[[3, 0, 1, 2]]])
        return platform.inverse_kinematics(pose) - lengths[1]

    random = np.random.default_rng(5)
    starts = random.normal(size=(20, 6)) + np.r_[platform.home[:3], 0, 0, 0]
    best = min(np.abs(least_squares(miss, start).fun).max() for start in starts)
    assert best > 1e-2, "these lengths can be reached: the example is no good"

    with pytest.raises(ForwardKinematicsError) as caught:
        platform.forward_kinematics(lengths)
    data = caught.value.data
    assert data["index"] == 1
    assert data["iterations"] > 0
    np.testing.assert_array_equal(data["lengths"], lengths[1])
    residual = np.abs(platform.inverse_kinematics(data["pose"]) - lengths[1]).max()
    # The residual is that of the pose handed back; rounding of a length.
    assert data["residual"] == pytest.approx(residual, rel=1e-9, abs=1e-14)
    assert residual >= 0.5 * best, "the last pose cannot be better than the best there is"
    assert "residual" in str(caught.value)


@given(
    platform=machines,
    lengths=st.lists(st.floats(1e-300, 1e300), min_size=6, max_size=6),
    guess=st.lists(st.floats(-1e300, 1e300), min_size=3, max_size=3),
)
def test_any_lengths_end_in_a_pose_or_an_error(
    platform: Platform, lengths: list[float], guess: list[float]
) -> None:
    try:
        pose = platform.forward_kinematics(lengths, guess=[*guess, 1.0, 0.0, 0.0, 0.0])
    except TwinError:
        return
    residual = np.abs(platform.inverse_kinematics(pose) - lengths).max()
    assert residual <= 1e-12 * max(1.0, *lengths)  # relative: lengths may be huge
