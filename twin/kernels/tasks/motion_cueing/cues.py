"""Cues: the car, what its driver senses, and the platform's command."""

from __future__ import annotations

from math import atan, cos, isfinite, sin, sqrt, tanh
from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, IndexArray
from twin.kernels.bundle import unbundled
from twin.kernels.jit import compiled, device
from twin.kernels.kinematics import inverse_kinematics
from twin.kernels.legs.dispatch import project_onto_constraints
from twin.kernels.linear_algebra import (
    Matrix,
    Vector,
    add,
    copy,
    cross,
    quaternion_product,
    rotate,
    rotate_back,
    rotation_at,
    vector_at,
)

GRAVITY = 9.81
"""[m/s2] Gravity on the vehicle and on the platform's driver."""

BRAKE_FADE_SPEED = 0.3
"""[m/s] Speed below which brakes fade, so that the car stops and does not reverse."""

MIN_SLIP_SPEED = 1.0
"""[m/s] Lower bound of the speed in slip angles."""

MIN_AXLE_LOAD = 200.0
"""[N] Lower bound of an axle's load, so that its tyres stay defined while the car stands on its
nose."""

STATE_SIZE = 8
"""Entries of a car's state: yaw, forward and side speed, yaw rate, roll, roll rate, pitch, pitch
rate."""

MODEL_SIZE = 11
"""Entries of a model: transition (4), state per input at begin (2) and end (2) of a period,
output per state (2) and per input."""

CUE_AXES = 6
"""Number of sensed axes: otoliths along x, y, z, then canals about x, y, z."""

CURVATURE_ALLOWANCE = 1.001
"""Largest ratio of an actuator's travel to its straight estimate."""


class Command(NamedTuple):
    """Constants that turn actions into the actuators' speeds."""

    legs: Any
    """constants of the machine's kinematics"""
    home: FloatArray
    """`(7,)` pose at home: position [m], unit quaternion (scalar first)"""
    free: IndexArray
    """`(k,)` indices of the axes that the machine has"""
    mode: int
    """kind of the actions, such as `ACCELERATION_ACTIONS`"""
    period: float
    """[s] control period"""
    scale: FloatArray
    """`(6,)` physical value of an action of 1, in the unit of its kind"""
    speed: FloatArray
    """`(6,)` largest speed of each axis [m/s, rad/s]"""
    max_travel: FloatArray
    """`(n,)` travel of each actuator in one period at full speed [m, rad]"""
    max_deceleration: FloatArray
    """`(n,)` largest deceleration of each actuator before its end [m/s2, rad/s2]"""
    low: FloatArray
    """`(n,)` least coordinates of a command"""
    high: FloatArray
    """`(n,)` greatest coordinates of a command"""
    gain: float
    """[1/s] gain of the correction of position"""


class CommandState(NamedTuple):
    """Commanded axes and the actuators' setpoints."""

    axes: FloatArray
    """`(N, 6)` x, y, z [m], yaw, pitch, roll [rad] about home"""
    rates: FloatArray
    """`(N, 6)` of the axes at the end of the period"""
    offsets: FloatArray
    """`(N, n)` measured less kinematic coordinates at the reset [m, rad]"""
    targets: FloatArray
    """`(N, n)` coordinates of the commanded pose as sensors read them, offsets included [m, rad]"""


class Constants(NamedTuple):
    """Constants of perception, reward and observation."""

    models: FloatArray
    """`(2, MODEL_SIZE)` of otoliths and canals"""
    head: FloatArray
    """`(3,)` [m] head position in the platform frame"""
    home: FloatArray
    """`(7,)` pose at home: position [m], unit quaternion (scalar first)"""
    free: IndexArray
    """`(k,)` indices of the axes that the machine has"""
    travel: FloatArray
    """`(6,)` travel of the machine along each axis alone"""
    threshold: FloatArray
    """`(6,)` thresholds of perception"""
    period: float
    """[s] control period"""
    low: FloatArray
    """`(N, n)` least coordinates of the actuators"""
    high: FloatArray
    """`(N, n)` greatest coordinates of the actuators"""
    middle: FloatArray
    """`(n,)` middle of the range"""
    preview_periods: IndexArray
    """`(s,)` periods after which the vehicle's motion is shown, the first 0"""
    on_pose: bool
    """whether actions move a commanded pose"""


