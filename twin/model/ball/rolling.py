"""A rolling ball on a plate whose motion is given: how it accelerates, and what holds it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, as_vector, one_pose
from twin.kernels.ball.contact import BALL_SIZE
from twin.kernels.ball.steps import rolling_rate
from twin.model.ball.ball import Ball


class Rolling(NamedTuple):
    """Rate of a rolling ball's state, and the contact force."""

    rate: FloatArray
    """`(17,)` of the ball's state: velocity on the plate [m/s], angular acceleration in base axes
    [rad/s2], rate of the quaternion, zeros"""
    force: FloatArray
    """`(3,)` [N] of the plate on the ball, base axes"""
    moment: FloatArray
    """`(3,)` [N m] of rolling resistance on the ball, base axes"""
    status: int
    """of `twin.kernels.ball.contact`; `FLYING` where the force would have to pull"""


def rolling(
    ball: Ball, state: Any, pose: Any, twist: Any, acceleration: Any, gravity: Any
) -> Rolling:
    """Return how a ball moves that rolls without slip on a plate of given motion.

    Args:
        ball: ball and plate.
        state: `(17,)` place on the plate [m], angular velocity in base axes [rad/s], quaternion;
            zeros, as it does not fly.
        pose: of the platform, `(7,)`.
        twist: of the platform, `(6,)`.
        acceleration: of the platform, `(6,)`.
        gravity: `(3,)` [m/s2] in base axes.

    Raises:
        InputError: wrong shape or not finite.

    Reference:
        docs/ball.md, equations 3 to 6.
    """
    rate, wrench = np.empty(BALL_SIZE), np.empty(6)
    status = rolling_rate(
        ball.constants,
        as_vector(gravity, "gravity", 3),
        one_pose(pose),
        as_vector(twist, "twist", 6),
        as_vector(acceleration, "acceleration", 6),
        as_vector(state, "state", BALL_SIZE),
        rate,
        wrench,
    )
    return Rolling(rate, wrench[:3], wrench[3:], int(status))
