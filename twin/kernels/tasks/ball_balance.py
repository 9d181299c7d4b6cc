"""Commands, observation, reward and termination of `BallBalance`, row by row."""

from __future__ import annotations

from math import cos, isfinite, sin, sqrt
from typing import Any, NamedTuple

from twin.basics.arrays import FloatArray, IndexArray
from twin.kernels.ball import state_on_plate
from twin.kernels.batched.analytic import Machines
from twin.kernels.bundle import unbundled
from twin.kernels.jit import compiled, device
from twin.kernels.linear_algebra import rotate_back, rotation_at, vector_at
from twin.kernels.tasks.task import (
    ENGINE_TERMINATION,
    EPISODE_CONTINUES,
    History,
    Results,
    Scales,
    add_increment,
    add_terms,
    beyond_travel,
    calmness,
    closeness,
    count,
    displaced_coordinates,
    following_speed,
    smoothness,
    write,
    write_all,
    write_difference,
    write_scalars,
)


class Targets(NamedTuple):
    """Targets of the balls, in plate axes."""

    centers: FloatArray
    """`(N, k, 2)` one after the other [m]"""
    circles: FloatArray
    """`(N, 3)` about them: radius [m], rate [rad/s], phase [rad]"""
    motion: FloatArray
    """`(N, 4)` position [m] and velocity [m/s]"""


class Increments(NamedTuple):
    """State of actions that are increments of the pose, with work arrays."""

    axes: IndexArray
    """`(a,)` axes, 3 along and 3 about the base axes, that the actions move"""
    offset: FloatArray
    """`(N, a)` displacement from home [m, rad]; `(N, 0)` where actions are speeds"""
    setpoint: FloatArray
    """`(N, n)` coordinates [m, rad] commanded for the beginning of the coming period"""
    home: FloatArray
    """`(7,)` pose at home: position [m], unit quaternion (scalar first)"""
    next_coordinates: FloatArray
    """`(n,)` work: coordinates at the end of the period"""
    displacement: FloatArray
    """`(6,)` work: a row of `offset`, with zeros along the axes that no action moves"""
    state: FloatArray
    """`(13,)` work: the displaced pose, at rest"""


class Settings(NamedTuple):
    """Scalar settings of targets, reward and termination."""

    period: float
    """control period [s]"""
    hold_time: float
    """time between targets [s]"""
    distance_scale: float
    """scale of distances in the reward [m]"""
    max_distance: float
    """distance that gives no reward [m]"""
    speed_scale: float
    """scale of speeds [m/s]"""
    overtravel: float
    """allowed overtravel, as a fraction of the travel"""


class Balls(NamedTuple):
    """Balls of the batched plant."""

    state: FloatArray
    """`(N, 13)` pose and twist in the base frame"""
    is_lost: IndexArray
    """`(N,)` whether they have left the plate"""
    on_plate: FloatArray
    """`(6,)` work: position and velocity in plate axes"""


class Signals(NamedTuple):
    """Motion of ball and plate in physical units and plate axes, for `info`."""

    ball_position: FloatArray
    """`(N, 2)` [m]"""
    ball_velocity: FloatArray
    """`(N, 2)` [m/s] against the plate"""
    target: FloatArray
    """`(N, 2)` [m]"""
    target_error: FloatArray
    """`(N, 2)` target less ball [m]"""
    slope: FloatArray
    """`(N, 2)` how far the plate's x and y axes point down"""
    tilt_rate: FloatArray
    """`(N, 2)` of roll and pitch [rad/s]"""


BALL_TERMINATION, LIMIT_TERMINATION = range(2, 4)
"""Codes of termination: the ball has left the plate, or an actuator is beyond its range."""

CIRCLE_RADIUS, CIRCLE_RATE, CIRCLE_PHASE = range(3)
"""Entries of a circular target: radius [m], angular rate [rad/s] and phase [rad]."""


@compiled
def pose_command(actions: FloatArray, bundle: Any) -> None:
    """Fill `command` (N, n) with rates that follow a pose displaced from home by increments.

    Args:
        actions: `(N, a)` increments.
        bundle: of `ActionLaw`, constants of the legs, `Increments` (advanced in place), measured
            coordinates `(N, n)`, and the command, overwritten.
    """
    law, legs, increments, measured, command = unbundled(bundle)
    axes, displacement, next_coordinates = (
        increments.axes,
        increments.displacement,
        increments.next_coordinates,
    )
    for k in range(6):
        displacement[k] = 0.0
    for i in range(command.shape[0]):
        setpoint, offset = increments.setpoint[i], increments.offset[i]
        for k in range(axes.shape[0]):
            displacement[axes[k]] = add_increment(offset, k, actions[i, k], law)
        is_reachable = displaced_coordinates(
            legs, increments.home, displacement, increments.state, next_coordinates
        )
        for j in range(setpoint.shape[0]):
            commanded_coordinate = next_coordinates[j] if is_reachable else setpoint[j]
            command[i, j] = following_speed(commanded_coordinate, setpoint[j], measured[i, j], law)
            setpoint[j] = commanded_coordinate


