"""Observation, reward and termination of `MotionCueing`, row by row."""

from __future__ import annotations

from math import asin, atan2, sqrt
from typing import Any

from twin.basics.arrays import FloatArray, IndexArray
from twin.kernels.batched.analytic import Machines
from twin.kernels.bundle import unbundled
from twin.kernels.jit import compiled, device
from twin.kernels.linear_algebra import dot, rotation_at
from twin.kernels.tasks.motion_cueing.cues import (
    CommandState,
    Constants,
    Senses,
    Signals,
    begin_senses,
    feel_platform,
    feel_vehicle,
    table_index,
)
from twin.kernels.tasks.task import (
    ENGINE_TERMINATION,
    EPISODE_CONTINUES,
    History,
    Results,
    add_terms,
    count,
    smoothness,
    write,
    write_all,
    write_difference,
)

THRESHOLD_SCALE = 10.0
"""Perceived error, in thresholds of perception, that gives a penalty of one."""

LIMIT_TERMINATION = 2
"""Termination code of this task: an actuator is beyond its limit."""


@compiled
def perception_term(error: FloatArray, threshold: FloatArray, start: int, stop: int) -> float:
    """Return minus the mean square of perceived errors, in units of ten thresholds.

    Args:
        error: `(6,)` perceived on the platform less perceived in the vehicle [m/s2, rad/s].
        threshold: `(6,)` of perception.
        start: first sense that counts: 0 for specific force, 3 for rotation.
        stop: the sense after the last that counts.
    """
    total = 0.0
    for j in range(start, stop):
        ratio = error[j] / (THRESHOLD_SCALE * threshold[j])
        total += ratio * ratio
    return -total / (stop - start)


@compiled
def above_threshold(value: float, threshold: float) -> float:
    """Return the part of `value` above the threshold of perception, zero below it."""
    if value > threshold:
        return value - threshold
    if value < -threshold:
        return value + threshold
    return 0.0


@compiled
def false_part(platform: float, vehicle: float, threshold: float) -> float:
    """Return the motion sensed on the platform where the vehicle has none or the opposite."""
    platform_cue, vehicle_cue = (
        above_threshold(platform, threshold),
        above_threshold(vehicle, threshold),
    )
    return 0.0 if vehicle_cue * platform_cue > 0.0 else platform_cue


@compiled
def false_term(platform: FloatArray, vehicle: FloatArray, threshold: FloatArray) -> float:
    """Return minus the mean square of the false cues, in units of ten thresholds.

    Args:
        platform: `(6,)` perceived on the platform [m/s2, rad/s].
        vehicle: `(6,)` perceived in the vehicle.
        threshold: `(6,)` of perception.
    """
    total = 0.0
    for j in range(6):
        ratio = false_part(platform[j], vehicle[j], threshold[j]) / (THRESHOLD_SCALE * threshold[j])
        total += ratio * ratio
    return -total / 6.0


@compiled
def neutral_term(axes: FloatArray, travel: FloatArray, free: IndexArray) -> float:
    """Return minus the mean square of displacements from home, relative to each axis' travel.

    Args:
        axes: `(6,)` x, y, z [m], yaw, pitch, roll [rad] about home.
        travel: `(6,)` of the machine along each axis alone.
        free: `(k,)` indices of the axes that the machine has.
    """
    total = 0.0
    for j in free:
        ratio = axes[j] / travel[j]
        total += ratio * ratio
    return -total / free.shape[0]


@device
def fill_axes(pose: FloatArray, home: FloatArray, axes: FloatArray) -> None:
    """Fill `axes` (6,): x, y, z [m], yaw, pitch, roll [rad] of a pose about home."""
    pose_matrix, home_matrix = rotation_at(pose, 3), rotation_at(home, 3)
    for k in range(3):
        axes[k] = pose[k] - home[k]
    x, y, z = pose_matrix[:3], pose_matrix[3:6], pose_matrix[6:]
    home_x, home_y, home_z = home_matrix[:3], home_matrix[3:6], home_matrix[6:]
    # Entries of A B^T, the turn from home.
    axes[3] = atan2(dot(y, home_x), dot(x, home_x))
    axes[4] = -asin(min(max(dot(z, home_x), -1.0), 1.0))
    axes[5] = atan2(dot(z, home_y), dot(z, home_z))


