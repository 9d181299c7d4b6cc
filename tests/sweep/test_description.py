"""Descriptions of sweeps: texts and tables mean the same, and faults name their field."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from refusals import refused

from twin.control import controller_names
from twin.errors import ParameterError
from twin.sweep import ControllerChoice, PayloadChoice, Sweep, plan, read_sweep
from twin.sweep.plan import Range, read_values

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
platform.body.mass = "90:110:3"
motion.frequency = "1:100:3:logarithmic"
"""


def written(folder, text):
    """Return a file with the text."""
    file = folder / "sweep.toml"
    file.write_text(text)
    return file


def test_a_file_is_what_it_says(tmp_path):
    sweep = read_sweep(written(tmp_path, FILE))
    assert sweep.engines == ("mujoco",)
    assert sweep.seeds == (0, 1, 2)
    names = [choice.title for choice in sweep.controllers]
    assert names == ["cascade", "computed_torque", "cascade:position_gain=4.0"]
    titles = [payload.title for payload in sweep.payloads]
    assert titles == ["none", "50 kg at 0, 0, 0.2 m", "occupant 1.75 m, 80 kg"]
    assert list(sweep.parameters) == [
        "leg.actuator.force",
        "platform.body.mass",
        "motion.frequency",
    ]
    frequencies = read_values(sweep.parameters["motion.frequency"], "Hz")
    assert isinstance(frequencies, Range)
    assert_allclose(frequencies.grid(), [1.0, 10.0, 100.0], rtol=1e-12)


def test_what_is_written_out_reads_back(tmp_path):
    sweep = read_sweep(written(tmp_path, FILE))
    assert Sweep(**sweep.model_dump(mode="json")) == sweep


def test_values_as_text(subtests):
    for text, numbers in [
        ("3", (3.0,)),
        ("1, 2,5", (1.0, 2.0, 5.0)),
        ("0:0.004:5", (0.0, 0.001, 0.002, 0.003, 0.004)),
        ("2:1:2", (2.0, 1.0)),
        ("7:9:1", (7.0,)),
    ]:
        with subtests.test(f"{text}"):
            found = read_values((text,), "m/s2")
            listed = found.grid() if isinstance(found, Range) else found
            assert_allclose(listed, numbers, rtol=1e-12)


def test_ranges_hold_their_ends_exactly():
    for spacing in ("linear", "logarithmic"):
        numbers = Range(0.1, 0.7, 7, spacing).grid()
        assert (numbers[0], numbers[-1]) == (0.1, 0.7)


def test_controllers_as_text():
    choice = ControllerChoice.model_validate("cascade:position_gain=4,period=0.002,model=nominal")
    assert choice.options == {"position_gain": 4, "period": 0.002}
    assert choice.model == "nominal"
    for name in controller_names():
        assert ControllerChoice.model_validate(name.replace("_", " ")).name == name


def test_payloads_as_text():
    assert PayloadChoice.model_validate("50") == PayloadChoice(mass=50)
    person = PayloadChoice.model_validate("occupant:1.6:55").occupant
    assert person is not None
    assert (person.stature, person.mass) == (1.6, 55.0)


def test_payloads_that_differ_have_different_titles():
    person = {"stature": 1.75, "mass": 80}
    choices = [
        {"mass": 50},
        {"mass": 50, "center": [0, 0, 0.2]},
        {"mass": 50, "inertia": [1, 1, 2]},
        {"occupant": person},
        {"occupant": person | {"sex": "female"}},
        {"occupant": person | {"wheelchair": True}},
    ]
    titles = [PayloadChoice.model_validate(choice).title for choice in choices]
    assert len(set(titles)) == len(titles), titles


