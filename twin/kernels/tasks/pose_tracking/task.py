"""Commands, observation, reward and termination of `PoseTracking`, row by row."""

from __future__ import annotations

from math import isfinite
from typing import Any

from twin.basics.arrays import FloatArray, IndexArray
from twin.kernels.batched.arrays import Machines
from twin.kernels.bundle import unbundled
from twin.kernels.jit import compiled, device
from twin.kernels.kinematics.inverse import inverse_kinematics
from twin.kernels.tasks.arrays import History, Results, Scales
from twin.kernels.tasks.increments import (
    ActionLaw,
    add_increment,
    displaced_coordinates,
    following_speed,
)
from twin.kernels.tasks.observation import (
    count,
    fill_pose_error,
    put,
    put_all,
    put_difference,
    put_scalar,
)
from twin.kernels.tasks.pose_tracking.arrays import Increments, Limits, Reference, Signals
from twin.kernels.tasks.reward import add_terms, closeness, economy, smoothness
from twin.kernels.tasks.termination import CONTINUES, ENGINE, beyond_travel
from twin.kernels.vectors import norm, row

POSITION, ATTITUDE, LIMIT = range(2, 5)
"""Further codes of why an episode ends."""


@device
def velocity_command(
    actions: FloatArray,
    steps: IndexArray,
    law: ActionLaw,
    coordinates: FloatArray,
    measured: FloatArray,
    command: FloatArray,
) -> None:
    """Fill `command` (N, n): scaled actions, on top of the reference's mean rates or not.

    Args:
        actions: `(N, n)`.
        steps: `(N,)` control periods since the reset.
        law: of the actions.
        coordinates: `(N, k, n)` of the reference.
        measured: `(N, n)` coordinates.
        command: overwritten.
    """
    end = coordinates.shape[1] - 1
    for i in range(command.shape[0]):
        now, then = min(steps[i], end), min(steps[i] + 1, end)
        for j in range(command.shape[1]):
            rate = 0.0
            if law.residual:
                rate = (coordinates[i, then, j] - coordinates[i, now, j]) / law.period
                rate += law.gain * (coordinates[i, now, j] - measured[i, j])
            command[i, j] = rate + law.scale[j] * actions[i, j]


@compiled
def fill_velocity_command(actions: FloatArray, bundle: Any) -> None:
    """Fill a command as `velocity_command`; the bundle is of what that takes besides actions."""
    steps, law, coordinates, measured, command = unbundled(bundle)
    velocity_command(actions, steps, law, coordinates, measured, command)


@compiled
def pose_command(
    actions: FloatArray,
    steps: IndexArray,
    law: ActionLaw,
    legs: Any,
    reference: Reference,
    increments: Increments,
    measured: FloatArray,
    command: FloatArray,
) -> None:
    """Fill `command` (N, n) with rates that follow a pose moved by increments.

    Args:
        actions: `(N, 6)` increments of the displacement from the reference, or from home.
        steps: `(N,)` control periods since the reset.
        law: of the actions.
        legs: constants of the legs.
        reference: motions.
        increments: advanced in place.
        measured: `(N, n)` coordinates.
        command: overwritten.
    """
    plain, displaced = increments.plain, increments.displaced
    for i in range(command.shape[0]):
        then = min(steps[i] + 1, reference.pose.shape[1] - 1)
        offset, setpoint = increments.offset[i], increments.setpoint[i]
        for k in range(6):
            add_increment(offset, k, actions[i, k], law)
        pose = reference.pose[i, then] if law.residual else increments.home
        origin = reference.coordinates[i, then] if law.residual else increments.home_coordinates
        inverse_kinematics(legs, pose, plain)
        reached = displaced_coordinates(legs, pose, offset, increments.state, displaced)
        for j in range(command.shape[1]):
            target = origin[j] + (displaced[j] - plain[j]) if reached else setpoint[j]
            command[i, j] = following_speed(target, setpoint[j], measured[i, j], law)
            setpoint[j] = target


