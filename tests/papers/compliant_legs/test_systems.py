"""The three systems against independent derivations: sympy, compiled kernels."""

from dataclasses import replace

import numpy as np
import pytest
from compliant_held import held_equilibrium
from compliant_lagrange import solve_extended
from tolerance import max_abs

import twin
from twin.basics.arrays import rotation_matrix
from twin.papers.compliant_legs.equations import (
    energy,
    free_system,
    locked_system,
    rest_lengths,
    solve_free,
    solve_locked,
    still_system,
)
from twin.papers.compliant_legs.machine import (
    from_parameters,
    leg_state,
    tip_matrices,
)

AGREEMENT = 1e-10
"""Of accelerations around 10 and forces around 100: rounding of systems of up to 55 unknowns."""


def test_systems_have_the_sizes_of_the_paper(shipped):
    pose, rest, deflection = shipped.home[None], np.zeros((1, 6)), np.zeros((1, 12))
    free = free_system(shipped, pose, rest, deflection, rest, rest)
    locked = locked_system(shipped, pose, rest, deflection, rest)
    still = still_system(shipped, pose, shipped.home_extension[None], rest)
    for system, size in ((free, 24), (locked, 30), (still, 36)):
        assert system.matrix.shape == (1, size, size)
        assert system.right_side.shape == (1, size)


def test_free_system_is_the_lagrangian_of_sympy(machine, compliant_states):
    for state in zip(*compliant_states, strict=True):
        ours, reference = solve_free(machine, *state), solve_extended(machine, *state)
        assert ours.acceleration == pytest.approx(reference.acceleration, abs=AGREEMENT)
        springs, actuators = reference.coordinates[:, 2], reference.coordinates[:, 3]
        assert ours.deflection_acceleration == pytest.approx(springs, abs=AGREEMENT)
        assert ours.extension_acceleration == pytest.approx(actuators, abs=AGREEMENT)
        assert ours.reactions == pytest.approx(reference.reactions, abs=10 * AGREEMENT)


def test_kernels_give_the_same():
    platform = twin.load("compliant_stewart")
    machine = from_parameters(platform.parameters)
    random = np.random.default_rng(8)
    twist, wrench = random.normal(size=(2, 30, 6))
    deflection = np.hstack([random.normal(size=(30, 6)) * 0.02, random.normal(size=(30, 6))])
    forces = random.normal(size=(30, 6)) * 300.0
    pose = np.tile(platform.home, (30, 1))
    pose[:, :3] += random.uniform(-0.08, 0.08, (30, 3))
    ours = solve_free(machine, pose, twist, deflection, forces, wrench)
    kernels = platform.forward_dynamics(pose, twist, forces, wrench, deflection=deflection)
    assert ours.acceleration == pytest.approx(kernels[:, :6], abs=AGREEMENT)
    assert ours.deflection_acceleration == pytest.approx(kernels[:, 6:], abs=AGREEMENT)
    parts = zip(
        energy(machine, pose, twist, deflection),
        platform.energy(pose, twist, deflection=deflection),
        strict=True,
    )
    for mine, theirs in parts:
        assert mine == pytest.approx(theirs, rel=1e-12)


def test_reactions_carry_platform_and_legs(machine, compliant_states):
    """Newton's law of the platform and of each leg as a whole, with the reactions between."""
    found = solve_free(machine, *compliant_states)
    pose, twist, deflection, forces, wrench = compliant_states
    rotation = rotation_matrix(pose[..., 3:])
    omega, alpha = twist[:, 3:], found.acceleration[:, 3:]
    center = rotation @ machine.platform_center
    center_acceleration = found.acceleration[:, :3] + np.cross(alpha, center)
    center_acceleration += np.cross(omega, np.cross(omega, center))
    weight = machine.platform_mass * machine.weight_direction
    total = wrench[:, :3] + weight - found.reactions.sum(axis=1)
    assert total == pytest.approx(machine.platform_mass * center_acceleration, abs=1e-8)
    # About the base joint a leg's angular momentum changes by its weights and the reaction.
    legs = leg_state(machine, pose, twist, deflection)
    tips = (tip_matrices(legs.arm) @ found.acceleration[:, None, :, None])[..., 0]
    tips += legs.centripetal
    turning = np.cross(legs.direction, tips) / legs.length[..., None]
    spin = np.cross(legs.direction, legs.direction_rate)
    turning -= 2 * (legs.length_rate / legs.length)[..., None] * spin
    momentum = legs.inertia[..., None] * turning + 2 * legs.coriolis_moment[..., None] * spin
    moment = np.cross(legs.length[..., None] * legs.direction, found.reactions)
    moment += legs.first_moment[..., None] * np.cross(legs.direction, machine.weight_direction)
    assert momentum == pytest.approx(moment, abs=1e-8)
    assert forces.shape == found.forces.shape


