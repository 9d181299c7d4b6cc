"""Inverse dynamics: the actuator forces of a wanted acceleration, J^T forces = M a + h - wrench."""

from __future__ import annotations

import numpy as np

from twin.compiled.jit import compiled, device
from twin.compiled.linear import solve_general
from twin.dynamics.assembly import assemble

SINGULAR = 1e-12
"""Ratio of pivots of J^T below which forces are rounding error."""


@device
def inverse_dynamics(
    body, legs, pose, twist, acceleration, wrench, forces, mass_matrix, bias, jacobian, transposed
):
    """Fill `forces` (6,) of one state; return False at a singular pose.

    `mass_matrix` (6, 6), `bias` (6,), `jacobian` (6, 6) and `transposed` (6, 6) are work arrays.
    """
    singular = assemble(body, legs, pose, twist, mass_matrix, bias, jacobian)
    for i in range(6):
        total = bias[i] - wrench[i]
        for j in range(6):
            entry = mass_matrix[i, j] if j <= i else mass_matrix[j, i]
            total += entry * acceleration[j]
            transposed[i, j] = jacobian[j, i]
        forces[i] = total
    return abs(solve_general(transposed, forces, 6)) > SINGULAR and singular < 0


@compiled
def inverse_dynamics_batch(body, legs, poses, twists, accelerations, wrenches, forces):
    """Fill `forces` (batch, 6); return the first singular state, or -1."""
    mass_matrix, bias = np.empty((6, 6)), np.empty(6)
    jacobian, transposed = np.empty((6, 6)), np.empty((6, 6))
    failed = -1
    for k in range(poses.shape[0]):
        regular = inverse_dynamics(
            body,
            legs,
            poses[k],
            twists[k],
            accelerations[k],
            wrenches[k],
            forces[k],
            mass_matrix,
            bias,
            jacobian,
            transposed,
        )
        if not regular and failed < 0:
            failed = k
    return failed
