"""Forward kinematics: the inverse of the inverse, everywhere inside the actuators' limits."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from paths import fitting, poses_within_limits
from redundant import redundant_machine
from scipy.optimize import least_squares
from scipy.spatial.transform import Rotation

import twin
from twin.analysis.platform import Platform
from twin.errors import ForwardKinematicsError, InputError, TwinError, UnreachablePoseError

pytestmark = pytest.mark.quick

RESIDUAL = 1e-12
"""[m, rad] the project's bar; float64 holds a length of one metre to 1e-16."""

POSE = 1e-11
"""[m, rad]: the residual times the largest entry of the inverse Jacobian, which is below ten."""

BEYOND = {"micro_hexapod": 8}
"""Corners of the actuators' ranges without a pose, or with one behind singular poses only."""

NEAR_SINGULAR = 1e3
"""Condition number that a machine far from singular poses never has."""

SIX_FREEDOMS = [name for name in twin.machine_names() if twin.load(name).dof == 6]
assert len(SIX_FREEDOMS) == 5

machines = st.sampled_from(twin.machine_names()).map(twin.load)
fractions = st.lists(st.floats(0.0, 1.0), min_size=6, max_size=6)


def distance(pose: Any, other: Any) -> float:
    """Return the largest difference in position [m] and angle [rad]."""
    rotation = Rotation.from_quat(np.asarray(pose)[..., [4, 5, 6, 3]])
    turn = rotation.inv() * Rotation.from_quat(np.asarray(other)[..., [4, 5, 6, 3]])
    return float(
        max(np.abs(pose[..., :3] - other[..., :3]).max(), np.asarray(turn.magnitude()).max())
    )


def meets_a_singular_pose(platform: Platform, coordinates: Any) -> bool:
    """Return whether the straight way from home to `coordinates` meets a singular pose.

    The way is followed as far as poses are found; where it ends, the condition number grows
    without bound, as the inverse square root of what is left of it.
    """
    done, piece, pose = 0.0, 0.05, platform.home
    while piece > 1e-9:
        way = platform.home_coordinates + (done + piece) * (coordinates - platform.home_coordinates)
        try:
            pose = platform.forward_kinematics(way, guess=pose)
            done += piece
            assert done < 1.0, "the way can be gone"
        except ForwardKinematicsError:
            piece *= 0.5
    return bool(platform.condition_number(pose) > NEAR_SINGULAR)


def test_inverts_the_inverse(platform: Platform, states: Any) -> None:
    found = platform.forward_kinematics(platform.inverse_kinematics(states.pose))
    assert distance(found, states.pose) <= POSE


def test_home_is_a_fixed_point(platform: Platform) -> None:
    np.testing.assert_allclose(
        platform.forward_kinematics(platform.home_coordinates), platform.home, rtol=0, atol=1e-14
    )  # a few roundings: the lengths are met to the last digit


@given(platform=machines, fraction=fractions)
@pytest.mark.slow
def test_any_coordinates_of_the_actuators(platform: Platform, fraction: list[float]) -> None:
    lower, upper = platform.minimum_coordinates, platform.maximum_coordinates
    share = np.array(fraction[: platform.n_actuators])
    coordinates = fitting(platform, lower + share * (upper - lower))
    try:
        pose = platform.forward_kinematics(coordinates)
    except ForwardKinematicsError:
        assert platform.name in BEYOND
        assert meets_a_singular_pose(platform, coordinates)
        return
    assert np.abs(platform.inverse_kinematics(pose) - coordinates).max() <= RESIDUAL
    assert abs(np.linalg.norm(pose[3:]) - 1.0) <= 1e-15  # normalised to rounding


@pytest.mark.parametrize("name", twin.machine_names())
def test_all_corners_of_the_actuators(name: str) -> None:
    platform = twin.load(name)
    ends = np.stack([platform.minimum_coordinates, platform.maximum_coordinates], 1)
    corners = np.unique(fitting(platform, list(itertools.product(*ends))), axis=0)
    assert len(corners) == (64 if platform.dof == 6 else 8)
    beyond = 0
    for corner in corners:
        try:
            pose = platform.forward_kinematics(corner)
        except ForwardKinematicsError:
            beyond += 1
            assert meets_a_singular_pose(platform, corner)
            continue
        assert np.abs(platform.inverse_kinematics(pose) - corner).max() <= RESIDUAL
    assert beyond == BEYOND.get(name, 0)


