"""Actuator forces of a reference, with the springs in series deflected."""

from __future__ import annotations

import numpy as np

from twin.basics.arrays import FloatArray
from twin.control.reference import Reference
from twin.model.machine_model import MachineModel
from twin.model.static_deflection import static_deflection


def forward_forces(platform: MachineModel, reference: Reference) -> FloatArray:
    """Return the forces `(k, n)` [N] along a reference, one row per control instant.

    Springs in series follow without swinging; at rest that is exact. Rows that cannot be reached,
    at which the loop stops, are those of home.

    Raises:
        InputError: motions the machine cannot have.
        SingularPoseError: the reference passes a singular pose.
    """
    good = reference.reachable[:, None] > 0.0
    pose = np.where(good, reference.pose, platform.home)
    twist = np.where(good, reference.twist, 0.0)
    acceleration = np.where(good, reference.acceleration, 0.0)
    inner = (
        static_deflection(platform, pose, twist, acceleration) if platform.n_deflections else None
    )
    return platform.inverse_dynamics(pose, twist, acceleration, deflection=inner)
