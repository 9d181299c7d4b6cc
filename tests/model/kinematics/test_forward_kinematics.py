"""Forward kinematics: the inverse of the inverse, everywhere inside the actuators' limits."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from paths import fitting, poses_within_limits
from redundant import machine_on, machine_tool, redundant_machine
from refusals import refused
from tolerance import assert_within, max_abs
from turns import turn_of

import twin
from twin.analysis.platform import Platform
from twin.calibration import poses_within
from twin.errors import ForwardKinematicsError
from twin.machine import MachineParameters

pytestmark = pytest.mark.quick

RESIDUAL = 1e-12
"""[m, rad] the project's limit; float64 holds a length of one metre to 1e-16."""

POSE = 1e-11
"""[m, rad]: the residual times the largest entry of the inverse Jacobian, which is below ten."""

BEYOND = {"micro_hexapod": 8}
"""Corners of the actuators' ranges whose straight way from home passes a singular pose."""

NEAR_SINGULAR = 1e3
"""Condition number that a machine far from singular poses never has."""

SIX_FREEDOMS = [name for name in twin.machine_names() if twin.load(name).dof == 6]
assert len(SIX_FREEDOMS) == 5


def distance(pose, other):
    """Return the largest difference in position [m] and angle [rad]."""
    rotation = turn_of(pose)
    turn = rotation.inv() * turn_of(other)
    return float(max(max_abs(pose[..., :3] - other[..., :3]), np.asarray(turn.magnitude()).max()))


def meets_a_singular_pose(platform, coordinates):
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


def test_inverts_the_inverse(platform, states):
    found = platform.forward_kinematics(platform.inverse_kinematics(states.pose))
    assert distance(found, states.pose) <= POSE


def test_home_is_a_fixed_point(platform):
    assert_within(
        platform.forward_kinematics(platform.home_coordinates), platform.home, 1e-14
    )  # a few roundings: the lengths are met to the last digit


@pytest.mark.parametrize("name", twin.machine_names())
def test_all_corners_of_the_actuators(name):
    platform = twin.load(name)
    ends = np.stack([platform.minimum_coordinates, platform.maximum_coordinates], 1)
    corners = np.unique(fitting(platform, list(itertools.product(*ends))), axis=0)
    assert len(corners) == (64 if platform.dof == 6 else 8)
    beyond = 0
    for corner in corners:
        try:
            pose = platform.forward_kinematics(corner, guess=platform.home)
        except ForwardKinematicsError:
            beyond += 1
            assert meets_a_singular_pose(platform, corner)
            continue
        assert_within(platform.inverse_kinematics(pose), corner, RESIDUAL)
    assert beyond == BEYOND.get(name, 0)


@pytest.mark.slow
@pytest.mark.parametrize("name", SIX_FREEDOMS)
def test_coordinates_out_of_reach_never_end_on_another_branch(name):
    """Most of these cannot be reached; Newton alone would find poses behind singular ones."""
    platform = twin.load(name)
    spread = 0.4 * platform.home_coordinates if platform.coordinate_unit == "m" else 0.6
    reached = []
    for share in np.random.default_rng(13).uniform(-1.0, 1.0, (200, 6)):
        try:
            pose = platform.forward_kinematics(platform.home_coordinates + share * spread)
        except ForwardKinematicsError:
            continue
        reached.append(pose)
    assert 8 < len(reached) < 192, "the draw must hold coordinates of both kinds"
    sides = np.sign(np.linalg.det(platform.jacobian([platform.home, *reached])))
    assert (sides == sides[0]).all()


def test_guess_chooses_the_branch(stewart):
    below = np.array([0.0, 0.0, -0.87, 1.0, 0.0, 0.0, 0.0])
    found = stewart.forward_kinematics(stewart.inverse_kinematics(below), guess=below)
    assert distance(found, below) <= POSE
    above = stewart.forward_kinematics(stewart.inverse_kinematics(below))
    assert above[2] > 0.8


def test_guesses_broadcast(platform, states):
    coordinates = platform.inverse_kinematics(states.pose[:4])
    found = platform.forward_kinematics(coordinates, guess=np.tile(platform.home, (3, 1, 1)))
    assert found.shape == (3, 4, 7)
    assert_array_equal(found[2], platform.forward_kinematics(coordinates))