@device
def move_target(i: int, step: int, settings: Settings, targets: Targets) -> None:
    """Fill position and velocity of the target in environment i, `step` periods after the reset."""
    elapsed = step * settings.period
    k = int(elapsed / settings.hold_time + 1e-9) % targets.centers.shape[1]
    radius, rate = targets.circles[i, CIRCLE_RADIUS], targets.circles[i, CIRCLE_RATE]
    angle = targets.circles[i, CIRCLE_PHASE] + rate * elapsed
    present_target = targets.motion[i]
    present_target[0] = targets.centers[i, k, 0] + radius * cos(angle)
    present_target[1] = targets.centers[i, k, 1] + radius * sin(angle)
    present_target[2] = -radius * rate * sin(angle)
    present_target[3] = radius * rate * cos(angle)


@device
def sense(i: int, machines: Machines, balls: Balls, targets: Targets, signals: Signals) -> None:
    """Fill the signals of environment i: ball against plate and target, plate against gravity."""
    pose, twist, on_plate = machines.pose[i], machines.twist[i], balls.on_plate
    state_on_plate(pose, twist, balls.state[i], on_plate)
    matrix = rotation_at(pose, 3)
    plate_omega = rotate_back(matrix, vector_at(twist, 3))
    for k in range(2):
        signals.ball_position[i, k] = on_plate[k]
        signals.ball_velocity[i, k] = on_plate[3 + k]
        signals.target[i, k] = targets.motion[i, k]
        signals.target_error[i, k] = targets.motion[i, k] - on_plate[k]
        signals.slope[i, k] = -matrix[6 + k]
        signals.tilt_rate[i, k] = plate_omega[k]


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
    index = write_all(out, 0, signals.target_error[i], scale)
    index = write_all(out, index, signals.ball_position[i], scale)
    index = write_all(out, index, signals.ball_velocity[i], scale)
    index = write(out, index, targets.motion[i, 2], scale)
    index = write(out, index, targets.motion[i, 3], scale)
    index = write_all(out, index, signals.slope[i], scale)
    index = write_all(out, index, signals.tilt_rate[i], scale)
    index = write_difference(out, index, machines.measured[i], scales.middle, scale)
    index = write_all(out, index, machines.measured_rates[i], scale)
    index = write_all(out, index, offset[i], scale)
    write_scalars(out, index, history.last_action[i])


@device
def reward(
    i: int,
    is_lost: bool,
    targets: Targets,
    settings: Settings,
    signals: Signals,
    history: History,
    term_values: FloatArray,
) -> None:
    """Fill the reward's terms of environment i; see the table of `BallBalanceEnv`."""
    error, velocity = signals.target_error[i], signals.ball_velocity[i]
    distance = sqrt(error[0] * error[0] + error[1] * error[1])
    velocity_error_x, velocity_error_y = (
        velocity[0] - targets.motion[i, 2],
        velocity[1] - targets.motion[i, 3],
    )
    speed = sqrt(velocity_error_x * velocity_error_x + velocity_error_y * velocity_error_y)
    if not isfinite(distance + speed):
        # The machine has failed: no reward, and no NaN.
        distance, speed = settings.max_distance, settings.speed_scale
    term_values[0] = closeness(distance, settings.distance_scale, settings.max_distance)
    term_values[1] = calmness(speed, settings.speed_scale)
    term_values[2] = smoothness(history.last_action[i], history.previous_action[i])
    term_values[3] = -1.0 if is_lost else 0.0


@device
def terminate(i: int, machines: Machines, is_lost: bool, scales: Scales, settings: Settings) -> int:
    """Return the code of why the episode of environment i ends."""
    if machines.failed[i]:
        return ENGINE_TERMINATION
    if is_lost:
        return BALL_TERMINATION
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
        bundle: of `Machines`, `Scales`, `History`, `Results`, `Targets`, `Settings`, `Signals`,
            `Balls`, `Increments`.
    """
    machines, scales, history, results, targets, settings, signals, balls, increments = unbundled(
        bundle
    )
    count(actions, history.steps, history.last_action, history.previous_action)
    for slot in range(indices.shape[0]):
        i = indices[slot]
        move_target(i, history.steps[i], settings, targets)
        sense(i, machines, balls, targets, signals)
        observe(i, machines, scales, history, results, targets, increments.offset, signals)
        reward(i, balls.is_lost[i], targets, settings, signals, history, results.term_values[i])
        add_terms(results, i)
        results.reason[i] = terminate(i, machines, balls.is_lost[i], scales, settings)
