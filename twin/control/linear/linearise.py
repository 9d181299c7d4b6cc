"""Small motions of any machine about a pose of rest, or about a state of motion.

The state is (q, v): displacement of the platform in the directions its constraints leave free,
then the deflections of springs; and the changes of their rates,

    M v' + C v + K q = E_f f + E_w w + E_b a_b,    K = -M dv'/dq,    C = -M dv'/dv,    q' = v + W q,

with M from the machine's mass matrix and the derivatives from dual numbers, exact. In the frame of
a base with the acceleration a_b, the field -a_b is added to gravity on every body of the machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from twin.basics.arrays import FloatArray, as_vector, one_pose
from twin.control.linear.machine import LinearMachine, OperatingPoint, internal_mass, rest_at
from twin.errors import InputError
from twin.model.derivatives import forward_dynamics_derivatives
from twin.model.machine_base import ZERO_VECTOR
from twin.model.machine_model import MachineModel, as_model

REDUCED_AXES = (2, 3, 4)
"""Heave, roll and pitch: the displacements that machines with three degrees of freedom keep."""


def linearise(
    platform: MachineModel,
    pose: Any = None,
    twist: Any = None,
    forces: Any = None,
    *,
    wrench: Any = None,
    deflection: Any = None,
    parameters: Sequence[str] = (),
) -> LinearMachine:
    """Return the small motions of a machine about a state, by default at rest.

    Args:
        platform: any machine.
        pose: `(7,)`, default home.
        twist: `(6,)` [m/s, rad/s], default at rest.
        forces: `(n,)` of the actuators [N] or [N m]; default those that keep the twist constant.
        wrench: `(6,)` [N], [N m] that acts on the platform meanwhile, default none.
        deflection: `(2k,)` of springs in series [m] and their rates [m/s]; default where they rest,
            and zero with a twist or forces.
        parameters: p paths of parameters, as `numeric_paths` lists them, for the input
            `parameters`.

    Raises:
        InputError: wrong shape, not finite, a state the machine cannot have, an unknown parameter,
            a machine with constraints that moves: its free directions turn with the pose, and their
            derivatives would take part.
        SingularPoseError: the pose is singular.
    """
    point = _operating_point(platform, pose, twist, forces, wrench, deflection)
    free_motions = free_directions(platform, point.pose)
    size, k = free_motions.shape[1], platform.n_deflections
    kept_axes = list(range(6)) if size == 6 else list(REDUCED_AXES)
    mass = np.zeros((size + k, size + k))
    deflections = point.deflection
    mass[:size, :size] = (
        free_motions.T @ platform.mass_matrix(point.pose, deflection=deflections) @ free_motions
    )
    mass[size:, size:] = np.diag(internal_mass(platform))
    slopes = forward_dynamics_derivatives(
        platform,
        point.pose,
        point.twist,
        point.forces,
        point.wrench,
        deflection=deflections,
        parameters=parameters,
    )
    kept_rows = [*kept_axes, *range(6, 6 + k)]
    by_place = np.hstack([slopes.pose @ free_motions, slopes.deflection[:, :k]])[kept_rows]
    by_rate = np.hstack([slopes.twist @ free_motions, slopes.deflection[:, k:]])[kept_rows]

    jacobian = platform.jacobian(point.pose) @ free_motions
    force_input = np.zeros((size + k, platform.n_actuators))
    force_input[:size] = jacobian.T
    force_input[size:] = -np.eye(k, platform.n_actuators)
    wrench_input = np.zeros((size + k, 6))
    wrench_input[:size] = free_motions.T
    return LinearMachine(
        platform=platform,
        point=point,
        mass=mass,
        damping=-mass @ by_rate,
        stiffness=-mass @ by_place,
        force_input=force_input,
        wrench_input=wrench_input,
        base_input=-mass @ slopes.gravity[kept_rows],
        free=np.hstack([free_motions, np.zeros((6, k))]),
        parameter_input=mass @ slopes.parameters[kept_rows],
        turning=_turning(point.twist[3:], size + k) if point.twist.any() else None,
    )


def _operating_point(
    platform: MachineModel, pose: Any, twist: Any, forces: Any, wrench: Any, deflection: Any
) -> OperatingPoint:
    """Return the state that a machine is linearised about."""
    if twist is None and forces is None and deflection is None:
        return rest_at(platform, pose, wrench)
    machine = as_model(platform)
    operating_pose = one_pose(machine.home if pose is None else pose)
    motion = as_vector(ZERO_VECTOR if twist is None else twist, "twist", 6)
    platform_wrench = as_vector(ZERO_VECTOR if wrench is None else wrench, "wrench", 6)
    if machine.dof < 6 and motion.any():
        raise InputError("twist", f"{machine.name} has constraints: it is linearised at rest only")
    deflections = as_vector(
        machine.as_deflection(deflection), "deflection", 2 * machine.n_deflections
    )
    if forces is None:
        actuator_forces = machine.inverse_dynamics(
            operating_pose, motion, ZERO_VECTOR, platform_wrench, deflection=deflections
        )
    else:
        actuator_forces = as_vector(forces, "forces", machine.n_actuators)
    return OperatingPoint(operating_pose, motion, actuator_forces, platform_wrench, deflections)


def _turning(omega: FloatArray, size: int) -> FloatArray:
    """Return W `(size, size)` with W q = omega x (small rotation); zero for other coordinates."""
    rotation_rate = np.zeros((size, size))
    rotation_rate[3:6, 3:6] = np.cross(omega, -np.eye(3))
    return rotation_rate


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
    reduced_basis = null[list(REDUCED_AXES)]
    if reduced_basis.shape[0] != reduced_basis.shape[1] or abs(np.linalg.det(reduced_basis)) < 1e-9:
        raise InputError("platform", f"{platform.name} does not move in heave, roll and pitch")
    return np.asarray(null @ np.linalg.inv(reduced_basis))