def test_faults_name_their_field(subtests):
    for changes, field, words in [
        ({"engine": "mujoco"}, "engine", "unknown field"),
        ({"engines": []}, "engines", "at least 1"),
        ({"controllers": "pid"}, "controllers", "cascade"),
        ({"controllers": "cascade:gain"}, "controllers", "option=value"),
        ({"payloads": "a:b"}, "payloads", "stature"),
        ({"payloads": {"mass": 1, "occupant": {"stature": 2, "mass": 80}}}, "payloads", "not both"),
        ({"payloads": {"center": [0, 0, 1]}}, "payloads", "no mass"),
        ({"controllers": "cascade:model=1"}, "controllers", "nominal"),
        ({"controllers": ["cascade", "cascade"]}, "controllers", "give them labels"),
        ({"seeds": 0}, "seeds", "1 to "),
        ({"controllers": "cascade:gain=1,gain=2"}, "controllers", "given twice"),
        ({"parameters": {"gravity": "0:1"}}, "parameters.gravity", "add a count"),
        ({"parameters": {"gravity": "0:1:0"}}, "parameters.gravity", "count"),
        ({"parameters": {"gravity": "nine"}}, "parameters.gravity", "nine"),
        ({"parameters": {"gravity": "1, inf"}}, "parameters.gravity", "finite"),
        ({"parameters": {"gravity": "0:1:3:logarithmic"}}, "parameters.gravity", "above zero"),
        ({"parameters": {"gravity": "0:1:3"}, "samples": 4}, "parameters.gravity", "leave"),
        ({"parameters": {"gravity": [1]}, "samples": 4}, "samples", "a range"),
        ({"motion": {"length": 1}}, "motion.length", "unknown field"),
        ({"measure": "no function"}, "measure", "pattern"),
    ]:
        with subtests.test(f"{changes}"):
            with refused(words) as caught:
                plan(Sweep(**({"machine": "stewart"} | changes)))
            assert caught.value.field.startswith(field)


def test_a_file_with_faults_names_them_all(tmp_path):
    file = written(tmp_path, "machine = 'stewart'\nseeds = 0\nengin = 'mujoco'\n")
    with pytest.raises(ParameterError) as caught:
        read_sweep(file)
    assert {field for field, _ in caught.value.problems} == {"seeds", "engin"}
    assert caught.value.file == file


@pytest.mark.parametrize("text", ["machine = ", "\x00"])
def test_no_toml(tmp_path, text):
    with pytest.raises(ParameterError, match="TOML"):
        read_sweep(written(tmp_path, text))
    with pytest.raises(ParameterError, match="cannot be read"):
        read_sweep(tmp_path / "absent.toml")


@pytest.mark.quick
def test_values_with_units_are_those_in_si():
    """Texts and lists; of machine and motion."""
    expected = {
        ("leg.drive.delay", "0:4 ms:3"): (0.0, 0.002, 0.004),
        ("leg.actuator.force", "1 kN:500 lbf:2"): (1000.0, 500 * 4.4482216152605),
        ("base.joints.radius", ("630 mm", 0.64)): (0.63, 0.64),
        ("leg.actuator.power", "1 hp"): (745.69987158227022,),
        ("motion.amplitude", "1 deg, 0.02"): (np.radians(1.0), 0.02),
        ("motion.frequency", "1 Hz:10 Hz:2:logarithmic"): (1.0, 10.0),
    }
    sweep = Sweep(
        machine="stewart",
        configurations="hardware",
        motion={"axis": "pitch"},
        parameters=dict(expected.keys()),
        payloads=("50 lb", "occupant:175 cm:80 kg"),
    )
    points = [task.values for task in plan(sweep)]
    for (path, _), numbers in expected.items():
        found = list(dict.fromkeys(point[path] for point in points))
        assert_allclose(found, numbers, rtol=1e-12, err_msg=path)
    assert sweep.payloads[0].mass == pytest.approx(50 * 0.45359237)
    person = sweep.payloads[1].occupant
    assert person is not None and (person.stature, person.mass) == (1.75, 80.0)


@pytest.mark.quick
def test_units_of_another_kind_are_refused(subtests):
    for path, words in [
        ("platform.body.mass", "a unit of angle, not of mass"),
        ("motion.amplitude", "a unit of angle, not of length"),
        ("controller.position_gain", "write a plain number"),
        ("leg.drive.delay", "no such number"),
    ]:
        with subtests.test(f"{path}"), refused(f"{path}.*{words}"):
            plan(Sweep(machine="stewart", parameters={path: "1 deg"}))