def test_locked_actuators_do_not_accelerate(machine, compliant_states):
    pose, twist, deflection, _, wrench = compliant_states
    locked = solve_locked(machine, pose, twist, deflection, wrench)
    assert max_abs(locked.extension_acceleration) < AGREEMENT
    free = solve_free(machine, pose, twist, deflection, locked.forces, wrench)
    assert free.acceleration == pytest.approx(locked.acceleration, abs=AGREEMENT)
    assert free.deflection_acceleration == pytest.approx(
        locked.deflection_acceleration, abs=AGREEMENT
    )
    assert free.reactions == pytest.approx(locked.reactions, abs=10 * AGREEMENT)
    # The lock matters: with other forces the actuators move.
    other = solve_free(machine, pose, twist, deflection, 0.9 * locked.forces, wrench)
    assert max_abs(other.extension_acceleration) > 1.0


def test_rest_lengths_keep_the_platform_still(subtests, machine, compliant_states):
    for size in [0.0, 1.0]:
        with subtests.test(f"{size}"):
            pose, _, _, _, wrench = compliant_states
            extension = np.full(machine.n_legs, 0.09)
            answer = rest_lengths(machine, pose, extension, size * wrench)
            # Thousands of newtons along the legs balance: rounding of 1e4 in the accelerations.
            for accelerations in (
                answer.acceleration,
                answer.deflection_acceleration,
                answer.extension_acceleration,
            ):
                assert max_abs(accelerations) < 1e-9
            for k in range(len(pose)):
                designed = replace(machine, spring_length=answer.rest_lengths[k])
                rest, relaxed = np.zeros((1, 6)), np.zeros((1, 2 * machine.n_legs))
                legs = leg_state(designed, pose[k : k + 1], rest, relaxed)
                # Equation (80): what the actuators do not fill is the spring's loaded length.
                deflection = legs.extension[0] - extension
                state = np.concatenate([deflection, np.zeros(machine.n_legs)])
                found = solve_locked(designed, pose[k], None, state, size * wrench[k])
                assert max_abs(found.acceleration) < 1e-9
                assert max_abs(found.deflection_acceleration) < 1e-9
                if machine.n_legs == 6:
                    assert found.forces == pytest.approx(answer.forces[k], abs=1e-7)


def test_a_seventh_leg_gets_the_smallest_forces(seven):
    answer = rest_lengths(seven, seven.home, np.full(7, 0.1))
    assert max_abs(answer.acceleration) < 1e-9
    legs = leg_state(seven, seven.home[None], np.zeros((1, 6)), np.zeros((1, 14)))
    along = legs.direction[0]
    wrenches = np.hstack([along, np.cross(legs.arm[0], along)])
    inner = np.linalg.svd(wrenches.T)[2][-1]
    assert max_abs(wrenches.T @ inner) < 1e-12
    # Forces that balance among themselves could be added: the answer has none of them.
    assert abs(inner @ answer.forces) < 1e-7 * np.linalg.norm(answer.forces)


def test_rest_lengths_and_holding_forces_agree(unequal):
    held = held_equilibrium(unequal, unequal.home)
    answer = rest_lengths(unequal, unequal.home, held.extension)
    assert answer.rest_lengths == pytest.approx(unequal.spring_length, abs=1e-12)
    assert answer.forces == pytest.approx(held.forces, abs=1e-8)
    assert answer.reactions == pytest.approx(held.reactions, abs=1e-8)


def test_batches_are_rows(machine, compliant_states):
    parts = [part.reshape((4, 5, -1)) for part in compliant_states]
    batch = solve_free(machine, *parts)
    assert batch.acceleration.shape == (4, 5, 6)
    assert batch.reactions.shape == (4, 5, machine.n_legs, 3)
    one = solve_free(machine, *(part[2, 3] for part in parts))
    assert one.acceleration.shape == (6,)
    assert one.acceleration == pytest.approx(batch.acceleration[2, 3], abs=1e-12)
    empty = rest_lengths(machine, np.empty((0, 7)), np.empty((0, machine.n_legs)))
    assert empty.rest_lengths.shape == (0, machine.n_legs)
