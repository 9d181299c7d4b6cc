"""Conditions that legs put on the platform's motion: checking them, and meeting them.

Only machines on pillars have some: their fixed foot leaves heave, roll and pitch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from twin.arrays import FloatArray
from twin.compiled.jit import compiled
from twin.compiled.linear import solve_general
from twin.compiled.vectors import add, cross, dot, norm, rotation, scale, subtract
from twin.errors import InputError
from twin.kinematics.jacobian import conditions_batch
from twin.kinematics.legs.drive import fill_conditions, settle

if TYPE_CHECKING:
    from twin.kinematics.legs.kinds import Legs

TOLERANCE = 1e-9
"""How far [m, rad; per s; per s2] a motion may be off, relative to its size above one."""

COUNT = 3
"""Conditions of a fixed foot."""


@compiled
def constrain_batch(legs, states, accelerations):
    """Move `states` (batch, 13) and `accelerations` (batch, 6) onto the conditions.

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
        fill_conditions(legs, (y[0], y[1], y[2]), turn, velocity, omega, rows)
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


def condition_rows(legs: Legs, poses: FloatArray, twists: FloatArray) -> FloatArray:
    """Return `(batch, 3, 8)`: rows C of C twist = 0, drift of C a + drift = 0, how far off."""
    rows = np.empty((len(poses), COUNT, 8))
    conditions_batch(legs, poses, twists, rows)
    return rows


def check_conditions(
    legs: Legs,
    poses: FloatArray,
    twists: FloatArray | None = None,
    accelerations: FloatArray | None = None,
) -> None:
    """Raise InputError for poses, twists, accelerations `(batch, .)` that a fixed foot forbids."""
    motion = np.zeros((len(poses), 6)) if twists is None else twists
    rows = condition_rows(legs, poses, motion)
    _check("pose", rows[:, :, 7], np.ones(len(poses)))
    if twists is not None:
        _check("twist", np.einsum("kij,kj->ki", rows[:, :, :6], twists), _sizes(twists))
    if accelerations is not None:
        off = np.einsum("kij,kj->ki", rows[:, :, :6], accelerations) + rows[:, :, 6]
        _check("acceleration", off, _sizes(accelerations))


def constrained(
    legs: Legs, poses: FloatArray, twists: FloatArray, accelerations: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the motion that meets all conditions with the same height and normal of the platform.

    Args:
        legs: constants of pillars.
        poses: `(batch, 7)`.
        twists: `(batch, 6)`.
        accelerations: `(batch, 6)`.
    """
    states, changed = np.concatenate([poses, twists], axis=1), accelerations.copy()
    constrain_batch(legs, states, changed)
    return states[:, :7].copy(), states[:, 7:].copy(), changed


def _sizes(values: FloatArray) -> FloatArray:
    return np.asarray(np.maximum(1.0, np.abs(values).max(axis=1, initial=0.0)))


def _check(field: str, off: FloatArray, sizes: FloatArray) -> None:
    worst = np.abs(off).max(axis=1, initial=0.0)
    bad = np.flatnonzero(~(worst <= TOLERANCE * sizes))
    if bad.size:
        raise InputError(
            field,
            f"entry {bad[0]} moves the fixed foot or turns it about the vertical (by "
            f"{worst[bad[0]]:.3g}): the machine has three freedoms, heave, roll and pitch. "
            "platform.constrain(pose, twist, acceleration) returns what fits",
        )
