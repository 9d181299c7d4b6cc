"""Batches on the analytic model: arrays, drives, and control periods."""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite
from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray
from twin.kernels.ball import BALL_LOST, BALL_ROLLING, BALL_SIZE, fill_ball, put_ball, rolling_move
from twin.kernels.bundle import unbundled
from twin.kernels.dynamics.assembly import BODY_GRAVITY, make_work
from twin.kernels.dynamics.forward import Load, derivative
from twin.kernels.integrators import Stages, runge_kutta_move
from twin.kernels.jit import by_kind, compiled, device, inlined
from twin.kernels.kinematics import coordinates_and_rates
from twin.kernels.legs.interface import Legs
from twin.kernels.linear_algebra import copy, displace
from twin.kernels.plant.actuation import COORDINATE_ROW, RATE_ROW, actuate, read_actuators
from twin.kernels.plant.columns import (
    EARLIER_LEG_RATE,
    EFFORT,
    LEG_RATE,
    POSITION,
    SPEED,
    VELOCITY_MODE,
)

COUNTER_COUNT = 4


class Machines(NamedTuple):
    """States of all rows after the last control period; first axis rows."""

    pose: FloatArray
    """`(N, 7)` of the platform in the base: position [m], unit quaternion (scalar first)"""
    twist: FloatArray
    """`(N, 6)` of the platform, base axes [m/s, rad/s]"""
    deflection: FloatArray
    """`(N, 2k)` deflections of springs, then their rates"""
    acceleration: FloatArray
    """`(N, 6)` mean over the last step of the engine; zero after a reset"""
    coordinates: FloatArray
    """`(N, n)` coordinates of the actuators, without springs in series"""
    rates: FloatArray
    """`(N, n)` of the actuators [m/s, rad/s]"""
    measured: FloatArray
    """`(N, n)` coordinates measured by the encoders"""
    measured_rates: FloatArray
    """`(N, n)` rates measured by the drives"""
    forces: FloatArray
    """`(N, n)` on the legs over the last step of the engine"""
    effort: FloatArray
    """`(N, n)` of the motors"""
    gap: FloatArray
    """`(N,)` largest loop gap [m]"""
    failed: Any
    """`(N,)` True where the engine failed; such a row keeps its last state"""


class Inputs(NamedTuple):
    """Inputs of all machines over one control period."""

    command: FloatArray
    """`(N, n)` speeds or forces"""
    feedforward: FloatArray
    """`(N, n)` forces added to those of the velocity loops"""
    wrench: FloatArray
    """`(N, 6)` on the platforms"""
    shaking: FloatArray
    """`(N, ratio, 3)` acceleration of the base in each step of the engine [m/s2]"""


class Constants(NamedTuple):
    """Constants of all rows in the analytic reference."""

    body: FloatArray
    """`(N, BODY_SIZE)` of the platforms"""
    legs: Legs
    """rows `(N, n, LEG_SIZE)`"""


class Balls(NamedTuple):
    """States of the balls of all rows; first axis rows."""

    state: FloatArray
    """`(N, 17)` position on the plate, angular velocity, orientation, flight"""
    motion: FloatArray
    """`(N, 13)` pose and twist in the base frame"""
    status: Any
    """`(N,)` `BALL_ROLLING`, `BALL_SLIPPING`, `BALL_FLYING` or `BALL_LOST`"""
    is_lost: Any
    """`(N,)` True where the ball has left the plate; it stays at the edge"""


DELAY_COLUMN, SUBSTEPS_COLUMN, STEPS_COLUMN, ISSUED_COLUMN = range(4)
"""Columns of a machine's counters: delay of the commands in steps of the engine, steps of the
motors in one of the engine, steps of the engine and commands since the reset."""


class DriveArrays(NamedTuple):
    """Drives, encoders and queued commands of many machines; the first axis is the machine."""

    constants: FloatArray
    """`(N, n, CONSTANT_COUNT)` of the drives"""
    states: FloatArray
    """`(N, n, STATE_COUNT)` of the drives"""
    gains: FloatArray
    """`(N, n, 2)` of the velocity loops: gain, and gain per integral time"""
    resolution: FloatArray
    """`(N, n)` one count of the encoders [m, rad]; 0 for exact ones"""
    last_readings: FloatArray
    """`(N, n)` last readings of the encoders"""
    readings: FloatArray
    """`(N, READING_ROW_COUNT, n)` work array for the readings"""
    counters: Any
    """`(N, COUNTER_COUNT)` whole numbers"""
    queue: FloatArray
    """`(N, capacity, 2, n)` commands and feedforward that have been issued"""
    reset_speeds: FloatArray
    """`(N, n)` speeds at the reset"""
    zeros: FloatArray
    """`(n,)` zeros"""


