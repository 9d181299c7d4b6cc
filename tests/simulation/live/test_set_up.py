"""The set-up of a live run as a text: it comes back as it was, and nonsense has a clear end."""

import pytest
from refusals import assert_all_refused

from twin.simulation.live.settings import MAX_TEXT_LENGTH, Settings, SetUp, as_set_up, set_up_text

pytestmark = pytest.mark.quick

SINE = {"motion": "sine", "axis": "z", "amplitude": 12.5, "frequency": 2.0, "duration": 10.0}

PAGE = {
    "colour": "stroke left",
    "speed": 0.25,
    "force": (0.0, -300.0, 12.5),
    "moment": (1.0, 0.0, 0.0),
    "point": (0.0, 0.0, 50.0),
    "push_duration": 0.5,
    "trace": (430.0, 0.0, -12.0),
    "camera": (2.0, -1.5, 1.25, 0.0, 0.0, 0.5),
    "layers": ("ground", "dark"),
    "charts": (),
}

WHOLE = SetUp(
    "stewart",
    Settings(
        configuration="hardware",
        payload="occupant",
        limits=False,
        engine="bullet",
        fidelity="accurate",
        controller="cascade",
        gains={"position_gain": 4.5},
        comparison="analytic",
        comparison_input="forces",
    ),
    {"x": -3.25, "pitch": 1.5},
    SINE | {"loop": True, "playing": True} | PAGE,
)


@pytest.mark.parametrize("set_up", [WHOLE, SetUp("rss", Settings(), {}, {})])
def test_set_up_comes_back(set_up):
    assert as_set_up(set_up_text(set_up)) == set_up


def test_what_is_usual_is_left_out():
    text = set_up_text(SetUp("rss", Settings(), {"x": 0.0}, SINE | {"loop": False}))
    assert text.startswith("machine=rss&engine=mujoco&controller=cascade&motion=sine")
    assert "loop" not in text and "x=" not in text and "fidelity" not in text


def test_nonsense_names_its_field():
    assert_all_refused(
        as_set_up,
        [
            ("engine=mujoco", "machine"),
            ("machine=stewart&machine=rss", "set-up"),
            ("machine=stewart&file=run.npz", "set-up"),
            ("machine=stewart&engine=warp", "engine"),
            ("machine=stewart&limits=perhaps", "limits"),
            ("machine=stewart&gain.position_gain=nan", r"gains\.position_gain"),
            ("machine=stewart&loop=1", "loop"),
            ("machine=stewart&camera=", "camera"),
            ("machine=" + "a" * MAX_TEXT_LENGTH, "set-up"),
            ("&".join(f"gain.{k}=1" for k in range(100)), "set-up"),
        ],
    )
