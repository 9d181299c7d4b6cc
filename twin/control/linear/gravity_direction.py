"""A machine whose base accelerates: what gravity in another direction does to it.

Seen from a base that is pushed with the acceleration a_b, everything in the machine feels the
field -a_b besides gravity. Kernels know gravity along -z only; so the machine is turned in the
world instead, joints and axes of its base and the platform with it, until the wanted direction is
vertical. Accelerations are linear in the field: a unit of it tells all.
"""

from __future__ import annotations

import numpy as np

from twin.arrays import FloatArray
from twin.control.linear.rest import Rest
from twin.dynamics.assembly import GRAVITY
from twin.dynamics.forward import forward_dynamics_batch
from twin.evaluation import run_checked
from twin.kinematics.legs import rss
from twin.kinematics.legs.kinds import AXIS, BASE_JOINT
from twin.motion.quaternions import quaternion_product, rotated
from twin.platform import Platform

HALF = np.sqrt(0.5)

TO_VERTICAL = np.array([[HALF, 0.0, -HALF, 0.0], [HALF, HALF, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]])
"""Quaternions that turn x, y and z of the base into the vertical."""


def field_response(platform: Platform, rest: Rest) -> FloatArray:
    """Return accelerations `(6 + k, 3)` per field along -x, -y, -z of the base, at rest.

    This is what the relative motion answers to a unit acceleration of the base along x, y and z.
    Machines on pillars, whose kernels need a horizontal floor, have the last column alone: the
    others are zero.

    Raises:
        SingularPoseError: the pose is singular.
    """
    answers = np.zeros((6 + platform.n_internal, 3))
    for axis, turn in enumerate(TO_VERTICAL):
        if axis == 2 or platform.dof == 6:
            answers[:, axis] = _column(platform, rest, turn)
    return answers


def _column(platform: Platform, rest: Rest, turn: FloatArray) -> FloatArray:
    body, legs = platform.constants.body.copy(), platform.constants.legs
    rows = legs.rows.copy()
    first = (BASE_JOINT, AXIS, rss.ZERO) if platform.kind == "rss" else (BASE_JOINT, AXIS)
    for start in first:
        rows[:, start : start + 3] = rotated(turn[None], rows[:, start : start + 3])
    turned = type(legs)(rows)
    pose = np.empty((1, 7))
    pose[:, :3] = rotated(turn[None], rest.pose[None, :3])
    pose[:, 3:] = quaternion_product(turn[None], rest.pose[None, 3:])
    none = np.zeros((1, platform.n_actuators))
    found = []
    for gravity in (1.0, 0.0):
        body[GRAVITY] = gravity
        out = np.empty((1, 6 + platform.n_internal))
        arrays = (pose, np.zeros((1, 6)), rest.internal[None].copy(), none, np.zeros((1, 6)), out)
        run_checked(forward_dynamics_batch, (body, turned), arrays, turned)
        found.append(out[0])
    answer = found[0] - found[1]
    back = turn * [1.0, -1.0, -1.0, -1.0]
    for start in (0, 3):
        answer[start : start + 3] = rotated(back[None], answer[None, start : start + 3])[0]
    return np.asarray(answer)