def test_random_box_stays_on_the_branch_of_home(platform: Platform, states: Any) -> None:
    def branch(pose: Any) -> Any:
        """Return the sign of the determinant of actuator rates and constraints."""
        jacobian, constraints = platform.jacobian(pose), platform.constraints(pose)
        rows = np.concatenate([jacobian[..., : platform.dof, :], constraints], axis=-2)
        return np.sign(np.linalg.det(rows))

    found = platform.forward_kinematics(platform.inverse_kinematics(states.pose))
    assert (branch(found) == branch(platform.home)).all()


@pytest.mark.parametrize("name", SIX_FREEDOMS)
def test_coordinates_out_of_reach_never_end_on_another_branch(name: str) -> None:
    """Most of these cannot be reached; Newton alone would find poses behind singular ones."""
    platform = twin.load(name)
    random = np.random.default_rng(13)
    spread = 0.4 * platform.home_coordinates if platform.coordinate_unit == "m" else 0.6
    branch = np.sign(np.linalg.det(platform.jacobian(platform.home)))
    reached = []
    for share in random.uniform(-1.0, 1.0, (500, 6)):
        try:
            pose = platform.forward_kinematics(platform.home_coordinates + share * spread)
        except ForwardKinematicsError:
            continue
        reached.append(pose)
    assert 20 < len(reached) < 480, "the draw must hold coordinates of both kinds"
    assert (np.sign(np.linalg.det(platform.jacobian(reached))) == branch).all()


def test_poses_reached_by_walking_inside_the_limits(platform: Platform, scale: Any) -> None:
    """Walks go where boxes of random poses do not: into the corners of the workspace.

    They stay this side of singular poses, of which the workspace of one machine has some.
    """
    random = np.random.default_rng(11)
    poses = np.tile(platform.home, (200, 1))
    heading = random.normal(size=(200, 6))
    for _ in range(300):
        step = heading / np.linalg.norm(heading, axis=1)[:, None]
        turn = Rotation.from_rotvec(0.02 * step[:, 3:])
        moved = np.hstack(
            [
                poses[:, :3] + 0.01 * scale.length * step[:, :3],
                (turn * Rotation.from_quat(poses[:, [4, 5, 6, 3]])).as_quat()[:, [3, 0, 1, 2]],
            ]
        )
        moved = platform.constrain(moved).pose
        inside = platform.within_limits(moved)
        inside[inside] = platform.condition_number(moved[inside]) < 100.0
        poses[inside] = moved[inside]
        heading[~inside] += random.normal(size=(200, 6))[~inside]
    assert np.linalg.norm(poses[:, :3] - platform.home[:3], axis=1).min() > 1e-3 * scale.length
    found = platform.forward_kinematics(platform.inverse_kinematics(poses))
    assert distance(found, poses) <= POSE


def test_guess_chooses_the_branch(stewart: Platform) -> None:
    below = np.array([0.0, 0.0, -0.87, 1.0, 0.0, 0.0, 0.0])
    found = stewart.forward_kinematics(stewart.inverse_kinematics(below), guess=below)
    assert distance(found, below) <= POSE
    above = stewart.forward_kinematics(stewart.inverse_kinematics(below))
    assert above[2] > 0.8


def test_batch_equals_single_bit_for_bit(platform: Platform, states: Any) -> None:
    coordinates = platform.inverse_kinematics(states.pose)
    batch = platform.forward_kinematics(coordinates)
    single = [platform.forward_kinematics(row) for row in coordinates]
    np.testing.assert_array_equal(batch, single)


def test_guesses_broadcast(platform: Platform, states: Any) -> None:
    coordinates = platform.inverse_kinematics(states.pose[:4])
    found = platform.forward_kinematics(coordinates, guess=np.tile(platform.home, (3, 1, 1)))
    assert found.shape == (3, 4, 7)
    np.testing.assert_array_equal(found[2], platform.forward_kinematics(coordinates))


