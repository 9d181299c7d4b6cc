"""Numbers of a platform.toml by path: all of them, and machines with other ones."""

import json
import pickle
from functools import cached_property

import numpy as np
import pytest
from numpy.testing import assert_allclose
from refusals import refused
from shipped import SHIPPED, shipped_content
from unsymmetric import KINDS

from twin.analysis.platform import Platform
from twin.machine import MachineParameters, read_parameters
from twin.machine.file.read import parameters_from
from twin.machine.legs.ups import UpsLeg
from twin.machine.quantity import Table
from twin.machine.randomisation import numeric_paths, with_values
from twin.machine.randomisation.sampler import (
    nominal_value,
    nominal_values,
)

STRUCTURE = ("orientation", "shift", "mirrored", "fixed_foot", "legs", "variant")
"""Numbers of a file that are no quantities by themselves."""


def unsymmetric(kind):
    """Return the machine on legs of a kind whose joints, bodies and legs differ."""
    machine, change = KINDS[kind]
    content = shipped_content(machine)
    change(content)
    return parameters_from(content, machine)


MACHINES = {
    **{f"{name}, plain": (name, None) for name in SHIPPED},
    **{f"{name}, hardware": (name, "hardware") for name in SHIPPED},
    **{f"unsymmetric {kind}": (kind, "") for kind in KINDS},
}


@pytest.fixture(params=MACHINES)
def parameters(request):
    name, configuration = MACHINES[request.param]
    return (
        unsymmetric(name) if configuration == "" else read_parameters(SHIPPED[name], configuration)
    )


def dumped_numbers(value, path=""):
    """Yield the paths of all numbers in plain data, apart from those that are no quantities."""
    if isinstance(value, dict):
        for key, entry in value.items():
            if key not in STRUCTURE:
                yield from dumped_numbers(entry, f"{path}.{key}".lstrip("."))
    elif isinstance(value, (list, tuple)):
        for i, entry in enumerate(value):
            yield from dumped_numbers(entry, f"{path}.{i}")
    elif isinstance(value, (int, float)):
        yield path


def upper(path):
    """Return whether a path is not below the diagonal of a tensor."""
    keys = path.split(".")
    return keys[-3:-2] != ["inertia"] or keys[-2] <= keys[-1]


def slightly_more(path, value):
    """Return a value that a machine at `value` allows as well, as a rule."""
    if path.endswith((".counts", "_bits")):
        return value + 1
    return value * (1.0 + 1e-9) if value else 1e-9


def edited(parameters, path, value):
    """Return the machine with one number changed in its plain data, read like a file."""
    content = json.loads(parameters.model_dump_json(exclude={"configuration"}))
    keys = path.split(".")
    tables = [content]
    if keys[0] == "leg":
        keys = keys[1:]
        tables = [content["leg"], *(variant["leg"] for variant in content["variant"])]
        name = ".".join(keys)
        tables = [table for table in tables if name in dumped_numbers(table)]
    twin = [*keys[:-2], keys[-1], keys[-2]] if keys[-3:-2] == ["inertia"] else keys
    for table in tables:
        for way in (keys, twin):
            inner = table
            for key in way[:-1]:
                inner = inner[int(key) if isinstance(inner, list) else key]
            inner[int(way[-1]) if isinstance(inner, list) else way[-1]] = value
    return parameters_from(content, "edited")


def test_every_number_of_a_machine_has_a_path(parameters):
    found = {path for path in dumped_numbers(parameters.model_dump()) if upper(path)}
    legs = {
        f"leg.{number}.{path}"
        for number, leg in enumerate(parameters.legs, start=1)
        for path in dumped_numbers(leg.model_dump())
        if upper(path)
    }
    found |= {".".join(["leg", *path.split(".")[2:]]) for path in legs}
    paths = numeric_paths(parameters)
    assert set(paths) == found | legs
    assert len(set(paths)) == len(paths) > 70


def test_setting_what_is_there_changes_nothing(parameters):
    everything = {}
    for path in numeric_paths(parameters):
        everything |= nominal_values(parameters, path)
    assert with_values(parameters, everything) == parameters
    assert with_values(parameters, {}) == parameters


@pytest.mark.slow
def test_a_changed_number_is_read_like_a_changed_file(parameters):
    """The quick way for tables that no check of the whole reads gives what the long one does."""
    changed = 0
    for path in numeric_paths(parameters):
        values = nominal_values(parameters, path)
        if (path.startswith("leg.") and path.split(".")[1].isdecimal()) or len(values) > 1:
            continue
        value = slightly_more(path, values[path])
        if path.endswith((".counts", "_bits")):
            value = int(value)
        try:
            expected = edited(parameters, path, value)
        except ValueError:
            with refused():
                with_values(parameters, {path: value})
            continue
        found = with_values(parameters, {path: value})
        assert found.model_dump(exclude={"configuration"}) == expected.model_dump(
            exclude={"configuration"}
        ), path
        assert found.configuration == parameters.configuration
        assert found != parameters
        changed += 1
    assert changed > 35


