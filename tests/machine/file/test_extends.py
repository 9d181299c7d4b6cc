"""Files that extend another one: what changes, what stays, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

import twin
from twin.errors import ParameterError
from twin.machine import MachineParameters
from twin.machine.randomisation.paths import nominal_values

pytestmark = pytest.mark.quick

IDENTIFIED = """
extends = "stewart"
configuration = "hardware"
source = "Identified from run.mcap"

[identified]
date = 2026-11-22

[platform.body]
mass = "99.5 kg"

[leg.drive]
delay = "3 ms"

[leg.2.drive]
friction_torque = 0.3
"""


def written(folder: Path, text: str, name: str = "mine.toml") -> Path:
    path = folder / name
    path.write_text(text)
    return path


@pytest.mark.parametrize("configuration", [None, "hardware"])
def test_single_numbers_replace_those_of_the_base(
    tmp_path: Path, configuration: str | None
) -> None:
    found = twin.load(written(tmp_path, IDENTIFIED), configuration).parameters
    base = twin.load("stewart", configuration="hardware").parameters
    assert found.platform.body.mass == 99.5
    assert found.platform.body.source == "Identified from run.mcap"
    friction = nominal_values(found, "leg.drive.friction_torque")
    assert friction == {
        f"leg.{k}.drive.friction_torque": 0.3 if k == 2 else 0.23 for k in range(1, 7)
    }
    drives = [leg.drive for leg in found.legs]
    assert all(drive is not None and drive.delay == 0.003 for drive in drives)
    assert found.imu == base.imu
    assert found.legs[0].housing == base.legs[0].housing
    assert found.name == "stewart"


def test_a_file_extends_one_that_extends(tmp_path: Path) -> None:
    written(tmp_path, IDENTIFIED)
    text = 'extends = "mine.toml"\nsource = "second"\n[leg.2.drive]\nviscous_torque = 0.001\n'
    path = written(tmp_path, text, "again.toml")
    drive = twin.load(path).parameters.legs[1].drive
    assert drive is not None
    assert drive.model_dump()["friction_torque"] == 0.3
    assert drive.model_dump()["viscous_torque"] == 0.001


def test_a_base_that_changes_is_read_again(tmp_path: Path) -> None:
    text = 'extends = "mine.toml"\nsource = "second"\n[platform.body]\nmass = 90\n'
    path = written(tmp_path, text, "again.toml")
    for speed in ("0.2 m/s", "0.3 m/s"):
        base = f'extends = "stewart"\nsource = "a"\n[leg.actuator]\nspeed = "{speed}"\n'
        written(tmp_path, base)
        found: MachineParameters = twin.load(path).parameters
        assert found.legs[0].actuator.speed == float(speed.split()[0])
        assert found.platform.body.mass == 90.0


@pytest.mark.parametrize(
    ("text", "field", "words"),
    [
        ('extends = "nope"\nsource = "x"', "extends", "no such file"),
        ('extends = "mine.toml"\nsource = "x"', "extends", "in a circle"),
        ("extends = 3", "extends", "name of a machine"),
        ('extends = "stewart"', "source", "missing"),
        ('extends = "stewart"\nsource = "x"\nconfiguration = "soft"', "configuration", "hardware"),
        (
            'extends = "stewart"\nsource = "x"\n[platform.body]\nmas = 3',
            "platform.body.mas",
            "mass",
        ),
        ('extends = "stewart"\nsource = "x"\n[leg]\n2 = 3', "leg.2", "table"),
        ('extends = "stewart"\nsource = "x"\n[leg.7.actuator]\nspeed = 1', "variant", "leg 7"),
    ],
)
def test_what_cannot_be_extended_is_refused(
    tmp_path: Path, text: str, field: str, words: str
) -> None:
    with pytest.raises(ParameterError) as caught:
        twin.load(written(tmp_path, text))
    message = str(caught.value)
    assert f"  {field}" in message
    assert words in message
