"""Commands, observation, reward and termination of `BallBalance`, row by row."""

from __future__ import annotations

from math import cos, isfinite, sin, sqrt
from typing import Any

from twin.basics.arrays import FloatArray, IndexArray
from twin.kernels.ball.position import seen_from_plate
from twin.kernels.batched.arrays import Machines
from twin.kernels.bundle import unbundled
from twin.kernels.jit import compiled, device
from twin.kernels.tasks.arrays import History, Results, Scales
from twin.kernels.tasks.ball_balance.arrays import Balls, Limits, Signals, Targets
from twin.kernels.tasks.increments import (
    add_increment,
    displaced_coordinates,
    following_speed,
)
from twin.kernels.tasks.observation import count, put, put_all, put_difference, put_scalar
from twin.kernels.tasks.reward import add_terms, calmness, closeness, smoothness
from twin.kernels.tasks.termination import CONTINUES, ENGINE, beyond_travel
from twin.kernels.vectors import rotate_back, rotation

BALL, LIMIT = range(2, 4)
"""Further codes of why an episode ends."""

RADIUS, RATE, PHASE = range(3)
"""Entries of a circle: [m], [rad/s], [rad]."""


@compiled
def pose_command(actions: FloatArray, bundle: Any) -> None:
    """Fill `command` (N, n) with rates that follow a pose displaced from home by increments.

    Args:
        actions: `(N, a)` increments.
        bundle: of `ActionLaw`, constants of the legs, `Increments` (advanced in place), measured
            coordinates `(N, n)`, and the command, overwritten.
    """
    law, legs, increments, measured, command = unbundled(bundle)
    axes, displacement, target = increments.axes, increments.displacement, increments.target
    for k in range(6):
        displacement[k] = 0.0
    for i in range(command.shape[0]):
        setpoint, offset = increments.setpoint[i], increments.offset[i]
        for k in range(axes.shape[0]):
            displacement[axes[k]] = add_increment(offset, k, actions[i, k], law)
        reached = displaced_coordinates(
            legs, increments.home, displacement, increments.state, target
        )
        for j in range(setpoint.shape[0]):
            aim = target[j] if reached else setpoint[j]
            command[i, j] = following_speed(aim, setpoint[j], measured[i, j], law)
            setpoint[j] = aim


@device
def move_target(i: int, step: int, limits: Limits, targets: Targets) -> None:
    """Fill position and velocity of the target in environment i, `step` periods after the reset."""
    elapsed = step * limits.period
    k = int(elapsed / limits.hold + 1e-9) % targets.centers.shape[1]
    radius, rate = targets.circles[i, RADIUS], targets.circles[i, RATE]
    angle = targets.circles[i, PHASE] + rate * elapsed
    now = targets.now[i]
    now[0] = targets.centers[i, k, 0] + radius * cos(angle)
    now[1] = targets.centers[i, k, 1] + radius * sin(angle)
    now[2] = -radius * rate * sin(angle)
    now[3] = radius * rate * cos(angle)


@device
def sense(i: int, machines: Machines, balls: Balls, targets: Targets, signals: Signals) -> None:
    """Fill the signals of environment i: ball against plate and target, plate against gravity."""
    pose, twist, seen = machines.pose[i], machines.twist[i], balls.seen
    seen_from_plate(pose, twist, balls.state[i], seen)
    matrix = rotation(pose[3], pose[4], pose[5], pose[6])
    turning = rotate_back(matrix, (twist[3], twist[4], twist[5]))
    for k in range(2):
        signals.ball_position[i, k] = seen[k]
        signals.ball_velocity[i, k] = seen[3 + k]
        signals.target[i, k] = targets.now[i, k]
        signals.target_error[i, k] = targets.now[i, k] - seen[k]
        signals.slope[i, k] = -matrix[6 + k]
        signals.tilt_rate[i, k] = turning[k]


@device
def observe(
    i: int,
    machines: Machines,
    scales: Scales,
    history: History,
    results: Results,
    targets: Targets,
    offset: FloatArray,
    signals: Signals,
) -> None:
    """Fill the observation of environment i; see the table of `BallBalanceEnv`."""
    scale, out = results.scale, results.observation[i]
    at = put_all(out, 0, signals.target_error[i], scale)
    at = put_all(out, at, signals.ball_position[i], scale)
    at = put_all(out, at, signals.ball_velocity[i], scale)
    at = put(out, at, targets.now[i, 2], scale)
    at = put(out, at, targets.now[i, 3], scale)
    at = put_all(out, at, signals.slope[i], scale)
    at = put_all(out, at, signals.tilt_rate[i], scale)
    at = put_difference(out, at, machines.measured[i], scales.middle, scale)
    at = put_all(out, at, machines.measured_rates[i], scale)
    at = put_all(out, at, offset[i], scale)
    for j in range(history.action.shape[1]):
        at = put_scalar(out, at, history.action[i, j])


@device
def reward(
    i: int,
    lost: bool,
    targets: Targets,
    limits: Limits,
    signals: Signals,
    history: History,
    term: FloatArray,
) -> None:
    """Fill the reward's terms of environment i; see the table of `BallBalanceEnv`."""
    error, velocity = signals.target_error[i], signals.ball_velocity[i]
    distance = sqrt(error[0] * error[0] + error[1] * error[1])
    u, v = velocity[0] - targets.now[i, 2], velocity[1] - targets.now[i, 3]
    speed = sqrt(u * u + v * v)
    if not isfinite(distance + speed):
        # The machine has failed: no reward, and no NaN.
        distance, speed = limits.wide, limits.quick
    term[0] = closeness(distance, limits.fine, limits.wide)
    term[1] = calmness(speed, limits.quick)
    term[2] = smoothness(history.action[i], history.before[i])
    term[3] = -1.0 if lost else 0.0


@device
def terminate(i: int, machines: Machines, lost: bool, scales: Scales, limits: Limits) -> int:
    """Return the code of why the episode of environment i ends."""
    if machines.failed[i]:
        return ENGINE
    if lost:
        return BALL
    return LIMIT if beyond_travel(machines, i, scales, limits.overtravel) else CONTINUES


@compiled
def evaluate(indices: IndexArray, actions: FloatArray, bundle: Any) -> None:
    """Fill observation, reward and termination of the environments `indices` (m,).

    Args:
        indices: numbers of environments.
        actions: `(N, a)` of the control period that is over; `(0, a)` after a reset.
        bundle: of `Machines`, `Scales`, `History`, `Results`, `Targets`, `Limits`, `Signals`,
            `Balls`, `Increments`.
    """
    machines, scales, history, results, targets, limits, signals, balls, increments = unbundled(
        bundle
    )
    count(actions, history.steps, history.action, history.before)
    for number in range(indices.shape[0]):
        i = indices[number]
        move_target(i, history.steps[i], limits, targets)
        sense(i, machines, balls, targets, signals)
        observe(i, machines, scales, history, results, targets, increments.offset, signals)
        reward(i, balls.lost[i], targets, limits, signals, history, results.term[i])
        add_terms(results, i)
        results.reason[i] = terminate(i, machines, balls.lost[i], scales, limits)
