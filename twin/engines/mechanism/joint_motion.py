"""Coordinates of a mechanism's joints, from those of the legs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray
from twin.engines.mechanism.mechanism import Mechanism
from twin.model.motions import LegCoordinates


class JointMotion(NamedTuple):
    """Coordinates of all joints, in the order of `Mechanism.joint_names`."""

    values: FloatArray
    """`(joints,)` [m] or [rad], zero at home"""
    rates: FloatArray
    """`(joints,)`"""
    accelerations: FloatArray
    """`(joints,)`"""


def joint_motion(
    machine: Mechanism, legs: LegCoordinates, carried: FloatArray | None = None
) -> JointMotion:
    """Return the motion of all joints.

    `carried` `(2c,)` are the coordinates of the joints of bodies that the platform carries, then
    their rates; by default they rest on it.
    """
    count = len(machine.carried)
    rest = np.zeros((3, count))
    if carried is not None:
        rest[:2] = carried.reshape(2, count)
    parts = zip(legs, rest, strict=True)
    return JointMotion(*(np.concatenate([part.ravel(), own]) for part, own in parts))
