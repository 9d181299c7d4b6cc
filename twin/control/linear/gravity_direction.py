"""Accelerations of a machine whose base accelerates: gravity in another direction.

In the frame of a base with the acceleration a_b, the field -a_b is added to gravity on every
body of the machine. Accelerations are linear in the field: unit fields suffice.
"""

from __future__ import annotations

import numpy as np

from twin.basics.arrays import FloatArray
from twin.control.linear.rest import Rest
from twin.kernels.dynamics.assembly import GRAVITY
from twin.kernels.dynamics.forward import forward_dynamics_batch
from twin.model.evaluation import run_checked
from twin.model.machine_model import MachineModel


def field_response(platform: MachineModel, rest: Rest) -> FloatArray:
    """Return accelerations `(6 + k, 3)` per field along -x, -y, -z of the base, at rest.

    These are the relative accelerations per unit acceleration of the base along x, y and z.

    Raises:
        SingularPoseError: the pose is singular.
    """
    weightless = _accelerations(platform, rest, np.zeros(3))
    columns = [_accelerations(platform, rest, field) - weightless for field in -np.eye(3)]
    return np.stack(columns, axis=1)


def _accelerations(platform: MachineModel, rest: Rest, field: FloatArray) -> FloatArray:
    """Return accelerations `(6 + k,)` without forces where every body feels `field` [m/s2]."""
    body, legs = platform.constants.body.copy(), platform.constants.legs
    body[GRAVITY : GRAVITY + 3] = field
    out = np.empty((1, 6 + platform.n_deflections))
    none = np.zeros((1, platform.n_actuators))
    still = np.zeros((1, 6))
    arrays = (rest.pose[None].copy(), still, rest.deflection[None].copy(), none, still.copy(), out)
    run_checked(forward_dynamics_batch, (body, legs), arrays, legs)
    return np.asarray(out[0])
