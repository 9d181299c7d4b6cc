"""Unequal legs, and named changes of a whole file."""

import numpy as np
import pytest
from legs_at_home import leg_bodies
from numpy.testing import assert_array_equal
from refusals import refused
from shipped import OF_KIND, SHIPPED, machine_of_kind, shipped_content

import twin
from twin.machine import MachineParameters, read_parameters
from twin.machine.file.read import describe, parameters_from, parameters_hash, write_template
from twin.machine.legs import LEG_KINDS
from twin.machine.legs.ups import UpsLeg
from twin.machine.quantity import merged

pytestmark = pytest.mark.quick

CHANGES = {
    "ups": {"rod": {"mass": 12.0}},
    "strut": {"axial": {"stiffness": "15 N/um"}},
    "rss": {"crank_length": 0.80, "actuator": {"minimum": -1.0, "maximum": 1.0}},
    "viscoelastic": {"stiffness": "45 kN/m"},
    "pillar": {"upper_mass": 30.0},
    "rps": {"rod": {"mass": 0.02}},
    "rrs": {"crank_length": 0.045},
    "upu": {"screw": {"hand": "left"}},
}
assert set(CHANGES) == set(LEG_KINDS)


def with_variant(kind, **variant):
    """Return the machine on legs of a kind whose legs 2 and 3 differ."""
    content = shipped_content(OF_KIND[kind])
    content["variant"] = [{"legs": [2, 3], "source": "Workshop", **variant}]
    return parameters_from(content, "platform.toml")


def test_only_the_legs_of_a_variant_differ(subtests):
    for kind in LEG_KINDS:
        with subtests.test(f"{kind}"):
            parameters = with_variant(kind, **CHANGES[kind])
            common = parameters.leg
            assert common == machine_of_kind(kind).leg
            assert len(parameters.legs) == len(parameters.base.joints.points)
            for number, leg in enumerate(parameters.legs, start=1):
                assert (leg == common) == (number not in (2, 3))
                assert leg.kind == kind
            assert parameters.leg_table(2) == "variant.0"
            assert parameters.leg_table(1) == "leg"


def test_variants_survive_json(subtests):
    for kind in LEG_KINDS:
        with subtests.test(f"{kind}"):
            parameters = with_variant(kind, **CHANGES[kind])
            again = MachineParameters.model_validate_json(parameters.model_dump_json())
            assert again == parameters
            assert parameters_hash(again) == parameters_hash(parameters)
            assert parameters_hash(parameters) != parameters_hash(machine_of_kind(kind))


def test_the_other_entries_of_a_changed_table_stay():
    parameters = with_variant("ups", rod={"mass": 12.0})
    first, second = parameters.legs[:2]
    assert isinstance(first, UpsLeg)
    assert isinstance(second, UpsLeg)
    assert (first.rod.mass, second.rod.mass) == (11.7, 12.0)
    assert second.rod.source == "Workshop"
    assert second.source == first.source
    assert first.rod.model_copy(update={"mass": 12.0, "source": "Workshop"}) == second.rod
    assert_array_equal(leg_bodies(parameters).rod_mass[:4], [11.7, 12.0, 12.0, 11.7])


def test_a_body_of_another_kind_replaces_the_whole_table():
    tube = {"kind": "cylinder", "density": 7850.0, "outer_radius": 0.02, "length": 0.7}
    second = with_variant("ups", rod={**tube, "start": -0.7}).legs[1]
    assert isinstance(second, UpsLeg)
    assert second.rod.kind == "cylinder"
    assert second.rod.source == "Workshop"


def test_variants_change_where_legs_are_at_home():
    """A shorter crank stands at another angle; the other legs do not know."""
    found = with_variant("rss", **CHANGES["rss"]).home_coordinates
    usual = machine_of_kind("rss").home_coordinates
    assert_array_equal(found[[0, 3, 4, 5]], usual[[0, 3, 4, 5]])
    assert (np.abs(found[[1, 2]] - usual[[1, 2]]) > 1e-3).all()


