"""MuJoCo's open tree of a machine: its own inverse dynamics and Jacobians, no constraints."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from twin.arrays import FloatArray
from twin.engines.mujoco_model import compile_model, mujoco
from twin.engines.projection import OpenTree
from twin.platform import Platform


def open_tree(
    platform: Platform, pose: FloatArray, twist: FloatArray, acceleration: FloatArray
) -> OpenTree:
    """Return the tree's generalised forces and Jacobians for one motion `(7,)`, `(6,)`, `(6,)`.

    Raises:
        InputError: MuJoCo refuses the machine.
        SingularPoseError: a leg lies along its universal joint's first axis.
    """
    model = _tree_model(platform)
    data = mujoco.MjData(model)
    legs = platform.leg_coordinates(pose, twist, acceleration)
    extensions = legs.lengths - platform.home_lengths
    data.qpos[:] = np.concatenate([pose, np.column_stack([legs.angles, extensions]).ravel()])
    rates = np.column_stack([legs.angle_rates, legs.length_rates]).ravel()
    seconds = np.column_stack([legs.angle_accelerations, legs.length_accelerations]).ravel()
    to_platform = _rotation(pose[3:]).T
    # MuJoCo's free joint: velocity in base axes, angular velocity in platform axes. The time
    # derivative of the latter is the angular acceleration in platform axes.
    data.qvel[:] = np.concatenate([twist[:3], to_platform @ twist[3:], rates])
    data.qacc[:] = np.concatenate([acceleration[:3], to_platform @ acceleration[3:], seconds])
    mujoco.mj_inverse(model, data)
    torques = data.qfrc_inverse.copy()
    sites = range(1, platform.n_actuators + 1)
    at_platform = np.array([_jacobian(model, data, f"leg_{i}_platform_joint") for i in sites])
    at_tips = np.array([_jacobian(model, data, f"leg_{i}_tip") for i in sites])
    platform_jacobians = at_platform[:, :, :6].copy()
    platform_jacobians[:, :, 3:] = platform_jacobians[:, :, 3:] @ to_platform
    own = np.arange(6, model.nv).reshape(-1, 3)
    return OpenTree(
        platform_wrench=np.concatenate([torques[:3], to_platform.T @ torques[3:6]]),
        leg_torques=torques[6:].reshape(-1, 3),
        platform_jacobians=platform_jacobians,
        leg_jacobians=np.stack([at_tips[i][:, own[i]] for i in range(len(own))]),
    )


@lru_cache(maxsize=8)
def _tree_model(platform: Platform) -> mujoco.MjModel:
    model = compile_model(platform)
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
    return model


def _jacobian(model: mujoco.MjModel, data: mujoco.MjData, site: str) -> FloatArray:
    jacobian = np.empty((3, model.nv))
    mujoco.mj_jacSite(model, data, jacobian, None, data.site(site).id)
    return jacobian


def _rotation(quaternion: FloatArray) -> FloatArray:
    """Return the rotation matrix `(3, 3)` platform to base, by MuJoCo."""
    matrix = np.empty(9)
    mujoco.mju_quat2Mat(matrix, quaternion)
    return matrix.reshape(3, 3)
