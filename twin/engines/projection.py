"""Actuator forces from an engine's open tree, without its constraint solver.

The tree's inverse dynamics gives a generalised force at every joint, the passive ones included.
The loops tie all velocities of the tree to the independent ones, v = G w: the platform's twist, or
the rates of the joints that carry it, and the rates of the legs' internal joints; of a platform
whose legs allow fewer twists, a basis of these. By virtual work
G^T (torques - forces of the actuators) = 0. The rows of the platform determine the actuators'
forces, of the smallest norm where there are more of them than degrees of freedom; the rows of the
deflection joints must hold by themselves. The result equals the inverse dynamics only if the
engine's model has the right masses, tensors, springs and points.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import null_space

from twin.basics.arrays import FloatArray, as_vector, one_of, one_pose
from twin.engines.mechanism import Mechanism, joint_motion, make_mechanism
from twin.errors import SingularPoseError
from twin.model.machine_model import MachineModel

TREE_MODULES = {"mujoco": "twin.engines.mujoco", "bullet": "twin.engines.bullet.engine"}

RANK_TOLERANCE = 1e-9
"""Relative size of the smallest singular value below which a matrix counts as singular."""


class OpenTree(NamedTuple):
    """Inverse dynamics and Jacobians of an engine's tree in a loop-consistent state.

    The tree's velocities are the twist of a platform that floats, then the rates of all joints in
    the order of `Mechanism.joint_names`.
    """

    torques: FloatArray
    """`(velocities,)` generalised forces, gravity and springs included; those of the twist are the
    wrench on the platform about its reference point, base axes"""
    closure: FloatArray
    """`(3 loops, velocities)` velocities of the loops' first points against the second ones, base
    axes; zero for every motion that keeps the loops closed"""


class Projection(NamedTuple):
    """Equations of a motion in its independent velocities: load = map @ forces."""

    load: FloatArray
    """`(degrees of freedom,)` generalised forces of the motion; the platform's first"""
    map: FloatArray
    """`(degrees of freedom, n)` generalised forces per actuator force"""
    platform_dof: int

    @property
    def forces(self) -> FloatArray:
        """Actuator forces `(n,)` [N] or [N m] of smallest norm that produce the motion.

        Raises:
            SingularPoseError: no actuator forces do.
        """
        platform_rows = slice(0, self.platform_dof)
        forces, _, rank, _ = np.linalg.lstsq(
            self.map[platform_rows], self.load[platform_rows], rcond=RANK_TOLERANCE
        )
        if rank < self.platform_dof:
            raise SingularPoseError("the actuators cannot move the platform in this pose")
        return np.asarray(forces)

    def residual(self, forces: FloatArray) -> FloatArray:
        """Return the load `(degrees of freedom,)` that actuator forces `(n,)` do not balance."""
        return np.asarray(self.load - self.map @ forces)


def project(tree: OpenTree, machine: Mechanism) -> Projection:
    """Return the equations of a tree's motion, reduced to its independent velocities.

    Raises:
        SingularPoseError: the loops do not determine the other velocities.
    """
    joint_offset = 6 if machine.floats else 0
    carrier_indices = np.arange(6) if machine.floats else machine.indices(machine.carriers())
    free_indices = np.concatenate(
        [carrier_indices, joint_offset + machine.indices(machine.deflection)]
    )
    dependent_indices = np.setdiff1d(np.arange(len(tree.torques)), free_indices)
    singular = np.linalg.svd(tree.closure[:, dependent_indices], compute_uv=False)
    if len(singular) < len(dependent_indices) or not singular[-1] > RANK_TOLERANCE * singular[0]:
        raise SingularPoseError("the loop closure is singular in this pose; move away")
    dependent_per_free = -np.linalg.lstsq(
        tree.closure[:, dependent_indices], tree.closure[:, free_indices], rcond=None
    )[0]
    opening = (
        tree.closure[:, free_indices] + tree.closure[:, dependent_indices] @ dependent_per_free
    )
    basis = np.eye(len(free_indices))
    if np.abs(opening).max(initial=0.0) > RANK_TOLERANCE * singular[0]:
        basis = null_space(opening, rcond=RANK_TOLERANCE)
    velocities = np.zeros((len(tree.torques), basis.shape[1]))
    velocities[free_indices] = basis
    velocities[dependent_indices] = dependent_per_free @ basis
    return Projection(
        velocities.T @ tree.torques,
        velocities[joint_offset:].T @ machine.force_map.T,
        basis.shape[1] - len(machine.deflection),
    )


def projection(
    engine: str,
    platform: MachineModel,
    pose: Any,
    twist: Any,
    acceleration: Any,
    deflection: Any = None,
    deflection_acceleration: Any = None,
) -> Projection:
    """Return the equations of one motion of a machine, from an engine's tree alone.

    Args:
        engine: "mujoco" or "bullet".
        platform: the machine.
        pose: one pose `(7,)`.
        twist: one twist `(6,)`.
        acceleration: one acceleration `(6,)`.
        deflection: `(2k,)` coordinates and rates of the legs' internal joints, default zero.
        deflection_acceleration: `(k,)` their accelerations, default zero; the forces that move the
            platform do not depend on them.

    Raises:
        InputError: unknown engine, wrong shape, not finite, no unit quaternion, a motion that the
            platform cannot have.
        MissingDependencyError: the engine's library is not installed.
        SingularPoseError: the pose is singular.
    """
    one_of(engine, "engine", TREE_MODULES)
    k = platform.n_deflections
    motion = (
        one_pose(pose),
        as_vector(twist, "twist", 6),
        as_vector(acceleration, "acceleration", 6),
    )
    legs = platform.leg_coordinates(
        *motion,
        deflection=as_vector(
            np.zeros(2 * k) if deflection is None else deflection, "deflection", 2 * k
        ),
        deflection_acceleration=as_vector(
            np.zeros(k) if deflection_acceleration is None else deflection_acceleration,
            "deflection_acceleration",
            k,
        ),
    )
    machine = make_mechanism(platform.parameters)
    open_tree = import_module(TREE_MODULES[engine]).open_tree
    return project(open_tree(platform, *motion, joint_motion(machine, legs)), machine)
