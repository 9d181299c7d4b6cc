"""The numbers of the plate: checks, and what a machine's parameters give."""

import tomllib

import pytest
from numpy.testing import assert_array_equal
from paper_plate import PLATE
from refusals import assert_all_refused, refused

import twin
from twin.machine.file.read import parameters_from
from twin.machine.machine import parameters_path
from twin.papers.driving_simulator.exact import ExactModel, SlidingFriction
from twin.papers.driving_simulator.kinematics import PlateModel


def changed(**tables):
    """Return parameters of the driving simulator with entries of its tables replaced."""
    content = tomllib.loads(parameters_path("driving_simulator").read_text())
    for path, value in tables.items():
        table = content
        *parents, last = path.split("__")
        for name in parents:
            table = table[name]
        table[last] = value
    return parameters_from(content, "test.toml")


@pytest.fixture(scope="module")
def machine():
    """The driving simulator of the catalogue."""
    return twin.load("driving_simulator")


def test_model_of_the_machine(machine):
    model = PlateModel.from_parameters(machine.parameters)
    for name, value in vars(PLATE).items():
        # The file rounds the printed inertia to six digits.
        assert getattr(model, name) == pytest.approx(value, rel=1e-6), name
    assert_array_equal(model.corners, machine.platform_joints[:, :2])
    assert model.minimum_length == pytest.approx(machine.minimum_coordinates[0], abs=1e-15)
    assert model.maximum_length == pytest.approx(machine.maximum_coordinates[0], abs=1e-15)


def test_friction_of_the_machine(machine):
    assert ExactModel.from_parameters(machine.parameters).friction is None
    hardware = twin.load("driving_simulator", configuration="hardware").parameters
    assert ExactModel.from_parameters(hardware).friction == SlidingFriction(200.0, 0.0, 1e-3)


def test_lumped_plate_keeps_the_masses():
    lumped = PLATE.lumped()
    assert (lumped.upper_mass, lumped.foot_mass) == (30.0, 0.0)
    assert lumped.lifted_mass == 270.0
    assert PLATE.lifted_mass == 262.0


def test_other_machines_are_refused():
    points = [[0.8, 0.41, 0.0], [0.8, -0.41, 0.0], [-0.8, 0.41, 0.0], [-0.8, -0.41, 0.0]]
    order = {"base__joints__coordinates": points, "platform__joints__coordinates": points}
    assert_all_refused(
        lambda tables: PlateModel.from_parameters(changed(**tables)),
        [
            ({"leg__fixed_foot": 1}, "fixed_foot"),
            (order, "rectangle"),
            ({"platform__body__center_of_mass": [0.1, 0.0, 0.0]}, "centre of mass"),
            ({"platform__body__inertia": [[3, 0.1, 0], [0.1, 4, 0], [0, 0, 5]]}, "aligned axes"),
            ({"leg__actuator__minimum": 0.3}, "middle of their stroke"),
            ({"variant": [{"legs": [1], "source": "Test", "upper_mass": 20.0}]}, "same for all"),
        ],
    )

    with refused("pillar"):
        PlateModel.from_parameters(twin.load("stewart").parameters)
