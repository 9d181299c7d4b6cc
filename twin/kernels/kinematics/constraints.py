"""Constraints that legs put on the platform, and the projection of motions onto them."""

from __future__ import annotations

import numpy as np

from twin.basics.arrays import FloatArray
from twin.kernels.jit import compiled
from twin.kernels.legs.dispatch import fill_constraints, project_onto_constraints
from twin.kernels.legs.interface import Legs
from twin.kernels.legs.pillar.kinematics import CONSTRAINT_COUNT
from twin.kernels.linear_algebra import solve_general
from twin.kernels.platform_state import platform_state
from twin.kernels.vectors import add, cross, dot, norm, scale, subtract

COUNT = CONSTRAINT_COUNT
"""Constraints of the one kind of leg that has any."""

TOLERANCE = 1e-9
"""How far [m, rad; per s; per s2] a motion may be off, relative to its size above one."""


@compiled
def constraints_batch(legs: Legs, poses: FloatArray, twists: FloatArray, out: FloatArray) -> int:
    """Fill `out` (batch, constraints, 8): C (6 entries), drift, and the error of the pose."""
    for k in range(poses.shape[0]):
        fill_constraints(legs, platform_state(poses[k], twists[k]), out[k])
    return -1


@compiled
def constrain_batch(legs: Legs, states: FloatArray, accelerations: FloatArray) -> int:
    """Move `states` (batch, 13) and `accelerations` (batch, 6) onto the constraints.

    Height and normal of the platform keep their value, rate and acceleration. The normal n
    accelerates with alpha x n + omega x (omega x n); a change of the second term is made up by the
    angular acceleration.
    """
    rows, matrix, right = np.empty((COUNT, 8)), np.empty((6, 6)), np.empty(6)
    for k in range(states.shape[0]):
        y, a = states[k], accelerations[k]
        given = (y[10], y[11], y[12])
        project_onto_constraints(legs, y)
        state = platform_state(y[:7], y[7:13])
        fill_constraints(legs, state, rows)
        omega, n = state.omega, (state.matrix[2], state.matrix[5], state.matrix[8])
        turning = subtract(cross(given, cross(given, n)), cross(omega, cross(omega, n)))
        required = add((a[3], a[4], a[5]), cross(n, turning))
        along = (0.0, n[2], -n[1])
        first = scale(1.0 / norm(along), along)
        second = cross(first, n)
        for j in range(6):
            for i in range(COUNT):
                matrix[i, j] = rows[i, j]
                matrix[COUNT + i, j] = 0.0
        for i in range(COUNT):
            right[i] = -rows[i, 6]
            matrix[4, 3 + i] = first[i]
            matrix[5, 3 + i] = second[i]
        matrix[3, 2] = 1.0
        right[3], right[4], right[5] = a[2], dot(first, required), dot(second, required)
        solve_general(matrix, right, 6)
        for j in range(6):
            a[j] = right[j]
    return -1
