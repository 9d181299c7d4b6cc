"""[leg.drive], [leg.encoder] and [control] of a file: units, derived numbers, refusals."""

import pytest
from shipped import SHIPPED, shipped_content

from twin.errors import InputError, ParameterError
from twin.machine import MachineParameters, read_parameters
from twin.machine.file.read import generic_hardware, parameters_from
from twin.machine.hardware.drive import DirectDrive, GearDrive, ScrewDrive

KINDS = {
    "screw": (ScrewDrive, {"lead": "5 mm", "armature_inertia": "5 kg cm2"}),
    "direct": (DirectDrive, {"moving_mass": "4 kg"}),
    "gear": (GearDrive, {"ratio": 30.0, "armature_inertia": "1e-3 kg m2"}),
}
MACHINE = {"screw": "stewart", "direct": "srspm", "gear": "rss"}

SPRING = {
    "screw": {"stiffness": "20 N/um", "damping": "14 kN s/m"},
    "direct": {"stiffness": "20 N/um", "damping": "14 kN s/m"},
    "gear": {"stiffness": "100 kN m/rad", "damping": "100 N m s/rad"},
}


def content(kind, **drive):
    """Return a shipped file with a drive that is complete but for what is given as None."""
    file = shipped_content(MACHINE[kind])
    table = {"source": "Test", "kind": kind, **KINDS[kind][1], **SPRING[kind], **drive}
    file["leg"]["drive"] = {key: value for key, value in table.items() if value is not None}
    return file


def read(kind, **drive):
    """Return a drive as a file with it is read."""
    found = parameters_from(content(kind, **drive), "platform.toml").legs[0].drive
    assert isinstance(found, KINDS[kind][0])
    return found


def refusal(file):
    """Return the field and the message of the one problem of a file."""
    with pytest.raises(ParameterError) as caught:
        parameters_from(file, "platform.toml")
    (problem,) = caught.value.problems
    return problem


# Units and what comes of them


def test_a_direct_drive_is_what_it_is():
    seen = read("direct", friction="3 N", viscous="2 N s/m", brake="50 N").reflected()
    assert (seen.inertia, seen.friction, seen.viscous, seen.brake) == (4.0, 3.0, 2.0, 50.0)


@pytest.mark.parametrize("name", SHIPPED)
def test_every_machine_has_hardware(name):
    parameters = read_parameters(SHIPPED[name], "hardware")
    assert all(leg.drive is not None and leg.encoder is not None for leg in parameters.legs)
    plain = read_parameters(SHIPPED[name])
    assert all(leg.drive is None and leg.encoder is None for leg in plain.legs)
    again = MachineParameters.model_validate_json(parameters.model_dump_json())
    assert again == parameters


# Refusals


WRONG = {
    "negative inertia": ("screw", {"armature_inertia": -1e-4}, "armature_inertia"),
    "lead zero": ("screw", {"lead": 0.0}, "lead"),
    "friction falls when it breaks away": ("screw", {"breakaway": 0.9}, "breakaway"),
    "damping in N m/krpm": ("screw", {"damping": "0.14 N m/krpm"}, "damping"),
}


def test_numbers_that_make_no_sense_are_refused_by_name(subtests):
    for name in WRONG:
        with subtests.test(f"{name}"):
            kind, change, field = WRONG[name]
            place, message = refusal(content(kind, **change))
            assert place.startswith("leg.drive")
            assert place.endswith(field)
            assert message


MECHANISMS = {
    "friction without inertia": (
        "screw",
        {"armature_inertia": None, "friction_torque": 0.1},
        "friction is on the motor's side",
    ),
    "play without inertia": (
        "direct",
        {"moving_mass": None, "backlash": "0.1 mm"},
        "backlash is on the motor's side",
    ),
    "inertia without stiffness": ("screw", {"stiffness": None}, "give stiffness and damping"),
    "inertia without damping": ("gear", {"damping": None}, "give stiffness and damping"),
    "stops without stiffness": (
        "direct",
        {"moving_mass": None, "stiffness": None, "overtravel": "5 mm"},
        "end stops are as stiff as the transmission",
    ),
    "hair-fine lead": ("screw", {"lead": 1e-300}, "inertia comes to"),
}


def test_mechanisms_that_cannot_be_are_refused(subtests):
    for name in MECHANISMS:
        with subtests.test(f"{name}"):
            kind, change, words = MECHANISMS[name]
            place, message = refusal(content(kind, **change))
            assert place.startswith("leg.drive")
            assert words in message


def test_cranks_take_gears_and_legs_take_none():
    for machine, kind in (("rss", "screw"), ("stewart", "gear")):
        file = shipped_content(machine)
        file["leg"]["drive"] = content(kind)["leg"]["drive"]
        with pytest.raises(ParameterError, match="drive"):
            parameters_from(file, "platform.toml")


def test_encoders_count_in_whole_numbers(subtests):
    for counts in [0, -5, 4096.5, "4096", None, True]:
        with subtests.test(f"{counts}"):
            file = content("screw")
            file["leg"]["encoder"] = {"source": "Test", "counts": counts}
            if counts is None:
                del file["leg"]["encoder"]["counts"]
            place, _ = refusal(file)
            assert place == "leg.encoder.counts"


def test_gains_that_make_no_sense_are_refused(subtests):
    for change, field in [
        ({"velocity_gain": -1.0}, "velocity_gain"),
        ({"velocity_gain": "20 N/mm"}, "velocity_gain"),
        ({"velocity_time": 0.0}, "velocity_time"),
        ({"position_gain": 0.0}, "position_gain"),
        ({"position_integral": -1.0}, "position_integral"),
        ({"feedforward_rise": "-1 ms"}, "feedforward_rise"),
        ({"gain": 1.0}, "gain"),
    ]:
        with subtests.test(f"{change}"):
            file = shipped_content("stewart")
            file["control"] |= change
            place, _ = refusal(file)
            assert place == f"control.{field}"


def test_generic_drives_of_a_machine_of_no_mass_are_refused():
    file = shipped_content("compliant_stewart")
    file["platform"]["body"]["mass"] = 1e-310
    machine = parameters_from(file, "platform.toml")
    with pytest.raises(InputError, match="too small for drives of its size"):
        generic_hardware(machine)
