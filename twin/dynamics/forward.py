"""Forward dynamics and the mass matrix: M a = wrench + J^T forces - h."""

from __future__ import annotations

import numpy as np

from twin.compiled.jit import compiled, device
from twin.compiled.linear import solve_positive
from twin.dynamics.assembly import assemble, energy


@device
def forward_dynamics(
    body, legs, pose, twist, forces, wrench, acceleration, mass_matrix, bias, jacobian
):
    """Fill `acceleration` (6,) of one state; return False where it does not exist.

    `mass_matrix` (6, 6), `bias` (6,) and `jacobian` (n, 6) are work arrays.
    """
    singular = assemble(body, legs, pose, twist, mass_matrix, bias, jacobian)
    for k in range(6):
        total = wrench[k] - bias[k]
        for i in range(legs.shape[0]):
            total += jacobian[i, k] * forces[i]
        acceleration[k] = total
    return solve_positive(mass_matrix, acceleration, 6) and singular < 0


@compiled
def forward_dynamics_batch(body, legs, poses, twists, forces, wrenches, accelerations):
    """Fill `accelerations` (batch, 6); return the first state without one, or -1."""
    mass_matrix, bias, jacobian = np.empty((6, 6)), np.empty(6), np.empty((legs.shape[0], 6))
    failed = -1
    for k in range(poses.shape[0]):
        regular = forward_dynamics(
            body,
            legs,
            poses[k],
            twists[k],
            forces[k],
            wrenches[k],
            accelerations[k],
            mass_matrix,
            bias,
            jacobian,
        )
        if not regular and failed < 0:
            failed = k
    return failed


@compiled
def mass_matrix_batch(body, legs, poses, matrices):
    """Fill `matrices` (batch, 6, 6); return the first singular state, or -1."""
    rest, bias, jacobian = np.zeros(6), np.empty(6), np.empty((legs.shape[0], 6))
    failed = -1
    for k in range(poses.shape[0]):
        singular = assemble(body, legs, poses[k], rest, matrices[k], bias, jacobian)
        for i in range(6):
            for j in range(i):
                matrices[k, j, i] = matrices[k, i, j]
        if singular >= 0 and failed < 0:
            failed = k
    return failed


@compiled
def energy_batch(body, legs, poses, twists, energies):
    """Fill `energies` (batch, 2): kinetic and potential [J]; returns -1."""
    for k in range(poses.shape[0]):
        energies[k, 0], energies[k, 1] = energy(body, legs, poses[k], twists[k])
    return -1
