"""Randomisation: machines drawn from distributions, checked beforehand and reproducible."""

import json
import pickle
import random

import numpy as np
import pytest
from numpy.testing import assert_allclose
from refusals import refused
from shipped import SHIPPED

from twin.analysis.platform import Platform
from twin.machine import read_parameters
from twin.machine.randomisation import (
    Choice,
    Normal,
    Uniform,
    as_randomisation,
    hardware_spread,
    nominal_value,
    read_randomisation,
    wide_spread,
)
from twin.machine.randomisation.sampler import MAX_REDRAWS

UNIT = {"kind": "uniform", "low": 0.0, "high": 1.0}
HALF = Uniform(low=0.5, high=1.5, relative=True)


def machine(name="stewart", configuration="hardware"):
    return read_parameters(SHIPPED[name], configuration)


@pytest.mark.parametrize("name", SHIPPED)
def test_machines_drawn_from_the_hardware_spread(name):
    """Every drawn machine has the values that are reported, inside the stated bounds."""
    nominal = machine(name)
    sampler = hardware_spread(nominal).bound(nominal)
    generator = np.random.default_rng(4)
    offset = 0.05 * nominal.mean_arm * (1.0 + 1e-12)
    factors = {"mass": (0.9, 1.1), "friction": (0.5, 1.5), "backlash": (0.0, 2.0)}
    drawn = [sampler.sample(generator) for _ in range(5)]
    assert len({Platform(parameters).hash for parameters, _, _ in drawn}) == 5
    for parameters, values, task_values in drawn:
        assert not task_values
        assert list(values) == list(sampler.paths)
        for path, value in values.items():
            assert nominal_value(parameters, path) == value
            own = nominal_value(nominal, path)
            if "center_of_mass" in path:
                assert abs(value - own) <= offset
            for word, (low, high) in factors.items():
                if path.split(".")[-1].startswith(word):
                    assert low * own <= value <= high * own
        ratio = parameters.platform.body.mass / nominal.platform.body.mass
        tensors = [p.platform.body.inertia_tensor for p in (parameters, nominal)]
        assert_allclose(tensors[0], ratio * tensors[1], rtol=1e-12)


def test_a_table_like_a_spread_changes_and_adds_entries():
    nominal = machine()
    mass = "platform.body.mass, platform.body.inertia.*.*"
    changed = {mass: HALF, "leg.drive.lead": HALF}
    found = dict(as_randomisation({"like": "wide_spread", **changed}, nominal).distributions)
    wide = dict(wide_spread(nominal).distributions)
    assert found == {**wide, **changed}
    assert set(wide) == set(dict(hardware_spread(nominal).distributions))
    assert wide[mass].extremes == (0.5, 2.0)
    with refused("like"):
        as_randomisation({"like": "nothing"}, nominal)


@pytest.mark.parametrize("name", SHIPPED)
def test_machines_without_drives_have_no_hardware_spread(name):
    with refused("no drives; load it with one of its configurations: hardware"):
        hardware_spread(machine(name, None))


def test_a_sample_follows_from_the_generator_alone():
    nominal = machine()
    tables = list(hardware_spread(nominal).as_dict().items())
    samples = []
    for seed in range(3):
        random.Random(seed).shuffle(tables)
        samples.append(as_randomisation(dict(tables)).sample(np.random.default_rng(9), nominal))
    assert samples[0] == samples[1] == samples[2]
    other = hardware_spread(nominal).sample(np.random.default_rng(10), nominal)
    assert other.values != samples[0].values
    again = pickle.loads(pickle.dumps(hardware_spread(nominal).bound(nominal)))
    assert again.sample(np.random.default_rng(9)).values == samples[0].values


def test_each_leg_has_a_draw_of_its_own():
    nominal = machine()
    name = "leg.drive.friction_torque"
    own = Uniform(low=0.5, high=1.5, relative=True, each_leg=True)
    found = as_randomisation({name: own}).sample(np.random.default_rng(0), nominal)
    friction = [leg.drive.friction_torque for leg in found.parameters.legs]
    assert len(set(friction)) == 6
    assert list(found.values.values()) == friction
    together = as_randomisation({name: HALF}).sample(np.random.default_rng(0), nominal)
    assert list(together.values) == [name]
    assert len({leg.drive.friction_torque for leg in together.parameters.legs}) == 1


def test_factors_apply_to_the_own_value_of_legs_that_differ():
    nominal = machine()
    spread = as_randomisation({"leg.2.drive.delay": Choice(values=(0.004,))})
    differing = spread.sample(np.random.default_rng(0), nominal).parameters
    double = as_randomisation({"leg.drive.delay": Choice(values=(2.0,), relative=True)})
    found = double.sample(np.random.default_rng(0), differing)
    assert [leg.drive.delay for leg in found.parameters.legs] == [0.004, 0.008, *[0.004] * 4]
    assert found.values["leg.2.drive.delay"] == 0.008


def test_whole_numbers_are_rounded():
    counts = as_randomisation({"leg.encoder.counts": Uniform(low=1000, high=1000.9)})
    found = counts.sample(np.random.default_rng(0), machine())
    assert found.values["leg.encoder.counts"] in (1000.0, 1001.0)
    assert type(found.parameters.leg.encoder.counts) is int


