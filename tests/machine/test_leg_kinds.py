"""Legs of every kind at home: coordinates, Jacobian rows, constraints and cranks are geometry."""

import math

import numpy as np
import pytest
from legs_at_home import cranks, home_leg_frames, leg_bodies
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.transform import Rotation
from shipped import OF_KIND, machine_of_kind, shipped_content
from tolerance import assert_within
from unsymmetric import machine_without_symmetry

from twin.analysis.platform import Platform
from twin.errors import ParameterError
from twin.machine.file.read import parameters_from
from twin.machine.legs import LEG_KINDS
from twin.machine.legs.rss import RssLeg
from twin.machine.legs.strut import StrutLeg
from twin.machine.legs.viscoelastic import ViscoelasticLeg


@pytest.mark.parametrize("kind", LEG_KINDS)
def test_rows_at_home_are_those_of_the_compiled_kinematics(kind):
    """Those follow from differences of the coordinates, in `tests/model/kinematics`."""
    in_planes = kind in ("rps", "rrs")
    parameters = machine_of_kind(kind) if in_planes else machine_without_symmetry(kind)
    platform = Platform(parameters)
    assert_within(parameters.home_jacobian, platform.jacobian(platform.home), 1e-14)
    assert_within(parameters.home_constraints, platform.constraints(platform.home), 1e-14)


def test_legs_in_planes_are_three_and_at_home_in_their_planes():
    content = shipped_content(OF_KIND["rps"])
    content["leg"]["first_axis"] = [0.1, 1.0, 0.0]
    with pytest.raises(ParameterError, match=r"first_axis.*0\.0039\d+ m beside it"):
        parameters_from(content, "platform.toml")
    content = shipped_content(OF_KIND["rrs"])
    for table in ("base", "platform"):
        content[table]["joints"]["angles"] = ["0 deg", "90 deg", "180 deg", "270 deg"]
    content["leg"]["axis_angles"] = ["-90 deg", "0 deg", "90 deg", "180 deg"]
    with pytest.raises(ParameterError, match=r"three legs of kind 'rrs'.*4 are given"):
        parameters_from(content, "platform.toml")


@pytest.mark.quick
def test_height_and_tilt_settle_the_pose_of_legs_in_planes():
    """A tripod on a wall lifts along x: height, roll and pitch leave its place along x open."""
    content = shipped_content(OF_KIND["rps"])
    quarter = Rotation.from_euler("y", 90.0, degrees=True)
    joints = parameters_from(content, "platform.toml").base.joints.points
    content["base"]["joints"] = {
        "source": "Test",
        "layout": "points",
        "coordinates": quarter.apply(joints.copy()).tolist(),
    }
    content["home"]["position"] = quarter.apply([0.0, 0.0, 0.2143]).tolist()
    content["home"]["orientation"] = quarter.as_quat()[[3, 0, 1, 2]].tolist()
    axes = quarter.apply([[0.0, 1.0, 0.0], [-(0.75**0.5), -0.5, 0.0], [0.75**0.5, -0.5, 0.0]])
    content["leg"]["first_axis"] = axes[0].tolist()
    content["variant"] = [
        {"source": "Test", "legs": [number], "first_axis": axes[number - 1].tolist()}
        for number in (2, 3)
    ]
    with pytest.raises(ParameterError, match=r"home\.position.*moving along x remains possible"):
        parameters_from(content, "platform.toml")


def test_pillars_leave_heave_roll_and_pitch():
    """At the level home: four lengths, three constraints, and one way to push in vain."""
    parameters = machine_of_kind("pillar")
    rows = parameters.home_rows
    assert rows.shape == (7, 6)
    assert np.linalg.matrix_rank(rows) == 6
    assert parameters.redundant_legs == (1, 2, 3, 4)
    free = np.linalg.svd(parameters.home_constraints)[2][3:]
    height = parameters.home.position[2]
    # Heave, and rolling and pitching about axes through the fixed foot.
    for twist in ([0, 0, 1, 0, 0, 0], [0, -height, 0, 1, 0, 0], [height, 0, 0, 0, 1, 0]):
        assert np.linalg.norm(free @ twist) == pytest.approx(np.linalg.norm(twist), rel=1e-12)
    # The sums over the two diagonals change alike.
    assert_within(np.array([1.0, -1.0, 1.0, -1.0]) @ parameters.home_jacobian @ free.T, 0.0, 1e-12)


