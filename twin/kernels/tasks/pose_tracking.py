"""Commands, observation, reward and termination of `PoseTracking`, row by row."""

from __future__ import annotations

from math import cos, isfinite, sin
from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, IndexArray
from twin.kernels.batched.analytic import Machines
from twin.kernels.bundle import unbundled
from twin.kernels.jit import compiled, device
from twin.kernels.kinematics import inverse_kinematics
from twin.kernels.lanes import Width, lanes_memory
from twin.kernels.legs.dispatch import actuation, project_onto_constraints
from twin.kernels.legs.interface import Legs, platform_state
from twin.kernels.linear_algebra import dot, norm, quaternion_product, row
from twin.kernels.numbers.arrays import as_lanes, write_column
from twin.kernels.tasks.task import (
    ENGINE_TERMINATION,
    EPISODE_CONTINUES,
    SINE_REFRESH_STEPS,
    ActionLaw,
    History,
    Results,
    Scales,
    add_increment,
    add_terms,
    advanced_phase,
    beyond_travel,
    closeness,
    count,
    displaced_coordinates,
    economy,
    fill_pose_error,
    following_speed,
    smooth_step,
    smoothness,
    write,
    write_all,
    write_difference,
    write_scalars,
)

RANGE_TOLERANCE = 1e-9
"""Fraction of the actuators' range that is allowed for rounding."""


class ReferenceArrays(NamedTuple):
    """Motions to follow, sampled at the k control instants of an episode."""

    pose: FloatArray
    """`(N, k, 7)` of the platform in the base: position [m], unit quaternion (scalar first)"""
    coordinates: FloatArray
    """`(N, k, n)` of the actuators [m, rad]"""
    rates: FloatArray
    """`(N, k, n)` of the actuators [m/s, rad/s]"""


class Increments(NamedTuple):
    """State of actions that are increments of the pose, with work arrays."""

    offset: FloatArray
    """`(N, 6)` displacement [m, rad]"""
    setpoint: FloatArray
    """`(N, n)` coordinates [m, rad] commanded for the beginning of the coming period"""
    home: FloatArray
    """`(7,)` pose at home: position [m], unit quaternion (scalar first)"""
    home_coordinates: FloatArray
    """`(n,)` actuator coordinates at home [m, rad]"""
    plain: FloatArray
    """`(n,)` work: coordinates without displacement"""
    displaced: FloatArray
    """`(n,)` work: coordinates with it"""
    state: FloatArray
    """`(13,)` work"""


class Settings(NamedTuple):
    """Scalar settings of observation, reward and termination."""

    period: float
    """control period [s]"""
    preview: int
    """control periods ahead that are observed"""
    retention: float
    """fraction of the accumulated errors that a control period keeps, below one"""
    position_scale: float
    """[m] scale of position errors in the reward"""
    attitude_scale: float
    """[rad] scale of orientation errors in the reward"""
    largest_position: float
    """[m] position error that ends the episode"""
    largest_attitude: float
    """[rad] orientation error that ends the episode"""
    overtravel: float
    """allowed overtravel, as a fraction of the travel"""


class Signals(NamedTuple):
    """Errors and the reference's pose in physical units, for `info` and the observation."""

    position_error: FloatArray
    """`(N, 3)` reference less platform [m], base axes"""
    orientation_error: FloatArray
    """`(N, 3)` rotation vector from platform to reference [rad], base axes"""
    coordinate_error: FloatArray
    """`(N, n)` reference less measured coordinate [m, rad]"""
    reference_pose: FloatArray
    """`(N, 7)` of the reference: position [m], unit quaternion (scalar first)"""
    accumulated: FloatArray
    """`(N, n)` error of coordinates, summed with forgetting [m s, rad s]"""


