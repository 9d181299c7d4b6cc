"""Parameters by group, path and pattern: on every machine, with spreads and words."""

import pytest
from refusals import assert_all_refused, refused
from tolerance import assert_within

import twin
from twin.analysis.platform import Platform
from twin.basics.arrays import rotated
from twin.identification.parameters import (
    gravity_field,
    groups_of,
    select,
    signal_errors,
    with_parameters,
)
from twin.machine.randomisation.sampler import nominal_value
from twin.rotations import displaced

pytestmark = pytest.mark.quick


@pytest.mark.slow
@pytest.mark.parametrize("configuration", [None, "hardware"])
@pytest.mark.parametrize("name", twin.machine_names())
def test_every_group_has_parameters_that_change_the_machine(name, configuration):
    machine = twin.load(name, configuration)
    groups = groups_of(machine)
    assert {"payload", "platform", "legs", "gravity", "sensors"} <= set(groups)
    assert ("friction" in groups) >= (configuration == "hardware")
    found = select(machine, groups)
    assert len({parameter.path for parameter in found}) == len(found)
    nominal = [parameter.nominal for parameter in found]
    assert with_parameters(machine, found, nominal) is machine
    for parameter in found:
        if parameter.is_of_machine:
            # A thin plate has the largest moment that a body can have.
            sign = -1.0 if parameter.path.endswith("inertia.2.2") else 1.0
            value = parameter.nominal + sign * 1e-3 * parameter.prior_std
            changed = with_parameters(machine, [parameter], [value])
            assert type(changed) is Platform
            assert nominal_value(changed.parameters, parameter.path) == value


def test_a_group_is_what_its_name_says():
    machine = twin.load("stewart", "hardware")
    payload = select(machine, "payload")
    assert [each.path.split(".")[2] for each in payload] == (
        ["mass"] + ["center_of_mass"] * 3 + ["inertia"] * 6
    )

    assert payload[0].prior_std == pytest.approx(0.1 * payload[0].nominal)
    assert select(machine, "platform")[0].prior_std < payload[0].prior_std
    # The first name decides about a parameter that two of them have.
    assert select(machine, "payload,platform") == payload
    one = select(machine, "leg.3.drive.friction_torque")
    assert [each.label for each in one] == ["dry friction torque of the drive of leg 3"]
    assert one[0].prior_std == pytest.approx(0.3 * one[0].nominal)
    assert len(select(machine, "leg.*.drive.friction_torque")) == 6


def test_spreads_are_given_with_units(stewart):
    found = select(stewart, "payload", spreads={"platform.body.mass": "500 g"})
    assert found[0].prior_std == 0.5
    for given in ("2 N", 0.0, "-1 kg"):
        with refused(r"spreads\['platform.body.mass'\]"):
            select(stewart, "payload", spreads={"platform.body.mass": given})
    with refused("no path of the selected"):
        select(stewart, "payload", spreads={"leg.rod.mass": 1.0})


def test_what_a_machine_does_not_have_is_named(stewart):
    assert_all_refused(
        lambda names: select(stewart, names),
        [
            ("drive", "has no group .drive.; name one of the groups .payload, platform, legs"),
            ("friction", "none of the group 'friction'; it has payload.*hardware"),
            ("leg.drive.backlash", "no such number"),
            ("leg.encoder.*", "no path like"),
            ("signal.gyroscope.scale", "known: tilt.x"),
            ("", "names of groups or paths"),
        ],
    )


def test_numbers_that_cannot_be_identified_are_refused():
    machine = twin.load("driving_simulator", "hardware")
    with refused("whole number"):
        select(machine, "leg.encoder.counts")
    assert "leg.friction.coulomb" not in {each.path for each in select(machine, "friction")}
    with refused(r"term\.cable\.force\.0"):
        select(machine, "term.cable.forc.0")
    with refused("spread has to be given"):
        select(machine, "leg.friction.coulomb")
    [dry] = select(machine, "leg.friction.coulomb", spreads={"leg.friction.coulomb": "5 N"})
    assert (dry.lower, dry.nominal, dry.prior_std) == (0.0, 0.0, 5.0)


def test_a_tilted_base_turns_gravity(stewart):
    found = select(stewart, "gravity")
    level = gravity_field(stewart, found, [0.0, 0.0])
    assert level.tolist() == [0.0, 0.0, -stewart.parameters.gravity]
    tilt = [0.03, -0.05]
    turned = displaced([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, *tilt, 0.0])[3:]
    field = rotated(turned[None], gravity_field(stewart, found, tilt)[None])[0]
    assert_within(field, level, 1e-14)


def test_errors_of_signals_are_gathered_by_signal(stewart):
    found = select(stewart, "signal.forces.scale, signal.forces.bias.2, signal.coordinates.delay")
    errors = signal_errors(stewart, found, [1.02, -3.0, 1e-3])
    assert set(errors) == {"forces", "coordinates"}
    assert errors["forces"].scale == 1.02
    assert errors["forces"].bias.tolist() == [0.0, 0.0, -3.0, 0.0, 0.0, 0.0]
    assert errors["coordinates"].delay == 1e-3
