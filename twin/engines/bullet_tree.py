"""PyBullet's open tree of a machine: its own inverse dynamics and Jacobians, no constraints.

Bullet offers these on fixed-base trees of one-dof joints only, which is why `robot_urdf` hangs
the platform on three slides and three hinges.
"""

from __future__ import annotations

import weakref

import numpy as np

from twin.arrays import FloatArray
from twin.engines.bullet_library import connect, disconnect, load, pb
from twin.engines.projection import OpenTree
from twin.engines.urdf import FREEDOMS, LEG_JOINTS, robot_urdf
from twin.errors import SingularPoseError
from twin.platform import Platform

SMALLEST_COSINE = 1e-6
"""Of the second hinge's angle: closer to 90 deg the three hinges cannot turn in all directions."""


def open_tree(
    platform: Platform, pose: FloatArray, twist: FloatArray, acceleration: FloatArray
) -> OpenTree:
    """Return the tree's generalised forces and Jacobians for one motion `(7,)`, `(6,)`, `(6,)`.

    Raises:
        InputError: Bullet refuses the machine.
        SingularPoseError: a leg lies along its first axis, or the platform has turned 90 deg
            about its own y axis from home, where the tree's three hinges are singular.
    """
    legs = platform.leg_coordinates(pose, twist, acceleration)
    extensions = legs.lengths - platform.home_lengths
    coordinates, to_twist = _platform_coordinates(platform, pose, twist, acceleration)
    motion = np.hstack(
        [
            [np.column_stack([legs.angles, extensions]).ravel()],
            [np.column_stack([legs.angle_rates, legs.length_rates]).ravel()],
            [np.column_stack([legs.angle_accelerations, legs.length_accelerations]).ravel()],
        ]
    )
    tree = _Tree(platform)
    places, rates, seconds = np.hstack([motion, coordinates])[:, tree.order].tolist()
    torques = np.empty(len(places))
    torques[tree.order] = tree.torques(places, rates, seconds)
    own = np.arange(3 * platform.n_actuators).reshape(-1, 3)
    tips = [tree.jacobian(f"leg_{i + 1}_rod", places) for i in range(len(own))]
    sockets = [tree.jacobian(f"leg_{i + 1}_platform_joint", places) for i in range(len(own))]
    from_twist = np.linalg.inv(to_twist)
    return OpenTree(
        platform_wrench=from_twist.T @ torques[own.size :],
        leg_torques=torques[: own.size].reshape(-1, 3),
        platform_jacobians=np.stack([socket[:, own.size :] @ from_twist for socket in sockets]),
        leg_jacobians=np.stack([tip[:, mine] for tip, mine in zip(tips, own, strict=True)]),
    )
