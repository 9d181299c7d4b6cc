"""Commands, observation, reward and termination of `VibrationIsolation`, row by row."""

from __future__ import annotations

from math import exp, isfinite, sqrt
from typing import Any, NamedTuple

from twin.basics.arrays import FloatArray, IndexArray
from twin.kernels.batched.analytic import Machines
from twin.kernels.bundle import unbundled
from twin.kernels.control.controllers import rotation_error
from twin.kernels.jit import compiled, device
from twin.kernels.linear_algebra import norm, rotate_back, rotation_at, row
from twin.kernels.tasks.task import (
    ENGINE_TERMINATION,
    EPISODE_CONTINUES,
    History,
    Results,
    Scales,
    add_terms,
    beyond_travel,
    count,
    smoothness,
    stillness,
    stroke,
    write_all,
    write_difference,
    write_scalars,
)


class Shaking(NamedTuple):
    """Motion of the bases and noise of the sensors over an episode of p control periods."""

    mean: FloatArray
    """`(N, p + 1, ratio, 3)` mean acceleration over each step; the last period is at rest"""
    displacement: FloatArray
    """`(N, p + 1, 3)` at the periods' ends [m]"""
    noise: FloatArray
    """`(N, p + 1, 9)` of platform accelerometers, gyroscopes, base accelerometers"""


class Memory(NamedTuple):
    """Quantities kept from one period to the next."""

    start: FloatArray
    """`(N, n)` measured coordinates at the reset"""
    pose: FloatArray
    """`(N, 7)` at the reset"""
    twist: FloatArray
    """`(N, 6)` at the end of the last period"""
    channels: FloatArray
    """`(N, 18)` the observation's first six channels, in physical units"""
    squares: FloatArray
    """`(N, 2)` sums of squares of absolute and of base acceleration"""
    levels: FloatArray
    """`(N, 3)` of acceleration, displacement, angular rate in the reward"""


class Settings(NamedTuple):
    """Scalar settings of sensors and termination."""

    period: float
    """control period [s]"""
    forgetting: float
    """[s] time constant with which sums of accelerations fade"""
    gravity: float
    """[m/s2] gravity that the accelerometers measure"""
    largest_attitude: float
    """[rad] rotation that ends the episode"""
    overtravel: float
    """allowed overtravel, as a fraction of the travel"""


class Signals(NamedTuple):
    """Motion of base and platform in physical units, base axes, for `info`."""

    absolute_acceleration: FloatArray
    """`(N, 3)` of the reference point, mean over the last period [m/s2]"""
    base_acceleration: FloatArray
    """`(N, 3)` mean over the last period [m/s2]"""
    absolute_displacement: FloatArray
    """`(N, 3)` of the reference point since the reset [m]"""
    rotation: FloatArray
    """`(N, 3)` rotation vector since the reset [rad]"""
    transmissibility: FloatArray
    """`(N,)` RMS of absolute per RMS of base acceleration since the reset"""


ATTITUDE_TERMINATION, LIMIT_TERMINATION = range(2, 4)
"""Codes of termination: attitude, or an actuator beyond its range."""

ACCELERATION_LEVEL, DISPLACEMENT_LEVEL, RATE_LEVEL = range(3)
"""Entries of `levels` in `Memory`, of one environment."""


class ActionLaw(NamedTuple):
    """Meaning of actions."""

    scale: FloatArray
    """`(n,)` physical value of action 1 [N, N m; m/s, rad/s]"""
    offset: FloatArray
    """`(n,)` offset added to the scaled action"""
    centring: float
    """[1/s] gain of the return to the initial coordinates; zero for force actions"""


@device
def fill_shaking_now(steps: IndexArray, mean: FloatArray, shaking: FloatArray) -> None:
    """Fill `shaking` (N, ratio, 3) of the coming period from the tables `mean` of `Shaking`."""
    last_row = mean.shape[1] - 1
    for i in range(shaking.shape[0]):
        row_now = min(steps[i], last_row)
        for substep in range(shaking.shape[1]):
            for k in range(3):
                shaking[i, substep, k] = mean[i, row_now, substep, k]


@compiled
def fill_command(actions: FloatArray, bundle: Any) -> None:
    """Fill `command` (N, n) and `shaking` (N, ratio, 3) of the coming period.

    Args:
        actions: `(N, n)`.
        bundle: of control periods `(N,)` since the reset, `ActionLaw`, the tables `mean` of
            `Shaking`, coordinates `(N, n)` at the reset and now, shaking and command, overwritten.
    """
    steps, law, mean, start, measured, shaking, command = unbundled(bundle)
    fill_shaking_now(steps, mean, shaking)
    for i in range(command.shape[0]):
        for j in range(command.shape[1]):
            return_speed = law.centring * (start[i, j] - measured[i, j])
            command[i, j] = law.offset[j] + return_speed + law.scale[j] * actions[i, j]


@device
def begin(i: int, machines: Machines, memory: Memory) -> None:
    """Store the initial coordinates and pose of environment i's episode; clear the sums."""
    for j in range(machines.measured.shape[1]):
        memory.start[i, j] = machines.measured[i, j]
    for j in range(7):
        memory.pose[i, j] = machines.pose[i, j]
    for j in range(2):
        memory.squares[i, j] = 0.0