@device
def sense(
    i: int, machines: Machines, step: int, reference: Reference, limits: Limits, signals: Signals
) -> None:
    """Fill the errors of environment i, `step` periods after its reset."""
    now = min(step, reference.pose.shape[1] - 1)
    for j in range(machines.measured.shape[1]):
        error = reference.coordinates[i, now, j] - machines.measured[i, j]
        kept = signals.accumulated[i, j] * limits.leak
        signals.accumulated[i, j] = kept + limits.period * error if step > 0 else 0.0
        signals.coordinate_error[i, j] = error
    pose = reference.pose[i, now]
    fill_pose_error(pose, machines.pose[i], signals.position_error[i], signals.orientation_error[i])
    for j in range(7):
        signals.reference_pose[i, j] = pose[j]


@device
def observe(
    i: int,
    machines: Machines,
    scales: Scales,
    history: History,
    results: Results,
    reference: Reference,
    limits: Limits,
    signals: Signals,
) -> None:
    """Fill the observation of environment i; see the table of `PoseTrackingEnv`."""
    scale, out = results.scale, results.observation[i]
    end = reference.pose.shape[1] - 1
    now = min(history.steps[i], end)
    at = put_all(out, 0, signals.coordinate_error[i], scale)
    at = put_difference(out, at, reference.rates[i, now], machines.measured_rates[i], scale)
    at = put_all(out, at, signals.accumulated[i], scale)
    at = put_difference(out, at, machines.measured[i], scales.middle, scale)
    at = put_all(out, at, machines.measured_rates[i], scale)
    table = reference.coordinates[i]
    for ahead in range(limits.preview + 1):
        first, second = min(now + ahead, end), min(now + ahead + 1, end)
        before = first if ahead == 0 else min(now + ahead - 1, end)
        for j in range(table.shape[1]):
            change = table[second, j] - table[first, j]
            change -= table[first, j] - table[before, j]
            at = put(out, at, change / limits.period, scale)
    for j in range(history.action.shape[1]):
        at = put_scalar(out, at, history.action[i, j])


@device
def reward(
    i: int,
    machines: Machines,
    scales: Scales,
    history: History,
    limits: Limits,
    signals: Signals,
    term: FloatArray,
) -> None:
    """Fill the reward's terms of environment i; see the table of `PoseTrackingEnv`."""
    position = norm(row(signals.position_error, i, 0))
    attitude = norm(row(signals.orientation_error, i, 0))
    term[0] = closeness(position, limits.position_scale, limits.largest_position)
    term[1] = closeness(attitude, limits.attitude_scale, limits.largest_attitude)
    term[2] = smoothness(history.action[i], history.before[i])
    term[3] = economy(machines.effort[i], scales.effort)


@device
def terminate(i: int, machines: Machines, scales: Scales, limits: Limits, signals: Signals) -> int:
    """Return the code of why the episode of environment i ends."""
    position = norm(row(signals.position_error, i, 0))
    attitude = norm(row(signals.orientation_error, i, 0))
    if machines.failed[i] or not isfinite(position + attitude):
        return ENGINE
    if position > limits.largest_position:
        return POSITION
    if attitude > limits.largest_attitude:
        return ATTITUDE
    return LIMIT if beyond_travel(machines, i, scales, limits.overtravel) else CONTINUES


@device
def evaluate_row(
    i: int,
    machines: Machines,
    scales: Scales,
    history: History,
    results: Results,
    reference: Reference,
    limits: Limits,
    signals: Signals,
) -> None:
    """Fill observation, reward and termination of environment i."""
    sense(i, machines, history.steps[i], reference, limits, signals)
    observe(i, machines, scales, history, results, reference, limits, signals)
    reward(i, machines, scales, history, limits, signals, results.term[i])
    add_terms(results, i)
    results.reason[i] = terminate(i, machines, scales, limits, signals)


@compiled
def evaluate(indices: IndexArray, actions: FloatArray, bundle: Any) -> None:
    """Fill observation, reward and termination of the environments `indices` (m,).

    Args:
        indices: numbers of environments.
        actions: `(N, a)` of the control period that is over; `(0, a)` after a reset.
        bundle: of `Machines`, `Scales`, `History`, `Results`, `Reference`, `Limits`, `Signals`.
    """
    machines, scales, history, results, reference, limits, signals = unbundled(bundle)
    count(actions, history.steps, history.action, history.before)
    for number in range(indices.shape[0]):
        i = indices[number]
        evaluate_row(i, machines, scales, history, results, reference, limits, signals)