class Senses(NamedTuple):
    """Manoeuvres and the perception of the drivers of vehicle and platform."""

    table: FloatArray
    """`(N, L, 6)` manoeuvres: specific force less rest, angular rate"""
    vehicle_states: FloatArray
    """`(N, 6, 2)` of perception"""
    platform_states: FloatArray
    """`(N, 6, 2)` of perception on the platform"""
    vehicle: FloatArray
    """`(N, 6)` perceived in the vehicle [m/s2, rad/s]"""
    platform: FloatArray
    """`(N, 6)` perceived on the platform"""
    begin: FloatArray
    """`(N, 6)` specific force less rest and angular rate on the platform as a period begins"""
    end: FloatArray
    """`(N, 6)` the same quantities as the period ends"""
    last_head: FloatArray
    """`(N, 7)` velocity of the head and attitude one period ago"""
    last_twist: FloatArray
    """`(N, 6)` twist one period ago"""
    sums: FloatArray
    """`(N, 2)` of the squares of errors and of false cues, in thresholds"""


class Signals(NamedTuple):
    """Further numbers that `info` shows."""

    axes: FloatArray
    """`(N, 6)` about home"""
    error: FloatArray
    """`(N, 6)` perceived on the platform less perceived in the vehicle"""
    score: FloatArray
    """`(N,)` `PerceivedError.total` since the reset"""
    false_cues: FloatArray
    """`(N,)` `PerceivedError.total_false_cue` since the reset"""


(
    CAR_MASS, CAR_SPRUNG_MASS, CAR_YAW_INERTIA, CAR_ROLL_INERTIA, CAR_PITCH_INERTIA,
    CAR_FRONT, CAR_REAR, CAR_HEIGHT, CAR_ARM, CAR_ROLL_STIFFNESS, CAR_ROLL_DAMPING,
    CAR_PITCH_STIFFNESS, CAR_PITCH_DAMPING, CAR_FRONT_TYRE,
) = range(14)  # fmt: skip
"""Entries of a car: the fields of `twin.motion.cueing.manoeuvre.Car`, in its units; front and rear
are distances [m]. A tyre has four: stiffness, friction, shape, 1 where linear."""

CAR_REAR_TYRE = CAR_FRONT_TYRE + 4
CAR_HEAD = CAR_REAR_TYRE + 4
CAR_SIZE = CAR_HEAD + 3


@device
def side_force(car: FloatArray, tyre: int, slip: float, load: float) -> float:
    """Return the force [N] to the left of an axle's tyres at a slip angle under a load [N]."""
    if car[tyre + 3] == 1.0:
        return float(-car[tyre] * slip)
    peak, curve_shape = car[tyre + 1] * load, car[tyre + 2]
    return float(-peak * sin(curve_shape * atan(car[tyre] * slip / (curve_shape * peak))))


@device
def car_rate(
    car: FloatArray, state: FloatArray, steer: float, traction: float, rate: FloatArray
) -> None:
    """Fill `rate` (8,), the time derivative of `state` (8,).

    The front wheels are steered by an angle [rad] to the left; traction [m/s2] is of the engine
    or, below zero, of the brakes.
    """
    u, v, r = state[1], state[2], state[3]
    longitudinal_acceleration = (
        traction if traction > 0.0 else traction * tanh(u / BRAKE_FADE_SPEED)
    )
    wheelbase = car[CAR_FRONT] + car[CAR_REAR]
    load_transfer = car[CAR_MASS] * longitudinal_acceleration * car[CAR_HEIGHT] / wheelbase
    weight = car[CAR_MASS] * GRAVITY / wheelbase
    speed = max(u, MIN_SLIP_SPEED)
    front = side_force(
        car,
        CAR_FRONT_TYRE,
        atan((v + car[CAR_FRONT] * r) / speed) - steer,
        max(weight * car[CAR_REAR] - load_transfer, MIN_AXLE_LOAD),
    )
    rear = side_force(
        car,
        CAR_REAR_TYRE,
        atan((v - car[CAR_REAR] * r) / speed),
        max(weight * car[CAR_FRONT] + load_transfer, MIN_AXLE_LOAD),
    )
    front_side_force = front * cos(steer)
    a_x = longitudinal_acceleration - front * sin(steer) / car[CAR_MASS]
    a_y = (front_side_force + rear) / car[CAR_MASS]
    sprung_moment = car[CAR_SPRUNG_MASS] * car[CAR_ARM]
    gravity_stiffness = sprung_moment * GRAVITY
    roll_moment = sprung_moment * a_y + (gravity_stiffness - car[CAR_ROLL_STIFFNESS]) * state[4]
    pitch_moment = -sprung_moment * a_x + (gravity_stiffness - car[CAR_PITCH_STIFFNESS]) * state[6]
    rate[0] = r
    rate[1] = a_x + v * r
    rate[2] = a_y - u * r
    rate[3] = (car[CAR_FRONT] * front_side_force - car[CAR_REAR] * rear) / car[CAR_YAW_INERTIA]
    rate[4] = state[5]
    rate[5] = (roll_moment - car[CAR_ROLL_DAMPING] * state[5]) / car[CAR_ROLL_INERTIA]
    rate[6] = state[7]
    rate[7] = (pitch_moment - car[CAR_PITCH_DAMPING] * state[7]) / car[CAR_PITCH_INERTIA]


