"""Springs inside the legs that do not swing: their deflection along a motion."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from twin.basics.arrays import FloatArray, as_floats, flatten_batch
from twin.errors import StateError

if TYPE_CHECKING:
    from twin.model.machine_model import MachineModel

PUSH = 1e-5
"""[m] Step of the finite differences for the stiffness of springs."""

ROUNDS = 20

QUIET = 1e-9
"""[m/s2] of a spring that counts as standing still."""


def static_deflection(
    platform: MachineModel, pose: Any, twist: Any, acceleration: Any, wrench: Any = None
) -> FloatArray:
    """Return coordinates inside the legs, with rates zero, `(..., 2k)` that do not accelerate.

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
    shape, motion = flatten_batch(
        pose=as_floats(pose, "pose", 7),
        twist=as_floats(twist, "twist", 6),
        acceleration=as_floats(acceleration, "acceleration", 6),
    )
    count = len(motion[0])
    yields = np.zeros((count, k))

    def accelerations(trial: FloatArray) -> FloatArray:
        inside = np.hstack([trial, np.zeros((count, k))])
        forces = platform.inverse_dynamics(
            motion[0], motion[1], motion[2], wrench, deflection=inside
        )
        found = platform.forward_dynamics(motion[0], motion[1], forces, wrench, deflection=inside)
        return found[:, 6:]

    for _ in range(ROUNDS):
        found = accelerations(yields)
        if not np.abs(found).max(initial=0.0) > QUIET:
            return np.hstack([yields, np.zeros((count, k))]).reshape((*shape, 2 * k))
        pushed = [accelerations(yields + PUSH * row) for row in np.eye(k)]
        slopes = np.stack([(after - found) / PUSH for after in pushed], axis=-1)
        yields = yields - np.linalg.solve(slopes, found[..., None])[..., 0]
    raise StateError(f"{platform.name}: the springs inside the legs find no place to rest")
