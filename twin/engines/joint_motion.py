"""Coordinates of a mechanism's joints, from those of the legs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from twin.arrays import FloatArray
from twin.engines.mechanism import Mechanism
from twin.platform import LegCoordinates


class JointMotion(NamedTuple):
    """Coordinates of all joints, in the order of `Mechanism.joint_names`."""

    values: FloatArray
    """`(joints,)` [m] or [rad], zero at home"""
    rates: FloatArray
    """`(joints,)`"""
    accelerations: FloatArray
    """`(joints,)`"""


def joint_motion(machine: Mechanism, legs: LegCoordinates) -> JointMotion:
    """Return the motion of all joints; bodies that the platform carries rest on it."""
    rest = np.zeros(len(machine.joint_names) - legs.values.size)
    return JointMotion(*(np.concatenate([part.ravel(), rest]) for part in legs))