@device
def to_body(pitch: float, roll: float, vector: Vector) -> Vector:
    """Return a vector of the yawed road frame in axes of the body."""
    (cos_pitch, sin_pitch), (cos_roll, sin_roll) = (cos(pitch), sin(pitch)), (cos(roll), sin(roll))
    x, z = (
        cos_pitch * vector[0] - sin_pitch * vector[2],
        sin_pitch * vector[0] + cos_pitch * vector[2],
    )
    return x, cos_roll * vector[1] + sin_roll * z, -sin_roll * vector[1] + cos_roll * z


@device
def to_road(pitch: float, roll: float, vector: Vector) -> Vector:
    """Return a vector in axes of the body in the yawed road frame."""
    (cos_pitch, sin_pitch), (cos_roll, sin_roll) = (cos(pitch), sin(pitch)), (cos(roll), sin(roll))
    y, z = cos_roll * vector[1] - sin_roll * vector[2], sin_roll * vector[1] + cos_roll * vector[2]
    return cos_pitch * vector[0] + sin_pitch * z, y, -sin_pitch * vector[0] + cos_pitch * z


@device
def sensed_motion(car: FloatArray, state: FloatArray, rate: FloatArray, row: FloatArray) -> None:
    """Fill `row` (6,): specific force and angular rate at the head, in axes of the body."""
    pitch, roll = state[6], state[4]
    r, pitch_rate, roll_rate = state[3], state[7], state[5]
    axis = (cos(pitch), 0.0, -sin(pitch))
    frame_omega = (0.0, pitch_rate, r)
    body_omega = add((roll_rate * axis[0], 0.0, roll_rate * axis[2]), frame_omega)
    axis_rate = cross(frame_omega, axis)
    angular_acceleration = (
        rate[5] * axis[0] + roll_rate * axis_rate[0] - pitch_rate * r,
        rate[7] + roll_rate * axis_rate[1],
        rate[5] * axis[2] + roll_rate * axis_rate[2] + rate[3],
    )
    head_position = to_road(pitch, roll, vector_at(car, CAR_HEAD))
    head_acceleration = add(
        cross(angular_acceleration, head_position),
        cross(body_omega, cross(body_omega, head_position)),
    )
    specific_force = (rate[1] - state[2] * r, rate[2] + state[1] * r, GRAVITY)
    force_in_body, rate_in_body = (
        to_body(pitch, roll, add(specific_force, head_acceleration)),
        to_body(pitch, roll, body_omega),
    )
    for k in range(3):
        row[k] = force_in_body[k]
        row[3 + k] = rate_in_body[k]


