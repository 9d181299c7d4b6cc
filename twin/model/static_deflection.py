"""Quasi-static deflection of the springs in the legs along a motion."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from twin.basics.arrays import FloatArray, as_floats, flatten_batch, read_only
from twin.errors import StateError
from twin.model.machine_base import ZERO_VECTOR

if TYPE_CHECKING:
    from twin.model.machine_model import MachineModel

DIFFERENCE_STEP = 1e-5
"""[m] Step of the finite differences for the stiffness of springs."""

MAX_ITERATIONS = 20

AT_REST = 1e-9
"""[m/s2] Deflection acceleration below which a spring counts as at rest."""


def resting_deflection(platform: MachineModel, pose: Any = None) -> FloatArray:
    """Return the static deflection `(2k,)` at rest at a pose, default home; empty without springs.

    Raises:
        InputError: wrong shape or not finite.
        StateError: there is none.
    """
    if not platform.n_deflections:
        return np.empty(0)
    if pose is None:
        return _home_deflection(platform)
    return static_deflection(platform, pose, ZERO_VECTOR, ZERO_VECTOR)


@lru_cache(maxsize=32)
def _home_deflection(platform: MachineModel) -> FloatArray:
    return read_only(static_deflection(platform, platform.home, ZERO_VECTOR, ZERO_VECTOR))


def static_deflection(
    platform: MachineModel, pose: Any, twist: Any, acceleration: Any, wrench: Any = None
) -> FloatArray:
    """Return deflections of springs, with rates zero, `(..., 2k)` that do not accelerate.

    Newton with difference quotients; the forces are those of the inverse dynamics.

    Args:
        platform: the machine; without springs inside its legs there is nothing to find.
        pose: `(..., 7)`.
        twist: `(..., 6)`.
        acceleration: `(..., 6)`.
        wrench: external, `(6,)`, default none.

    Raises:
        InputError: wrong shapes or not finite.
        StateError: there are none.
    """
    k = platform.n_deflections
    shape, (poses, twists, motion_acceleration) = flatten_batch(
        pose=as_floats(pose, "pose", 7),
        twist=as_floats(twist, "twist", 6),
        acceleration=as_floats(acceleration, "acceleration", 6),
    )
    n_poses = len(poses)
    yields = np.zeros((n_poses, k))

    def accelerations(trials: FloatArray) -> FloatArray:
        """Return spring accelerations `(m, count, k)` [m/s2] at trial deflections of that shape."""
        deflections = np.concatenate([trials, np.zeros_like(trials)], axis=-1)
        forces = platform.inverse_dynamics(
            poses, twists, motion_acceleration, wrench, deflection=deflections
        )
        baseline = platform.forward_dynamics(poses, twists, forces, wrench, deflection=deflections)
        return baseline[..., 6:]

    increments = DIFFERENCE_STEP * np.vstack([np.zeros(k), np.eye(k)])[:, None]
    for _ in range(MAX_ITERATIONS):
        baseline, *perturbed = accelerations(yields + increments)
        if not np.abs(baseline).max(initial=0.0) > AT_REST:
            return np.hstack([yields, np.zeros((n_poses, k))]).reshape((*shape, 2 * k))
        slopes = np.stack(
            [(shifted - baseline) / DIFFERENCE_STEP for shifted in perturbed],
            axis=-1,
        )
        yields = yields - np.linalg.solve(slopes, baseline[..., None])[..., 0]
    raise StateError(f"{platform.name}: the springs in the legs find no place to rest")