@pytest.mark.slow
@pytest.mark.parametrize("end", ["long", "short"])
def test_unreachable_coordinates_are_an_error_with_data(platform, end):
    coordinates = np.stack([platform.home_coordinates, platform.home_coordinates])
    if platform.coordinate_unit == "m":
        coordinates[1, 2] *= {"long": 3.0, "short": 0.1}[end]
    else:
        coordinates[1, 2] += {"long": 2.5, "short": -2.5}[end]
    with pytest.raises(ForwardKinematicsError) as caught:
        platform.forward_kinematics(coordinates)
    data = caught.value.data
    assert data["index"] == 1
    assert data["iterations"] > 0
    assert_array_equal(data["lengths"], coordinates[1])
    assert "residual" in str(caught.value)
    if platform.dof == 6:
        residual = max_abs(platform.inverse_kinematics(data["pose"]) - coordinates[1])
        # The residual is that of the pose handed back; rounding of a length.
        assert data["residual"] == pytest.approx(residual, rel=1e-9, abs=1e-14)


@pytest.mark.parametrize("legs", [7, 8])
def test_more_legs_than_freedoms(legs):
    platform = redundant_machine(legs)
    assert platform.n_actuators == legs
    poses = poses_within_limits(platform, 500, 21)
    lengths = platform.inverse_kinematics(poses)
    assert distance(platform.forward_kinematics(lengths), poses) <= POSE


@pytest.mark.parametrize("longer", [1e-9, 5e-4, 0.1])
def test_lengths_that_contradict_each_other_are_fitted(longer):
    for legs in (7, 8):
        platform = redundant_machine(legs)
        lengths = platform.home_coordinates.copy()
        lengths[legs - 1] += longer
        if longer > 1e-3:
            with pytest.raises(ForwardKinematicsError, match=r"0\.001 m by which") as no:
                platform.forward_kinematics(lengths)
            assert 0.05 * longer <= no.value.data["residual"] <= 1.001 * longer
        pose, left = platform.fit_pose(lengths, tolerance=1.0)
        # Shared among the legs, never gone; the fit is where no motion makes it smaller.
        assert 0.05 * longer <= max_abs(left) <= 1.001 * longer
        assert_within(left, lengths - platform.inverse_kinematics(pose), 0)
        # A sum of squares is flat to half the digits of its value.
        assert max_abs(left @ platform.jacobian(pose)) <= 1e-7 * longer + 1e-15


@pytest.mark.parametrize("longer", [1e-9, 1e-3, -0.05])
def test_pillars_that_contradict_each_other_are_fitted(longer):
    """Pillars on a rectangle: h_fr + h_rl = h_fl + h_rr whatever the pose.

    Least squares shares what is too much evenly: a quarter to each pillar, signs alternating.
    """
    platform = twin.load("driving_simulator")
    lengths = np.array([0.36, 0.33, 0.34, 0.37])
    measured = lengths + np.array([0.0, 0.0, longer, 0.0])
    pose, left = platform.fit_pose(measured, tolerance=0.1)
    quarter = 0.25 * longer * np.array([1.0, -1.0, 1.0, -1.0])
    assert_allclose(left, quarter, rtol=1e-6, atol=1e-13)
    assert_within(pose, platform.constrain(pose).pose, 1e-15)
    if longer < 0.0:
        with pytest.raises(ForwardKinematicsError, match="contradict"):
            platform.forward_kinematics(measured)


def test_tolerance_follows_from_the_encoders():
    """Three counts of the encoder: 3 * 5.08 mm / 4096 = 3.72 um."""
    machine = redundant_machine(7).parameters.model_dump()
    machine["leg"] |= {
        "drive": {"source": "Test", "kind": "screw", "lead": 5.08e-3},
        "encoder": {"source": "Test", "counts": 4096},
    }
    platform = Platform(MachineParameters.model_validate(machine))
    lengths = np.tile(platform.home_coordinates, (2, 1))
    lengths[:, 6] += [3e-6, 3e-5]
    platform.forward_kinematics(lengths[0])
    with pytest.raises(ForwardKinematicsError, match=r"than the 3\.72e-06 m"):
        platform.forward_kinematics(lengths)