def test_values_of_the_task():
    task = {"motion.amplitude": 0.02, "motion.frequency": 1.5, "delay": 0.0}
    spread = as_randomisation(
        {
            "motion": {
                "amplitude": {"kind": "uniform", "low": 0.5, "high": 1.0, "relative": True},
                "frequency": {"kind": "choice", "values": [1.0, 2.0]},
            },
            "task.delay": Normal(mean=0.0, deviation=0.01, low=0.0),
            "platform.body.mass": HALF,
        }
    )
    found = spread.bound(machine(), task).sample(np.random.default_rng(2))
    assert set(found.task_values) == set(task)
    assert 0.01 <= found.task_values["motion.amplitude"] <= 0.02
    assert set(found.values) == {"platform.body.mass"}
    with refused(r"the task has no such number; it has task\.phase"):
        spread.bound(machine(), ["phase"])
    with refused("no value of its own"):
        spread.bound(machine(), list(task))
    with refused(r"delay is drawn by 'task\.\*' as well"):
        as_randomisation({"task.delay": UNIT, "task.*": UNIT}).bound(machine(), ["delay"])


TOML = """
source = "Test"
["platform.body.mass, platform.body.inertia.*.*"]
kind = "uniform"
low = 0.9
high = 1.1
relative = true

[leg.drive]
delay = { kind = "choice", values = [0.001, 0.002] }
backlash = { kind = "normal", mean = 1, deviation = 0.1, relative = true, each_leg = true }
"""


def test_files(tmp_path):
    file = tmp_path / "spread.toml"
    file.write_text(TOML)
    found = read_randomisation(file)
    assert found == as_randomisation(str(file)) == as_randomisation(file)
    assert found == as_randomisation(json.loads(json.dumps(found.as_dict())))
    assert found == pickle.loads(pickle.dumps(found))
    assert hash(found) == hash(as_randomisation(found))
    assert found.source == "Test"
    names = [name for name, _ in found.distributions]
    assert names == sorted(names)
    assert len(found.bound(machine()).paths) == 7 + 1 + 6
    for content, message in (("a = [", "not valid"), ("gravity = 3", "gravity: must be a distr")):
        file.write_text(content)
        with refused(message):
            read_randomisation(file)
    with refused("cannot be read"):
        read_randomisation(tmp_path / "none.toml")


def test_a_bound_machine_is_checked_once():
    """What an environment does: checked with its task when made, then drawn many times."""
    nominal = machine()
    other = nominal.model_copy()
    given = as_randomisation({"task.amplitude": UNIT, "gravity": HALF})
    found = as_randomisation(given, nominal, ["amplitude"])
    assert found == given
    drawn = found.sample(np.random.default_rng(0), nominal)
    assert set(drawn.task_values) == {"amplitude"}
    assert set(drawn.values) == {"gravity"}
    with refused("it has none"):
        given.sample(np.random.default_rng(0), nominal)
    with refused("it has none"):
        found.sample(np.random.default_rng(0), other)


def test_no_randomisation_leaves_the_machine():
    nominal = machine()
    found = as_randomisation(None).sample(np.random.default_rng(0), nominal)
    assert found.parameters is nominal
    assert not found.values
    assert not found.task_values


def test_named_spreads():
    nominal = machine()
    assert as_randomisation("hardware_spread", nominal) == hardware_spread(nominal)
    with refused("parameters: the spread"):
        as_randomisation("hardware_spread")
    with refused("known: hardware_spread"):
        as_randomisation("wear", nominal)


def test_faults_are_found_before_the_first_episode(subtests):
    for tables, field, message in [
        ({"platform.mass": HALF}, "platform.mass", "nearest are platform.body.mass"),
        ({"gravity": UNIT | {"kind": "beta"}}, "gravity.kind", "unknown gravity.kind 'beta'"),
        ({"leg.drive.delay": UNIT, "leg": {"drive": {"delay": UNIT}}}, "leg.drive.delay", "twice"),
        (
            {"platform.body.mass": HALF, "platform.*.mass": HALF},
            "platform.body.mass",
            "drawn by 'platform.*.mass' as well",
        ),
        ({"gravity": UNIT | {"each_leg": True}}, "gravity", "each_leg is for paths of all legs"),
        ({"task.x": UNIT}, "task.x", "the task has no such number; it has none"),
        (
            {"platform.body.mass": UNIT},
            "platform.body.mass",
            "a draw of 0 is refused with platform.body.mass = 0; must be greater than 0",
        ),
        (
            {"leg.encoder.counts": Choice(values=(0.0, 2.0, -1.0), relative=True)},
            "leg.encoder.counts",
            "a draw of -1 is refused",
        ),
    ]:
        with subtests.test(f"{tables}"):
            with refused() as caught:
                as_randomisation(tables).bound(machine())
            assert caught.value.field == field
            assert message in caught.value.message


def test_values_refused_together_are_drawn_again():
    """Each bound is allowed alone; where both leave the stroke too short, the draw repeats."""
    nominal = machine("stewart", None)
    home = nominal.home_coordinates.max()
    spread = as_randomisation(
        {
            "leg.actuator.minimum": Uniform(low=home - 0.1, high=home - 0.001),
            "home.position.2": Uniform(low=-0.09, high=0.09, offset=True),
        }
    )
    sampler = spread.bound(machine("stewart", None))
    generator, count = np.random.default_rng(0), 200
    for _ in range(count):
        found = sampler.sample(generator).parameters
        assert found.home_coordinates.min() >= found.leg.actuator.minimum
    # Two draws each, and more where the home was out of reach.
    steps = np.random.default_rng(0)
    steps.random(2 * count)
    assert generator.bit_generator.state != steps.bit_generator.state


def test_a_machine_that_refuses_every_draw_is_given_up():
    nominal = machine("stewart", None)
    home = float(nominal.home_coordinates.max())
    tables = {
        "leg.actuator.minimum": Choice(values=(home - 0.001,)),
        "home.position.2": Choice(values=(-0.09,), offset=True),
    }
    sampler = as_randomisation(tables).bound(nominal)
    with refused(f"stewart refused {MAX_REDRAWS} draws; narrow"):
        sampler.sample(np.random.default_rng(0))
