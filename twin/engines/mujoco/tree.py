"""MuJoCo's open tree of a machine: its own inverse dynamics and Jacobians, no constraints."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, IndexArray
from twin.engines.mechanism.assembly import make_mechanism
from twin.engines.mechanism.joints import JointForces, joint_motion
from twin.engines.mechanism.mechanism import Mechanism
from twin.engines.mujoco.model import compile_model, coordinates, mujoco, velocities
from twin.engines.projection import OpenTree
from twin.machine.mechanism.parts import PLATFORM
from twin.model.machine_model import MachineModel


def open_tree(
    platform: MachineModel,
    pose: FloatArray,
    twist: FloatArray,
    acceleration: FloatArray,
    deflection: FloatArray | None = None,
    deflection_acceleration: FloatArray | None = None,
) -> OpenTree:
    """Return the tree's generalised forces and Jacobians for one motion `(7,)`, `(6,)`, `(6,)`.

    `deflection` `(2k,)` and `deflection_acceleration` `(k,)` are those of the legs' internal
    joints.

    Raises:
        InputError: MuJoCo refuses the machine, or the platform cannot have the motion.
        SingularPoseError: a leg has no joint coordinates in this pose.
    """
    tree = _tree(platform)
    legs = platform.leg_coordinates(
        pose,
        twist,
        acceleration,
        deflection=deflection,
        deflection_acceleration=deflection_acceleration,
    )
    joints = joint_motion(tree.machine, legs)
    machine, model, data = tree.machine, tree.model, mujoco.MjData(tree.model)
    data.qpos[tree.coordinates] = joints.values
    data.qvel[tree.velocities] = joints.rates
    data.qacc[tree.velocities] = joints.accelerations
    order, to_platform = tree.velocities, np.eye(6)
    if machine.floats:
        # MuJoCo's free joint: velocity in base axes, angular velocity in platform axes. The time
        # derivative of the latter is the angular acceleration in platform axes.
        start, first = tree.free
        to_platform[3:, 3:] = _rotation(pose[3:]).T
        own = slice(first, first + 6)
        data.qpos[start : start + 7] = pose
        data.qvel[own], data.qacc[own] = to_platform @ twist, to_platform @ acceleration
        order = np.concatenate([np.arange(first, first + 6), order])
    mujoco.mj_inverse(model, data)
    dry = JointForces(machine, springs=False, viscous=False)
    rubbing = dry.joints
    torques = data.qfrc_inverse.copy()
    torques[tree.velocities[rubbing]] -= dry(joints.values[rubbing], joints.rates[rubbing])
    torques = torques[order]
    pairs = ((loop.first, loop.second) for loop in machine.loops)
    openings = [_jacobian(model, data, one) - _jacobian(model, data, two) for one, two in pairs]
    closure = np.concatenate(openings)[:, order]
    if machine.floats:
        torques[:6] = to_platform.T @ torques[:6]
        closure[:, :6] = closure[:, :6] @ to_platform
    return OpenTree(torques, closure)


class _Tree(NamedTuple):
    machine: Mechanism
    model: mujoco.MjModel
    coordinates: IndexArray
    velocities: IndexArray
    free: tuple[int, int]
    """places of the free joint in `qpos` and `qvel`"""


@lru_cache(maxsize=8)
def _tree(platform: MachineModel) -> _Tree:
    machine = make_mechanism(platform.parameters)
    model = compile_model(machine)
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
    names, free = machine.joint_names, (-1, -1)
    if machine.floats:
        joint = model.joint(PLATFORM)
        free = int(joint.qposadr[0]), int(joint.dofadr[0])
    return _Tree(machine, model, coordinates(model, names), velocities(model, names), free)


def _jacobian(model: mujoco.MjModel, data: mujoco.MjData, site: str) -> FloatArray:
    jacobian = np.empty((3, model.nv))
    mujoco.mj_jacSite(model, data, jacobian, None, data.site(site).id)
    return jacobian


def _rotation(quaternion: FloatArray) -> FloatArray:
    """Return the rotation matrix `(3, 3)` platform to base, by MuJoCo."""
    matrix = np.empty(9)
    mujoco.mju_quat2Mat(matrix, quaternion)
    return matrix.reshape(3, 3)
