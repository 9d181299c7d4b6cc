"""Stiffness of a machine in task space, from the stiffness of its actuators and its loads.

A machine at rest is pushed by the wrench w, with springs f along its actuators:

    w(x) = J(x)^T f(x) + w_weight(x) + w_external
    f(x) = k (r - q(x))

Moving it by a small displacement d (translation, rotation vector, base axes) changes the push by

    dw = -K d,   K = J^T diag(k) J - d(J^T) f - d(w_weight)

with an elastic part, a geometric one and that of the weight. The columns of the geometric part are

    g = -(dJ/dt)^T f

at the six unit twists. The parts are not symmetric one by one: in the rotations each differs from
its transpose by the cross product with its own moment. In equilibrium the moments cancel and K is
symmetric.

Springs along the actuators: those of struts, or the stiffness of position loops.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, as_floats, as_pose, flatten_batch, one_or_each, read_only
from twin.errors import InputError, SingularPoseError
from twin.model.constraints import characteristic_length
from twin.model.derivatives import forward_dynamics_derivatives
from twin.model.machine_model import MachineModel, as_model
from twin.model.motions import REST


class Springs(NamedTuple):
    """Springs parallel to the actuators: force = stiffness (rest - coordinate) - damping rate."""

    stiffness: FloatArray
    """`(n,)` [N/m], for cranks [N m/rad]"""
    damping: FloatArray
    """`(n,)` [N s/m], for cranks [N m s/rad]"""
    rest: FloatArray
    """`(n,)` coordinates [m] or [rad] at which the springs carry nothing"""
    own: bool
    """whether they are the machine's struts, part of its dynamics"""


def strut_springs(platform: MachineModel) -> Springs | None:
    """Return the springs of the machine's own struts; None for a machine without struts."""
    return Springs(*platform.leg_springs, own=True) if platform.leg.has_axial_spring else None


def springs_of(platform: MachineModel, stiffness: Any = None) -> Springs:
    """Return the machine's struts, or springs of the given stiffness at its actuators.

    Args:
        platform: the machine.
        stiffness: one number or `(n,)` [N/m], for cranks [N m/rad]: what holds the actuators of a
            machine without struts, such as position loops. Struts have their own.

    Raises:
        InputError: machines whose legs deform inside or that have fewer than six degrees of
            freedom, no stiffness for a machine without struts, or one for a machine with struts.
    """
    if as_model(platform).dof != 6 or platform.n_deflections:
        raise InputError(
            "platform",
            f"{platform.name} must have six degrees of freedom and no springs inside its legs: "
            "its stiffness follows from that of its actuators alone",
        )
    own = strut_springs(platform)
    if own is not None:
        if stiffness is not None:
            raise InputError(
                "stiffness", f"the struts of {platform.name} have their own; leave it out"
            )
        return own
    if stiffness is None:
        raise InputError(
            "stiffness", f"{platform.name} has no struts; give the stiffness of its actuators"
        )
    n = platform.n_actuators
    return Springs(
        read_only(one_or_each(stiffness, "stiffness", n)),
        read_only(np.zeros(n)),
        read_only(platform.home_coordinates),
        own=False,
    )


def rest_length_forces(platform: MachineModel, lengths: Any) -> FloatArray:
    """Return the actuator forces `(..., n)` [N] that command rest lengths `(..., n)` [m] of struts.

    A strut whose rest length is moved from its own to `lengths` carries the additional force
    stiffness (lengths - own rest length) at every length.

    Raises:
        InputError: a machine without struts, wrong shape, not finite.
    """
    springs = strut_springs(as_model(platform))
    if springs is None:
        raise InputError("platform", f"{platform.name} has no struts to command by rest length")
    commanded = as_floats(lengths, "lengths", platform.n_actuators)
    return np.asarray(springs.stiffness * (commanded - springs.rest))


class Stiffness(NamedTuple):
    """A stiffness matrix in parts: push = -total @ displacement, base axes, reference point.

    Blocks of each `(..., 6, 6)`: [N/m], [N/rad]; [N m/m], [N m/rad].
    """

    elastic: FloatArray
    """that of the springs along the actuators"""
    geometric: FloatArray
    """turning of the forces that the legs carry"""
    weight: FloatArray
    """change of the weights of platform and legs"""

    @property
    def total(self) -> FloatArray:
        """Sum of the parts `(..., 6, 6)`."""
        return self.elastic + self.geometric + self.weight


def characteristic_scale(platform: MachineModel) -> FloatArray:
    """Return `(6,)`: the platform joints' mean radius [m] three times, then 1 rad three times."""
    radius = characteristic_length(platform.platform_joints)
    return np.array([radius, radius, radius, 1.0, 1.0, 1.0])