class Sines(NamedTuple):
    """Sum of cosines and sines of omega t, faded in and out."""

    omega: FloatArray
    """`(m,)` [rad/s]"""
    cosine_amplitudes: FloatArray
    """`(m, 6)` displacements [m], angles about fixed axes x, y, z [rad]"""
    sine_amplitudes: FloatArray
    """`(m, 6)` displacements [m], angles about fixed axes x, y, z [rad]"""
    duration: float
    """[s] duration of the motion"""
    fade: float
    """[s] at either end, above zero"""


@device
def fill_axes(
    sines: Sines,
    time: float,
    cosine_values: FloatArray,
    sine_values: FloatArray,
    value: FloatArray,
    rate: FloatArray,
) -> None:
    """Fill displacements and angles `value` (6,) and their rates (6,) at a time [s].

    `cosine_values` and `sine_values` (m,) are those of omega times the time.
    """
    fade_in, fade_in_rate = smooth_step(time / sines.fade)
    fade_out, fade_out_rate = smooth_step((sines.duration - time) / sines.fade)
    window, slope = fade_in + fade_out - 1.0, (fade_in_rate - fade_out_rate) / sines.fade
    for k in range(6):
        value[k] = 0.0
        rate[k] = 0.0
    for j in range(sines.omega.shape[0]):
        omega = sines.omega[j]
        of_cosine, of_sine = cosine_values[j], sine_values[j]
        for k in range(6):
            a, b = sines.cosine_amplitudes[j, k], sines.sine_amplitudes[j, k]
            value[k] += a * of_cosine + b * of_sine
            rate[k] += omega * (b * of_cosine - a * of_sine)
    for k in range(6):
        rate[k] = slope * value[k] + window * rate[k]
        value[k] = window * value[k]


@device
def fill_state(home: FloatArray, value: FloatArray, rate: FloatArray, y: FloatArray) -> None:
    """Fill `y` (13,): pose and twist of displacements and angles about home.

    The rotation is Rz Ry Rx; each axis is carried by the rotations after it.
    """
    a, b, c = 0.5 * value[3], 0.5 * value[4], 0.5 * value[5]
    cx, sx, cy, sy, cz, sz = cos(a), sin(a), cos(b), sin(b), cos(c), sin(c)
    quaternion = (
        cz * cy * cx + sz * sy * sx,
        cz * cy * sx - sz * sy * cx,
        cz * sy * cx + sz * cy * sx,
        sz * cy * cx - cz * sy * sx,
    )
    for k in range(3):
        y[k] = home[k] + value[k]
        y[7 + k] = rate[k]
    y[3], y[4], y[5], y[6] = quaternion_product(quaternion, (home[3], home[4], home[5], home[6]))
    # cos and sin of the whole angles, from those of half of them
    cos_y, sin_y = cy * cy - sy * sy, 2.0 * sy * cy
    cos_z, sin_z = cz * cz - sz * sz, 2.0 * sz * cz
    y[10] = cos_z * cos_y * rate[3] - sin_z * rate[4]
    y[11] = sin_z * cos_y * rate[3] + cos_z * rate[4]
    y[12] = rate[5] - sin_y * rate[3]


