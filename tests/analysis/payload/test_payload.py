"""Payloads: masses, centres and tensors add as rigid bodies do."""

import numpy as np
import pytest
from refusals import assert_all_refused, refused
from tolerance import assert_within

import twin
from twin.analysis.payload.body import Payload, with_payload
from twin.analysis.stiffness import with_gravity


@pytest.mark.parametrize("name", twin.machine_names())
def test_mass_matrix_grows_by_the_payload(name):
    machine = twin.load(name)
    center = np.array([0.1, -0.2, 0.3])
    tensor = np.array([[1.0, 0.1, 0.2], [0.1, 2.0, -0.1], [0.2, -0.1, 2.5]])
    loaded = with_payload(machine, Payload(30.0, center, tensor))
    grown = loaded.mass_matrix(machine.home) - machine.mass_matrix(machine.home)
    expected = np.zeros((6, 6))
    lever = np.cross(center, np.eye(3)).T
    expected[:3, :3] = 30.0 * np.eye(3)
    expected[3:, :3] = 30.0 * lever
    expected[:3, 3:] = -30.0 * lever
    expected[3:, 3:] = tensor - 30.0 * lever @ lever
    assert_within(grown, expected, 1e-11)
    assert loaded.hash != machine.hash
    assert loaded.name == machine.name


def test_none_adds_nothing(stewart):
    assert with_payload(stewart, None) is stewart


@pytest.mark.parametrize("seed", range(8))
def test_a_slender_rod_in_any_direction_is_a_body(seed):
    direction = np.random.default_rng(seed).normal(size=3)
    direction /= np.linalg.norm(direction)
    tensor = 10.0 * (np.eye(3) - np.outer(direction, direction))
    assert_within(Payload(10.0, inertia=tensor).inertia, tensor, 1e-12)


def test_bad_payloads():
    assert_all_refused(
        lambda bad: Payload(**{"mass": 1.0, **bad}),
        [
            ({"mass": 0.0}, "mass"),
            ({"center": [np.nan] * 3}, "center"),
            ({"inertia": [1.0, 1.0, 3.0]}, "inertia"),
            ({"inertia": [-1e-6, 1.0, 1.0]}, "inertia"),
            ({"inertia": [[1.0, 0.5, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]}, "inertia"),
            ({"name": 3}, "name"),
        ],
    )


@pytest.mark.parametrize("name", twin.machine_names())
def test_nothing_else_changes(name):
    """A machine read back from its own parameters is the same machine."""
    machine = twin.load(name)
    assert with_gravity(machine, machine.parameters.gravity).hash == machine.hash
    weightless = with_gravity(machine, 0.0)
    assert weightless.parameters.gravity == 0.0
    assert weightless.parameters.model_dump() | {"gravity": machine.parameters.gravity} == (
        machine.parameters.model_dump()
    )


def test_weightless_machines_need_no_forces(stewart):
    weightless = with_gravity(stewart, 0.0)
    held = weightless.inverse_dynamics(stewart.home, np.zeros(6), np.zeros(6))
    assert_within(held, 0.0, 1e-12)
    for bad in (-1.0, [9.81, 9.81], "off", np.nan):
        with refused("gravity"):
            with_gravity(stewart, bad)