@compiled
def drive_car(
    car: FloatArray,
    speed: float,
    steer: FloatArray,
    traction: FloatArray,
    step: float,
    rows: FloatArray,
) -> None:
    """Fill `rows` (n + 1, 6) with the motion sensed at the head along a drive, one row a step.

    Args:
        car: `(CAR_SIZE,)`.
        speed: [m/s] at the start.
        steer: `(2 n + 1,)` [rad] at half steps.
        traction: `(2 n + 1,)` [m/s2] likewise.
        step: [s].
        rows: overwritten.
    """
    state, trial_state, rates = (
        np.zeros(STATE_SIZE),
        np.empty(STATE_SIZE),
        np.empty((4, STATE_SIZE)),
    )
    state[1] = speed
    car_rate(car, state, steer[0], traction[0], rates[0])
    sensed_motion(car, state, rates[0], rows[0])
    for k in range(rows.shape[0] - 1):
        for stage in range(1, 4):
            stage_step = step if stage == 3 else 0.5 * step
            for j in range(STATE_SIZE):
                trial_state[j] = state[j] + stage_step * rates[stage - 1, j]
            stage_index = 2 * k + (2 if stage == 3 else 1)
            car_rate(car, trial_state, steer[stage_index], traction[stage_index], rates[stage])
        for j in range(STATE_SIZE):
            rate_sum = rates[0, j] + 2.0 * rates[1, j] + 2.0 * rates[2, j] + rates[3, j]
            state[j] += step / 6.0 * rate_sum
        car_rate(car, state, steer[2 * k + 2], traction[2 * k + 2], rates[0])
        sensed_motion(car, state, rates[0], rows[k + 1])


@device
def sense(model: FloatArray, state: FloatArray, begin_input: float, end_input: float) -> float:
    """Advance `state` (2,) by one period; return what is sensed at its end.

    Exact for inputs that are linear within the period.

    Args:
        model: `(MODEL_SIZE,)`.
        state: `(2,)`, overwritten.
        begin_input: input at the begin of the period; may differ from the end of the last period.
        end_input: input at the end of the period.
    """
    first_state = (
        model[0] * state[0] + model[1] * state[1] + model[4] * begin_input + model[6] * end_input
    )
    second_state = (
        model[2] * state[0] + model[3] * state[1] + model[5] * begin_input + model[7] * end_input
    )
    state[0], state[1] = first_state, second_state
    return float(model[8] * first_state + model[9] * second_state + model[10] * end_input)