@compiled
def fill_motion(
    legs: Legs,
    home: FloatArray,
    sines: Sines,
    scales: Scales,
    period: float,
    rows: tuple[FloatArray, FloatArray, FloatArray],
    width: Width,
) -> bool:
    """Fill poses (k, 7), coordinates (k, n) and rates (k, n) at instants a period [s] apart.

    Legs that constrain the platform leave out what it cannot follow. Returns whether all
    coordinates and rates are within the limits.
    """
    pose, coordinates, rates = rows
    time, n_sines = np.empty((2, len(width))), sines.omega.shape[0]
    turns, block_duration = np.empty((2, n_sines)), len(width) * period
    for j in range(n_sines):
        turns[0, j], turns[1, j] = (
            cos(sines.omega[j] * block_duration),
            sin(sines.omega[j] * block_duration),
        )
    cosine_values, sine_values = lanes_memory(n_sines, width), lanes_memory(n_sines, width)
    value, rate, y = lanes_memory(6, width), lanes_memory(6, width), lanes_memory(13, width)
    all_within = True
    for first_instant in range(0, pose.shape[0], len(width)):
        for lane in range(len(width)):
            time[0, lane] = (first_instant + lane) * period
            time[1, lane] = min(time[0, lane], sines.duration)
        times = as_lanes(time, width)
        for j in range(n_sines):
            cosine, sine, angle = cosine_values[j], sine_values[j], sines.omega[j] * times[0]
            if first_instant % (SINE_REFRESH_STEPS * len(width)) == 0:
                cosine_values[j], sine_values[j] = cos(angle), sin(angle)
            else:
                cosine_values[j], sine_values[j] = advanced_phase(
                    cosine, sine, turns[0, j], turns[1, j]
                )
        fill_axes(sines, times[1], cosine_values, sine_values, value, rate)
        fill_state(home, value, rate, y)
        project_onto_constraints(legs, y)
        for k in range(7):
            write_column(pose, first_instant, k, y[k])
        state = platform_state(y[:7], y[7:13])
        for i in range(legs.rows.shape[0]):
            w, moment, coordinate = actuation(legs, i, state.position, state.matrix)
            speed = dot(w, state.velocity) + dot(moment, state.omega)
            write_column(coordinates, first_instant, i, coordinate)
            write_column(rates, first_instant, i, speed)
            middle_distance, allowed_distance = (
                abs(coordinate - scales.middle[i]),
                (1.0 + 2.0 * RANGE_TOLERANCE) * scales.half[i],
            )
            if not (middle_distance <= allowed_distance and abs(speed) <= scales.speed[i]):
                all_within = False
    return all_within


POSITION_TERMINATION, ATTITUDE_TERMINATION, LIMIT_TERMINATION = range(2, 5)
"""Codes of termination: position error, attitude error, or an actuator beyond its range."""


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
    last_row = coordinates.shape[1] - 1
    for i in range(command.shape[0]):
        row_now, row_next = min(steps[i], last_row), min(steps[i] + 1, last_row)
        for j in range(command.shape[1]):
            rate = 0.0
            if law.residual:
                rate = (coordinates[i, row_next, j] - coordinates[i, row_now, j]) / law.period
                rate += law.gain * (coordinates[i, row_now, j] - measured[i, j])
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
    reference: ReferenceArrays,
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
    reference_coordinates, displaced = increments.plain, increments.displaced
    for i in range(command.shape[0]):
        row_next = min(steps[i] + 1, reference.pose.shape[1] - 1)
        offset, setpoint = increments.offset[i], increments.setpoint[i]
        for k in range(6):
            add_increment(offset, k, actions[i, k], law)
        pose = reference.pose[i, row_next] if law.residual else increments.home
        origin = reference.coordinates[i, row_next] if law.residual else increments.home_coordinates
        inverse_kinematics(legs, pose, reference_coordinates)
        is_reachable = displaced_coordinates(legs, pose, offset, increments.state, displaced)
        for j in range(command.shape[1]):
            target_coordinate = (
                origin[j] + (displaced[j] - reference_coordinates[j])
                if is_reachable
                else setpoint[j]
            )
            command[i, j] = following_speed(target_coordinate, setpoint[j], measured[i, j], law)
            setpoint[j] = target_coordinate


