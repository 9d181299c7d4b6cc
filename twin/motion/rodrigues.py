"""Rodrigues parameters (axis times tan of half the angle) with their derivatives."""

from __future__ import annotations

import numpy as np

from twin.basics.arrays import FloatArray
from twin.motion.quaternions import cross


def rodrigues_kinematics(
    parameters: FloatArray, rate: FloatArray, acceleration: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return quaternions `(m, 4)`, angular velocity and acceleration `(m, 3)` in base axes.

    velocity = 2 (c' + c x c') / (1 + c.c) for the parameters c; acceleration is its derivative.

    Args:
        parameters: `(m, 3)` Rodrigues parameters.
        rate: `(m, 3)` their first time derivatives [1/s].
        acceleration: `(m, 3)` their second time derivatives [1/s2].

    Reference:
        Shuster, A survey of attitude representations, J. Astronautical Sciences 41 (1993),
        section on the Rodrigues vector.
    """
    size = 1.0 + np.sum(parameters**2, axis=1, keepdims=True)
    quaternion = np.hstack([np.ones_like(size), parameters]) / np.sqrt(size)
    turning = rate + cross(parameters, rate)
    velocity = 2.0 * turning / size
    growth = 2.0 * np.sum(parameters * rate, axis=1, keepdims=True)
    change = acceleration + cross(parameters, acceleration)
    return quaternion, velocity, 2.0 * change / size - velocity * growth / size
