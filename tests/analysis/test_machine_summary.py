"""Figures derived from a machine's numbers, and the flat list of its parameters."""

import numpy as np
import pytest
from redundant import machine_on
from scipy.optimize import brentq, minimize
from tolerance import assert_within

import twin
from twin.analysis.feasibility.collisions import closest_legs
from twin.analysis.machine_summary import axis_ranges, machine_summary
from twin.machine.file.read import describe
from twin.machine.quantity import UNITS
from twin.rotations import displaced

AXES = ("x", "y", "z", "yaw", "pitch", "roll")
PILLARS = ("z", "roll", "pitch")
"""Axes of a machine with three degrees of freedom."""


def moved(platform, axis, shift):
    """Return the home pose moved along one axis, angles in degrees."""
    pose, column = platform.home.copy(), AXES.index(axis)
    if column < 3:
        pose[column] += shift
    else:
        about = {"yaw": [0, 0, 1.0], "pitch": [0, 1.0, 0], "roll": [1.0, 0, 0]}[axis]
        pose = displaced(pose, np.r_[np.zeros(3), np.radians(shift) * np.array(about)])
    return platform.constrain(pose).pose


@pytest.mark.slow
def test_ranges_end_at_limits_or_singular_poses(platform):
    ranges = axis_ranges(platform)
    assert tuple(one.axis for one in ranges) == (AXES if platform.dof == 6 else PILLARS)
    for name, _, span, ends in ranges:
        assert span[0] < 0.0 < span[1], name
        for shift in np.linspace(*span, 101):
            # Rounding of degrees must not decide at the very end.
            assert platform.within_limits(moved(platform, name, shift * (1.0 - 1e-9)))
        for end, cause in zip(span, ends, strict=True):
            beyond = moved(platform, name, end * (1.0 + 1e-6))
            if cause == "singular pose":
                assert platform.condition_number(beyond) > 1e4
            else:
                assert cause.startswith("leg ")
                assert not platform.within_limits(beyond), name


def test_ranges_end_where_a_turn_is_singular_and_say_so():
    """An octahedron of long legs is singular after a quarter turn about its axis.

    Fichter, A Stewart platform-based manipulator, Int. J. of Robotics Research 5, 1986.
    """
    below = np.radians([0.0, 0.0, 120.0, 120.0, 240.0, 240.0])
    above = below + np.radians([-60.0, 60.0] * 3)
    base = 0.5 * np.stack([np.cos(below), np.sin(below), 0.0 * below], axis=1)
    top = 0.3 * np.stack([np.cos(above), np.sin(above), 0.0 * above], axis=1)
    platform = machine_on(base, top, 0.6, (0.3, 2.0))
    yaw = axis_ranges(platform)[3]
    assert_within(np.abs(yaw.span), 90.0, 1e-6)
    assert yaw.ends == ("singular pose", "singular pose")


def test_ranges_of_the_driving_simulator():
    """Heave is the stroke; at the end of roll and pitch z / cos(angle) + arm tan(angle) is longest.

    The paper's small angles, 3.581 and 6.987 deg, leave the first cosine out.
    """
    platform = twin.load("driving_simulator")
    ranges = {one.axis: one.span for one in axis_ranges(platform)}
    height, longest = 0.3549, 0.4049

    def largest(arm):
        return float(
            np.degrees(brentq(lambda a: height / np.cos(a) + arm * np.tan(a) - longest, 0.0, 0.3))
        )

    expected = {"z": 0.05, "pitch": largest(0.8), "roll": largest(0.41)}
    for name, end in expected.items():
        assert_within(ranges[name], [-end, end], 1e-9)


def lines_of(platform):
    """Return start and vector of the straight lines that each leg consists of at home."""
    base = platform.base_joints
    vectors = platform.parameters.home_leg_vectors
    if platform.kind != "rss":
        return [[pair] for pair in zip(base, vectors, strict=True)]
    angles = platform.home_coordinates[:, None]
    outward = np.cross(platform.first_axes, [0.0, 0.0, 1.0])
    elbows = 0.82 * (np.cos(angles) * [0.0, 0.0, 1.0] + np.sin(angles) * outward)
    pairs = zip(base, elbows, vectors, strict=True)
    return [[(foot, elbow), (foot + elbow, vector - elbow)] for foot, elbow, vector in pairs]