@device
def sense(
    i: int,
    machines: Machines,
    step: int,
    reference: ReferenceArrays,
    settings: Settings,
    signals: Signals,
) -> None:
    """Fill the errors of environment i, `step` periods after its reset."""
    row_now = min(step, reference.pose.shape[1] - 1)
    for j in range(machines.measured.shape[1]):
        error = reference.coordinates[i, row_now, j] - machines.measured[i, j]
        decayed_sum = signals.accumulated[i, j] * settings.retention
        signals.accumulated[i, j] = decayed_sum + settings.period * error if step > 0 else 0.0
        signals.coordinate_error[i, j] = error
    pose = reference.pose[i, row_now]
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
    reference: ReferenceArrays,
    settings: Settings,
    signals: Signals,
) -> None:
    """Fill the observation of environment i; see the table of `PoseTrackingEnv`."""
    scale, out = results.scale, results.observation[i]
    last_row = reference.pose.shape[1] - 1
    row_now = min(history.steps[i], last_row)
    index = write_all(out, 0, signals.coordinate_error[i], scale)
    index = write_difference(
        out, index, reference.rates[i, row_now], machines.measured_rates[i], scale
    )
    index = write_all(out, index, signals.accumulated[i], scale)
    index = write_difference(out, index, machines.measured[i], scales.middle, scale)
    index = write_all(out, index, machines.measured_rates[i], scale)
    table = reference.coordinates[i]
    for preview_index in range(settings.preview + 1):
        row_first, row_second = (
            min(row_now + preview_index, last_row),
            min(row_now + preview_index + 1, last_row),
        )
        row_before = row_first if preview_index == 0 else min(row_now + preview_index - 1, last_row)
        for j in range(table.shape[1]):
            table_change = table[row_second, j] - table[row_first, j]
            table_change -= table[row_first, j] - table[row_before, j]
            index = write(out, index, table_change / settings.period, scale)
    write_scalars(out, index, history.last_action[i])


@device
def reward(
    i: int,
    machines: Machines,
    scales: Scales,
    history: History,
    settings: Settings,
    signals: Signals,
    term_values: FloatArray,
) -> None:
    """Fill the reward's terms of environment i; see the table of `PoseTrackingEnv`."""
    position = norm(row(signals.position_error, i, 0))
    attitude = norm(row(signals.orientation_error, i, 0))
    term_values[0] = closeness(position, settings.position_scale, settings.largest_position)
    term_values[1] = closeness(attitude, settings.attitude_scale, settings.largest_attitude)
    term_values[2] = smoothness(history.last_action[i], history.previous_action[i])
    term_values[3] = economy(machines.effort[i], scales.effort)


@device
def terminate(
    i: int, machines: Machines, scales: Scales, settings: Settings, signals: Signals
) -> int:
    """Return the code of why the episode of environment i ends."""
    position = norm(row(signals.position_error, i, 0))
    attitude = norm(row(signals.orientation_error, i, 0))
    if machines.failed[i] or not isfinite(position + attitude):
        return ENGINE_TERMINATION
    if position > settings.largest_position:
        return POSITION_TERMINATION
    if attitude > settings.largest_attitude:
        return ATTITUDE_TERMINATION
    return (
        LIMIT_TERMINATION
        if beyond_travel(machines, i, scales, settings.overtravel)
        else EPISODE_CONTINUES
    )


@device
def evaluate_row(
    i: int,
    machines: Machines,
    scales: Scales,
    history: History,
    results: Results,
    reference: ReferenceArrays,
    settings: Settings,
    signals: Signals,
) -> None:
    """Fill observation, reward and termination of environment i."""
    sense(i, machines, history.steps[i], reference, settings, signals)
    observe(i, machines, scales, history, results, reference, settings, signals)
    reward(i, machines, scales, history, settings, signals, results.term_values[i])
    add_terms(results, i)
    results.reason[i] = terminate(i, machines, scales, settings, signals)


@compiled
def evaluate(indices: IndexArray, actions: FloatArray, bundle: Any) -> None:
    """Fill observation, reward and termination of the environments `indices` (m,).

    Args:
        indices: numbers of environments.
        actions: `(N, a)` of the control period that is over; `(0, a)` after a reset.
        bundle: of `Machines`, `Scales`, `History`, `Results`, `ReferenceArrays`, `Settings` and
            `Signals`.
    """
    machines, scales, history, results, reference, settings, signals = unbundled(bundle)
    count(actions, history.steps, history.last_action, history.previous_action)
    for slot in range(indices.shape[0]):
        i = indices[slot]
        evaluate_row(i, machines, scales, history, results, reference, settings, signals)