def test_a_variant_is_described_by_what_differs(subtests):
    for kind in LEG_KINDS:
        with subtests.test(f"{kind}"):
            parameters = with_variant(kind, **CHANGES[kind])
            rows = [row for row in describe(parameters) if row.table.startswith("variant")]
            names = {row.name for row in rows}
            changed = {key for key, value in CHANGES[kind].items() if not isinstance(value, dict)}
            inner = {
                key for value in CHANGES[kind].values() if isinstance(value, dict) for key in value
            }
            assert names == {"legs"} | changed | inner
            assert {row.table.split(".")[1] for row in rows} == {"0"}
            others = [row for row in describe(parameters) if not row.table.startswith("variant")]
            assert others == describe(machine_of_kind(kind))


def simulator(configuration=None, **changes):
    """Return the driving simulator with a configuration."""
    return parameters_from(
        shipped_content("driving_simulator") | changes, "platform.toml", configuration
    )


def test_hardware_has_friction():
    plain, hardware = simulator(), simulator("hardware")
    assert plain.leg.model_dump()["friction"] is None
    friction = hardware.leg.model_dump()["friction"]
    assert (friction["viscous"], friction["coulomb"]) == (200.0, 0.0)
    assert friction["source"].startswith("Adopted")
    assert hardware.title != plain.title
    assert hardware.home == plain.home
    assert hardware.leg.source == plain.leg.source
    assert parameters_hash(hardware) != parameters_hash(plain)


def test_configurations_are_listed():
    for configuration in (None, "hardware"):
        parameters = simulator(configuration)
        assert parameters.configuration is not None
        assert parameters.configuration.known == ("hardware",)
        assert parameters.configuration.applied == (configuration or "")
        again = MachineParameters.model_validate_json(parameters.model_dump_json())
        assert again == parameters
    rows = {(row.table, row.name): row.value for row in describe(simulator("hardware"))}
    assert rows["configuration", "known"] == ["hardware"]
    assert rows["configuration", "applied"] == "hardware"
    assert rows["leg.friction", "viscous"] == 200.0


def test_unknown_configurations_are_refused(subtests):
    for name in ["hardwear", "", 5, ["hardware"], "source"]:
        with subtests.test(f"{name}"):
            with refused("hardware") as caught:
                simulator(name)
            assert caught.value.field == "configuration"


def test_a_machine_without_configurations_has_generic_hardware(tmp_path):
    file = write_template(tmp_path / "own.toml", "ups")
    assert read_parameters(file, "hardware").leg.drive is not None
    with refused("known: ideal, hardware"):
        read_parameters(file, "loaded")


def test_the_file_as_it_stands_is_called_ideal():
    assert simulator("ideal") == simulator()
    for name in ("driving_simulator", "rss"):
        parameters = twin.load(name, configuration="ideal").parameters
        assert parameters == twin.load(name).parameters


def test_configurations_reach_legs_that_differ():
    """A configuration changes the file; variants are changes of the changed leg."""
    variant = [{"legs": [1], "source": "Workshop", "upper_mass": 30.0}]
    parameters = simulator("hardware", variant=variant)
    for leg in parameters.legs:
        assert leg.model_dump()["friction"]["viscous"] == 200.0
    assert [leg.model_dump()["upper_mass"] for leg in parameters.legs] == [30.0, 28.0, 28.0, 28.0]


def test_merging_leaves_its_arguments_alone():
    table = {"source": "A", "a": 1, "inner": {"source": "B", "b": 2, "c": 3}}
    change = {"inner": {"c": 4}, "new": {"d": 5}}
    result = merged(table, change, "C")
    assert result == {
        "source": "A",
        "a": 1,
        "inner": {"source": "C", "b": 2, "c": 4},
        "new": {"source": "C", "d": 5},
    }
    assert table["inner"]["c"] == 3
    assert merged(table, {"a": 2, "source": "D"}, "C")["source"] == "D"


def test_a_file_is_read_anew_when_its_text_has_changed(tmp_path):
    file, text = tmp_path / "platform.toml", SHIPPED["stewart"].read_text("utf-8")
    assert text.count("\ngravity = 9.81\n") == 1
    file.write_text(text, "utf-8")
    first = read_parameters(file)
    assert read_parameters(file) is first
    file.write_text(text.replace("\ngravity = 9.81\n", "\ngravity = 1.62\n"), "utf-8")
    assert (first.gravity, read_parameters(file).gravity) == (9.81, 1.62)
    file.write_text(text, "utf-8")
    assert read_parameters(file, "hardware").configuration != first.configuration
