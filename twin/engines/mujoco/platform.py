"""Platform and ball in MuJoCo: on free joints, or the platform on joints that carry it."""

from __future__ import annotations

import numpy as np

from twin.basics.arrays import FloatArray
from twin.engines.mechanism.mechanism import Mechanism
from twin.engines.mujoco.model import mujoco
from twin.machine.mechanism.parts import PLATFORM


class FreeBody:
    """A body on a free joint: position and velocity in base axes, spin in its own axes."""

    sign = 1.0

    def __init__(self, model: mujoco.MjModel, data: mujoco.MjData, joint: str = PLATFORM) -> None:
        """Keep views into MuJoCo's own memory; looking them up in each step costs more."""
        free = model.joint(joint)
        start, first = free.qposadr[0], free.dofadr[0]
        self._pose: FloatArray = data.qpos[start : start + 7]
        self._velocity = data.qvel[first : first + 3]
        self._spin = data.qvel[first + 3 : first + 6]

    def place(self, pose: FloatArray, twist: FloatArray) -> None:
        """Put the body at a pose `(7,)` with a twist `(6,)`."""
        self._pose[:] = pose
        self._velocity[:] = twist[:3]
        mujoco.mju_rotVecQuat(self._spin, twist[3:], pose[3:] * [1.0, -1.0, -1.0, -1.0])

    def read(self) -> tuple[FloatArray, FloatArray]:
        """Return pose `(7,)` and twist `(6,)`."""
        pose, twist = self._pose.copy(), np.empty(6)
        twist[:3] = self._velocity
        mujoco.mju_rotVecQuat(twist[3:], self._spin, pose[3:])
        return pose, twist


class CarriedPlatform:
    """A platform on joints, whose pose and twist follow from theirs.

    Attributes:
        sign: 1 or -1, of the quaternion at the reset relative to the one that MuJoCo computes.
    """

    def __init__(self, model: mujoco.MjModel, data: mujoco.MjData) -> None:
        """Keep the model, its data and the place of the body in them."""
        self._model, self._data = model, data
        self._body = model.body(PLATFORM).id
        self._position, self._turn = data.xpos[self._body], data.xquat[self._body]
        self._motion = np.empty(6)
        self.sign = 1.0

    def place(self, pose: FloatArray, twist: FloatArray) -> None:
        """Take over the sign of the quaternion; the joints have been placed."""
        mujoco.mj_kinematics(self._model, self._data)
        self.sign = 1.0 if self._turn.dot(pose[3:]) > 0.0 else -1.0

    def read(self) -> tuple[FloatArray, FloatArray]:
        """Return pose `(7,)` and twist `(6,)`."""
        model, data = self._model, self._data
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_comVel(model, data)
        kind = mujoco.mjtObj.mjOBJ_XBODY
        mujoco.mj_objectVelocity(model, data, kind, self._body, self._motion, 0)
        pose = np.concatenate([self._position, self.sign * self._turn])
        return pose, np.concatenate([self._motion[3:], self._motion[:3]])


def platform_of(
    machine: Mechanism, model: mujoco.MjModel, data: mujoco.MjData
) -> FreeBody | CarriedPlatform:
    """Return where a machine's platform is kept."""
    return (FreeBody if machine.floats else CarriedPlatform)(model, data)
