"""Machines that their legs cannot hold: refused, with the free motion and the legs by name."""

import re

import numpy as np
import pytest
from shipped import OF_KIND, machine_of_kind, shipped_content

from twin.errors import ParameterError
from twin.machine.file.read import parameters_from
from twin.machine.mobility import describe_twists, free_motions

LEGGED = ("ups", "strut", "rss", "viscoelastic")
"""Kinds that hold one freedom with each leg."""


def points(coordinates):
    """Return a table of joints listed one by one."""
    return {"source": "Test", "coordinates": np.asarray(coordinates, dtype=float).tolist()}


def with_joints(kind, base, top, **changes):
    """Return a shipped file with legs of a kind between other joints."""
    content = shipped_content(OF_KIND[kind])
    content["base"]["joints"], content["platform"]["joints"] = points(base), points(top)
    content["leg"] |= {"mirrored": []} if kind == "ups" else {}
    return content | changes


def refusal(content):
    """Return the field and the message of the one problem of a file."""
    with pytest.raises(ParameterError) as caught:
        parameters_from(content, "platform.toml")
    (problem,) = caught.value.problems
    return problem


def joints(kind, count=6):
    """Return the first joints of the machine with legs of a kind."""
    parameters = machine_of_kind(kind)
    return parameters.base.joints.points[:count], parameters.platform.joints.points[:count]


def test_too_few_legs_leave_freedoms(subtests):
    for count in [3, 4, 5]:
        for kind in LEGGED:
            with subtests.test(f"{count}, {kind}"):
                field, message = refusal(with_joints(kind, *joints(kind, count)))
                assert field == "base.joints"
                assert (
                    f"{count} legs of kind '{kind}' leave {6 - count} of the platform's 6 "
                    "degrees of freedom" in message
                )
                assert message.count("turning about") + message.count("moving along") == 6 - count
                assert "6 are the least" in message


def test_other_numbers_of_legs(subtests):
    for kind, count in [("ups", 1), ("ups", 2), ("ups", 9), ("pillar", 2)]:
        with subtests.test(f"{kind}"):
            places = np.arange(3 * count).reshape(count, 3) % 7 * 0.1 + np.arange(count)[:, None]
            field, message = refusal(with_joints(kind, places, places))
            assert field == "base.joints"
            assert "3 to 8 legs" in message


@pytest.mark.parametrize("kind", ["ups", "pillar"])
def test_one_joint_is_no_layout(kind):
    content = with_joints(kind, [[0.0, 0.0, 0.0]], [])
    with pytest.raises(ParameterError) as caught:
        parameters_from(content, "platform.toml")
    assert caught.value.problems == (
        ("platform.joints.coordinates", "the list is too short; it needs 1 or more entries"),
    )


def test_three_vertical_legs_only_hold_the_plate_up():
    triangle = [[0.5, 0.0, 0.0], [-0.3, 0.4, 0.0], [-0.3, -0.4, 0.0]]
    content = with_joints("ups", triangle, triangle)
    content["leg"]["first_axis"] = [0.0, 1.0, 0.0]
    message = refusal(content)[1]
    assert "nothing holds moving along x, or moving along y, or turning about z. Add" in message


def test_a_hexagon_turns_about_z():
    angles = np.arange(6) * np.pi / 3
    ring = np.column_stack([np.cos(angles), np.sin(angles), 0 * angles])
    home = {"source": "Test", "position": [0.0, 0.0, 0.95]}
    field, message = refusal(with_joints("ups", 0.7 * ring, 0.6 * ring, home=home))
    assert field == "home.position"
    assert "singular" in message
    assert "turning about z" in message
    assert "legs 1, 2, 3, 4, 5, 6 do not act independently" in message


def same_line(count):
    """Return joints of a machine whose last leg lies on the line of its first."""
    base, top = joints("ups")
    start = base[0]
    along = machine_of_kind("ups").home_leg_vectors[0]
    tip = start + along - np.array(machine_of_kind("ups").home.position)
    last, above = start + 0.02 * along, tip + 0.03 * along
    return np.vstack([base[: count - 1], last]), np.vstack([top[: count - 1], above])


def test_two_legs_on_one_line_are_named():
    message = refusal(with_joints("ups", *same_line(6)))[1]
    assert "legs 1, 6 do not act independently" in message
    assert message.count("turning about") == 1


def test_a_seventh_leg_may_share_the_load_of_one():
    parameters = parameters_from(with_joints("ups", *same_line(7)), "platform.toml")
    assert len(parameters.legs) == 7
    assert parameters.redundant_legs == (1, 7)


def test_eight_legs_share_their_load():
    base, top = joints("ups")
    more = np.array([[0.6, 0.2, 0.0], [-0.5, 0.3, 0.0]])
    content = with_joints("ups", np.vstack([base, more]), np.vstack([top, more @ np.eye(3) * 0.6]))
    content["leg"]["actuator"] |= {"minimum": 0.5, "maximum": 1.5}
    parameters = parameters_from(content, "platform.toml")
    assert parameters.home_jacobian.shape == (8, 6)
    assert len(parameters.redundant_legs) == 8


def test_three_pillars_are_enough():
    base, top = joints("pillar", 3)
    parameters = parameters_from(
        with_joints("pillar", base, top, leg=pillar(fixed_foot=2)), "platform.toml"
    )
    assert parameters.redundant_legs == ()
    assert np.linalg.matrix_rank(parameters.home_rows) == 6


def pillar(**changes):
    """Return the shipped pillar with some entries replaced."""
    return {**shipped_content("driving_simulator")["leg"], **changes}