@device
def perceive(
    i: int,
    machines: Machines,
    step: int,
    constants: Constants,
    senses: Senses,
    signals: Signals,
) -> None:
    """Start the senses of environment i at step 0; later advance them by the past period."""
    pose, twist, threshold = machines.pose[i], machines.twist[i], constants.threshold
    fill_axes(pose, constants.home, signals.axes[i])
    if step == 0:
        begin_senses(constants, senses, i, pose, twist)
    else:
        feel_vehicle(constants, senses, i, step)
        feel_platform(constants, senses, i, pose, twist)
    for j in range(6):
        error = senses.platform[i, j] - senses.vehicle[i, j]
        signals.error[i, j] = error
        false_cue = false_part(senses.platform[i, j], senses.vehicle[i, j], threshold[j])
        scaled_error, scaled_false_cue = error / threshold[j], false_cue / threshold[j]
        senses.sums[i, 0] += scaled_error * scaled_error
        senses.sums[i, 1] += scaled_false_cue * scaled_false_cue
    n_terms = 6.0 * (step + 1)
    signals.score[i] = sqrt(senses.sums[i, 0] / n_terms)
    signals.false_cues[i] = sqrt(senses.sums[i, 1] / n_terms)


@device
def terminate(i: int, machines: Machines, constants: Constants) -> int:
    """Return the code of why the episode of environment i ends."""
    if machines.failed[i]:
        return ENGINE_TERMINATION
    for j in range(constants.low.shape[1]):
        if not constants.low[i, j] <= machines.coordinates[i, j] <= constants.high[i, j]:
            return LIMIT_TERMINATION
    return EPISODE_CONTINUES


@device
def reward(
    i: int,
    constants: Constants,
    senses: Senses,
    signals: Signals,
    history: History,
    ended: bool,
    term_values: FloatArray,
) -> None:
    """Fill the reward's terms of environment i; see the table of `MotionCueingEnv`."""
    error, threshold = signals.error[i], constants.threshold
    term_values[0] = perception_term(error, threshold, 0, 3)
    term_values[1] = perception_term(error, threshold, 3, 6)
    term_values[2] = false_term(senses.platform[i], senses.vehicle[i], threshold)
    term_values[3] = neutral_term(signals.axes[i], constants.travel, constants.free)
    term_values[4] = 0.25 * smoothness(history.last_action[i], history.previous_action[i])
    term_values[5] = -1.0 if ended else 0.0


@device
def observe_manoeuvre(
    i: int, step: int, constants: Constants, senses: Senses, results: Results
) -> int:
    """Fill the first part of an observation: perception and manoeuvre; return the next index."""
    out, scale = results.observation[i], results.scale
    index = write_all(out, 0, senses.vehicle[i], scale)
    index = write_all(out, index, senses.platform[i], scale)
    for preview_index in range(constants.preview_periods.shape[0]):
        row_index = senses.table[
            i, table_index(senses, step + constants.preview_periods[preview_index])
        ]
        index = write_all(out, index, row_index, scale)
    return index


@device
def observe(
    i: int,
    machines: Machines,
    history: History,
    results: Results,
    constants: Constants,
    senses: Senses,
    signals: Signals,
    state: CommandState,
) -> None:
    """Fill the observation of environment i; see the table of `MotionCueingEnv`."""
    out, scale, free_axes = results.observation[i], results.scale, constants.free
    index = observe_manoeuvre(i, history.steps[i], constants, senses, results)
    for axis in free_axes:
        index = write(out, index, signals.axes[i, axis], scale)
    for axis in free_axes:
        # Yaw turns about z, pitch about y, roll about x.
        index = write(out, index, machines.twist[i, axis if axis < 3 else 8 - axis], scale)
    if constants.on_pose:
        for axis in free_axes:
            index = write(out, index, state.axes[i, axis], scale)
        for axis in free_axes:
            index = write(out, index, state.rates[i, axis], scale)
    index = write_difference(out, index, machines.measured[i], constants.middle, scale)
    write_all(out, index, history.last_action[i], scale)


@compiled
def evaluate(indices: IndexArray, actions: FloatArray, bundle: Any) -> None:
    """Fill observation, reward and termination of the environments `indices` (m,).

    Args:
        indices: numbers of environments.
        actions: `(N, a)` of the control period that is over; `(0, a)` after a reset.
        bundle: of `Machines`, `Scales`, `History`, `Results`, `Constants`, `Senses`, `Signals`,
            `CommandState`.
    """
    machines, _, history, results, constants, senses, signals, state = unbundled(bundle)
    count(actions, history.steps, history.last_action, history.previous_action)
    for slot in range(indices.shape[0]):
        i = indices[slot]
        step, term_values = history.steps[i], results.term_values[i]
        perceive(i, machines, step, constants, senses, signals)
        if step == 0:
            results.reason[i] = EPISODE_CONTINUES
            for j in range(term_values.shape[0]):
                term_values[j] = 0.0
        else:
            results.reason[i] = terminate(i, machines, constants)
            has_ended = results.reason[i] != EPISODE_CONTINUES
            reward(i, constants, senses, signals, history, has_ended, term_values)
        add_terms(results, i)
        observe(i, machines, history, results, constants, senses, signals, state)