def test_closest_legs_against_minimised_distance(platform):
    legs = lines_of(platform)
    found, first, second = closest_legs(platform, platform.home[None])
    assert 1 <= first < second <= platform.n_actuators
    wanted = min(
        minimize(
            lambda s, p=p, q=q: np.linalg.norm(p[0] + s[0] * p[1] - q[0] - s[1] * q[1]),
            [0.5, 0.5],
            bounds=[(0.0, 1.0), (0.0, 1.0)],
        ).fun
        for j in range(len(legs))
        for i in range(j)
        for p in legs[i]
        for q in legs[j]
    )
    # The minimiser ends where the gradient is small, to about the root of its tolerance.
    assert found == pytest.approx(wanted, abs=1e-5)


@pytest.mark.slow
def test_summary_agrees_with_the_platform(platform):
    rows = {row.name: row for row in machine_summary(platform)}
    coordinates = platform.inverse_kinematics(platform.home)
    name = "crank angles at home" if platform.kind == "rss" else "lengths at home"
    # The same lengths by another formula: rounding only.
    assert rows[name].value == pytest.approx(coordinates, rel=1e-12)
    assert rows[name].unit == platform.coordinate_unit
    strokes = platform.maximum_coordinates - platform.minimum_coordinates
    assert rows["stroke"].value == pytest.approx(strokes[0], rel=1e-14)
    assert rows["degrees of freedom"].value == platform.dof
    held = rows["torques at rest" if platform.kind == "rss" else "forces at rest"]
    forces = np.array(held.value)
    assert held.unit == platform.force_unit
    still = platform.forward_dynamics(platform.home, np.zeros(6), forces)
    assert np.abs(still[:6]).max() < 1e-10 * platform.parameters.gravity
    assert rows["condition number at home"].value >= 1.0
    # Turned into vertical force, what the actuators carry is less than all there is.
    carried = platform.jacobian(platform.home)[:, 2] @ forces / platform.parameters.gravity
    assert rows["mass of the platform"].value == platform.parameters.platform.body.mass
    all_mass = rows["mass of the platform"].value + rows["mass of the legs"].value
    assert 0.1 * all_mass < carried < all_mass


def numbers_of(content, path=""):
    """Yield the path and value of every field of a description."""
    for name, value in content.items():
        inner = f"{path}.{name}".lstrip(".")
        if isinstance(value, dict):
            yield from numbers_of(value, inner)
        else:
            yield inner, value


def test_every_field_of_the_file_is_described(platform, description):
    rows = {f"{row.table}.{row.name}".lstrip("."): row for row in describe(platform.parameters)}
    written = dict(numbers_of(description))
    fields = {
        name
        for name in written
        if not name.endswith("source") and not name.startswith(("configuration", "variant"))
    }
    assert len(fields) >= 20
    assert fields <= set(rows)
    si_units = UNITS.keys() | {""}
    for name, row in rows.items():
        assert row.description, name
        assert row.unit in si_units
        if row.table.startswith("configuration"):
            continue  # names of configurations, which no table of the file holds
        assert row.source == written[f"{row.table}.source".lstrip(".")], name
    given = [name for name in fields if isinstance(written[name], (int, float))]
    for name in given:
        assert rows[name].value == written[name]


def test_friction_is_said_at_the_leg():
    """0.23 N m at the motor of a screw with a lead of 5.08 mm."""
    rows = {row.name: row for row in machine_summary(twin.load("stewart", "hardware"))}
    row = rows["friction of the drives"]
    assert row.value == pytest.approx(0.23 * 2.0 * np.pi / 5.08e-3, rel=1e-9)
    assert row.unit == "N"
    assert "friction of the drives" not in {row.name for row in machine_summary(twin.load("rss"))}