def test_feet_stand_in_one_plane_below_their_corners(subtests):
    base, top = joints("pillar")
    line = np.outer(np.arange(4), [0.2, 0.1, 0.0])
    third, second = (np.arange(4)[:, None] == index for index in (2, 1))
    for feet, corners, field, words in [
        (line, line, "platform.joints", r"legs 1 to 4 lie on one line.*\[0\.894, 0\.447, 0\]"),
        (base + third * [0.0, 0.02, 0.0], top, "base.joints", r"leg 3: .*\[-0\.8, 0\.41, 0\]"),
        (base + second * [0.0, 0.0, 0.01], top, "base.joints", "foot 2 is 0.01 m above foot 1"),
        (np.add(base, [0.0, 0.0, 1.0]), top, "home.position", "not below"),
    ]:
        with subtests.test(words):
            found, message = refusal(with_joints("pillar", feet, corners))
            assert found == field
            assert re.search(words, message)


@pytest.mark.parametrize("axis", [[0.0, 0.0, 1.0], [0.3, 0.4, 0.0]])
def test_pillars_cannot_yaw(axis):
    """Turning about a horizontal axis between x and y yaws too, unlike Rx(roll) Ry(pitch)."""
    content = shipped_content("driving_simulator")
    half = 0.05
    size = np.linalg.norm(axis)
    quaternion = [np.cos(half), *(np.sin(half) * np.array(axis) / size)]
    content["home"]["orientation"] = [float(value) for value in quaternion]
    assert refusal(content)[0] == "home.orientation"


@pytest.mark.parametrize(
    ("reach", "word"), [(0.82 + 0.70 - 1e-9, "stretched"), (0.82 - 0.70 + 1e-9, "folded")]
)
def test_cranks_do_not_push_along_their_rod(reach, word):
    """Joints on top of each other: crank, rod and both joints in one vertical line."""
    content = shipped_content("rss")
    content["platform"]["joints"] = content["base"]["joints"]
    content["home"]["position"] = [0.0, 0.0, reach]
    content["leg"]["actuator"] |= {"minimum": -1.0, "maximum": 1.0}
    field, message = refusal(content)
    assert field == "home.position"
    assert f"leg 1: crank and rod are {word}" in message


def test_a_rod_must_not_lie_along_the_crank_axis():
    content = shipped_content("rss")
    base = machine_of_kind("rss").base.joints.points
    tilt = 5e-4  # of the rods outwards, less than what is still one line
    rods = np.cos(tilt) * machine_of_kind("rss").first_axes + np.sin(tilt) * base
    content["platform"]["joints"] = points(base + 0.70 * rods)
    content["home"]["position"] = [0.0, 0.0, 0.82]
    field, message = refusal(content)
    assert field == "leg.axis"
    assert "rod lies along the crank's axis" in message


def test_a_crank_on_the_z_axis_has_no_tangent():
    content = shipped_content("rss")
    base = machine_of_kind("rss").base.joints.points.copy()
    base[3] = 0.0
    content["base"]["joints"] = points(base)
    field, message = refusal(content)
    assert field == "leg.axis"
    assert message.startswith("leg 4: ")


def test_the_leg_that_cannot_reach_home_is_named_with_its_own_table():
    content = shipped_content("stewart")
    content["variant"] = [{"source": "Test", "legs": [5], "actuator": {"maximum": 0.9}}]
    field, message = refusal(content)
    assert field == "home.position"
    assert "leg 5 cannot reach home" in message
    assert "(variant.0.actuator)" in message


TWISTS = {
    "along x": ([[1, 0, 0, 0, 0, 0]], ["moving along x"]),
    "about z": ([[0, 0, 0, 0, 0, 2.0]], ["turning about z"]),
    "a plane": (
        [[1, 1, 0, 0, 0, 0], [1, -1, 0, 0, 0, 0]],
        ["moving along x", "moving along y"],
    ),
    "a slanted line": ([[0, 3.0, 4.0, 0, 0, 0]], ["moving along [0, 0.6, 0.8]"]),
    "about a line beside": (
        [[0, -0.5, 0, 0, 0, 1.0]],
        ["turning about the direction [0, 0, 1] through [0.5, 0, 0] m from the reference point"],
    ),
    "a screw": (
        [[0, 0, 0.25, 0, 0, 1.0]],
        ["turning about the direction [0, 0, 1] while moving 0.25 m along it per radian"],
    ),
}


def test_motions_in_words(subtests):
    """Rows that hold everything but some twists: these are found again and named."""
    for length in [1.0, 0.3]:
        for twists, words in TWISTS.values():
            with subtests.test(f"{length}, {twists}"):
                free = np.array(twists) * np.repeat([1.0, length], 3)
                held = np.linalg.svd(free)[2][len(free) :]
                found = free_motions(held)
                assert len(found) == len(free)
                signs = [word.replace("-", "") for word in describe_twists(found, length)]
                assert signs == [re.sub("-", "", word) for word in words]


def test_two_legs_may_not_join_the_same_points():
    base, top = (points_of.copy() for points_of in joints("ups"))
    base[4], top[4] = base[1], top[1]
    field, message = refusal(with_joints("ups", base, top))
    assert field == "platform.joints"
    assert "legs 2 and 5 join the same two points" in message


def test_two_points_do_not_hold_a_platform():
    base, top = joints("ups")
    field, message = refusal(with_joints("ups", base[[0, 0, 2, 2, 2, 0]], top))
    assert field == "base.joints"
    assert "2 different points (legs at each: 1, 2, 6; 3, 4, 5)" in message
