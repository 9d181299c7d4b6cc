"""Files that extend another one: what changes, what stays, and what is refused."""

import pytest

import twin
from twin.errors import ParameterError
from twin.machine.file.read import MAX_EXTENDS_DEPTH
from twin.machine.randomisation.sampler import nominal_values

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


def written(folder, text, name="mine.toml"):
    path = folder / name
    path.write_text(text)
    return path


@pytest.mark.parametrize("configuration", [None, "hardware"])
def test_single_numbers_replace_those_of_the_base(tmp_path, configuration):
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


CONFIGURED = """
extends = "stewart"
source = "Measured in the workshop"

[configuration.hardware.leg.drive]
friction_torque = 0.4

[configuration.loaded]
source = "Weighed with the camera"
[configuration.loaded.platform.body]
mass = "104 kg"
"""


def test_configurations_are_changed_and_added(tmp_path):
    path = written(tmp_path, CONFIGURED)
    base, found = twin.load("stewart", "hardware"), twin.load(path, "hardware")
    assert found.parameters.configuration is not None
    assert {"hardware", "loaded"} <= {*found.parameters.configuration.known}
    old, new = base.parameters.legs[0], found.parameters.legs[0]
    assert old.drive is not None and new.drive is not None
    changed = {"friction_torque": 0.4, "source": "Measured in the workshop"}
    assert new.drive.model_dump() == old.drive.model_dump() | changed
    assert new.encoder == old.encoder
    loaded = twin.load(path, "loaded").parameters
    assert loaded.platform.body.mass == 104.0
    assert loaded.platform.body.source == "Weighed with the camera"
    ideal = twin.load(path).parameters
    assert ideal.platform.body == base.parameters.platform.body
    assert ideal.legs[0].drive is None


def test_configurations_go_through_a_chain(tmp_path):
    text = CONFIGURED.replace('"stewart"', '"pi_h824"').replace("0.4", "1e-4")
    written(tmp_path, text)
    text = 'extends = "mine.toml"\nsource = "b"\n[configuration.loaded]\ngravity = 9.8\n'
    path = written(tmp_path, text, "again.toml")
    loaded = twin.load(path, "loaded").parameters
    assert (loaded.gravity, loaded.platform.body.mass) == (9.8, 104.0)
    drive = twin.load(path, "hardware").parameters.legs[0].drive
    assert drive is not None
    assert drive.model_dump()["friction_torque"] == 1e-4


def test_generic_drives_are_those_of_the_new_actuators(tmp_path):
    text = 'extends = "tssm_l16"\nsource = "a"\n[leg.actuator]\nforce = "5 kN"\n'
    force = [
        leg.drive.model_dump()["peak"]
        for machine in ("tssm_l16", written(tmp_path, text))
        for leg in twin.load(machine, "hardware").parameters.legs[:1]
        if leg.drive is not None
    ]
    assert force[1] == 5000.0 != force[0]


def test_a_base_that_changes_is_read_again(tmp_path):
    text = 'extends = "mine.toml"\nsource = "second"\n[platform.body]\nmass = 90\n'
    path = written(tmp_path, text, "again.toml")
    for speed in ("0.2 m/s", "0.3 m/s"):
        base = f'extends = "stewart"\nsource = "a"\n[leg.actuator]\nspeed = "{speed}"\n'
        written(tmp_path, base)
        found = twin.load(path).parameters
        assert found.legs[0].actuator.speed == float(speed.split()[0])
        assert found.platform.body.mass == 90.0


def test_what_cannot_be_extended_is_refused(subtests, tmp_path):
    for text, field, words in [
        ('extends = "nope"\nsource = "x"', "extends", "no such file"),
        ('extends = "mine.toml"\nsource = "x"', "extends", "in a circle"),
        ("extends = 3", "extends", "name of a machine"),
        ('extends = "stewart"', "source", "missing"),
        ('extends = "stewart"\nsource = "x"\nconfiguration = "soft"', "configuration", "hardware"),
        (
            'extends = "stewart"\nsource = "x"\n[configuration]\nhardware = 3',
            "configuration.hardware",
            "must be a table",
        ),
        (
            'extends = "stewart"\nsource = "x"\n[configuration.Soft]\ngravity = 1',
            "configuration.Soft",
            "lower-case",
        ),
        (
            'extends = "stewart"\nsource = "x"\n[configuration.soft.leg]\nkind = "prs"',
            "configuration.soft.leg.kind",
            "'ups'",
        ),
        (
            'extends = "stewart"\nsource = "x"\n[platform.body]\nmas = 3',
            "platform.body.mas",
            "mass",
        ),
        ('extends = "stewart"\nsource = "x"\n[leg.7.actuator]\nspeed = 1', "variant", "leg 7"),
        (f'extends = "stewart"\nsource = "x"\n[leg.{"9" * 5000}]\na = 1', "leg.99", "unknown"),
    ]:
        with subtests.test(f"{text}"):
            with pytest.raises(ParameterError) as caught:
                twin.load(written(tmp_path, text))
            message = str(caught.value)
            assert f"  {field}" in message
            assert words in message


def test_single_legs_need_variants_that_are_tables(subtests, tmp_path):
    for variant in ["3", "[3]", "[{}]", "[{legs = 3}]", "'x'", "{a = 1}"]:
        with subtests.test(f"{variant}"):
            text = f'extends = "stewart"\nsource = "x"\nvariant = {variant}\n'
            text += "[leg.3.drive]\ndelay = 0.001"
            with pytest.raises(ParameterError, match="variant: must be a list of tables"):
                twin.load(written(tmp_path, text))


def test_a_long_chain_is_no_circle(tmp_path):
    """As many files as are allowed can be read; one more makes the chain too long."""
    base = "stewart"
    for number in range(1, MAX_EXTENDS_DEPTH):
        text = f'extends = "{base}"\nsource = "x"\n'
        base = written(tmp_path, text, f"file_{number}.toml").name
    assert twin.load(tmp_path / base).name == "stewart"
    text = f'extends = "{base}"\nsource = "x"\n'
    with pytest.raises(
        ParameterError, match=f"extends: is a chain of more than {MAX_EXTENDS_DEPTH} files"
    ):
        twin.load(written(tmp_path, text, "last.toml"))
