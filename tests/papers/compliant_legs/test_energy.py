"""Laws of energy and virtual work of the compliant machine."""

from dataclasses import replace

import numpy as np
import pytest
from compliant_held import held_equilibrium, locked_motions, power
from tolerance import assert_within

from twin.basics.arrays import rotation_matrix
from twin.papers.compliant_legs.equations import energy, solve_free
from twin.papers.compliant_legs.machine import NO_LOAD, leg_state, load
from twin.rotations import displaced


def moved(machine, state, time):
    """Return pose, twist and deflection state after a time, exact to its second order."""
    pose, twist, deflection, *_ = state
    found = solve_free(machine, *state)
    n = machine.n_legs
    step = twist * time + found.acceleration * time**2 / 2
    later = deflection.copy()
    later[:n] += deflection[n:] * time + found.deflection_acceleration * time**2 / 2
    later[n:] += found.deflection_acceleration * time
    return displaced(pose, step), twist + found.acceleration * time, later


def test_kinetic_energy_is_that_of_moving_points(machine, compliant_states, derivative):
    n = machine.n_legs
    for state in list(zip(*compliant_states, strict=True))[:5]:
        pose, twist, deflection, _, _ = state

        def points(time, pose=pose, twist=twist, deflection=deflection):
            later = deflection.copy()
            later[:n] += time * deflection[n:]
            place = displaced(pose, twist * time)
            legs = leg_state(machine, place[None], np.zeros((1, 6)), later[None])
            masses = legs.radii[0][..., None] * legs.direction[0][:, None]
            center = place[:3] + rotation_matrix(place[3:]) @ machine.platform_center
            return np.vstack([masses.reshape(-1, 3), center[None]])

        speeds = derivative(points, 1e-2)
        legs = leg_state(machine, pose[None], twist[None], deflection[None])
        masses = np.append(legs.masses.ravel(), machine.platform_mass)
        body = rotation_matrix(pose[..., 3:]).T @ twist[3:]
        expected = (masses * (speeds**2).sum(axis=1)).sum() / 2
        expected += body @ machine.platform_inertia @ body / 2
        # Differences of sixth order with steps of 10 ms.
        assert energy(machine, pose, twist, deflection)[0] == pytest.approx(expected, rel=1e-8)


def test_energy_changes_by_the_power(machine, compliant_states, derivative):
    for state in list(zip(*compliant_states, strict=True))[:8]:
        slope = derivative(
            lambda time, s=state: sum(energy(machine, *moved(machine, s, time))), 1e-3
        )
        # Differences of an energy of a kilojoule.
        assert power(machine, *state) == pytest.approx(float(slope), abs=1e-5)


def undamped(machine):
    return replace(machine, damping=np.zeros(machine.n_legs))


@pytest.mark.slow
def test_energy_is_kept_without_damping_and_locked(unequal):
    machine = undamped(unequal)
    twist = [0.1, -0.2, 0.3, 0.2, 0.1, -0.3]
    motion = locked_motions(
        machine, np.linspace(0.0, 1.0, 21), machine.home_extension, machine.home, [NO_LOAD], twist
    )
    total = sum(energy(machine, motion.pose[0], motion.twist[0], motion.deflection[0]))
    assert_within(total, total[0], 1e-9 * abs(total[0]))
    damped = locked_motions(
        unequal, np.linspace(0.0, 1.0, 21), unequal.home_extension, unequal.home, [NO_LOAD], twist
    )
    lost = sum(energy(unequal, damped.pose[0], damped.twist[0], damped.deflection[0]))
    assert lost[-1] < lost[0] - 1.0


@pytest.mark.parametrize("frame", ["base", "platform"])
def test_forces_at_rest_do_no_virtual_work(machine, derivative, frame):
    """Potential energy of legs, springs and platform against actuators and load."""
    given = load([50.0, -30.0, 20.0], [5.0, 8.0, -6.0], frame)
    at = held_equilibrium(machine, machine.home, given)
    random = np.random.default_rng(2)
    n = machine.n_legs
    for _ in range(5):
        direction, stretch = random.normal(size=6), random.normal(size=n)

        def place(size, direction=direction, stretch=stretch):
            springs = np.concatenate([at.deflection + size * stretch, np.zeros(n)])
            return displaced(at.pose, size * direction), springs

        def potential(size, place=place):
            pose, springs = place(size)
            return float(energy(machine, pose, None, springs)[1])

        def extensions(size, place=place):
            pose, springs = place(size)
            return leg_state(machine, pose[None], np.zeros((1, 6)), springs[None]).extension[0]

        driven = at.forces @ derivative(extensions, 1e-3)
        # The platform is level at home: both frames have the same axes there.
        assert derivative(potential, 1e-3) == pytest.approx(
            driven + given.wrench @ direction, abs=1e-7
        )