@pytest.mark.parametrize("end", ["long", "short"])
def test_unreachable_coordinates_are_an_error_with_data(platform: Platform, end: str) -> None:
    coordinates = np.stack([platform.home_coordinates, platform.home_coordinates])
    if platform.coordinate_unit == "m":
        coordinates[1, 2] *= {"long": 3.0, "short": 0.1}[end]
    else:
        coordinates[1, 2] += {"long": 2.5, "short": -2.5}[end]

    def miss(x: Any) -> Any:
        turn = Rotation.from_rotvec(x[3:]).as_quat()[[3, 0, 1, 2]]
        pose = platform.constrain(np.concatenate([x[:3], turn])).pose
        try:
            return platform.inverse_kinematics(pose) - coordinates[1]
        except UnreachablePoseError:
            return np.full(platform.n_actuators, 10.0)

    random = np.random.default_rng(5)
    # From many starts least squares gets stuck where a tip is out of a crank's reach.
    count = 20 if platform.kind == "rss" else 8
    starts = random.normal(size=(count, 6)) * 0.5 + np.r_[platform.home[:3], 0, 0, 0]
    best = min(np.abs(least_squares(miss, start).fun).max() for start in starts)
    assert best > 1e-2, "these coordinates can be reached: the example is no good"

    with pytest.raises(ForwardKinematicsError) as caught:
        platform.forward_kinematics(coordinates)
    data = caught.value.data
    assert data["index"] == 1
    assert data["iterations"] > 0
    np.testing.assert_array_equal(data["lengths"], coordinates[1])
    assert "residual" in str(caught.value)
    if platform.dof == 6:
        residual = np.abs(platform.inverse_kinematics(data["pose"]) - coordinates[1]).max()
        # The residual is that of the pose handed back; rounding of a length.
        assert data["residual"] == pytest.approx(residual, rel=1e-9, abs=1e-14)
        assert residual >= 0.5 * best, "the last pose cannot be better than the best there is"


@given(
    platform=machines,
    coordinates=st.lists(st.floats(1e-300, 1e300), min_size=6, max_size=6),
    guess=st.lists(st.floats(-1e300, 1e300), min_size=3, max_size=3),
)
def test_any_coordinates_end_in_a_pose_or_an_error(
    platform: Platform, coordinates: list[float], guess: list[float]
) -> None:
    wanted = coordinates[: platform.n_actuators]
    try:
        pose = platform.forward_kinematics(wanted, guess=[*guess, 1.0, 0.0, 0.0, 0.0])
    except TwinError:
        return
    residual = np.abs(platform.inverse_kinematics(pose) - wanted).max()
    assert residual <= 1e-12 * max(1.0, *wanted)  # relative: lengths may be huge


@pytest.mark.parametrize("legs", [7, 8])
def test_more_legs_than_freedoms(legs: int) -> None:
    platform = redundant_machine(legs)
    assert platform.n_actuators == legs
    poses = poses_within_limits(platform, 500, 21)
    lengths = platform.inverse_kinematics(poses)
    assert distance(platform.forward_kinematics(lengths), poses) <= POSE


@pytest.mark.parametrize("legs", [7, 8])
@pytest.mark.parametrize("longer", [1e-9, 1e-3, 0.1])
def test_lengths_that_contradict_each_other_are_an_error(legs: int, longer: float) -> None:
    platform = redundant_machine(legs)
    lengths = platform.home_coordinates.copy()
    lengths[legs - 1] += longer
    with pytest.raises(ForwardKinematicsError, match="contradict") as caught:
        platform.forward_kinematics(lengths)
    # Shared among the legs, but never gone.
    assert 0.05 * longer <= caught.value.data["residual"] <= 1.001 * longer
    assert platform.forward_kinematics(platform.home_coordinates)[2] == pytest.approx(
        platform.home[2], abs=POSE
    )


@pytest.mark.parametrize("longer", [1e-9, 1e-3, -0.05])
def test_pillars_that_contradict_each_other_are_an_error(longer: float) -> None:
    """Pillars on a rectangle: h_fr + h_rl = h_fl + h_rr whatever the pose."""
    platform = twin.load("driving_simulator")
    lengths = np.array([0.36, 0.33, 0.34, 0.37])
    pose = platform.forward_kinematics(lengths)
    np.testing.assert_allclose(platform.inverse_kinematics(pose), lengths, rtol=0, atol=1e-15)
    lengths[2] += longer
    with pytest.raises(ForwardKinematicsError, match="contradict"):
        platform.forward_kinematics(lengths)


def test_lengths_below_zero_are_refused(stewart: Platform) -> None:
    with pytest.raises(InputError, match="lengths"):
        stewart.forward_kinematics(-stewart.home_coordinates)
