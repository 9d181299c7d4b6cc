"""Conditions that legs put on the platform's motion: checking them, and meeting them.

Only machines on pillars have some: their fixed foot leaves heave, roll and pitch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from twin.arrays import FloatArray
from twin.compiled.jit import compiled
from twin.errors import InputError
from twin.kinematics.jacobian import conditions_batch
from twin.kinematics.legs.drive import settle

if TYPE_CHECKING:
    from twin.kinematics.legs.kinds import Legs

TOLERANCE = 1e-9
"""How far [m, rad; per s; per s2] a motion may be off, relative to its size above one."""

COUNT = 3
"""Conditions of a fixed foot."""


@compiled
def settle_batch(legs, states):
    """Move `states` (batch, 13) onto the conditions; height, normal and their rates stay."""
    for k in range(states.shape[0]):
        settle(legs, states[k])
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
    states = np.concatenate([poses, twists], axis=1)
    settle_batch(legs, states)
    poses, spins = states[:, :7].copy(), twists[:, 3:]
    twists = states[:, 7:].copy()
    rows = condition_rows(legs, poses, twists)
    w, x, y, z = poses[:, 3:].T
    normal = np.stack(
        [2.0 * (x * z + w * y), 2.0 * (y * z - w * x), 1.0 - 2.0 * (x * x + y * y)], axis=1
    )
    # The normal accelerates with alpha x n + omega x (omega x n); what the angular velocity has
    # lost in that is made up by the angular acceleration.
    turning = np.cross(spins, np.cross(spins, normal))
    turning -= np.cross(twists[:, 3:], np.cross(twists[:, 3:], normal))
    wanted = accelerations[:, 3:] + np.cross(normal, turning)
    across = np.stack([np.zeros_like(w), normal[:, 2], -normal[:, 1]], axis=1)
    across /= np.linalg.norm(across, axis=1)[:, None]
    kept = np.zeros((len(poses), COUNT, 6))
    kept[:, 0, 2] = 1.0
    kept[:, 1, 3:], kept[:, 2, 3:] = across, np.cross(across, normal)
    matrix = np.concatenate([rows[:, :, :6], kept], axis=1)
    values = np.einsum("kij,kj->ki", kept[:, :, 3:], wanted)
    values[:, 0] = accelerations[:, 2]
    right = np.concatenate([-rows[:, :, 6], values], axis=1)
    solved = np.linalg.solve(matrix, right[..., None])
    return poses, twists, np.asarray(solved[..., 0])


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