@device
def sense(
    i: int,
    machines: Machines,
    step: int,
    shaking: Shaking,
    memory: Memory,
    settings: Settings,
    signals: Signals,
) -> None:
    """Fill the readings of environment i's inertial sensors over the period that ended at `step`.

    The displacement of the platform follows from its pose and the base's.
    """
    is_first, last_row = step == 0, shaking.mean.shape[1] - 1
    row_before, noise = min(max(step - 1, 0), last_row), shaking.noise[i, step % (last_row + 1)]
    period, pose = settings.period, machines.pose[i]
    matrix = rotation_at(pose, 3)
    sensor_values = memory.channels[i]
    ratio = shaking.mean.shape[2]
    for k in range(3):
        base = 0.0
        if not is_first:
            for substep in range(ratio):
                base += shaking.mean[i, row_before, substep, k] / ratio
        signals.base_acceleration[i, k] = base
        linear = (machines.twist[i, k] - memory.twist[i, k]) / period
        signals.absolute_acceleration[i, k] = 0.0 if is_first else linear + base
    force = (
        signals.absolute_acceleration[i, 0],
        signals.absolute_acceleration[i, 1],
        signals.absolute_acceleration[i, 2] + settings.gravity,
    )
    specific_force = rotate_back(matrix, force)
    platform_omega = rotate_back(matrix, row(machines.twist, i, 3))
    memory_decay = exp(-period / settings.forgetting)
    rotation_vector = rotation_error(pose, memory.pose[i])
    for k in range(3):
        weight = settings.gravity if k == 2 else 0.0
        rate = platform_omega[k] + noise[3 + k]
        rate_change = 0.0 if is_first else (rate - sensor_values[3 + k]) / period
        sensor_values[k] = specific_force[k] - weight + noise[k]
        sensor_values[3 + k] = rate
        sensor_values[6 + k] = rate_change
        sensor_values[9 + k] = signals.base_acceleration[i, k] + noise[6 + k]
        for sum_, source in ((12, 0), (15, 9)):
            fading_sum = (
                0.0
                if is_first
                else memory_decay * sensor_values[sum_ + k] + period * sensor_values[source + k]
            )
            sensor_values[sum_ + k] = fading_sum
        base = shaking.displacement[i, min(step, last_row), k]
        signals.absolute_displacement[i, k] = pose[k] - memory.pose[i, k] + base
        signals.rotation[i, k] = rotation_vector[k]
    for k in range(6):
        memory.twist[i, k] = machines.twist[i, k]


@device
def observe(
    i: int,
    machines: Machines,
    scales: Scales,
    history: History,
    results: Results,
    memory: Memory,
) -> None:
    """Fill the observation of environment i; see the table of `VibrationIsolationEnv`."""
    scale, out = results.scale, results.observation[i]
    index = write_all(out, 0, memory.channels[i], scale)
    index = write_difference(out, index, machines.measured[i], memory.start[i], scale)
    index = write_all(out, index, machines.measured_rates[i], scale)
    index = write_difference(out, index, machines.effort[i], scales.holding, scale)
    write_scalars(out, index, history.last_action[i])


@device
def measure_transmissibility(i: int, memory: Memory, signals: Signals) -> float:
    """Update the transmissibility of environment i; return its absolute acceleration [m/s2]."""
    platform_norm = norm(row(signals.absolute_acceleration, i, 0))
    base_norm = norm(row(signals.base_acceleration, i, 0))
    memory.squares[i, 0] += platform_norm * platform_norm
    memory.squares[i, 1] += base_norm * base_norm
    base_square = memory.squares[i, 1]
    signals.transmissibility[i] = (
        sqrt(memory.squares[i, 0] / base_square) if base_square > 0.0 else 0.0
    )
    return platform_norm


@device
def reward(
    i: int,
    machines: Machines,
    scales: Scales,
    history: History,
    memory: Memory,
    signals: Signals,
    term_values: FloatArray,
) -> None:
    """Fill the reward's terms of environment i; see the table of `VibrationIsolationEnv`."""
    levels = memory.levels[i]
    displacement_norm = norm(row(signals.absolute_displacement, i, 0))
    term_values[0] = stillness(
        measure_transmissibility(i, memory, signals), levels[ACCELERATION_LEVEL]
    )
    term_values[1] = stillness(displacement_norm, levels[DISPLACEMENT_LEVEL])
    term_values[2] = stillness(norm(row(machines.twist, i, 3)), levels[RATE_LEVEL])
    term_values[3] = stroke(machines.measured[i], memory.start[i], scales.half)
    term_values[4] = smoothness(history.last_action[i], history.previous_action[i])


@device
def terminate(
    i: int, machines: Machines, scales: Scales, settings: Settings, signals: Signals
) -> int:
    """Return the code of why the episode of environment i ends."""
    attitude = norm(row(signals.rotation, i, 0))
    displacement_norm = norm(row(signals.absolute_displacement, i, 0))
    if machines.failed[i] or not isfinite(attitude + displacement_norm):
        return ENGINE_TERMINATION
    if attitude > settings.largest_attitude:
        return ATTITUDE_TERMINATION
    return (
        LIMIT_TERMINATION
        if beyond_travel(machines, i, scales, settings.overtravel)
        else EPISODE_CONTINUES
    )


@compiled
def evaluate(indices: IndexArray, actions: FloatArray, bundle: Any) -> None:
    """Fill observation, reward and termination of the environments `indices` (m,).

    Args:
        indices: numbers of environments.
        actions: `(N, a)` of the control period that is over; `(0, a)` after a reset.
        bundle: of `Machines`, `Scales`, `History`, `Results`, `Shaking`, `Settings`, `Signals`,
            `Memory`.
    """
    machines, scales, history, results, shaking, settings, signals, memory = unbundled(bundle)
    count(actions, history.steps, history.last_action, history.previous_action)
    for slot in range(indices.shape[0]):
        i = indices[slot]
        if history.steps[i] == 0:
            begin(i, machines, memory)
        sense(i, machines, history.steps[i], shaking, memory, settings, signals)
        observe(i, machines, scales, history, results, memory)
        reward(i, machines, scales, history, memory, signals, results.term_values[i])
        add_terms(results, i)
        results.reason[i] = terminate(i, machines, scales, settings, signals)
