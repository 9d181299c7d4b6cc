"""Small motions of any machine about a pose of rest.

The state is (q, q'): displacement of the platform in the directions its constraints leave free,
then the coordinates inside the legs. At rest the acceleration is zero, so that its derivatives are
those of the forces alone,

    M q'' + C q' + K q = E_f f + E_w w + E_b a_b,    K = -M dq''/dq,    C = -M dq''/dq',

with M from the machine's mass matrix and the derivatives from dual numbers, exact. In the frame of
a base with the acceleration a_b, the field -a_b is added to gravity on every body of the machine.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from twin.basics.arrays import FloatArray
from twin.control.linear.machine import LinearMachine, internal_mass, rest_at
from twin.errors import InputError
from twin.model.derivatives import forward_dynamics_derivatives
from twin.model.machine_model import MachineModel
from twin.model.motions import REST

REDUCED = (2, 3, 4)
"""Heave, roll and pitch: the displacements that machines with three degrees of freedom keep."""


def linearise(platform: MachineModel, pose: Any = None, wrench: Any = None) -> LinearMachine:
    """Return the small motions of a machine held still at a pose `(7,)`, default home.

    Args:
        platform: any machine.
        pose: of rest.
        wrench: `(6,)` [N], [N m] that acts on the platform meanwhile, default none.

    Raises:
        InputError: wrong shape, not finite, a pose the machine cannot have.
        SingularPoseError: the pose is singular.
    """
    rest = rest_at(platform, pose, wrench)
    free = free_directions(platform, rest.pose)
    size, k = free.shape[1], platform.n_deflections
    kept = list(range(6)) if size == 6 else list(REDUCED)
    mass = np.zeros((size + k, size + k))
    inner = rest.deflection
    mass[:size, :size] = free.T @ platform.mass_matrix(rest.pose, deflection=inner) @ free
    mass[size:, size:] = np.diag(internal_mass(platform))
    slopes = forward_dynamics_derivatives(
        platform, rest.pose, REST, rest.forces, rest.wrench, deflection=inner
    )
    rows = [*kept, *range(6, 6 + k)]
    by_place = np.hstack([slopes.pose @ free, slopes.deflection[:, :k]])[rows]
    by_rate = np.hstack([slopes.twist @ free, slopes.deflection[:, k:]])[rows]

    jacobian = platform.jacobian(rest.pose) @ free
    force_input = np.zeros((size + k, platform.n_actuators))
    force_input[:size] = jacobian.T
    force_input[size:] = -np.eye(k, platform.n_actuators)
    wrench_input = np.zeros((size + k, 6))
    wrench_input[:size] = free.T
    return LinearMachine(
        platform=platform,
        rest=rest,
        mass=mass,
        damping=-mass @ by_rate,
        stiffness=-mass @ by_place,
        force_input=force_input,
        wrench_input=wrench_input,
        base_input=-mass @ slopes.gravity[rows],
        free=np.hstack([free, np.zeros((6, k))]),
    )


def free_directions(platform: MachineModel, pose: FloatArray) -> FloatArray:
    """Return displacements `(6, dof)` that a machine can make, one column per free coordinate.

    All six, or those of a unit of heave, roll and pitch [m, rad, rad] in base axes.

    Raises:
        InputError: a machine with other degrees of freedom than six or these three.
    """
    constraints = platform.constraints(pose)
    if not len(constraints):
        return np.eye(6)
    null = np.linalg.svd(constraints, full_matrices=True)[2][len(constraints) :].T
    chosen = null[list(REDUCED)]
    if chosen.shape[0] != chosen.shape[1] or abs(np.linalg.det(chosen)) < 1e-9:
        raise InputError("platform", f"{platform.name} does not move in heave, roll and pitch")
    return np.asarray(null @ np.linalg.inv(chosen))
