"""Constraints that legs put on the platform's motion, and how near to a singular pose it is.

Only machines on pillars have constraints: their fixed foot leaves heave, roll and pitch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from twin.basics.arrays import FloatArray
from twin.errors import InputError
from twin.kernels.kinematics.constraints import COUNT, TOLERANCE, constrain_batch, constraints_batch
from twin.model.evaluation import run

if TYPE_CHECKING:
    from twin.kernels.legs.interface import Legs


def constraint_rows(legs: Legs, poses: FloatArray, twists: FloatArray) -> FloatArray:
    """Return the constraints of poses and twists, `(batch, 3, 8)`.

    Of each constraint: the row C of C twist = 0, the drift of C acceleration + drift = 0, and the
    error of the pose.
    """
    rows = np.empty((len(poses), COUNT, 8))
    run(constraints_batch, (legs,), (poses, twists, rows))
    return rows


def check_constraints(
    legs: Legs,
    poses: FloatArray,
    twists: FloatArray | None = None,
    accelerations: FloatArray | None = None,
) -> None:
    """Raise InputError for poses, twists, accelerations `(batch, .)` that a fixed foot forbids."""
    motion = np.zeros((len(poses), 6)) if twists is None else twists
    rows = constraint_rows(legs, poses, motion)
    _check("pose", rows[:, :, 7], np.ones(len(poses)))
    if twists is not None:
        _check("twist", np.einsum("kij,kj->ki", rows[:, :, :6], twists), _sizes(twists))
    if accelerations is not None:
        off = np.einsum("kij,kj->ki", rows[:, :, :6], accelerations) + rows[:, :, 6]
        _check("acceleration", off, _sizes(accelerations))


def constrained(
    legs: Legs, poses: FloatArray, twists: FloatArray, accelerations: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the motion that meets all constraints with the same height and normal of the platform.

    Args:
        legs: constants of pillars.
        poses: `(batch, 7)`.
        twists: `(batch, 6)`.
        accelerations: `(batch, 6)`.
    """
    states, changed = np.concatenate([poses, twists], axis=1), accelerations.copy()
    run(constrain_batch, (legs,), (states, changed))
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
            f"{worst[bad[0]]:.3g}): the machine has three dof, heave, roll and pitch. "
            "platform.constrain(pose, twist, acceleration) returns what fits",
        )


def characteristic_length(platform_joints: FloatArray) -> float:
    """Return the mean distance [m] of the platform joints from the reference point.

    Dividing the moment columns of the Jacobian by it makes all entries lengths per length, so
    that the condition number does not depend on the unit of length.
    """
    return float(np.linalg.norm(platform_joints, axis=1).mean())


def condition_number(jacobian: FloatArray, constraints: FloatArray, length: float) -> FloatArray:
    """Return the condition numbers `(...)` of Jacobians `(..., n, 6)`, moments scaled by `length`.

    Conditions `(..., c, 6)` restrict the twists. 1 is the best a machine can have; infinite at a
    singular pose.
    """
    units = np.array([1.0, 1.0, 1.0, length, length, length])
    scaled = jacobian / units
    if constraints.shape[-2]:
        scaled = scaled @ null_space(constraints / units)
    singular = np.linalg.svd(scaled, compute_uv=False)
    largest, smallest = singular[..., 0], singular[..., -1]
    return np.divide(largest, smallest, out=np.full_like(largest, np.inf), where=smallest > 0.0)


def null_space(constraints: FloatArray) -> FloatArray:
    """Return orthonormal vectors `(..., 6, 6 - c)` that meet the constraints `(..., c, 6)`."""
    count = constraints.shape[-2]
    return np.swapaxes(np.linalg.svd(constraints)[2][..., count:, :], -1, -2)