def test_a_singular_pose_on_the_straight_way_ends_no_search():
    """The machine reaches these poses from home along other ways, of all six axes."""
    platform = machine_tool()
    poses = poses_within(platform, 600)
    lengths = platform.inverse_kinematics(poses)
    found = platform.forward_kinematics(lengths)
    assert_within(platform.inverse_kinematics(found), lengths, RESIDUAL)
    branch = np.sign(np.linalg.det(platform.jacobian(platform.home)))
    assert (np.sign(np.linalg.det(platform.jacobian(found))) == branch).all()
    stopped = 0
    for row in lengths:
        try:
            platform.forward_kinematics(row, guess=platform.home)
        except ForwardKinematicsError:
            stopped += 1
    assert stopped > 0, "no way is singular: the example is no good"


def test_long_strokes_of_redundant_legs():
    content = twin.load("esa_hydra").parameters.model_dump()
    content["leg"]["actuator"] |= {"minimum": 1.2, "maximum": 3.0}
    platform = Platform(MachineParameters.model_validate(content))
    lengths = platform.inverse_kinematics(poses_within(platform, 300))
    found = platform.forward_kinematics(lengths)
    assert_within(platform.inverse_kinematics(found), lengths, RESIDUAL)


FORTY_BASE = [
    *([0.0, 0.0, 0.0], [1.107915, 0.0, 0.0], [0.549094, 0.756063, 0.0]),
    *([0.735077, -0.223935, 0.525991], [0.514188, -0.526063, -0.368418]),
    [0.590473, 0.094733, -0.205018],
]
FORTY_TOP = [
    *([0.0, 0.0, 0.0], [0.542805, 0.0, 0.0], [0.956919, -0.528915, 0.0]),
    *([0.665885, -0.353482, 1.402538], [0.478359, 1.158742, 0.107672]),
    [-0.137087, -0.235121, 0.353913],
]
FORTY_LENGTHS = [1.0, 0.645275, 1.086284, 1.503439, 1.281933, 0.771071]
"""Joints and lengths [m] with 40 real assembly modes: Dietmaier 1998."""


@pytest.mark.slow
def test_forty_assembly_modes():
    platform = machine_on(FORTY_BASE, FORTY_TOP, 1.0, (0.1, 5.0))
    poses = twin.forward_kinematics_all(platform, FORTY_LENGTHS)
    assert poses.shape == (40, 7)
    lengths = platform.inverse_kinematics(poses)
    assert_within(lengths, np.tile(FORTY_LENGTHS, (40, 1)), RESIDUAL)
    for row, pose in enumerate(poses[:-1]):
        assert np.abs(poses[row + 1 :] - pose).max(axis=1).min() > 1e-3, "twice the same"
    # Half of the modes lie on either side of singular poses (degree of the map zero).
    sides = np.sign(np.linalg.det(platform.jacobian(poses)))
    assert sides.sum() == 0.0


@pytest.mark.slow
def test_all_modes_hold_the_machine_itself(platform):
    poses = platform.forward_kinematics_all(platform.home_coordinates)
    assert_within(poses[0], platform.home, 1e-12)
    assert_within(
        platform.inverse_kinematics(poses), [platform.home_coordinates] * len(poses), RESIDUAL
    )
    if platform.leg.is_straight and not platform.base_joints[:, 2].any():
        # What stands on a plane has a mirror image below it.
        assert np.abs(poses[:, 2] + platform.home[2]).min() < 1e-9


@pytest.mark.slow
def test_long_legs_have_no_mode_twice(stewart):
    """Far away, rounding moves the solutions of one pose apart by more than a micrometre."""
    near, far = (stewart.forward_kinematics_all([length] * 6) for length in (10.0, 100.0))
    assert len(near) == len(far) <= 40
    with refused("rounding"):
        stewart.forward_kinematics_all([1e4] * 6)


@pytest.mark.seconds
def test_coordinates_without_a_pose_have_no_mode(stewart):
    lengths = stewart.home_coordinates * [3.0, 1.0, 1.0, 1.0, 1.0, 1.0]
    assert stewart.forward_kinematics_all(lengths).shape == (0, 7)


def test_lengths_below_zero_are_refused(stewart):
    with refused("lengths"):
        stewart.forward_kinematics(-stewart.home_coordinates)
