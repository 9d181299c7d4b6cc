"""The three systems against independent derivations: sympy, point masses, compiled kernels."""

from dataclasses import replace

import numpy as np
import pytest
from compliant_held import held_equilibrium
from compliant_lagrange import solve_extended

import twin
from twin.basics.arrays import cross_matrix, rotation_matrix
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


def point_masses(
    machine,
    pose,
    twist,
    deflection,
    forces,
    wrench,
):
    """Return platform accelerations and spring accelerations from Cartesian point masses.

    Unknowns: platform (6) and three free points a leg, y1, y2, y3 from the base joint, held
    together by constraints with multipliers: y2 and y3 on the line to the tip t, y1 on the line to
    y2, |t| - |y3| = l4 and |y2| - 2 |y1| = l2. Springs and actuators pull the points.
    """
    n = machine.n_legs
    size, rows = 6 + 9 * n, 11 * n
    mass, jacobian = np.zeros((size, size)), np.zeros((rows, size))
    push, curvature = np.zeros(size), np.zeros(rows)
    rotation = rotation_matrix(pose[..., 3:])
    omega, g = twist[3:], machine.weight_direction
    center = rotation @ machine.platform_center
    inertia = rotation @ machine.platform_inertia @ rotation.T
    # The platform by Newton and Euler about its own centre of mass.
    to_center = tip_matrices(center)
    mass[:6, :6] = machine.platform_mass * to_center.T @ to_center
    mass[3:6, 3:6] += inertia
    falling = machine.platform_mass * (g - np.cross(omega, np.cross(omega, center)))
    push[:6] = to_center.T @ falling + wrench
    push[3:6] -= np.cross(omega, inertia @ omega)
    legs = leg_state(machine, pose[None], twist[None], deflection[None])
    for i in range(n):
        first = 6 + 9 * i
        tips = tip_matrices(legs.arm[0, i])
        tip, tip_rate = legs.length[0, i] * legs.direction[0, i], tips @ twist
        points = legs.radii[0, i][:, None] * legs.direction[0, i]
        rates = (
            legs.radius_rates[0, i][:, None] * legs.direction[0, i]
            + legs.radii[0, i][:, None] * legs.direction_rate[0, i]
        )
        for k in range(3):
            own = slice(first + 3 * k, first + 3 * k + 3)
            mass[own, own] = legs.masses[i, k] * np.eye(3)
            push[own] = legs.masses[i, k] * g
        stretched, rate = deflection[i], deflection[n + i]
        spring = machine.stiffness[i] * stretched + machine.damping[i] * rate
        push[first + 3 : first + 6] -= (spring + forces[i]) * legs.direction[0, i]
        push[first + 6 : first + 9] += forces[i] * legs.direction[0, i]

        row = 11 * i
        vectors = [(points[0], rates[0]), (points[1], rates[1]), (points[2], rates[2])]
        columns = [np.zeros((3, size)) for _ in range(4)]
        for k in range(3):
            columns[k][:, first + 3 * k : first + 3 * k + 3] = np.eye(3)
        columns[3][:, :6] = tips
        vectors.append((tip, tip_rate))
        drift = [np.zeros(3)] * 3 + [legs.centripetal[0, i]]
        for a, b in ((1, 3), (2, 3), (0, 1)):
            (x, v), (y, w) = vectors[a], vectors[b]
            jacobian[row : row + 3] = cross_matrix(x) @ columns[b] - cross_matrix(y) @ columns[a]
            curvature[row : row + 3] = 2 * np.cross(v, w) + np.cross(x, drift[b])
            curvature[row : row + 3] -= np.cross(y, drift[a])
            row += 3
        for a, b, factor in ((3, 2, 1.0), (1, 0, 2.0)):
            for k, sign in ((a, 1.0), (b, -factor)):
                x, v = vectors[k]
                distance = np.linalg.norm(x)
                unit = x / distance
                jacobian[row] += sign * unit @ columns[k]
                across = v @ v - (unit @ v) ** 2
                curvature[row] += sign * (across / distance + unit @ drift[k])
            row += 1
    system = np.block([[mass, jacobian.T], [jacobian, np.zeros((rows, rows))]])
    # Three rows of a cross product hold two constraints: the multipliers are not unique.
    found = np.linalg.lstsq(system, np.concatenate([push, -curvature]), rcond=1e-12)[0]
    springs = np.empty(n)
    for i in range(n):
        y, v = legs.radii[0, i, 1] * legs.direction[0, i], legs.direction_rate[0, i]
        acceleration = found[6 + 9 * i + 3 : 6 + 9 * i + 6]
        springs[i] = y @ acceleration / legs.radii[0, i, 1] + legs.radii[0, i, 1] * v @ v
    return found[:6], springs


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


def test_free_system_is_that_of_points_held_by_constraints(machine, compliant_states):
    for state in zip(*compliant_states, strict=True):
        ours = solve_free(machine, *state)
        acceleration, springs = point_masses(machine, *state)
        # Multipliers by least squares: squared distances lose two digits.
        assert ours.acceleration == pytest.approx(acceleration, abs=10 * AGREEMENT)
        assert ours.deflection_acceleration == pytest.approx(springs, abs=10 * AGREEMENT)


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
    assert np.abs(locked.extension_acceleration).max() < AGREEMENT
    free = solve_free(machine, pose, twist, deflection, locked.forces, wrench)
    assert free.acceleration == pytest.approx(locked.acceleration, abs=AGREEMENT)
    assert free.deflection_acceleration == pytest.approx(
        locked.deflection_acceleration, abs=AGREEMENT
    )
    assert free.reactions == pytest.approx(locked.reactions, abs=10 * AGREEMENT)
    # The lock matters: with other forces the actuators move.
    other = solve_free(machine, pose, twist, deflection, 0.9 * locked.forces, wrench)
    assert np.abs(other.extension_acceleration).max() > 1.0


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
                assert np.abs(accelerations).max() < 1e-9
            for k in range(len(pose)):
                designed = replace(machine, spring_length=answer.rest_lengths[k])
                rest, relaxed = np.zeros((1, 6)), np.zeros((1, 2 * machine.n_legs))
                legs = leg_state(designed, pose[k : k + 1], rest, relaxed)
                # Equation (80): what the actuators do not fill is the spring's loaded length.
                deflection = legs.extension[0] - extension
                state = np.concatenate([deflection, np.zeros(machine.n_legs)])
                found = solve_locked(designed, pose[k], None, state, size * wrench[k])
                assert np.abs(found.acceleration).max() < 1e-9
                assert np.abs(found.deflection_acceleration).max() < 1e-9
                if machine.n_legs == 6:
                    assert found.forces == pytest.approx(answer.forces[k], abs=1e-7)


def test_a_seventh_leg_gets_the_smallest_forces(seven):
    answer = rest_lengths(seven, seven.home, np.full(7, 0.1))
    assert np.abs(answer.acceleration).max() < 1e-9
    legs = leg_state(seven, seven.home[None], np.zeros((1, 6)), np.zeros((1, 14)))
    along = legs.direction[0]
    wrenches = np.hstack([along, np.cross(legs.arm[0], along)])
    inner = np.linalg.svd(wrenches.T)[2][-1]
    assert np.abs(wrenches.T @ inner).max() < 1e-12
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
