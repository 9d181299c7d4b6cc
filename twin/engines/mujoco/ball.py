"""The ball in MuJoCo: a free joint of its own."""

from __future__ import annotations

import numpy as np

from twin.basics.arrays import FloatArray
from twin.engines.mjcf.ball import BALL
from twin.engines.mujoco.model import mujoco


class FreeBall:
    """A ball on a free joint: position and velocity in base axes, spin in its own axes."""

    def __init__(self, model: mujoco.MjModel, data: mujoco.MjData) -> None:
        """Keep views into MuJoCo's own memory."""
        joint = model.joint(BALL)
        start, first = joint.qposadr[0], joint.dofadr[0]
        self._pose: FloatArray = data.qpos[start : start + 7]
        self._velocity = data.qvel[first : first + 3]
        self._spin = data.qvel[first + 3 : first + 6]

    def place(self, place: FloatArray) -> None:
        """Put the ball at a pose with a twist `(13,)`."""
        self._pose[:] = place[:7]
        self._velocity[:] = place[7:10]
        mujoco.mju_rotVecQuat(self._spin, place[10:], place[3:7] * [1.0, -1.0, -1.0, -1.0])

    def read(self) -> FloatArray:
        """Return pose and twist `(13,)`."""
        place = np.empty(13)
        place[:7], place[7:10] = self._pose, self._velocity
        mujoco.mju_rotVecQuat(place[10:], self._spin, self._pose[3:])
        return place
