"""Broken platform.toml files: each ends in one error that names the file and the field."""

from __future__ import annotations

import json
import math
import pickle
from typing import Any, NamedTuple

import pytest
from refusals import refused
from shipped import SHIPPED, shipped_content

import twin
from twin.errors import MachineNotFoundError, ParameterError
from twin.machine import read_parameters
from twin.machine.file.read import parameters_hash
from twin.machine.machine import parameters_path

MISSING = object()


class Fault(NamedTuple):
    """A change of a shipped file, and the field the error must name."""

    machine: str
    path: str
    value: Any
    field: str = ""


ROUND = {"source": "Test", "radius": 0.6, "half_spacing": 0.3, "center_angle": 0.0}
"""Pairs on a circle, to be used for base and platform alike."""

FAULTS = {
    "unknown field": Fault("stewart", "colour", "red"),
    "missing tensor": Fault("stewart", "leg.rod.inertia", MISSING, "leg.rod"),
    "inertia without mass": Fault("stewart", "leg.housing.mass", 0.0, "leg.housing"),
    "tube inside out": Fault("srspm", "leg.housing.inner_radius", 0.03, "leg.housing"),
    "cylinder without volume": Fault("srspm", "leg.rod.outer_radius", 1e-200, "leg.rod"),
    "not positive definite": Fault("stewart", "platform.body.inertia", [1.0, 1.0, -0.5]),
    "unsymmetric tensor": Fault(
        "stewart", "leg.housing.inertia", [[1.0, 0.1, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    ),
    "platform joints in one point": Fault(
        "stewart", "platform.joints.radius", 1e-9, "platform.joints"
    ),
    "base joints in two points": Fault(
        "stewart",
        "base.joints",
        {"source": "Test", "coordinates": [[0.4, 0.1 * (i % 2), 0.0] for i in range(6)]},
    ),
    "pairs that overlap": Fault("stewart", "base.joints.half_spacing", "60 deg"),
    "leg too short for home": Fault("stewart", "home.position", [0.0, 0.0, 0.5]),
    "minimum above maximum": Fault("stewart", "leg.actuator.minimum", 1.2, "leg.actuator"),
    "more for ever than in peak": Fault(
        "stewart", "leg.actuator.continuous_force", "4 kN", "leg.actuator"
    ),
    "joint without a direction": Fault(
        "rss",
        "leg.elbow_joint",
        {"source": "Test", "maximum_angle": 1.0, "neutral": [0.0, 0.0, 0.0]},
        "leg.elbow_joint.neutral",
    ),
    "quaternion of norm two": Fault("stewart", "home.orientation", [2.0, 0.0, 0.0, 0.0]),
    "no direction": Fault("srspm", "leg.first_axis", [0.0, 0.0, 0.0]),
    "mirrored leg 7": Fault("stewart", "leg.mirrored", [2, 7]),
    "unit of another quantity": Fault("stewart", "platform.body.mass", "97 N"),
    "NaN": Fault("stewart", "platform.body.mass", math.nan),
}

LEG_FAULTS = {
    "field of another kind": Fault("compliant_stewart", "leg.crank_length", 0.1),
    "rods too short to meet": Fault("rss", "leg.rod_length", 0.1, "home.position"),
    "rod with mass and density": Fault("rss", "leg.rod.mass", 0.4, "leg.rod"),
    "rod with density only": Fault("rss", "leg.rod.radius", MISSING, "leg.rod"),
    "unknown elbow": Fault("rss", "leg.branch", "upward"),
    "motor cannot reach home": Fault("rss", "leg.actuator.minimum", 0.05, "home.position"),
    "parts longer than the leg": Fault("compliant_stewart", "leg.housing_length", 0.4, "leg"),
    "dry friction without a transition": Fault(
        "driving_simulator",
        "leg.friction",
        {"source": "Test", "viscous": 0.0, "transition_speed": 0.0},
    ),
    "variant of leg 7": Fault("stewart", "variant", [{"source": "Test", "legs": [7]}]),
    "variant of another kind": Fault(
        "stewart", "variant", [{"source": "Test", "legs": [1], "kind": "strut"}], "variant.0.kind"
    ),
    "leg in two variants": Fault(
        "stewart",
        "variant",
        [{"source": "Test", "legs": [1, 2]}, {"source": "Test", "legs": [2]}],
        "variant.1.legs",
    ),
    "variant with an unknown field": Fault(
        "stewart",
        "variant",
        [{"source": "Test", "legs": [1], "actuator": {"maximun": 1.2}}],
        "variant.0.actuator.maximun",
    ),
    "variant that cannot be": Fault(
        "rss", "variant", [{"source": "Test", "legs": [1], "axis": [0.0, 0.0, 1.0]}], "variant.0"
    ),
    "variant with a foot of its own": Fault(
        "driving_simulator",
        "variant",
        [{"source": "Test", "legs": [1], "fixed_foot": 1}],
        "variant.0.fixed_foot",
    ),
    "configuration with the name of the file as it stands": Fault(
        "stewart", "configuration", {"ideal": {"source": "Test"}}, "configuration.ideal"
    ),
    "configuration in a configuration": Fault(
        "stewart",
        "configuration",
        {"a": {"source": "Test", "configuration": {}}},
        "configuration.a.configuration",
    ),
    "configuration that cannot be": Fault(
        "stewart",
        "configuration",
        {"heavy": {"source": "Test", "platform": {"body": {"mass": -1.0}}}},
        "configuration.heavy.platform.body.mass",
    ),
}


def changed(machine, changes):
    """Return the content of a shipped file with entries replaced or removed."""
    content = shipped_content(machine)
    for path, value in changes.items():
        *tables, last = path.split(".")
        table = content
        for name in tables:
            table = table[name]
        if value is MISSING:
            del table[last]
        else:
            table[last] = value
    return content


def to_toml(value):
    """Return a value as TOML; tables become inline tables."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {to_toml(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(to_toml(item) for item in value) + "]"
    if isinstance(value, float):
        return repr(value)
    return json.dumps(value)


def write(folder, content):
    """Write a platform.toml and return its path."""
    file = folder / "platform.toml"
    file.write_text("\n".join(f"{key} = {to_toml(value)}" for key, value in content.items()))
    return file


def failure(file):
    """Return the error that loading the file ends in; it names the file and pickles."""
    with pytest.raises(ParameterError) as caught:
        twin.load(file)
    error = caught.value
    assert error.file == file
    assert str(file) in str(error)
    assert error.problems
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error)
    return error


@pytest.mark.parametrize("name", SHIPPED)
def test_unchanged_files_load(name, tmp_path):
    """The faults below must come from the change, not from writing the file."""
    written = read_parameters(write(tmp_path, changed(name, {})))
    assert parameters_hash(written) == parameters_hash(read_parameters(SHIPPED[name]))


def test_fault_is_named(subtests, tmp_path):
    for fault in (FAULTS | LEG_FAULTS).values():
        with subtests.test(f"{fault}"):
            error = failure(write(tmp_path, changed(fault.machine, {fault.path: fault.value})))
            fields = [field for field, _ in error.problems]
            expected = fault.field or fault.path
            assert any(field == expected or field.startswith(expected + ".") for field in fields), (
                fields
            )
            for field, message in error.problems:
                assert field in str(error)
                assert message in str(error)
                assert len(message) > 5


def test_leg_along_its_first_axis(tmp_path, srspm):
    along = srspm.platform_joints[0] + srspm.home[:3] - srspm.base_joints[0]
    file = write(tmp_path, changed("srspm", {"leg.first_axis": along.tolist()}))
    assert failure(file).problems[0][0] == "leg.first_axis"


def test_vertical_legs_have_no_horizontal_axis(tmp_path):
    changes = {"base.joints": ROUND, "platform.joints": ROUND, "leg.first_axis": "horizontal"}
    changes["home.position"] = [0.0, 0.0, 1.2]
    problems = failure(write(tmp_path, changed("srspm", changes))).problems
    assert problems[0][0] == "leg.first_axis"


def test_joints_that_meet_at_home(tmp_path):
    changes = {"base.joints": ROUND, "platform.joints": ROUND, "home.position": [0.0, 0.0, 0.0]}
    assert failure(write(tmp_path, changed("srspm", changes))).problems[0][0] == "home.position"


def test_all_problems_are_listed(tmp_path):
    changes = {"gravity": -1.0, "leg.rod.mass": -1.0, "colour": "red"}
    fields = {field for field, _ in failure(write(tmp_path, changed("stewart", changes))).problems}
    assert fields == {"gravity", "leg.rod.mass", "colour"}


HINTS = {
    "misspelled": ("leg.actuator", {"maximun": 1.3, "minimum": 1.12}, "maximun", "'maximum'"),
    "misspelled table": ("leg.actuater", {}, "", "'actuator'"),
    "points under another name": ("base.joints", {"points": []}, "points", "unknown field"),
    "nothing like it": ("base", {"colour": "red"}, "colour", "check its spelling"),
}


def test_unknown_fields_are_named_with_what_is_close(subtests, tmp_path):
    for path, table, key, hint in HINTS.values():
        with subtests.test(f"{path}"):
            problems = dict(failure(write(tmp_path, changed("srspm", {path: table}))).problems)
            assert hint in problems[f"{path}.{key}".rstrip(".")]


MESSAGES = {
    "unknown kind of leg": (
        "leg.kind",
        "prs",
        "leg.kind",
        "unknown kind 'prs'; known: 'ups', 'strut', 'rss', 'viscoelastic', 'pillar'",
    ),
    "joints are a number": (
        "base.joints",
        5,
        "base.joints",
        "table with a 'layout': 'paired_circle', 'polar'",
    ),
    "unknown direction": ("leg.first_axis", "up", "leg.first_axis", "'horizontal' or three"),
    "no kind of leg": ("leg.kind", MISSING, "leg", "'ups', 'strut', 'rss', 'viscoelastic'"),
    "variant is a number": ("variant", [5], "variant.0", "must be a table"),
}


def test_messages_say_what_is_possible(subtests, tmp_path):
    for path, value, field, message in MESSAGES.values():
        with subtests.test(f"{path}"):
            (problem,) = failure(write(tmp_path, changed("stewart", {path: value}))).problems
            assert problem[0] == field
            assert message in problem[1]


def test_faults_of_all_legs_are_told_once(tmp_path):
    changes = {
        "leg.actuator.speed": -1.0,
        "variant": [{"source": "Test", "legs": [2], "actuator": {"force": -1.0}}],
    }
    fields = [field for field, _ in failure(write(tmp_path, changed("stewart", changes))).problems]
    assert fields == ["leg.actuator.speed", "variant.0.actuator.force"]


def test_an_unreachable_home_lists_all_lengths(tmp_path):
    """Joints in another order than the legs show in lengths that alternate."""
    message = failure(write(tmp_path, changed("stewart", {"platform.joints.shift": 4}))).problems
    assert message[0][0] == "home.position"
    assert message[0][1].count(", ") >= 5


GOOD = parameters_path("stewart").read_bytes()

CONTENTS = {
    "empty": b"",
    "key twice": GOOD + b'\n[leg]\nkind = "ups"\n',
    "cut off": GOOD[: len(GOOD) // 2] + b"= ",
    "byte order mark": b"\xef\xbb\xbf" + GOOD,
    "a list of tables": GOOD.replace(b"[home]", b"[[home]]"),
}


def test_files_that_are_no_description(subtests, tmp_path):
    for content in CONTENTS.values():
        with subtests.test(f"{content}"):
            file = tmp_path / "platform.toml"
            file.write_bytes(content)
            failure(file)


def test_unknown_machines_are_named(subtests):
    for name in [
        "no_such_machine",
        "/no/such/file.toml",
        "x" * 5000,
        "~nobody_of_that_name/platform.toml",
    ]:
        with subtests.test(f"{name}"):
            with pytest.raises(MachineNotFoundError) as caught:
                twin.load(name)
            assert caught.value.name == name
            assert caught.value.known == twin.machine_names()
            assert "stewart" in str(caught.value)
            assert isinstance(caught.value, FileNotFoundError)


def test_folders_are_no_files(tmp_path):
    with pytest.raises(MachineNotFoundError):
        twin.load(tmp_path)
    with pytest.raises(ParameterError, match="file"):
        read_parameters(tmp_path)


def test_names_of_another_type(subtests):
    for name in [None, 5, b"stewart", "", "stew\0art", ["stewart"], object()]:
        with subtests.test(f"{name}"), refused(field="machine"):
            twin.load(name)
