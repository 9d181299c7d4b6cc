"""Kernels of the rolling ball that Python calls: one evaluation, and steps of ball and platform."""

from __future__ import annotations

import numpy as np

from twin.basics.arrays import FloatArray
from twin.kernels.ball.contact import (
    arms,
    contact_bias,
    contact_force,
    contact_frame,
    contact_status,
    resisting_moment,
)
from twin.kernels.ball.motion import ball_rate, rolling_move
from twin.kernels.dynamics.state import Load
from twin.kernels.dynamics.work import make_work
from twin.kernels.integrators.runge_kutta import Stages
from twin.kernels.jit import compiled
from twin.kernels.legs.interface import Legs
from twin.kernels.vectors import rotation


@compiled
def rolling_rate(
    ball: FloatArray,
    gravity: FloatArray,
    pose: FloatArray,
    twist: FloatArray,
    acceleration: FloatArray,
    state: FloatArray,
    rate: FloatArray,
    wrench: FloatArray,
) -> int:
    """Fill `rate` (17,) of a ball's state and `wrench` (6,) on it, for a given motion of the plate.

    `gravity` is a vector `(3,)`; `wrench` holds the plate's force on the ball and its moment of
    rolling resistance. Returns the ball's status.
    """
    matrix = rotation(pose[3], pose[4], pose[5], pose[6])
    omega = (twist[3], twist[4], twist[5])
    pull = (gravity[0], gravity[1], gravity[2])
    normal, contact = contact_frame(matrix)[0], arms(ball, state, matrix)[0]
    bias, moment = contact_bias(ball, state, matrix, omega, pull)
    force = contact_force(ball, normal, contact, bias, acceleration)
    rate[:] = 0.0
    ball_rate(ball, state, matrix, omega, force, moment, rate)
    for k in range(3):
        wrench[k] = force[k]
        wrench[3 + k] = moment[k]
    return contact_status(ball, state, normal, force)


@compiled
def rolling_resistance(
    ball: FloatArray,
    gravity: FloatArray,
    normal: FloatArray,
    spin: FloatArray,
    moment: FloatArray,
) -> None:
    """Fill `moment` (3,) of rolling resistance on a ball that turns at `spin` against the plate."""
    moment[0], moment[1], moment[2] = resisting_moment(
        ball,
        (normal[0], normal[1], normal[2]),
        (spin[0], spin[1], spin[2]),
        (gravity[0], gravity[1], gravity[2]),
    )


@compiled
def rolling_steps(
    body: FloatArray,
    legs: Legs,
    ball: FloatArray,
    status: int,
    y: FloatArray,
    load: Load,
    step: float,
    count: int,
) -> tuple[int, int]:
    """Advance `y` (m,) in place by `count` steps of `step` [s] under a constant load.

    Returns the steps done, and the ball's status at the start of the last one.
    """
    size = y.shape[0]
    stages = Stages(np.empty(size), np.empty((4, size)), make_work(legs))
    for k in range(count):
        moved, status = rolling_move(body, legs, ball, status, y, load, step, stages)
        if not moved:
            return k, status
    return count, status