@compiled
def sense_all(
    models: FloatArray,
    states: FloatArray,
    begin_inputs: FloatArray,
    end_inputs: FloatArray,
    perceived: FloatArray,
) -> None:
    """Fill `perceived` (6,) at the end of a period: otoliths [m/s2], canals [rad/s].

    Args:
        models: `(2, MODEL_SIZE)` of otoliths and canals.
        states: `(6, 2)`, overwritten.
        begin_inputs: `(6,)` specific force less rest [m/s2] and angular rate [rad/s] at the begin.
        end_inputs: `(6,)` at the end.
        perceived: overwritten.
    """
    for j in range(CUE_AXES):
        perceived[j] = sense(models[j // 3], states[j], begin_inputs[j], end_inputs[j])


@device
def head_velocity(turn: Matrix, head: FloatArray, twist: FloatArray) -> Vector:
    """Return the velocity of the head [m/s], base axes."""
    head_arm = rotate(turn, vector_at(head, 0))
    return add(vector_at(twist, 0), cross(vector_at(twist, 3), head_arm))


@device
def fill_still(turn: Matrix, twist: FloatArray, resting_motion: FloatArray) -> None:
    """Fill `resting_motion` (6,): gravity's part of specific force less rest, and angular rate."""
    gravity_force = rotate_back(turn, (0.0, 0.0, GRAVITY))
    head_omega = rotate_back(turn, vector_at(twist, 3))
    for k in range(3):
        resting_motion[k] = gravity_force[k]
        resting_motion[3 + k] = head_omega[k]
    resting_motion[2] -= GRAVITY


@device
def table_index(senses: Senses, step: int) -> int:
    """Return the index of a manoeuvre's table at a control period; the last after its end."""
    return min(step, senses.table.shape[1] - 1)


@device
def begin_senses(
    constants: Constants, senses: Senses, i: int, pose: FloatArray, twist: FloatArray
) -> None:
    """Start the senses of environment i's episode: both drivers were at rest before it."""
    models = constants.models
    for j in range(6):
        senses.begin[i, j] = 0.0
        for k in range(2):
            senses.vehicle_states[i, j, k] = 0.0
            senses.platform_states[i, j, k] = 0.0
    begin_inputs, end_inputs = senses.begin[i], senses.end[i]
    platform_rotation = rotation_at(pose, 3)
    sense_all(models, senses.vehicle_states[i], begin_inputs, senses.table[i, 0], senses.vehicle[i])
    fill_still(platform_rotation, twist, end_inputs)
    sense_all(models, senses.platform_states[i], begin_inputs, end_inputs, senses.platform[i])
    remember(senses, i, pose, twist, head_velocity(platform_rotation, constants.head, twist))
    senses.sums[i, 0] = 0.0
    senses.sums[i, 1] = 0.0


@device
def feel_vehicle(constants: Constants, senses: Senses, i: int, step: int) -> None:
    """Advance the senses of the vehicle's driver by the period that ends at `step`."""
    row_before = senses.table[i, table_index(senses, step - 1)]
    row_now = senses.table[i, table_index(senses, step)]
    sense_all(constants.models, senses.vehicle_states[i], row_before, row_now, senses.vehicle[i])


@device
def feel_platform(
    constants: Constants, senses: Senses, i: int, pose: FloatArray, twist: FloatArray
) -> None:
    """Advance the senses of the platform's driver by one period that ends at a motion.

    Specific force is the mean acceleration of the head over the period, from its velocities at
    both ends, so that no jolt between two samples is lost, and gravity in the platform's axes.
    """
    rotation_now, begin_inputs, end_inputs = rotation_at(pose, 3), senses.begin[i], senses.end[i]
    rotation_before, period = rotation_at(senses.last_head[i], 3), constants.period
    velocity = head_velocity(rotation_now, constants.head, twist)
    previous_motion = senses.last_head[i]
    mean = (
        (velocity[0] - previous_motion[0]) / period,
        (velocity[1] - previous_motion[1]) / period,
        (velocity[2] - previous_motion[2]) / period,
    )
    force_before, force_now = rotate_back(rotation_before, mean), rotate_back(rotation_now, mean)
    fill_still(rotation_before, senses.last_twist[i], begin_inputs)
    fill_still(rotation_now, twist, end_inputs)
    for k in range(3):
        mean_force = 0.5 * (force_before[k] + force_now[k])
        begin_inputs[k] += mean_force
        end_inputs[k] += mean_force
    sense_all(
        constants.models, senses.platform_states[i], begin_inputs, end_inputs, senses.platform[i]
    )
    remember(senses, i, pose, twist, velocity)


@device
def remember(senses: Senses, i: int, pose: FloatArray, twist: FloatArray, velocity: Vector) -> None:
    """Keep the head's velocity, the attitude and the twist for the next period."""
    for k in range(3):
        senses.last_head[i, k] = velocity[k]
    for k in range(4):
        senses.last_head[i, 3 + k] = pose[3 + k]
    for k in range(6):
        senses.last_twist[i, k] = twist[k]


INCREMENT_ACTIONS, ACCELERATION_ACTIONS = 0, 1
"""Modes of actions on the pose: increments of it, or its accelerations."""


@device
def pose_of_axes(legs: Any, home: FloatArray, axes: FloatArray, y: FloatArray) -> None:
    """Fill `y` (13,) with the pose at `axes` (6,) about `home` (7,), at rest, that the legs allow.

    Yaw, pitch, roll as in `twin.motion.cueing`: the platform turned from home by Rz Ry Rx.
    """
    cos_yaw, cos_pitch, cos_roll = cos(0.5 * axes[3]), cos(0.5 * axes[4]), cos(0.5 * axes[5])
    sin_yaw, sin_pitch, sin_roll = sin(0.5 * axes[3]), sin(0.5 * axes[4]), sin(0.5 * axes[5])
    turn = (
        cos_roll * cos_pitch * cos_yaw + sin_roll * sin_pitch * sin_yaw,
        sin_roll * cos_pitch * cos_yaw - cos_roll * sin_pitch * sin_yaw,
        cos_roll * sin_pitch * cos_yaw + sin_roll * cos_pitch * sin_yaw,
        cos_roll * cos_pitch * sin_yaw - sin_roll * sin_pitch * cos_yaw,
    )
    y[3], y[4], y[5], y[6] = quaternion_product(turn, (home[3], home[4], home[5], home[6]))
    for j in range(3):
        y[j] = home[j] + axes[j]
    for j in range(7, 13):
        y[j] = 0.0
    project_onto_constraints(legs, y)


@device
def legs_at(
    machine: Command,
    axes: FloatArray,
    offset: FloatArray,
    y: FloatArray,
    coordinates: FloatArray,
) -> bool:
    """Fill `coordinates` (n,) of the actuators at `axes`, plus `offset`; False out of reach."""
    pose_of_axes(machine.legs, machine.home, axes, y)
    is_reachable = inverse_kinematics(machine.legs, y[:7], coordinates)
    for j in range(coordinates.shape[0]):
        coordinates[j] += offset[j]
    return is_reachable


@device
def allowance(machine: Command, j: int, start: float, direction: float) -> float:
    """Return the travel [m, rad] allowed to actuator j in a period from `start` in a direction.

    The actuator keeps its speed limit, and can still stop before its end with the largest
    deceleration of commands.
    """
    remaining_stroke = machine.high[j] - start if direction > 0.0 else start - machine.low[j]
    remaining_stroke = max(remaining_stroke, 0.0)
    stopping_travel = machine.period * sqrt(2.0 * machine.max_deceleration[j] * remaining_stroke)
    return float(min(remaining_stroke, stopping_travel, machine.max_travel[j]))


@device
def speed_fraction(machine: Command, coordinates: FloatArray, start: FloatArray) -> float:
    """Return the largest fraction of its speed that an actuator needs from `start` on."""
    largest_fraction = 0.0
    for j in range(coordinates.shape[0]):
        largest_fraction = max(
            largest_fraction, abs(coordinates[j] - start[j]) / machine.max_travel[j]
        )
    return largest_fraction


@device
def keeps_range(machine: Command, coordinates: FloatArray, start: FloatArray) -> bool:
    """Return whether actuators can go from `start` to `coordinates` and stop before their ends."""
    for j in range(coordinates.shape[0]):
        coordinate_change = coordinates[j] - start[j]
        if not abs(coordinate_change) <= CURVATURE_ALLOWANCE * allowance(
            machine, j, start[j], coordinate_change
        ):
            return False
    return True


@device
def path_fraction(
    machine: Command, coordinates: FloatArray, reached: FloatArray, start: FloatArray
) -> float:
    """Return the fraction of the path from `reached` to `coordinates` within the actuators' range.

    The period begins at `start`, and `reached` is part of the way from there; the actuators' way is
    taken as straight.
    """
    fraction = 1.0
    for j in range(coordinates.shape[0]):
        step_change = coordinates[j] - reached[j]
        if not isfinite(step_change):
            return 0.0
        total_change = coordinates[j] - start[j]
        if step_change * total_change <= 0.0:
            continue
        allowed_change = allowance(machine, j, start[j], total_change)
        if abs(total_change) > allowed_change:
            remaining_change = allowed_change - abs(reached[j] - start[j])
            if (reached[j] - start[j]) * total_change < 0.0:
                remaining_change = allowed_change + abs(reached[j] - start[j])
            fraction = min(fraction, max(remaining_change, 0.0) / abs(step_change))
    return fraction


@device
def advance_command(
    machine: Command, state: CommandState, i: int, step: FloatArray, work: Any
) -> None:
    """Move the command of environment i by `step` (6,) as far as the actuators allow.

    They keep their range and their speed.

    A step that is too fast for an actuator is shortened as a whole. One after which an actuator
    could not stop before its end is made axis by axis, each by the fraction that keeps the range,
    so that the platform comes to its limits softly and slides along them.

    Args:
        machine: constants.
        state: of the commands; axes, rates and targets are overwritten by those that are kept.
        i: environment.
        step: `(6,)` along the axes, overwritten.
        work: `(13,)`, `(6,)`, `(n,)`, `(n,)`, overwritten.
    """
    y, trial, coordinates, reached_coordinates = work
    axes, rates = state.axes[i], state.rates[i]
    # Up to the last loop the targets are those at the start of the period.
    offset, target_coordinates = state.offsets[i], state.targets[i]
    within_range = False
    for _ in range(2):
        for j in range(6):
            trial[j] = axes[j] + step[j]
        within_range = legs_at(machine, trial, offset, y, coordinates)
        fraction = speed_fraction(machine, coordinates, target_coordinates) if within_range else 0.0
        if not fraction > 1.0:
            break
        for j in range(6):
            step[j] /= fraction
            rates[j] /= fraction
    if not (within_range and keeps_range(machine, coordinates, target_coordinates)):
        copy(axes, trial)
        copy(target_coordinates, reached_coordinates)
        for axis in machine.free:
            trial[axis] = axes[axis] + step[axis]
            legs_at(machine, trial, offset, y, coordinates)
            step_fraction = path_fraction(
                machine, coordinates, reached_coordinates, target_coordinates
            )
            trial[axis] = axes[axis] + step_fraction * step[axis]
            rates[axis] *= step_fraction
            legs_at(machine, trial, offset, y, reached_coordinates)
        copy(reached_coordinates, coordinates)
    copy(trial, axes)
    copy(coordinates, target_coordinates)


@compiled
def fill_pose_command(actions: FloatArray, bundle: Any) -> None:
    """Fill `command` (N, n) with the actuators' speeds that follow actions on the pose.

    The speeds are those of the command's own coordinates over the period, exact for any size of
    step, and a correction in proportion to what the actuators were off it when the period began.

    Args:
        actions: `(N, k)` in -1 to 1.
        bundle: of `Command`, `CommandState` (advanced in place), measured coordinates `(N, n)`, and
            the command, overwritten.
    """
    machine, state, measured, command = unbundled(bundle)
    n = command.shape[1]
    work = (np.empty(13), np.empty(6), np.empty(n), np.empty(n))
    pose_step, start_coordinates = np.empty(6), np.empty(n)
    period, rates, targets = machine.period, state.rates, state.targets
    for i in range(actions.shape[0]):
        for j in range(6):
            pose_step[j] = 0.0
        for k in range(machine.free.shape[0]):
            axis = machine.free[k]
            if machine.mode == ACCELERATION_ACTIONS:
                previous_rate = rates[i, axis]
                unlimited_rate = previous_rate + period * machine.scale[axis] * actions[i, k]
                largest_speed = machine.speed[axis]
                rates[i, axis] = min(max(unlimited_rate, -largest_speed), largest_speed)
                pose_step[axis] = 0.5 * period * (previous_rate + rates[i, axis])
            else:
                rates[i, axis] = machine.scale[axis] * actions[i, k] / period
                pose_step[axis] = machine.scale[axis] * actions[i, k]
        copy(targets[i], start_coordinates)
        advance_command(machine, state, i, pose_step, work)
        for j in range(n):
            requested_speed = (targets[i, j] - start_coordinates[j]) / period
            largest_speed = machine.max_travel[j] / period
            corrected_speed = requested_speed + machine.gain * (
                start_coordinates[j] - measured[i, j]
            )
            command[i, j] = min(max(corrected_speed, -largest_speed), largest_speed)


@compiled
def begin_commands(
    machine: Command, indices: IndexArray, state: CommandState, measured: FloatArray
) -> None:
    """Set the commands of the environments `indices` (m,) to home, at rest.

    The difference between readings and kinematics is kept as an offset, as a calibration would.
    """
    y, coordinates = np.empty(13), np.empty(measured.shape[1])
    for i in indices:
        for j in range(6):
            state.axes[i, j] = 0.0
            state.rates[i, j] = 0.0
        pose_of_axes(machine.legs, machine.home, state.axes[i], y)
        inverse_kinematics(machine.legs, y[:7], coordinates)
        for j in range(measured.shape[1]):
            state.offsets[i, j] = measured[i, j] - coordinates[j]
            state.targets[i, j] = measured[i, j]


@compiled
def fill_speed_command(actions: FloatArray, bundle: Any) -> None:
    """Fill `command` (N, n) with the actuators' speeds of actions on them, stopped at the limits.

    Args:
        actions: `(N, n)` in -1 to 1.
        bundle: as of `fill_pose_command`.
    """
    machine, _, measured, command = unbundled(bundle)
    for i in range(actions.shape[0]):
        for j in range(command.shape[1]):
            lowest_change = min(machine.low[j] - measured[i, j], 0.0)
            highest_change = max(machine.high[j] - measured[i, j], 0.0)
            change = actions[i, j] * machine.max_travel[j]
            command[i, j] = min(max(change, lowest_change), highest_change) / machine.period
