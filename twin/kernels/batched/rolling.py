"""The analytic batch with a ball on every platform: both in the same Runge-Kutta steps."""

from __future__ import annotations

from typing import Any

import numpy as np

from twin.basics.arrays import FloatArray
from twin.kernels.ball.contact import BALL_SIZE, LOST, ROLLING
from twin.kernels.ball.motion import rolling_move
from twin.kernels.ball.position import fill_ball, put_ball
from twin.kernels.batched.analytic import actuated, read_state, row_legs, store
from twin.kernels.batched.arrays import Machines
from twin.kernels.dynamics.state import Load
from twin.kernels.dynamics.work import make_work
from twin.kernels.integrators.runge_kutta import Stages
from twin.kernels.jit import compiled
from twin.kernels.plant.drives import drive_row, issue, read_row


@compiled
def start_ball(ball: FloatArray, machines: Machines, balls: Any, i: int, start: FloatArray) -> None:
    """Put the ball of row i at a start `(4,)` on the plate."""
    pose, twist = machines.pose[i], machines.twist[i]
    put_ball(ball, pose, twist, start, balls.state[i])
    fill_ball(ball, pose, twist, balls.state[i], balls.place[i])
    balls.status[i], balls.lost[i] = ROLLING, False


@compiled
def advance_rolling_rows(
    bodies: FloatArray,
    legs: Any,
    arrays: Any,
    machines: Machines,
    inputs: Any,
    balls: Any,
    ball: FloatArray,
    shaken: bool,
    ratio: int,
    mode: int,
    step: float,
    down: int,
) -> None:
    """Advance machines and balls of all rows that have not failed by one control period.

    Args:
        bodies: `(N, BODY_SIZE)` constants of the platforms.
        legs: constants of the legs, rows `(N, n, LEG_SIZE)`.
        arrays: `DriveArrays` of all machines.
        machines: `Machines`, overwritten.
        inputs: `Inputs`.
        balls: `Balls`, overwritten.
        ball: constants of the ball.
        shaken: whether the bases are shaken.
        ratio: steps of the engine in the period.
        mode: of the commands, `VELOCITY` or 0.
        step: [s] of the engine.
        down: entry of a body's constants where gravity begins.
    """
    n, size = inputs.command.shape[1], 13 + machines.deflection.shape[1]
    full = size + BALL_SIZE
    y, work = np.empty(full), make_work(row_legs(legs, 0))
    stages = Stages(np.empty(full), np.empty((4, full)), work)
    before, constant, body = np.zeros(6), np.zeros(n), np.empty(bodies.shape[1])
    for i in range(inputs.command.shape[0]):
        if machines.failed[i]:
            continue
        own, status = row_legs(legs, i), balls.status[i]
        read_state(machines, i, y)
        y[size:] = balls.state[i]
        body[:] = bodies[i]
        coordinates, rates, forces = machines.coordinates[i], machines.rates[i], machines.forces[i]
        load = Load(forces, constant, inputs.wrench[i])
        drives, states, gains = arrays.constants[i], arrays.states[i], arrays.gains[i]
        counters, queue, first = arrays.counters[i], arrays.queue[i], arrays.first[i]
        if not issue(counters, queue, inputs.command[i], inputs.feedforward[i]):
            machines.failed[i] = True
            continue
        for part in range(ratio):
            if shaken:
                for k in range(3):
                    body[down + k] = bodies[i, down + k] - inputs.shaking[i, part, k]
            drive_row(
                drives, states, gains, counters, queue, first, arrays.none, ratio, mode, step,
                coordinates, rates, forces,
            )  # fmt: skip
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
        read_row(
            drives, states, arrays.resolution[i], arrays.before[i], ratio * step, coordinates,
            rates, arrays.readings[i], machines.measured[i], machines.measured_rates[i],
            machines.effort[i],
        )  # fmt: skip
