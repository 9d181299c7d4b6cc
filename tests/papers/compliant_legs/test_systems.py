"""The three systems against independent derivations: sympy, compiled kernels."""

from dataclasses import replace

import numpy as np
import pytest
from compliant_lagrange import solve_extended
from tolerance import max_abs

from twin.papers.compliant_legs.equations import (
    rest_lengths,
    solve_free,
    solve_locked,
)
from twin.papers.compliant_legs.machine import (
    leg_state,
)

AGREEMENT = 1e-10
"""Of accelerations around 10 and forces around 100: rounding of systems of up to 55 unknowns."""


@pytest.mark.slow
def test_free_system_is_the_lagrangian_of_sympy(machine, compliant_states):
    for state in zip(*compliant_states, strict=True):
        ours, reference = solve_free(machine, *state), solve_extended(machine, *state)
        assert ours.acceleration == pytest.approx(reference.acceleration, abs=AGREEMENT)
        springs, actuators = reference.coordinates[:, 2], reference.coordinates[:, 3]
        assert ours.deflection_acceleration == pytest.approx(springs, abs=AGREEMENT)
        assert ours.extension_acceleration == pytest.approx(actuators, abs=AGREEMENT)
        assert ours.reactions == pytest.approx(reference.reactions, abs=10 * AGREEMENT)


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


def test_rest_lengths_keep_the_platform_still(machine, compliant_states):
    pose, wrench = compliant_states.pose, compliant_states.wrench
    extension = np.full(machine.n_legs, 0.09)
    answer = rest_lengths(machine, pose, extension, wrench)
    rest, relaxed = np.zeros((1, 6)), np.zeros((1, 2 * machine.n_legs))
    for k in range(len(pose)):
        designed = replace(machine, spring_length=answer.rest_lengths[k])
        legs = leg_state(designed, pose[k : k + 1], rest, relaxed)
        # Equation (80): what the actuators do not fill is the spring's loaded length.
        state = np.concatenate([legs.extension[0] - extension, np.zeros(machine.n_legs)])
        found = solve_locked(designed, pose[k], None, state, wrench[k])
        # Thousands of newtons along the legs balance: rounding of 1e4 in the accelerations.
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


def test_batches_are_rows(machine, compliant_states):
    parts = [part.reshape((4, 5, -1)) for part in compliant_states]
    batch = solve_free(machine, *parts)
    assert batch.reactions.shape == (4, 5, machine.n_legs, 3)
    one = solve_free(machine, *(part[2, 3] for part in parts))
    assert one.acceleration == pytest.approx(batch.acceleration[2, 3], abs=1e-12)
