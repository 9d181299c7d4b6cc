"""Friction under the feet along the paper's inputs, and the forces of three models."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from paper_plate import PAPER, PLATE
from tolerance import assert_within

from twin.papers.driving_simulator.dae.integration import integrate_dae, numeric_dae
from twin.papers.driving_simulator.dae.lagrange import DRIVEN_INDICES, home_inertia
from twin.papers.driving_simulator.exact import (
    ExactModel,
    SlidingFriction,
    sigmoid_inputs,
    sinusoidal_inputs,
)
from twin.papers.driving_simulator.studies import driven_motion

INPUTS = {"sinusoidal": sinusoidal_inputs(PLATE), "sigmoid": sigmoid_inputs(PLATE)}


VISCOUS, DRY = SlidingFriction(200.0), SlidingFriction(50.0, 20.0, 1e-3)


class FrictionEffect(NamedTuple):
    """Motion of the plate, forces without and with friction, and the power that it takes."""

    states: list[Any]
    rates: Any
    velocity: Any
    without: Any
    forces: Any
    power: Any


def friction_effect(name, duration, friction, pushing=None):
    time = np.linspace(0.0, duration, 101)
    motion = driven_motion(PLATE, INPUTS[name], time)
    states = [level.coordinates for level in motion]
    rough = ExactModel(PLATE, friction)
    velocity, drag = rough.feet(*states[:2])
    without, forces = (
        model.forces(*states, pushing=pushing) for model in (ExactModel(PLATE), rough)
    )
    power = -np.einsum("knj,knj->k", velocity, drag)
    return FrictionEffect(states, motion.rate.lengths, velocity, without, forces, power)


@pytest.mark.parametrize("name", INPUTS)
def test_driven_motion_follows_the_inputs(name, derivative):
    inputs, time = INPUTS[name], np.linspace(0.1, 3.0, 11)
    motion = driven_motion(PLATE, inputs, time)
    sample = inputs.sample(time)
    for level, wanted in zip(motion, sample, strict=True):
        assert_within(level.lengths[:, [0, 2, 1]], wanted, 1e-15)
    slope = derivative(lambda t: driven_motion(PLATE, inputs, time + t).value.coordinates, 1e-3)
    assert_within(slope, motion.rate.coordinates, 1e-12)


def test_added_forces_bring_the_power_that_friction_takes(subtests):
    for name, pushing, friction in [
        ("sinusoidal", None, VISCOUS),
        ("sinusoidal", DRIVEN_INDICES, DRY),
        ("sigmoid", None, DRY),
        ("sigmoid", DRIVEN_INDICES, VISCOUS),
    ]:
        with subtests.test(f"{name}"):
            effect = friction_effect(name, 4.0, friction, pushing)
            added = effect.forces - effect.without
            assert_allclose((added * effect.rates).sum(axis=1), effect.power, rtol=1e-8, atol=1e-13)
            assert (effect.power >= 0.0).all()
            assert effect.power.max() > 1e-5
            if pushing is not None:
                assert_array_equal(added[:, 3], 0.0)


def test_viscous_power_is_quadratic_in_the_speed_of_the_feet():
    effect = friction_effect("sinusoidal", 6.0, SlidingFriction(200.0))
    speed = (effect.velocity**2).sum(axis=(1, 2))
    assert_allclose(effect.power, 200.0 * speed, rtol=1e-12, atol=1e-18)
    assert np.sqrt(speed.max()) < 1e-3, "feet move by the square of the angles: they creep"
    assert effect.power.max() < 1e-3


def test_no_friction_is_no_effect():
    effect = friction_effect("sigmoid", 2.0, SlidingFriction(0.0))
    assert_array_equal(effect.forces, effect.without)


def test_forces_are_those_of_the_exact_model():
    friction = SlidingFriction(300.0, 10.0)
    effect = friction_effect("sigmoid", 2.0, friction)
    moved = ExactModel(PLATE, friction).accelerations(*effect.states[:2], effect.forces)
    assert_within(moved, effect.states[2], 1e-11)


class ModelForces(NamedTuple):
    """Forces [N] of the driven pillars front right, rear left, front left, `(k, 3)` each."""

    printed: Any
    complete: Any
    exact: Any


def model_forces(plate, inputs, duration, count):
    """Return forces along the known motion: printed energies, complete ones, exact model."""
    time = np.linspace(0.0, duration, count)
    states = [part.coordinates for part in driven_motion(plate, inputs, time)]
    exact = ExactModel(plate).forces(*states, pushing=DRIVEN_INDICES)

    def small_angle(complete):
        dae = numeric_dae(plate, complete)
        samples = [inputs.sample(now) for now in time.tolist()]
        return np.array(
            [
                -dae.multipliers(dae.consistent(at.value), dae.consistent(at.rate), at)[-3:]
                for at in samples
            ]
        )

    return ModelForces(small_angle(False), small_angle(True), exact[:, list(DRIVEN_INDICES)])


def test_printed_forces_are_those_of_the_integrated_system():
    forces = model_forces(PAPER, INPUTS["sigmoid"], 2.0, 21)
    for complete, found in ((False, forces.printed), (True, forces.complete)):
        run = integrate_dae(PAPER, INPUTS["sigmoid"], 2.0, complete=complete, samples=21)
        assert_within(found, run.forces, 1e-6)


@pytest.mark.parametrize("name", INPUTS)
def test_complete_energies_repair_the_forces(name):
    forces = model_forces(PLATE, INPUTS[name], 5.0, 101)
    printed, complete = (
        np.abs(part - forces.exact).max() for part in (forces.printed, forces.complete)
    )
    change = np.ptp(forces.exact, axis=0).max()
    assert printed > 0.3 * change, "the printed forces miss a good part of what happens"
    assert complete < 0.03 * printed


def test_a_still_plate_is_carried_by_two_pillars():
    """Three driven lengths and a fourth pillar without force: the diagonal carries everything."""
    forces = model_forces(PAPER, sinusoidal_inputs(PAPER), 1.0, 2)
    shares = forces.exact[0] / (PAPER.lifted_mass * PAPER.gravity)
    assert_within(shares, [0.5, 0.5, 0.0], 0.01)


def test_inertia_at_home():
    for plate in (PLATE, PAPER):
        found = home_inertia(plate)
        mass = ExactModel(plate).mass_matrix([plate.home_length, 0.0, 0.0])
        assert_within(np.diag(found.exact), mass, 1e-12)
        roll = plate.roll_inertia + 4 * plate.upper_mass * plate.half_width**2
        assert found.printed[1] == pytest.approx(roll, rel=1e-15)