def stiffness_matrix(
    platform: MachineModel, pose: Any = None, *, stiffness: Any = None, carried: Any = None
) -> Stiffness:
    """Return the tangent stiffness of a machine on springs at poses `(..., 7)`.

    Args:
        platform: the machine.
        pose: default home.
        stiffness: of the actuators, see `springs_of`.
        carried: forces `(..., n)` [N], [N m] along the actuators, springs included; default those
            that hold the machine at rest against its weight. Zero for a machine without load.

    Raises:
        InputError: wrong shapes, not finite, or no stiffness known.
        SingularPoseError: the pose is singular and no `carried` forces are given.
    """
    springs = springs_of(platform, stiffness)
    poses = as_pose(platform.home if pose is None else pose)
    held = holding_forces(platform, poses) if carried is None else carried
    return stiffness_parts(platform, poses, springs.stiffness, held)


def compliance_matrix(
    platform: MachineModel, pose: Any = None, *, stiffness: Any = None, carried: Any = None
) -> FloatArray:
    """Return the displacement per wrench `(..., 6, 6)`: the inverse of the total stiffness.

    Blocks: [m/N], [m/(N m)]; [rad/N], [rad/(N m)]. Arguments as for `stiffness_matrix`.

    Raises:
        InputError: wrong shapes, not finite, or no stiffness known.
        SingularPoseError: nothing holds the machine in some direction.
    """
    total = stiffness_matrix(platform, pose, stiffness=stiffness, carried=carried).total
    try:
        return np.asarray(np.linalg.inv(total), dtype=np.float64)
    except np.linalg.LinAlgError:
        place = platform.home if pose is None else as_pose(pose)
        raise SingularPoseError(
            f"nothing holds {platform.name} in some direction at this pose; move away from it",
            {"index": 0, "pose": place},
        ) from None


def stiffness_parts(
    platform: MachineModel, pose: Any, stiffness: FloatArray, carried: Any
) -> Stiffness:
    """Return the stiffness of actuators of stiffness `(n,)` that carry forces `(..., n)`.

    Raises:
        InputError: wrong shapes, not finite.
    """
    shape, (poses, forces) = flatten_batch(
        pose=as_pose(pose), carried=as_floats(carried, "carried", platform.n_actuators)
    )
    jacobian = platform.jacobian(poses)
    elastic = np.einsum("kia,i,kib->kab", jacobian, stiffness, jacobian)
    turning = platform.jacobian_derivative(poses[:, None], np.eye(6))
    geometric = -np.einsum("kbia,ki->kab", turning, forces)
    weight = _weight_stiffness(platform, poses)
    return Stiffness(*(part.reshape((*shape, 6, 6)) for part in (elastic, geometric, weight)))


def weight_wrench(platform: MachineModel, pose: Any) -> FloatArray:
    """Return the wrench `(..., 6)` [N], [N m] of all weights, legs included, at rest.

    Raises:
        InputError: wrong shape, not finite, no unit quaternion.
    """
    poses = as_pose(pose)
    if platform.parameters.gravity == 0.0:
        return np.zeros((*poses.shape[:-1], 6))
    forces = np.zeros(platform.n_actuators)
    struts = strut_springs(platform)
    if struts is not None:
        forces = -struts.stiffness * (struts.rest - platform.inverse_kinematics(poses))
    acceleration = platform.forward_dynamics(poses, REST, forces)
    masses = platform.mass_matrix(poses)
    return np.asarray(np.einsum("...ij,...j->...i", masses, acceleration))


def holding_forces(platform: MachineModel, pose: Any, wrench: Any = None) -> FloatArray:
    """Return the forces `(..., n)` along the actuators, springs included, that hold a machine.

    Raises:
        InputError: wrong shape, not finite, no unit quaternion.
        SingularPoseError: the pose is singular.
    """
    forces = platform.inverse_dynamics(pose, REST, REST, wrench)
    struts = strut_springs(platform)
    if struts is not None:
        forces += struts.stiffness * (struts.rest - platform.inverse_kinematics(pose))
    return forces


def _weight_stiffness(platform: MachineModel, poses: FloatArray) -> FloatArray:
    """Return `(m, 6, 6)` from the accelerations of a platform that is held by constant loads.

    Where a wrench against the weights holds it, a = 0 and d(weights)/dq = M da/dq. Struts are
    released by actuator forces, whose springs still answer a displacement with J^T k J.
    """
    if platform.parameters.gravity == 0.0:
        return np.zeros((len(poses), 6, 6))
    forces, answer = np.zeros(platform.n_actuators), np.zeros((6, 6))
    struts = strut_springs(platform)
    if struts is not None:
        jacobian = platform.jacobian(poses)
        forces = -struts.stiffness * (struts.rest - platform.inverse_kinematics(poses))
        answer = np.einsum("kia,i,kib->kab", jacobian, struts.stiffness, jacobian)
    held = -weight_wrench(platform, poses)
    slopes = forward_dynamics_derivatives(platform, poses, REST, forces, held).pose
    return np.asarray(-(platform.mass_matrix(poses) @ slopes + answer))
