"""The analytic batch with a ball on every platform: both in the same Runge-Kutta steps."""

from __future__ import annotations

from typing import Any

import numpy as np

from twin.basics.arrays import FloatArray
from twin.kernels.ball.contact import BALL_SIZE, LOST, ROLLING
from twin.kernels.ball.motion import rolling_move
from twin.kernels.ball.position import fill_ball, put_ball
from twin.kernels.batched.analytic import actuated, legs_at, read_state, store
from twin.kernels.batched.arrays import Balls, Machines
from twin.kernels.batched.drives import drive_one, issue, read_one
from twin.kernels.bundle import unbundled
from twin.kernels.dynamics.assembly import GRAVITY
from twin.kernels.dynamics.state import Load
from twin.kernels.dynamics.work import make_work
from twin.kernels.integrators.runge_kutta import Stages
from twin.kernels.jit import compiled
from twin.kernels.linear_algebra import copy


@compiled
def start_ball(
    ball: FloatArray, machines: Machines, balls: Balls, i: int, start: FloatArray
) -> None:
    """Put the ball of row i at a start `(4,)` on the plate."""
    pose, twist = machines.pose[i], machines.twist[i]
    put_ball(ball, pose, twist, start, balls.state[i])
    fill_ball(ball, pose, twist, balls.state[i], balls.place[i])
    balls.status[i], balls.lost[i] = ROLLING, False


@compiled
def advance_rolling_rows(bundle: Any) -> None:
    """Advance machines and balls of all rows that have not failed by one control period.

    Args:
        bundle: as of `advance_rows`, with `Balls` and the constants of a ball before the mode.
    """
    constants, arrays, machines, inputs, balls, ball, mode, step = unbundled(bundle)
    bodies, legs = constants
    n, ratio = inputs.command.shape[1], inputs.shaking.shape[1]
    size = 13 + machines.deflection.shape[1]
    full = size + BALL_SIZE
    y, work = np.empty(full), make_work(legs_at(legs, 0))
    stages = Stages(np.empty(full), np.empty((4, full)), work)
    before, constant, body = np.zeros(6), np.zeros(n), np.empty(bodies.shape[1])
    for i in range(inputs.command.shape[0]):
        if machines.failed[i]:
            continue
        own, status = legs_at(legs, i), balls.status[i]
        read_state(machines, i, y)
        copy(balls.state[i], y[size:])
        copy(bodies[i], body)
        coordinates, rates, forces = machines.coordinates[i], machines.rates[i], machines.forces[i]
        load = Load(forces, constant, inputs.wrench[i])
        if not issue(arrays.counters[i], arrays.queue[i], inputs.command[i], inputs.feedforward[i]):
            machines.failed[i] = True
            continue
        for part in range(ratio):
            for k in range(3):
                body[GRAVITY + k] = bodies[i, GRAVITY + k] - inputs.shaking[i, part, k]
            drive_one(arrays, i, ratio, mode, step, coordinates, rates, forces)
            for k in range(6):
                before[k] = y[7 + k]
            moved, status = rolling_move(body, own, ball, status, y, load, step, stages)
            if not moved:
                machines.failed[i] = True
                break
            actuated(own, y[:size], coordinates, rates)
        store(machines, i, y, before, step)
        for k in range(BALL_SIZE):
            balls.state[i, k] = y[size + k]
        balls.status[i], balls.lost[i] = status, status == LOST
        fill_ball(ball, machines.pose[i], machines.twist[i], balls.state[i], balls.place[i])
        read_one(arrays, machines, i, ratio * step)
