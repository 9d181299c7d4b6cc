"""Motions moved onto the constraints that legs put on the platform."""

from __future__ import annotations

import numpy as np

from twin.kernels.jit import compiled
from twin.kernels.legs.kinematics import fill_constraints, settle
from twin.kernels.linear_algebra.solve import solve_general
from twin.kernels.vectors import add, cross, dot, norm, rotation, scale, subtract

COUNT = 3
"""Constraints of a fixed foot."""


@compiled
def constrain_batch(legs, states, accelerations):
    """Move `states` (batch, 13) and `accelerations` (batch, 6) onto the constraints.

    Height and normal of the platform keep their place, rate and acceleration. The normal n
    accelerates with alpha x n + omega x (omega x n); what the angular velocity loses in that is
    made up by the angular acceleration.
    """
    rows, matrix, right = np.empty((COUNT, 8)), np.empty((6, 6)), np.empty(6)
    for k in range(states.shape[0]):
        y, a = states[k], accelerations[k]
        given = (y[10], y[11], y[12])
        settle(legs, y)
        turn = rotation(y[3], y[4], y[5], y[6])
        velocity, omega = (y[7], y[8], y[9]), (y[10], y[11], y[12])
        fill_constraints(legs, (y[0], y[1], y[2]), turn, velocity, omega, rows)
        n = (turn[2], turn[5], turn[8])
        turning = subtract(cross(given, cross(given, n)), cross(omega, cross(omega, n)))
        wanted = add((a[3], a[4], a[5]), cross(n, turning))
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
        right[3], right[4], right[5] = a[2], dot(first, wanted), dot(second, wanted)
        solve_general(matrix, right, 6)
        for j in range(6):
            a[j] = right[j]
    return -1