@pytest.mark.parametrize("branch", ["outward", "inward"])
def test_cranks_and_rods_close(branch):
    content = shipped_content("rss")
    content["leg"] |= {"branch": branch}
    content["leg"]["actuator"] |= {"minimum": -3.0, "maximum": 3.0}
    parameters = parameters_from(content, "platform.toml")
    leg, found = parameters.leg, cranks(parameters)
    assert isinstance(leg, RssLeg)
    radial = parameters.base.joints.points / 1.0  # the base circle has a radius of 1 m
    up = np.array([0.0, 0.0, 1.0])
    assert_within(found.axis, np.cross(up, radial), 1e-15)
    # Positive angles lean outwards.
    turns = found.angle[:, None]
    assert_within(found.elbow, 0.82 * (np.cos(turns) * up + np.sin(turns) * radial), 1e-15)
    assert_allclose(np.linalg.norm(found.rod, axis=1), 0.70, rtol=1e-14)
    assert_allclose(found.elbow + found.rod, parameters.home_leg_vectors, rtol=1e-14)
    for i, frame in enumerate(found.frame):
        assert_within(frame.T @ frame, np.eye(3), 1e-15)
        assert_array_equal(frame[:, 0], found.axis[i])
        assert_within(0.82 * frame[:, 2], found.elbow[i], 1e-15)
    assert_array_equal(found.angle, parameters.home_coordinates)
    assert_array_equal(found.axis, parameters.first_axes)


def test_a_rod_is_given_by_mass_or_by_density():
    leg = shipped_content("rss")["leg"]
    leg["rod"] = {"source": "Test", "mass": 0.4}
    assert RssLeg.model_validate(leg).rod_mass == 0.4
    leg["rod"] = {"source": "Test", "density": 1000.0, "radius": 0.01}
    assert RssLeg.model_validate(leg).rod_mass == pytest.approx(1000 * math.pi * 1e-4 * 0.7)


def test_crank_angles_stay_near_the_range_of_the_motor():
    """A motor that is turned half a turn about its axis: same machine, angles pi less."""
    content = shipped_content("rss")
    content["leg"]["zero"] = [0.0, 0.0, -1.0]
    shift = math.pi
    expected = machine_of_kind("rss").home_coordinates
    for turns in (1.0, -1.0):
        content["leg"]["actuator"] |= {
            "minimum": turns * shift - 0.2,
            "maximum": turns * shift + 0.2,
        }
        found = parameters_from(content, "platform.toml").home_coordinates
        assert_within(found, turns * shift + expected, 1e-14)


def rest_lengths(parameters):
    """Return the lengths [m] of the struts without spring force."""
    pairs = zip(parameters.legs, parameters.home_leg_geometry, strict=True)
    return [leg.spring(place).rest for leg, place in pairs]


def test_struts_are_relaxed_at_home_unless_stated():
    parameters = machine_of_kind("strut")
    assert_array_equal(rest_lengths(parameters), parameters.home_coordinates)
    content = shipped_content(OF_KIND["strut"])
    content["leg"]["axial"]["rest_length"] = "0.28 m"
    changed = parameters_from(content, "platform.toml")
    assert_array_equal(rest_lengths(changed), np.full(6, 0.28))
    assert isinstance(changed.leg, StrutLeg)
    assert len(leg_bodies(changed).rod_mass) == 6  # a strut has the bodies of a UPS leg


def test_the_spring_is_relaxed_at_home():
    """The leg of the paper: 2 l1 + l2 + l3 + l4 + delta2 is its length at home."""
    parameters = machine_of_kind("viscoelastic")
    leg = parameters.leg
    assert isinstance(leg, ViscoelasticLeg)
    assert leg.retracted_length == pytest.approx(0.8644, rel=1e-15)
    for place, length in zip(
        parameters.home_leg_geometry, parameters.home_coordinates, strict=True
    ):
        assert leg.home_extension(place) == pytest.approx(length - 0.8644, rel=1e-14)
    frames = home_leg_frames(parameters)
    assert_allclose(
        frames[:, :, 2] * parameters.home_coordinates[:, None],
        parameters.home_leg_vectors,
        rtol=1e-14,
    )
