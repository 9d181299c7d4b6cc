"""Motions through a given state, for differences against time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from twin.platform import Platform

Array = NDArray[np.float64]


def moved(platform: Platform, pose: Array, twist: Array, acceleration: Array, time: float) -> Array:
    """Return poses that pass `pose` at time 0 with this twist and acceleration.

    The rotation vector omega t + alpha t^2 / 2 has angular velocity omega and acceleration alpha
    at t = 0. On pillars height, roll and pitch follow it, and the rest follows from them.
    """
    path = twist * time + 0.5 * acceleration * time**2
    turned = Rotation.from_rotvec(path[:, 3:]) * Rotation.from_quat(pose[:, [4, 5, 6, 3]])
    wanted = np.hstack([pose[:, :3] + path[:, :3], turned.as_quat()[:, [3, 0, 1, 2]]])
    return platform.constrain(wanted).pose