@device
def drive_one(
    arrays: DriveArrays,
    i: int,
    ratio: int,
    mode: int,
    step: float,
    coordinates: FloatArray,
    rates: FloatArray,
    forces: FloatArray,
) -> None:
    """Advance the drives of row i by a step of the engine; fill `forces` (n,) on the legs.

    Args:
        arrays: `DriveArrays`, or a group with arrays of the same names; states and counters are
            advanced.
        i: row.
        ratio: steps of the engine in a control period.
        mode: `VELOCITY_MODE` or 0, of the commands.
        step: [s] of the engine.
        coordinates: `(n,)` of what the actuators move.
        rates: `(n,)` of the actuators.
        forces: overwritten.
    """
    constants, states, gains = arrays.constants[i], arrays.states[i], arrays.gains[i]
    counters = arrays.counters[i]
    issue_step, substeps = (
        counters[STEPS_COLUMN] - counters[DELAY_COLUMN],
        counters[SUBSTEPS_COLUMN],
    )
    counters[STEPS_COLUMN] += 1
    # One call for both cases: each is compiled anew for a mode that is a constant.
    active_command, feedforward, active_mode = arrays.reset_speeds[i], arrays.zeros, VELOCITY_MODE
    if issue_step >= 0:
        command = arrays.queue[i, (issue_step // ratio) % arrays.queue.shape[1]]
        active_command, feedforward, active_mode = command[0], command[1], mode
    actuate(
        constants, states, gains, active_command, feedforward, arrays.zeros, coordinates, rates,
        active_mode, step, substeps, forces,
    )  # fmt: skip


@device
def read_one(arrays: DriveArrays, machines: Machines, i: int, span: float) -> None:
    """Fill measured coordinates and rates, and efforts of the motors, of row i after `span` [s]."""
    states, readings = arrays.states[i], arrays.readings[i]
    read_actuators(
        arrays.constants[i], states, arrays.resolution[i], arrays.last_readings[i], span,
        machines.coordinates[i], machines.rates[i], readings,
    )  # fmt: skip
    for j in range(states.shape[0]):
        machines.measured[i, j] = readings[COORDINATE_ROW, j]
        machines.measured_rates[i, j] = readings[RATE_ROW, j]
        machines.effort[i, j] = states[j, EFFORT]


@device
def issue(counters: Any, queue: FloatArray, command: FloatArray, feedforward: FloatArray) -> bool:
    """Put a command `(n,)` with its feedforward into the `queue` (capacity, 2, n) of a row.

    Returns whether the command is finite; other values would corrupt the states of the drives.
    """
    slot, finite = counters[ISSUED_COLUMN] % queue.shape[0], True
    for j in range(command.shape[0]):
        queue[slot, 0, j] = command[j]
        queue[slot, 1, j] = feedforward[j]
        finite = finite and isfinite(command[j]) and isfinite(feedforward[j])
    counters[ISSUED_COLUMN] += 1
    return finite


@inlined
def begin_period(arrays: DriveArrays, machines: Machines, inputs: Inputs, i: int) -> bool:
    """Issue the command of row i, which fails if that is not finite; return whether it goes on."""
    if not machines.failed[i]:
        command, feedforward = inputs.command[i], inputs.feedforward[i]
        machines.failed[i] = not issue(arrays.counters[i], arrays.queue[i], command, feedforward)
    return not machines.failed[i]


@compiled
def issue_all(
    counters: Any, queue: FloatArray, command: FloatArray, feedforward: FloatArray, failed: Any
) -> None:
    """Put the commands `(N, n)` of all rows into their queues `(N, capacity, 2, n)`.

    Rows whose command is not finite have `failed` (N,).
    """
    for i in range(command.shape[0]):
        if not issue(counters[i], queue[i], command[i], feedforward[i]):
            failed[i] = True


@inlined
def drive_row(
    arrays: DriveArrays, machines: Machines, i: int, ratio: int, mode: int, step: float
) -> None:
    """Advance the drives of row i by a step of the engine; as `drive_one`."""
    coordinates, rates, forces = machines.coordinates[i], machines.rates[i], machines.forces[i]
    drive_one(arrays, i, ratio, mode, step, coordinates, rates, forces)


@inlined
def begin_step(
    constants: Constants,
    inputs: Inputs,
    i: int,
    substep: int,
    y: FloatArray,
    body: FloatArray,
    previous_twist: FloatArray,
) -> None:
    """Fill the field on `body` (BODY_SIZE,), and the twist (6,) of the state `y` (m,) of row i."""
    for k in range(3):
        field = constants.body[i, BODY_GRAVITY + k]
        body[BODY_GRAVITY + k] = field - inputs.shaking[i, substep, k]
    for k in range(6):
        previous_twist[k] = y[7 + k]


@compiled
def drive_all(arrays: DriveArrays, machines: Machines, ratio: int, mode: int, step: float) -> None:
    """Advance the drives of all rows that have not failed by one step of the engine.

    Args:
        arrays: `DriveArrays`.
        machines: `Machines`; forces are overwritten.
        ratio: steps of the engine in a control period.
        mode: `VELOCITY_MODE` or 0.
        step: [s] of the engine.
    """
    for i in range(machines.failed.shape[0]):
        if not machines.failed[i]:
            drive_row(arrays, machines, i, ratio, mode, step)


@compiled
def read_all(arrays: DriveArrays, machines: Machines, span: float) -> None:
    """Read the sensors of all rows that have not failed after `span` [s]; as `read_one`."""
    for i in range(machines.failed.shape[0]):
        if not machines.failed[i]:
            read_one(arrays, machines, i, span)


def legs_at(legs: Legs, i: int) -> Legs:
    """Return the legs of row i of `legs`, whose rows `(N, n, ...)` are those of many machines."""
    raise NotImplementedError


def legs_like(legs: Legs, rows: Any) -> Legs:
    """Return legs of the kind of `legs` with other rows."""
    raise NotImplementedError


@by_kind(legs_like, counting=True)
def _legs_like(legs: Any, rows: Any) -> Callable[..., Any]:
    legs_type = legs.instance_class
    return lambda legs, rows: legs_type(rows)


@by_kind(legs_at, counting=True)
def _legs_at(legs: Any, i: int) -> Callable[..., Any]:
    legs_type = legs.instance_class
    return lambda legs, i: legs_type(legs.rows[i])


@device
def read_state(machines: Machines, i: int, y: FloatArray) -> None:
    """Fill the state `y` (m,) of row i."""
    n_spring_states = machines.deflection.shape[1]
    for j in range(7):
        y[j] = machines.pose[i, j]
    for j in range(6):
        y[7 + j] = machines.twist[i, j]
    for j in range(n_spring_states):
        y[13 + j] = machines.deflection[i, j]


@device
def store(
    machines: Machines, i: int, y: FloatArray, previous_twist: FloatArray, step: float
) -> None:
    """Copy the state `y` (m,) to row i; `previous_twist` (6,) is that of one `step` [s] earlier."""
    n_spring_states = machines.deflection.shape[1]
    for j in range(7):
        machines.pose[i, j] = y[j]
    for j in range(6):
        machines.twist[i, j] = y[7 + j]
        machines.acceleration[i, j] = (y[7 + j] - previous_twist[j]) / step
    for j in range(n_spring_states):
        machines.deflection[i, j] = y[13 + j]


@device
def actuated(legs: Any, y: FloatArray, coordinates: FloatArray, rates: FloatArray) -> None:
    """Fill coordinates and rates `(n,)` at the actuators, without springs in series."""
    coordinates_and_rates(legs, y[:7], y[7:13], coordinates, rates)
    n_springs = (y.shape[0] - 13) // 2
    for j in range(n_springs):
        coordinates[j] -= y[13 + j]
        rates[j] -= y[13 + n_springs + j]


@compiled
def advance_rows(bundle: Any) -> None:
    """Advance all rows that have not failed by one control period.

    Args:
        bundle: of `Constants`, `DriveArrays` and `Machines` of all rows, `Inputs`, the mode of the
            commands (`VELOCITY_MODE` or 0) and the step of the engine [s].
    """
    constants, arrays, machines, inputs, mode, step = unbundled(bundle)
    bodies, legs = constants
    n, ratio = inputs.command.shape[1], inputs.shaking.shape[1]
    size = 13 + machines.deflection.shape[1]
    y, work = np.empty(size), make_work(legs_at(legs, 0))
    stages = Stages(np.empty(size), np.empty((4, size)), work)
    # Actuator forces stay constant over a step: the slope of their load is zero.
    previous_twist, zero_slope, body = np.zeros(6), np.zeros(n), np.empty(bodies.shape[1])
    for i in range(inputs.command.shape[0]):
        if not begin_period(arrays, machines, inputs, i):
            continue
        row_legs = legs_at(legs, i)
        read_state(machines, i, y)
        copy(bodies[i], body)
        load = Load(machines.forces[i], zero_slope, inputs.wrench[i])
        for substep in range(ratio):
            begin_step(constants, inputs, i, substep, y, body, previous_twist)
            drive_row(arrays, machines, i, ratio, mode, step)
            if not (
                derivative(body, row_legs, y, load, 0.0, stages.rates[0], work)
                and runge_kutta_move(body, row_legs, y, load, 0.0, step, stages)
            ):
                machines.failed[i] = True
                break
            actuated(row_legs, y, machines.coordinates[i], machines.rates[i])
        store(machines, i, y, previous_twist, step)
        read_one(arrays, machines, i, ratio * step)


@compiled
def correct_rows(
    machines: Machines,
    states: FloatArray,
    errors: FloatArray,
    inverse_jacobians: FloatArray,
    at: Any,
    gain: float,
    speed_gain: float,
) -> None:
    """Move motors and platforms of all rows on by what predictions missed.

    Args:
        machines: pose, twist, coordinates and rates are overwritten.
        states: `(N, n, s)` of the drives, overwritten.
        errors: `(N, n)` of the coordinates [m, rad].
        inverse_jacobians: `(T, 6, n)`.
        at: `(N,)` index of the inverse Jacobian of each row.
        gain: fraction of the errors by which coordinates are corrected.
        speed_gain: [1/s] the same of speeds.
    """
    move = np.empty(6)
    for i in range(errors.shape[0]):
        move[:] = 0.0
        for j in range(errors.shape[1]):
            error, speed_change = errors[i, j], speed_gain * errors[i, j]
            for k in range(6):
                move[k] += inverse_jacobians[at[i], k, j] * error
            states[i, j, POSITION] -= gain * error
            states[i, j, SPEED] -= speed_change
            for k in range(LEG_RATE, EARLIER_LEG_RATE + 1):
                states[i, j, k] -= speed_change
            machines.coordinates[i, j] -= gain * error
            machines.rates[i, j] -= speed_change
        pose, twist = machines.pose[i], machines.twist[i]
        for k in range(6):
            twist[k] -= speed_gain * move[k]
            move[k] *= -gain
        displace(pose, 1.0, move, pose)


@compiled
def start_ball(
    ball: FloatArray, machines: Machines, balls: Balls, i: int, start: FloatArray
) -> None:
    """Put the ball of row i at a start `(4,)` on the plate."""
    pose, twist = machines.pose[i], machines.twist[i]
    put_ball(ball, pose, twist, start, balls.state[i])
    fill_ball(ball, pose, twist, balls.state[i], balls.motion[i])
    balls.status[i], balls.is_lost[i] = BALL_ROLLING, False


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
    y, work = np.empty(size + BALL_SIZE), make_work(legs_at(legs, 0))
    stages = Stages(np.empty(y.size), np.empty((4, y.size)), work)
    # Actuator forces stay constant over a step: the slope of their load is zero.
    previous_twist, zero_slope, body = np.zeros(6), np.zeros(n), np.empty(bodies.shape[1])
    for i in range(inputs.command.shape[0]):
        if not begin_period(arrays, machines, inputs, i):
            continue
        row_legs, status = legs_at(legs, i), balls.status[i]
        read_state(machines, i, y)
        copy(balls.state[i], y[size:])
        copy(bodies[i], body)
        load = Load(machines.forces[i], zero_slope, inputs.wrench[i])
        for substep in range(ratio):
            begin_step(constants, inputs, i, substep, y, body, previous_twist)
            drive_row(arrays, machines, i, ratio, mode, step)
            succeeded, status = rolling_move(body, row_legs, ball, status, y, load, step, stages)
            if not succeeded:
                machines.failed[i] = True
                break
            actuated(row_legs, y[:size], machines.coordinates[i], machines.rates[i])
        store(machines, i, y, previous_twist, step)
        copy(y[size:], balls.state[i])
        balls.status[i], balls.is_lost[i] = status, status == BALL_LOST
        fill_ball(ball, machines.pose[i], machines.twist[i], balls.state[i], balls.motion[i])
        read_one(arrays, machines, i, ratio * step)
