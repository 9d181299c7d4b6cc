"""Actuator forces from an engine's open tree, without its constraint solver.

The tree's inverse dynamics gives a generalised force at every joint, the passive ones included.
Loop closure ties the legs' joint rates to the platform's twist, G_i twist = L_i (rates of leg i),
so S_i = L_i^-1 G_i, and by virtual work the passive joints' forces act on the platform as
sum S_i[passive]^T torques. The actuators must carry what is left. The result equals the inverse
dynamics only if the engine's model has the right masses, tensors and points.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from twin.arrays import FloatArray, as_pose, as_vector
from twin.errors import InputError, SingularPoseError
from twin.platform import Platform

TREES = {"mujoco": "twin.engines.mujoco_tree", "bullet": "twin.engines.bullet_tree"}


class OpenTree(NamedTuple):
    """Inverse dynamics and Jacobians of an engine's tree in a loop-consistent state."""

    platform_wrench: FloatArray
    """`(6,)` wrench that moves the platform alone as wanted: force, moment about the reference
    point, base axes; gravity included"""
    leg_torques: FloatArray
    """`(n, 3)` generalised forces of the joints of each leg: first, second, actuator"""
    platform_jacobians: FloatArray
    """`(n, 3, 6)` velocities of the platform joints per twist, base axes"""
    leg_jacobians: FloatArray
    """`(n, 3, 3)` velocities of the tips per rates of (first, second, actuator), base axes"""


def project(tree: OpenTree) -> FloatArray:
    """Return the actuator forces `(n,)` that do what the tree's joint forces do together.

    Raises:
        SingularPoseError: the legs' Jacobians are singular.
    """
    try:
        shares = np.linalg.solve(tree.leg_jacobians, tree.platform_jacobians)
        wrench = tree.platform_wrench + np.einsum("ijk,ij->k", shares, tree.leg_torques)
        forces = np.linalg.solve(shares[:, 2].T, wrench)
    except np.linalg.LinAlgError:
        raise SingularPoseError("the loop closure is singular in this pose; move away") from None
    return np.asarray(forces)


def projected_forces(
    engine: str, platform: Platform, pose: Any, twist: Any, acceleration: Any
) -> FloatArray:
    """Return the actuator forces `(n,)` [N] of a motion, from an engine's tree alone.

    Args:
        engine: "mujoco" or "bullet".
        platform: the machine.
        pose: one pose `(7,)`.
        twist: one twist `(6,)`.
        acceleration: one acceleration `(6,)`.

    Raises:
        InputError: unknown engine, wrong shape, not finite, no unit quaternion.
        MissingDependencyError: the engine's library is not installed.
        SingularPoseError: the pose is singular.
    """
    if not isinstance(engine, str) or engine not in TREES:
        raise InputError("engine", f"{engine!r} has no open tree; known: {', '.join(TREES)}")
    tree = import_module(TREES[engine]).open_tree(
        platform,
        as_pose(as_vector(pose, "pose", 7)),
        as_vector(twist, "twist", 6),
        as_vector(acceleration, "acceleration", 6),
    )
    return project(tree)
