"""Specifications: units, ranges, files, and what contradicts itself."""

import numpy as np
import pytest
from refusals import refused

from twin.design import read_specification
from twin.design.specification import checked_specification, read_catalogue
from twin.errors import ParameterError

pytestmark = pytest.mark.quick

LEAST = {"ranges": {"z": "50 mm"}}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"ranges": {}}, "give the range of at least one axis"),
        ({"ranges": {"z": ["10 mm", "50 mm"]}}, "z must go from a number below home"),
        ({"ranges": {"heave": "50 mm"}}, "ranges.heave"),
        ({"legs": "rss", "limits": {"force": "5 N"}}, "N"),
        ({"bounds": {"crank": ["1 mm", "2 mm"]}}, "bounds.crank: unknown"),
        ({"bounds": {"height": ["2 m", "1 m"]}}, "bounds.height: must go from"),
        ({"bounds": {"height": ["-2 m", "1 m"]}}, "bounds.height: must be above zero"),
        ({"bounds": {"base_spacing": ["1 deg", "170 deg"]}}, "from 0 to 120 deg"),
        ({"ranges": {}, "poses": [[0, 0, 0, 0, 0, 0]]}, "give the range"),
        ({"minimise": "price"}, "needs a catalogue"),
        ({"count": 9}, "count"),
        ({"count": 8}, "symmetry: 8 legs need one that divides 8"),
        ({"symmetry": 6}, "at least two legs in each repetition"),
        ({"legs": "rss", "symmetry": 3}, "cranks are six"),
        ({"symmetry": 3, "bounds": {"base_radius": [1, 2]}}, "bounds.base_radius: unknown"),
        ({"symmetry": 3, "bounds": {"base_1_angle": [0, 4]}}, "from -180 to 180 deg"),
        ({"limits": {"frequency": "20 Hz"}}, "actuator_stiffness: missing"),
        ({"motion": 3}, "must be an instance of Motion"),
    ],
)
def test_what_is_wrong_is_named(changes, message):
    with pytest.raises(ParameterError, match=message):
        checked_specification({**LEAST, **changes}, "design.toml")


def test_tasks_begin_at_home_and_reach_all_ends():
    content = {
        "ranges": {"x": ["-10 mm", "30 mm"], "yaw": "20 deg", "together": 0.5},
        "poses": [["1 mm", 0.0, 0.0, 0.0, "5 deg", 0.0]],
        "speeds": {"z": "0.1 m/s"},
        "accelerations": {"roll": "2 rad/s2"},
    }
    specification = checked_specification(content, "design.toml")
    for steps in (0, 10):
        tasks = specification.tasks(steps)
        np.testing.assert_array_equal(tasks.offsets[0], [0, 0, 0, 1, 0, 0, 0])
        assert tasks.offsets[:, 0].min() == pytest.approx(-0.01)
        assert tasks.offsets[:, 0].max() == pytest.approx(0.03)
        half_turns = 2.0 * np.arcsin(tasks.offsets[:, 6])
        assert np.degrees([half_turns.min(), half_turns.max()]) == pytest.approx([-20.0, 20.0])
        assert np.abs(tasks.twists).max(axis=0).tolist() == [0, 0, 0.1, 0, 0, 0]
        assert np.abs(tasks.accelerations).max(axis=0).tolist() == [0, 0, 0, 2.0, 0, 0]
        # Speeds and accelerations are asked for at home alone.
        moving = tasks.twists.any(axis=1) | tasks.accelerations.any(axis=1)
        assert (tasks.offsets[moving] == tasks.offsets[0]).all()


def test_files_are_beside_the_specification(tmp_path):
    (tmp_path / "ride.csv").write_text(
        "time [s],z [mm]\n0,0\n0.25,5\n0.5,10\n0.75,5\n1,0\n", encoding="utf-8"
    )
    text = "name,stroke [mm],retracted [mm],force [N],speed [mm/s],price\na,100,200,50,20,7\n"
    (tmp_path / "list.csv").write_text(text, encoding="utf-8")
    file = tmp_path / "design.toml"
    file.write_text('motion = "ride.csv"\nactuators = "list.csv"\n', encoding="utf-8")
    specification = read_specification(file)
    assert specification.motion.duration == 1.0
    assert specification.actuators[0]._asdict() == {
        "name": "a",
        "stroke": pytest.approx(0.1),
        "retracted": pytest.approx(0.2),
        "force": 50.0,
        "speed": pytest.approx(0.02),
        "price": 7.0,
    }
    assert specification.tasks().offsets[:, 2].max() == pytest.approx(0.01, rel=0.05)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("name,stroke [mm]\na,3\n", "lacks the column 'force .N.'"),
        (
            "name,stroke [mm],retracted [mm],force [N],speed [mm/s],price\na,x,1,1,1,1\n",
            "line 2",
        ),
        (
            "name,stroke,retracted [mm],force [N],speed [mm/s],price\na,1,1,1,1,1\n",
            "lacks the column 'stroke .m.'",
        ),
        (
            "name,stroke [mm],retracted [mm],force [N],speed [mm/s],price\na,-1,1,1,1,1\n",
            "line 2, stroke: must be above zero",
        ),
        (
            "name,stroke [mm],retracted [mm],force [N],speed [mm/s],price\na,1,1,1,1,-1\n",
            "line 2, price: must be zero or more",
        ),
        (
            "name,stroke [mm],retracted [mm],force [N],speed [mm/s],price\n ,1,1,1,1,1\n",
            "line 2, name: must not be empty",
        ),
        ("name,stroke [mm],stroke [m]\na,100,5\n", "two columns 'stroke'"),
    ],
)
def test_wrong_catalogues_are_refused(tmp_path, text, message):
    file = tmp_path / "list.csv"
    file.write_text(text, encoding="utf-8")
    with refused(message):
        read_catalogue(file)
