"""Laws of energy and virtual work of the compliant machine."""

import pytest

from twin.papers.compliant_legs.equations import energy, solve_free
from twin.papers.compliant_legs.machine import leg_state
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


def test_energy_changes_by_the_power(machine, compliant_states, derivative):
    for state in list(zip(*compliant_states, strict=True))[:8]:
        pose, twist, deflection, forces, wrench = state
        slope = derivative(
            lambda time, s=state: sum(energy(machine, *moved(machine, s, time))), 1e-3
        )
        legs = leg_state(machine, pose[None], twist[None], deflection[None])
        driven = forces @ (legs.length_rate - legs.deflection_rate)[0] + wrench @ twist
        lost = (machine.damping * legs.deflection_rate**2).sum()
        # Differences of an energy of a kilojoule.
        assert driven - lost == pytest.approx(float(slope), abs=1e-5)
