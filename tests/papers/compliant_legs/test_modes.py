"""Equilibria and small motions, against differences and against motions in time."""

from dataclasses import replace

import numpy as np
import pytest
from compliant_held import free_motion, held_equilibrium, held_linearisation, locked_states
from tolerance import max_abs

from twin.errors import StateError
from twin.papers.compliant_legs.equations import rest_lengths, solve_free, solve_locked
from twin.papers.compliant_legs.machine import NO_LOAD, load, wrench_in_base
from twin.papers.compliant_legs.rest import (
    Linearisation,
    locked_deflection,
    locked_equilibrium,
    locked_linearisation,
    modes_of,
)
from twin.rotations import displaced, displacement

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
    held = held_equilibrium(machine, at.pose, given)
    deflection = np.concatenate([held.deflection, np.zeros(machine.n_legs)])
    free = solve_free(machine, held.pose, None, deflection, held.forces, wrench)
    assert max_abs(free.acceleration) < 1e-9
    assert max_abs(free.deflection_acceleration) < 1e-9
    if machine.n_legs == 6:
        assert held.forces == pytest.approx(at.forces, abs=1e-7)


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


@pytest.mark.parametrize(
    ("given", "locked"),
    [(LOADS[0], True), (LOADS[2], True), (LOADS[1], False), (LOADS[2], False)],
    ids=["none-locked", "platform-locked", "base-held", "platform-held"],
)
def test_linearisation_is_the_derivative(machine, derivative, given, locked):
    """M x'' + C x' + K x with the accelerations of the full model at displaced states."""
    n = machine.n_legs
    if locked:
        at = locked_equilibrium(machine, machine.home_extension, given)
        linear, size = locked_linearisation(machine, at), 6
    else:
        at = held_equilibrium(machine, machine.home, given)
        linear, size = held_linearisation(machine, at), 6 + n

    def answer(place, speed):
        pose = displaced(at.pose, place[:6])
        wrench = wrench_in_base(given, pose)
        if locked:
            deflection = locked_states(machine, pose[None], speed[None], at.extension)[0]
            return solve_locked(machine, pose, speed, deflection, wrench).acceleration
        deflection = np.concatenate([at.deflection + place[6:], speed[6:]])
        found = solve_free(machine, pose, speed[:6], deflection, at.forces, wrench)
        return np.concatenate([found.acceleration, found.deflection_acceleration])

    zero = np.zeros(size)
    by_place = np.stack(
        [derivative(lambda h, e=e: answer(h * e, zero), 1e-3) for e in np.eye(size)], axis=1
    )
    by_speed = np.stack(
        [derivative(lambda h, e=e: answer(zero, h * e), 1e-3) for e in np.eye(size)], axis=1
    )
    largest = max_abs(linear.stiffness)
    assert linear.mass @ by_place == pytest.approx(-linear.stiffness, abs=1e-8 * largest)
    assert linear.mass @ by_speed == pytest.approx(
        -linear.damping, abs=1e-8 * max_abs(linear.damping)
    )


def test_stiffness_is_symmetric_without_a_moment_of_fixed_direction(machine):
    at = locked_equilibrium(machine, machine.home_extension)
    stiffness = locked_linearisation(machine, at).stiffness
    assert stiffness == pytest.approx(stiffness.T, abs=1e-8)
    moment = np.array([10.0, -20.0, 5.0])
    at = locked_equilibrium(machine, machine.home_extension, load(moment=moment))
    stiffness = locked_linearisation(machine, at).stiffness
    skew = (stiffness - stiffness.T)[3:, 3:]
    # A constant moment has no potential: half of its cross product is left.
    assert [skew[2, 1], skew[0, 2], skew[1, 0]] == pytest.approx(-moment, abs=1e-7)


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


def test_modes_satisfy_their_equation(machine):
    at = locked_equilibrium(machine, machine.home_extension)
    linear = locked_linearisation(machine, at)
    found = modes_of(linear)
    squares = (2 * np.pi * found.frequencies) ** 2
    residual = linear.stiffness @ found.shapes - linear.mass @ found.shapes * squares
    assert max_abs(residual) < 1e-9 * max_abs(linear.stiffness)
    assert (found.eigenvalues.real < 0.0).all()
    assert len(found.damping_ratios) == 6


def test_held_forces_do_not_hold(shipped):
    """Constant forces: springs swing for themselves, the platform has no stiffness and tips."""
    at = held_equilibrium(shipped, shipped.home)
    found = modes_of(held_linearisation(shipped, at))
    alone = np.sqrt(shipped.stiffness / shipped.deflecting_mass) / (2 * np.pi)
    assert found.frequencies[6:] == pytest.approx(alone, rel=1e-6)
    assert (found.growth[:6] > 1.0).all()
    assert found.settling_time == float("inf")
    slow = float(found.eigenvalues.real.max())
    # The tipping seen in time: a small displacement grows as the fastest mode says.
    fastest = found.shapes[:6, found.growth.argmax()]
    start = displaced(at.pose, 1e-7 * fastest)
    deflection = np.concatenate([at.deflection, np.zeros(6)])
    times = np.linspace(0.0, 0.8, 9)
    motion = free_motion(shipped, times, start, 1e-7 * slow * fastest, deflection, at.forces)
    size = np.linalg.norm(displacement(motion.pose, at.pose), axis=1)
    assert np.log(size[-1] / size[0]) / 0.8 == pytest.approx(slow, rel=1e-3)


def test_no_equilibrium_is_said(shipped):
    soft = replace(shipped, stiffness=np.full(6, 200.0))
    with pytest.raises(StateError, match="no equilibrium") as caught:
        locked_equilibrium(soft, soft.home_extension)
    assert {"pose", "residual", "iterations"} <= set(caught.value.data)
