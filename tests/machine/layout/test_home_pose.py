"""Home that follows from the actuators: the legs have the coordinates that the file names."""

import numpy as np
import pytest
from laid_out import HEXAGON, MID_STROKE, TOP, laid_out
from numpy.testing import assert_allclose
from refusals import refused
from shipped import SHIPPED, shipped_content
from tolerance import assert_within

from twin.errors import ParameterError
from twin.machine import read_parameters
from twin.machine.file.read import describe, parameters_from, parameters_hash
from twin.machine.legs import LEG_KINDS
from twin.machine.randomisation.sampler import numeric_paths, with_values

pytestmark = pytest.mark.quick

ROUNDED = 1e-10
"""[m, rad] of a coordinate at a home that is rounded to 1e-12 m."""


def test_all_legs_are_in_the_middle(subtests):
    for legs in LEG_KINDS:
        for word in ["mid_stroke", "mid_range"]:
            with subtests.test(f"{legs}, {word}"):
                machine = laid_out(legs=legs, home=word)
                middles = [
                    (leg.actuator.minimum + leg.actuator.maximum) / 2 for leg in machine.legs
                ]
                assert_within(machine.home_coordinates, middles, ROUNDED)
                assert machine.home.position[2] > 0.0
                assert machine.home_rotation[2, 2] > 0.9


def test_symmetrical_machines_are_straight_above_the_base():
    machine = laid_out(HEXAGON, TOP, **MID_STROKE)
    assert machine.home.position[:2] == (0.0, 0.0)
    assert machine.home.orientation == (1.0, 0.0, 0.0, 0.0)


def test_lengths_of_a_shipped_machine_give_its_home():
    machine = read_parameters(SHIPPED["micro_hexapod"])
    content = shipped_content("micro_hexapod")
    change = np.array([1e-3, 0.0, -1e-3, 0.0, 2e-3, 0.0])
    lengths = (machine.home_coordinates + change).tolist()
    content["home"] = {"source": "Test", "lengths": lengths}
    moved = parameters_from(content, "platform.toml")
    assert_within(moved.home_coordinates, lengths, ROUNDED)
    assert moved.home.orientation != machine.home.orientation


def test_angles_of_cranks():
    machine = laid_out(legs="rss", home={"source": "Test", "angles": "80 deg"})
    assert_allclose(np.degrees(machine.home_coordinates), 80.0, rtol=1e-9)


def test_position_beside_lengths_is_the_start():
    """Below the base there is another pose with the same lengths."""
    home = {"source": "Test", "at": "mid_stroke", "position": [0.0, 0.0, -0.8]}
    below = laid_out(HEXAGON, TOP, home=home)
    above = laid_out(HEXAGON, TOP, **MID_STROKE)
    assert_allclose(below.home.position[2], -above.home.position[2], rtol=1e-9)


def test_home_is_solved_again_when_the_geometry_changes():
    machine = laid_out(HEXAGON, TOP, **MID_STROKE)
    other = with_values(machine, {"base.joints.radius": 0.62, "leg.actuator.maximum": 1.11})
    assert_within(other.home_coordinates, (0.8644 + 1.11) / 2, ROUNDED)
    assert other.home.position != machine.home.position


def test_a_solved_position_is_no_number_of_the_file():
    machine = laid_out(HEXAGON, TOP, **MID_STROKE)
    assert not [path for path in numeric_paths(machine) if path.startswith("home.")]
    with refused("no such number"):
        with_values(machine, {"home.position.2": 0.9})


def test_reading_again_gives_the_same_machine():
    machine = laid_out(**MID_STROKE)
    content = machine.model_dump(exclude_none=True, exclude={"configuration"})
    again = parameters_from(content, "platform.toml")
    assert parameters_hash(again) == parameters_hash(machine)


def test_the_pose_is_described():
    rows = {row.name: row for row in describe(laid_out(HEXAGON, TOP, **MID_STROKE))}
    assert rows["at"].value == "mid_stroke"
    assert "above the base" in rows["position"].source


REFUSED = {
    "word": ({"home": "middle"}, "home", "'mid_stroke' or 'mid_range'"),
    "nothing": ({"home": {"source": "Test"}}, "home", "position is missing"),
    "two": ({"home": {"source": "Test", "at": "mid_stroke", "lengths": 1.0}}, "home", "exclude"),
    "three": ({"home": {"source": "Test", "lengths": [1.0] * 3}}, "home.lengths", "or 6, one"),
    "short": ({"home": {"source": "Test", "lengths": 0.2}}, "home", "it goes from 0."),
    "apart": (
        {"home": {"source": "Test", "lengths": [0.9, 1.9, 0.9, 0.9, 0.9, 0.9]}},
        "home",
        "no pose gives all legs their length",
    ),
}


def test_refused_homes_name_what_to_change(subtests):
    for changes, field, words in REFUSED.values():
        with subtests.test(f"{changes}"):
            with pytest.raises(ParameterError) as caught:
                laid_out(HEXAGON, TOP, **changes)
            ((found, message),) = caught.value.problems
            assert found == field
            assert words in message


def test_a_crank_without_axis_is_named_before_its_home():
    with pytest.raises(ParameterError) as caught:
        laid_out(legs="rss", leg={"axis": [0.0, 0.0, 1.0]}, **MID_STROKE)
    assert caught.value.problems[0][0] == "leg.zero"
