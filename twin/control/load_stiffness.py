"""Stiffness of a machine under its own weight, as its actuators feel it."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from twin.model.constraints import characteristic_length
from twin.model.machine_model import MachineModel
from twin.model.static_deflection import static_deflection
from twin.rotations import displaced

SHARE = 1e-4
"""Displacement of the platform per its characteristic length, either way."""


@lru_cache(maxsize=32)
def falling_stiffness(platform: MachineModel) -> float:
    """Return how fast holding forces fall with a displacement, at worst [N/m, N m/rad].

    At rest the actuators give G(q). Held by constant forces, a machine with D = dG/dq leaves home
    along each eigenvector of D with a negative eigenvalue, as a pendulum that stands upside down.
    The result is minus the smallest eigenvalue of the symmetric part of D at home, zero where none
    is negative. D is by central differences over all motions that the legs allow.
    """
    length = characteristic_length(platform.platform_joints)
    steps = SHARE * np.diag(np.repeat([length, 1.0], 3))
    poses = platform.constrain(displaced(np.tile(platform.home, (12, 1)), [*steps, *-steps])).pose
    rest, k = np.zeros((12, 6)), platform.n_deflections
    inside = static_deflection(platform, poses, rest, rest) if k else None
    forces = platform.inverse_dynamics(poses, rest, rest, deflection=inside)
    coordinates = platform.inverse_kinematics(poses)
    if inside is not None:
        coordinates = coordinates - inside[:, :k]
    changes, rises = (ends[:6] - ends[6:] for ends in (coordinates, forces))
    stiffness = np.linalg.pinv(changes, rcond=1e-6) @ rises
    return max(0.0, -float(np.linalg.eigvalsh(0.5 * (stiffness + stiffness.T))[0]))