def test_a_number_of_all_legs_and_one_of_a_single_leg(subtests):
    for kind in KINDS:
        with subtests.test(f"{kind}"):
            parameters = unsymmetric(kind)
            path = next(
                path
                for path in numeric_paths(parameters)
                if path.endswith("mass") and "leg." in path
            )
            name = path.removeprefix("leg.")
            changed = with_values(parameters, {f"leg.2.{name}": 1.25, path: 1.5})
            legs = range(1, len(parameters.legs) + 1)
            assert {n: nominal_value(changed, f"leg.{n}.{name}") for n in legs} == {
                n: 1.25 if n == 2 else 1.5 for n in legs
            }
            # What legs differ in otherwise, they still differ in.
            back = {
                key: nominal_value(parameters, key) for n in legs for key in [f"leg.{n}.{name}"]
            }
            assert with_values(changed, back).legs == parameters.legs


def test_legs_that_differ_have_no_common_value():
    parameters = unsymmetric("strut")
    values = nominal_values(parameters, "leg.axial.stiffness")
    assert values["leg.2.axial.stiffness"] == 3e6
    assert len(values) == 6
    with refused("legs differ in it"):
        nominal_value(parameters, "leg.axial.stiffness")


def test_what_follows_from_the_parameters_follows_from_the_new_ones():
    nominal = Platform(read_parameters(SHIPPED["srspm"]))
    leg = nominal.parameters.leg
    assert isinstance(leg, UpsLeg)
    values = {"leg.rod.outer_radius": 0.02, "platform.body.mass": 3.0, "gravity": 9.0}
    machine = Platform(with_values(nominal.parameters, values))
    legs = sum(leg.mass for leg in machine.parameters.legs)
    area = np.pi * 0.02**2
    assert legs == pytest.approx(6 * (leg.housing.mass + 7858.0 * area * 1.5), rel=1e-12)
    assert machine.hash != nominal.hash
    assert nominal.parameters == read_parameters(SHIPPED["srspm"])
    # A heavier body with its centre of mass at the reference point adds its mass alone.
    heavier = Platform(with_values(machine.parameters, {"platform.body.mass": 5.0}))
    added = heavier.mass_matrix(nominal.home) - machine.mass_matrix(nominal.home)
    expected = np.diag([2.0, 2.0, 2.0, 0.0, 0.0, 0.0])
    assert_allclose(added, expected, rtol=1e-12, atol=1e-9)


def test_changed_machines_are_pickled_like_others():
    parameters = read_parameters(SHIPPED["stewart"], "hardware")
    changed = with_values(parameters, {"leg.3.drive.delay": 0.003, "imu.bandwidth": 80.0})
    assert pickle.loads(pickle.dumps(changed)) == changed
    assert MachineParameters.model_validate_json(changed.model_dump_json()) == changed


def test_refusals_name_the_path(subtests):
    for values, field, message in [
        ({"platform.mass": 3.0}, "platform.mass", "the nearest are platform.body.mass"),
        ({"leg.drive": 3.0}, "leg.drive", "leg.drive.lead"),
        ({"platform.body.inertia.1.0": 0.0}, "platform.body.inertia.1.0", "inertia.0.1"),
        ({"platform.body.center_of_mass.-1": 0.0}, "platform.body.center_of_mass.-1", "no such"),
        ({3: 0.0}, "3", "dotted path"),
        ({"gravity": float("nan")}, "gravity", "one finite number"),
        ({"gravity": -1.0}, "gravity", "gravity = -1; must be greater than or equal to 0"),
        ({"leg.encoder.counts": 2.5}, "leg.encoder.counts", "whole number"),
        ({"leg.drive.stiffness": 0.0}, "leg.drive.stiffness", "leg.drive: a motor with inertia"),
        (
            {"platform.body.mass": 90.0, "home.position.2": 2.0},
            "home.position.2",
            "home.position: leg 1 cannot reach home",
        ),
    ]:
        with subtests.test(f"{values}"):
            parameters = read_parameters(SHIPPED["stewart"], "hardware")
            with refused() as caught:
                with_values(parameters, values)
            assert caught.value.field == field
            assert message in caught.value.message


@pytest.mark.quick
@pytest.mark.parametrize("path", ["leg.{}.actuator.force", "home.position.{}"])
def test_numbers_of_thousands_of_digits_are_no_entries(path):
    machine = read_parameters(SHIPPED["stewart"])
    with refused("no such number"):
        nominal_value(machine, path.format("1" * 6000))


@pytest.mark.quick
def test_tables_keep_nothing_that_follows_from_their_fields():
    """A machine with other numbers takes copies of tables: what they kept would be the old."""
    kinds = [Table]
    for kind in kinds:
        kinds += kind.__subclasses__()
    assert len(kinds) > 40
    kept = [value for kind in kinds for value in vars(kind).values()]
    assert not any(isinstance(value, cached_property) for value in kept)
