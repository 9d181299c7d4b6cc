"""Descriptions of sweeps: texts and tables mean the same, and faults name their field."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from twin.control import controller_names
from twin.errors import InputError, ParameterError
from twin.sweep import ControllerChoice, PayloadChoice, Range, Sweep, read_sweep

FILE = """
machine = "stewart"
configurations = ["", "hardware"]
engines = "mujoco"
fidelity = "fast"
controllers = ["cascade", "computed torque", {name = "cascade", options = {position_gain = 4.0}}]
payloads = [0, {mass = 50, center = [0, 0, 0.2]}, {occupant = {stature = 1.75, mass = 80}}]
seeds = 3

[motion]
name = "chirp"
axis = "pitch"
duration = 2

[parameters]
"leg.actuator.force" = [2000, 3000]
platform.body.mass = {start = 90, stop = 110, count = 3}
motion.frequency = "1:100:3:logarithmic"
"""


def written(folder: Path, text: str) -> Path:
    """Return a file with the text."""
    file = folder / "sweep.toml"
    file.write_text(text)
    return file


def test_a_file_is_what_it_says(tmp_path: Path) -> None:
    sweep = read_sweep(written(tmp_path, FILE))
    assert sweep.engines == ("mujoco",)
    assert sweep.seeds == (0, 1, 2)
    names = [choice.title for choice in sweep.controllers]
    assert names == ["cascade", "computed_torque", "cascade:position_gain=4.0"]
    titles = [payload.title for payload in sweep.payloads]
    assert titles == ["none", "50 kg", "occupant 1.75 m, 80 kg"]
    assert list(sweep.parameters) == [
        "leg.actuator.force",
        "platform.body.mass",
        "motion.frequency",
    ]
    frequencies = sweep.parameters["motion.frequency"]
    assert isinstance(frequencies, Range)
    np.testing.assert_allclose(frequencies.numbers(), [1.0, 10.0, 100.0], rtol=1e-12, atol=0)


def test_what_is_written_out_reads_back(tmp_path: Path) -> None:
    sweep = read_sweep(written(tmp_path, FILE))
    assert Sweep(**sweep.model_dump(mode="json")) == sweep


def test_a_sweep_cannot_be_changed() -> None:
    with pytest.raises(ValidationError):
        Sweep(machine="stewart").machine = "srspm"  # type: ignore[misc]


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("3", (3.0,)),
        ("1, 2,5", (1.0, 2.0, 5.0)),
        ("0:0.004:5", (0.0, 0.001, 0.002, 0.003, 0.004)),
        ("2:1:2", (2.0, 1.0)),
        ("7:9:1", (7.0,)),
    ],
)
def test_values_as_text(text: str, numbers: tuple[float, ...]) -> None:
    found = Sweep(machine="srspm", parameters={"gravity": text}).parameters["gravity"]
    listed = found.numbers() if isinstance(found, Range) else found
    np.testing.assert_allclose(listed, numbers, rtol=1e-12, atol=0)


def test_ranges_hold_their_ends_exactly() -> None:
    for spacing in ("linear", "logarithmic"):
        numbers = Range(start=0.1, stop=0.7, count=7, spacing=spacing).numbers()
        assert (numbers[0], numbers[-1]) == (0.1, 0.7)


def test_controllers_as_text() -> None:
    choice = ControllerChoice.model_validate("cascade:position_gain=4,period=0.002,model=nominal")
    assert choice.options == {"position_gain": 4, "period": 0.002}
    assert choice.model == "nominal"
    for name in controller_names():
        assert ControllerChoice.model_validate(name.replace("_", " ")).name == name


def test_payloads_as_text() -> None:
    assert PayloadChoice.model_validate("50") == PayloadChoice(mass=50)
    person = PayloadChoice.model_validate("occupant:1.6:55").occupant
    assert person is not None
    assert (person.stature, person.mass) == (1.6, 55.0)


@pytest.mark.parametrize(
    ("changes", "field", "words"),
    [
        ({"engine": "mujoco"}, "engine", "unknown field"),
        ({"engines": "ode"}, "engines", "mujoco"),
        ({"engines": []}, "engines", "at least 1"),
        ({"controllers": "pid"}, "controllers", "cascade"),
        ({"controllers": "cascade:gain"}, "controllers", "option=value"),
        ({"payloads": -1}, "payloads", "greater"),
        ({"payloads": "a:b"}, "payloads", "stature"),
        ({"payloads": {"mass": 1, "occupant": {"stature": 2, "mass": 80}}}, "payloads", "not both"),
        ({"seeds": 0}, "seeds", "one or more"),
        ({"seeds": [-1]}, "seeds", "greater"),
        ({"timestep": 0}, "timestep", "greater"),
        ({"parameters": {"gravity": "0:1"}}, "sweep", "add a count"),
        ({"parameters": {"gravity": "0:1:x"}}, "parameters.gravity", "integer"),
        ({"parameters": {"gravity": "nine"}}, "parameters.gravity", "no number"),
        ({"parameters": {"gravity": float("nan")}}, "parameters.gravity", "finite"),
        ({"parameters": {"gravity": []}}, "parameters.gravity", "at least 1"),
        ({"parameters": {"gravity": "0:1:3:logarithmic"}}, "parameters.gravity", "above zero"),
        ({"parameters": {"motion.axis": 1}}, "parameters", "motion.frequency"),
        ({"parameters": {"gravity": "0:1:3"}, "sampling": {"count": 4}}, "sweep", "leave"),
        ({"parameters": {"gravity": [1]}, "sampling": {"count": 4}}, "sweep", "a range"),
        ({"measure": "no function"}, "measure", "pattern"),
    ],
)
def test_faults_name_their_field(changes: dict[str, Any], field: str, words: str) -> None:
    with pytest.raises(InputError, match=words) as caught:
        Sweep(**({"machine": "stewart"} | changes))
    assert caught.value.field.startswith(field)


def test_a_file_with_faults_names_them_all(tmp_path: Path) -> None:
    file = written(tmp_path, "machine = 'stewart'\nseeds = 0\nengin = 'mujoco'\n")
    with pytest.raises(ParameterError) as caught:
        read_sweep(file)
    assert {field for field, _ in caught.value.problems} == {"seeds", "engin"}
    assert caught.value.file == file


@pytest.mark.parametrize("text", ["machine = ", "\x00"])
def test_no_toml(tmp_path: Path, text: str) -> None:
    with pytest.raises(ParameterError, match="TOML"):
        read_sweep(written(tmp_path, text))
    with pytest.raises(ParameterError, match="cannot be read"):
        read_sweep(tmp_path / "absent.toml")


@pytest.mark.quick
def test_values_with_units_are_those_in_si() -> None:
    """Texts, tables and lists; of machine and motion; a unit that a configuration alone has."""
    sweep = Sweep(
        machine="stewart",
        configurations=("", "hardware"),
        motion={"axis": "pitch"},
        parameters={
            "leg.drive.delay": "0:4 ms:5",
            "leg.actuator.force": {"start": "1 kN", "stop": "500 lbf", "count": 3},
            "base.joints.radius": ["630 mm", 0.64],
            "leg.actuator.power": "1 hp",
            "motion.amplitude": "1 deg, 0.02",
            "motion.frequency": "1 Hz:10 Hz:4:logarithmic",
        },
        payloads=("50 lb", "occupant:175 cm:80 kg"),
    )
    assert sweep.parameters == {
        "leg.drive.delay": Range(start=0.0, stop=0.004, count=5),
        "leg.actuator.force": Range(start=1000.0, stop=500 * 4.4482216152605, count=3),
        "base.joints.radius": (0.63, 0.64),
        "leg.actuator.power": (pytest.approx(745.69987158227022),),
        "motion.amplitude": (pytest.approx(np.radians(1.0)), 0.02),
        "motion.frequency": Range(start=1.0, stop=10.0, count=4, spacing="logarithmic"),
    }
    assert sweep.payloads[0].mass == pytest.approx(50 * 0.45359237)
    person = sweep.payloads[1].occupant
    assert person is not None and (person.stature, person.mass) == (1.75, 80.0)


@pytest.mark.quick
@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("platform.body.mass", "a unit of angle, not of mass"),
        ("motion.amplitude", "a unit of angle, not of length"),
        ("controller.position_gain", "has a unit, but this is a plain number"),
        ("leg.drive.delay", "no such number"),
    ],
)
def test_units_of_another_kind_are_refused(path: str, words: str) -> None:
    with pytest.raises(InputError, match=f"{path}.*{words}"):
        Sweep(machine="stewart", parameters={path: "1 deg"})
