"""Equilibria and small motions, against differences and against motions in time."""

from dataclasses import replace

import numpy as np
import pytest
from tolerance import max_abs

from twin.errors import StateError
from twin.papers.compliant_legs.equations import rest_lengths, solve_locked
from twin.papers.compliant_legs.machine import NO_LOAD, leg_state, load, wrench_in_base
from twin.papers.compliant_legs.rest import (
    Linearisation,
    locked_deflection,
    locked_equilibrium,
    locked_linearisation,
    modes_of,
)
from twin.rotations import displaced

LOADS = (
    NO_LOAD,
    load([100.0, 50.0, -30.0], [10.0, -20.0, 5.0]),
    load([100.0, 50.0, -30.0], [10.0, -20.0, 5.0], "platform"),
)


@pytest.mark.parametrize("given", LOADS, ids=["none", "base", "platform"])
def test_nothing_accelerates_at_an_equilibrium(machine, given):
    at = locked_equilibrium(machine, machine.home_extension + 0.01, given)
    deflection = np.concatenate([at.deflection, np.zeros(machine.n_legs)])
    wrench = wrench_in_base(given, at.pose)
    found = solve_locked(machine, at.pose, None, deflection, wrench)
    assert max_abs(found.acceleration) < 1e-9
    assert max_abs(found.deflection_acceleration) < 1e-9
    assert found.forces == pytest.approx(at.forces, abs=1e-8)
    assert found.reactions == pytest.approx(at.reactions, abs=1e-8)


def test_the_machine_sags_by_what_its_springs_yield(shipped):
    at = locked_equilibrium(shipped, shipped.home_extension)
    assert at.pose[2] < shipped.home[2] - 5e-3
    assert at.deflection == pytest.approx(
        locked_deflection(shipped, at.pose, shipped.home_extension), abs=1e-15
    )
    # Three-fold symmetry: straight down, all springs alike.
    assert at.pose[[0, 1, 4, 5, 6]] == pytest.approx(np.zeros(5), abs=1e-12)
    assert np.ptp(at.deflection) < 1e-12
    # Rest lengths chosen by the paper's third system: no sag.
    answer = rest_lengths(shipped, shipped.home, shipped.home_extension)
    longer = answer.rest_lengths - shipped.spring_length
    designed = replace(shipped, spring_length=answer.rest_lengths)
    there = locked_equilibrium(designed, shipped.home_extension)
    assert there.pose == pytest.approx(shipped.home, abs=1e-12)
    assert there.deflection == pytest.approx(-longer, abs=1e-12)


@pytest.mark.parametrize("given", LOADS, ids=["none", "base", "platform"])
def test_linearisation_is_the_derivative(machine, derivative, given):
    """M x'' + C x' + K x with the accelerations of the full model at displaced states."""
    at = locked_equilibrium(machine, machine.home_extension, given)
    linear = locked_linearisation(machine, at)

    def answer(place, speed):
        pose = displaced(at.pose, place)
        legs = leg_state(machine, pose[None], speed[None], np.zeros((1, 2 * machine.n_legs)))
        deflection = np.concatenate([legs.extension[0] - at.extension, legs.length_rate[0]])
        return solve_locked(
            machine, pose, speed, deflection, wrench_in_base(given, pose)
        ).acceleration

    zero, axes = np.zeros(6), np.eye(6)
    by_place = np.stack([derivative(lambda h, e=e: answer(h * e, zero), 1e-3) for e in axes], 1)
    by_speed = np.stack([derivative(lambda h, e=e: answer(zero, h * e), 1e-3) for e in axes], 1)
    largest = max_abs(linear.stiffness)
    assert linear.mass @ by_place == pytest.approx(-linear.stiffness, abs=1e-8 * largest)
    assert linear.mass @ by_speed == pytest.approx(
        -linear.damping, abs=1e-8 * max_abs(linear.damping)
    )


def test_modes_of_one_spring_in_closed_form():
    mass, damping, stiffness = np.diag([2.0]), np.diag([6.0]), np.diag([50.0])
    found = modes_of(Linearisation(mass, damping, stiffness))
    assert found.frequencies == pytest.approx([5.0 / (2 * np.pi)], rel=1e-14)
    assert found.damping_ratios == pytest.approx([0.3], rel=1e-14)
    assert found.eigenvalues[-1].imag == pytest.approx(5.0 * np.sqrt(1 - 0.09), rel=1e-14)
    assert found.settling_time == pytest.approx(np.log(50.0) / 1.5, rel=1e-14)
    falling = modes_of(Linearisation(mass, 0 * damping, -stiffness))
    assert falling.frequencies == pytest.approx([0.0])
    assert falling.growth == pytest.approx([5.0], rel=1e-14)
    assert falling.settling_time == float("inf")


def test_no_equilibrium_is_said(shipped):
    soft = replace(shipped, stiffness=np.full(6, 200.0))
    with pytest.raises(StateError, match="no equilibrium") as caught:
        locked_equilibrium(soft, soft.home_extension)
    assert {"pose", "residual", "iterations"} <= set(caught.value.data)
