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
from twin.kernels.linear_algebra import Matrix, Vector, add, cross, rotate, rotate_back, rotation

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
    """`(7,)`"""
    free: IndexArray
    """`(k,)` indices of the axes that the machine has"""
    mode: int
    """meaning of an action"""
    period: float
    """[s]"""
    scale: FloatArray
    """`(6,)` physical value that 1 in an action means"""
    speed: FloatArray
    """`(6,)` largest of each axis"""
    reach: FloatArray
    """`(n,)` way of each actuator in a period at full speed"""
    brake: FloatArray
    """`(n,)` deceleration of each actuator as it comes to its end"""
    low: FloatArray
    """`(n,)` least coordinates of a command"""
    high: FloatArray
    """`(n,)` greatest"""
    gain: float
    """[1/s] of the correction of position"""


class CommandState(NamedTuple):
    """Commanded axes and the actuators' setpoints."""

    axes: FloatArray
    """`(N, 6)` x, y, z [m], yaw, pitch, roll [rad] about home"""
    rates: FloatArray
    """`(N, 6)` of the axes at the end of the period"""
    offsets: FloatArray
    """`(N, n)` of the actuators' coordinates from kinematics"""
    targets: FloatArray
    """`(N, n)` coordinates at the command"""


class Constants(NamedTuple):
    """Constants of perception, reward and observation."""

    models: FloatArray
    """`(2, MODEL_SIZE)` of otoliths and canals"""
    head: FloatArray
    """`(3,)` [m]"""
    home: FloatArray
    """`(7,)`"""
    free: IndexArray
    """`(k,)` indices of the axes that the machine has"""
    travel: FloatArray
    """`(6,)` of each axis alone"""
    threshold: FloatArray
    """`(6,)` of perception"""
    period: float
    """[s]"""
    low: FloatArray
    """`(N, n)` least coordinates of the actuators"""
    high: FloatArray
    """`(N, n)` greatest"""
    middle: FloatArray
    """`(n,)` between both"""
    ahead: IndexArray
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
    """`(N, 6, 2)`"""
    vehicle: FloatArray
    """`(N, 6)` perceived in the vehicle [m/s2, rad/s]"""
    platform: FloatArray
    """`(N, 6)` perceived on the platform"""
    left: FloatArray
    """`(N, 6)` felt by the platform's driver as a period begins, less rest"""
    right: FloatArray
    """`(N, 6)` the same as it ends"""
    before: FloatArray
    """`(N, 7)` velocity of the head and attitude one period ago"""
    turning: FloatArray
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
"""Entries of a car; the front tyre has four: stiffness, friction, shape, 1 where linear."""

CAR_REAR_TYRE = CAR_FRONT_TYRE + 4
CAR_HEAD = CAR_REAR_TYRE + 4
CAR_SIZE = CAR_HEAD + 3


@device
def side_force(car: FloatArray, tyre: int, slip: float, load: float) -> float:
    """Return the force [N] to the left of an axle's tyres at a slip angle under a load [N]."""
    if car[tyre + 3] == 1.0:
        return float(-car[tyre] * slip)
    peak, shape = car[tyre + 1] * load, car[tyre + 2]
    return float(-peak * sin(shape * atan(car[tyre] * slip / (shape * peak))))


@device
def car_rate(
    car: FloatArray, state: FloatArray, steer: float, traction: float, rate: FloatArray
) -> None:
    """Fill `rate` (8,), the time derivative of `state` (8,).

    The front wheels are steered by an angle [rad] to the left; traction [m/s2] is of the engine
    or, below zero, of the brakes.
    """
    u, v, r = state[1], state[2], state[3]
    along = traction if traction > 0.0 else traction * tanh(u / BRAKE_FADE_SPEED)
    wheelbase = car[CAR_FRONT] + car[CAR_REAR]
    moved = car[CAR_MASS] * along * car[CAR_HEIGHT] / wheelbase
    weight = car[CAR_MASS] * GRAVITY / wheelbase
    speed = max(u, MIN_SLIP_SPEED)
    front = side_force(
        car,
        CAR_FRONT_TYRE,
        atan((v + car[CAR_FRONT] * r) / speed) - steer,
        max(weight * car[CAR_REAR] - moved, MIN_AXLE_LOAD),
    )
    rear = side_force(
        car,
        CAR_REAR_TYRE,
        atan((v - car[CAR_REAR] * r) / speed),
        max(weight * car[CAR_FRONT] + moved, MIN_AXLE_LOAD),
    )
    turned = front * cos(steer)
    a_x = along - front * sin(steer) / car[CAR_MASS]
    a_y = (turned + rear) / car[CAR_MASS]
    moment = car[CAR_SPRUNG_MASS] * car[CAR_ARM]
    lever = moment * GRAVITY
    rolling = moment * a_y + (lever - car[CAR_ROLL_STIFFNESS]) * state[4]
    pitching = -moment * a_x + (lever - car[CAR_PITCH_STIFFNESS]) * state[6]
    rate[0] = r
    rate[1] = a_x + v * r
    rate[2] = a_y - u * r
    rate[3] = (car[CAR_FRONT] * turned - car[CAR_REAR] * rear) / car[CAR_YAW_INERTIA]
    rate[4] = state[5]
    rate[5] = (rolling - car[CAR_ROLL_DAMPING] * state[5]) / car[CAR_ROLL_INERTIA]
    rate[6] = state[7]
    rate[7] = (pitching - car[CAR_PITCH_DAMPING] * state[7]) / car[CAR_PITCH_INERTIA]


@device
def to_body(pitch: float, roll: float, vector: Vector) -> Vector:
    """Return a vector of the yawed road frame in axes of the body."""
    (cp, sp), (cr, sr) = (cos(pitch), sin(pitch)), (cos(roll), sin(roll))
    x, z = cp * vector[0] - sp * vector[2], sp * vector[0] + cp * vector[2]
    return x, cr * vector[1] + sr * z, -sr * vector[1] + cr * z


@device
def to_road(pitch: float, roll: float, vector: Vector) -> Vector:
    """Return a vector in axes of the body in the yawed road frame."""
    (cp, sp), (cr, sr) = (cos(pitch), sin(pitch)), (cos(roll), sin(roll))
    y, z = cr * vector[1] - sr * vector[2], sr * vector[1] + cr * vector[2]
    return cp * vector[0] + sp * z, y, -sp * vector[0] + cp * z


@device
def sensed_motion(car: FloatArray, state: FloatArray, rate: FloatArray, row: FloatArray) -> None:
    """Fill `row` (6,): specific force and angular rate at the head, in axes of the body."""
    pitch, roll = state[6], state[4]
    r, pitching, rolling = state[3], state[7], state[5]
    axis = (cos(pitch), 0.0, -sin(pitch))
    turning = (0.0, pitching, r)
    spin = add((rolling * axis[0], 0.0, rolling * axis[2]), turning)
    carried = cross(turning, axis)
    spinning = (
        rate[5] * axis[0] + rolling * carried[0] - pitching * r,
        rate[7] + rolling * carried[1],
        rate[5] * axis[2] + rolling * carried[2] + rate[3],
    )
    head = to_road(pitch, roll, (car[CAR_HEAD], car[CAR_HEAD + 1], car[CAR_HEAD + 2]))
    swung = add(cross(spinning, head), cross(spin, cross(spin, head)))
    flat = (rate[1] - state[2] * r, rate[2] + state[1] * r, GRAVITY)
    force, turn = to_body(pitch, roll, add(flat, swung)), to_body(pitch, roll, spin)
    for k in range(3):
        row[k] = force[k]
        row[3 + k] = turn[k]


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
    state, ahead, rates = np.zeros(STATE_SIZE), np.empty(STATE_SIZE), np.empty((4, STATE_SIZE))
    state[1] = speed
    car_rate(car, state, steer[0], traction[0], rates[0])
    sensed_motion(car, state, rates[0], rows[0])
    for k in range(rows.shape[0] - 1):
        for stage in range(1, 4):
            fraction = step if stage == 3 else 0.5 * step
            for j in range(STATE_SIZE):
                ahead[j] = state[j] + fraction * rates[stage - 1, j]
            at = 2 * k + (2 if stage == 3 else 1)
            car_rate(car, ahead, steer[at], traction[at], rates[stage])
        for j in range(STATE_SIZE):
            total = rates[0, j] + 2.0 * rates[1, j] + 2.0 * rates[2, j] + rates[3, j]
            state[j] += step / 6.0 * total
        car_rate(car, state, steer[2 * k + 2], traction[2 * k + 2], rates[0])
        sensed_motion(car, state, rates[0], rows[k + 1])


@device
def sense(model: FloatArray, state: FloatArray, left: float, right: float) -> float:
    """Advance `state` (2,) by one period; return what is sensed at its end.

    Exact for inputs that are linear within the period.

    Args:
        model: `(MODEL_SIZE,)`.
        state: `(2,)`, overwritten.
        left: input at the begin of the period; may differ from the end of the last one.
        right: input at its end.
    """
    first = model[0] * state[0] + model[1] * state[1] + model[4] * left + model[6] * right
    second = model[2] * state[0] + model[3] * state[1] + model[5] * left + model[7] * right
    state[0], state[1] = first, second
    return float(model[8] * first + model[9] * second + model[10] * right)


@compiled
def sense_all(
    models: FloatArray,
    states: FloatArray,
    left: FloatArray,
    right: FloatArray,
    perceived: FloatArray,
) -> None:
    """Fill `perceived` (6,) at the end of a period: otoliths [m/s2], canals [rad/s].

    Args:
        models: `(2, MODEL_SIZE)` of otoliths and canals.
        states: `(6, 2)`, overwritten.
        left: `(6,)` specific force less rest [m/s2] and angular rate [rad/s] at the begin.
        right: `(6,)` at the end.
        perceived: overwritten.
    """
    for j in range(CUE_AXES):
        perceived[j] = sense(models[j // 3], states[j], left[j], right[j])


@device
def turn_of(values: FloatArray, start: int) -> Matrix:
    """Return the rotation matrix of the quaternion that begins at `start`."""
    return rotation(values[start], values[start + 1], values[start + 2], values[start + 3])


@device
def head_velocity(turn: Matrix, head: FloatArray, twist: FloatArray) -> Vector:
    """Return the velocity of the head [m/s], base axes."""
    arm = rotate(turn, (head[0], head[1], head[2]))
    spin = (twist[3], twist[4], twist[5])
    return add((twist[0], twist[1], twist[2]), cross(spin, arm))


@device
def fill_still(turn: Matrix, twist: FloatArray, still: FloatArray) -> None:
    """Fill `still` (6,): gravity's part of specific force less rest, and angular rate."""
    lean = rotate_back(turn, (0.0, 0.0, GRAVITY))
    spin = rotate_back(turn, (twist[3], twist[4], twist[5]))
    for k in range(3):
        still[k] = lean[k]
        still[3 + k] = spin[k]
    still[2] -= GRAVITY


@device
def table_index(senses: Senses, step: int) -> int:
    """Return the index of a manoeuvre's table at a control period; the last after its end."""
    return min(step, senses.table.shape[1] - 1)


@device
def begin_senses(
    constants: Constants, senses: Senses, i: int, pose: FloatArray, twist: FloatArray
) -> None:
    """Begin an episode of environment i at a motion: both drivers were at rest until then."""
    models = constants.models
    for j in range(6):
        senses.left[i, j] = 0.0
        for k in range(2):
            senses.vehicle_states[i, j, k] = 0.0
            senses.platform_states[i, j, k] = 0.0
    left, right, turn = senses.left[i], senses.right[i], turn_of(pose, 3)
    sense_all(models, senses.vehicle_states[i], left, senses.table[i, 0], senses.vehicle[i])
    fill_still(turn, twist, right)
    sense_all(models, senses.platform_states[i], left, right, senses.platform[i])
    remember(senses, i, pose, twist, head_velocity(turn, constants.head, twist))
    senses.sums[i, 0] = 0.0
    senses.sums[i, 1] = 0.0


@device
def feel_vehicle(constants: Constants, senses: Senses, i: int, step: int) -> None:
    """Advance the senses of the vehicle's driver by the period that ends at `step`."""
    before = senses.table[i, table_index(senses, step - 1)]
    now = senses.table[i, table_index(senses, step)]
    sense_all(constants.models, senses.vehicle_states[i], before, now, senses.vehicle[i])


@device
def feel_platform(
    constants: Constants, senses: Senses, i: int, pose: FloatArray, twist: FloatArray
) -> None:
    """Advance the senses of the platform's driver by one period that ends at a motion.

    Specific force is the mean acceleration of the head over the period, from its velocities at
    both ends, so that no push between two samples is lost, and gravity in the platform's axes.
    """
    turn, left, right = turn_of(pose, 3), senses.left[i], senses.right[i]
    before, period = turn_of(senses.before[i], 3), constants.period
    velocity = head_velocity(turn, constants.head, twist)
    last = senses.before[i]
    mean = (
        (velocity[0] - last[0]) / period,
        (velocity[1] - last[1]) / period,
        (velocity[2] - last[2]) / period,
    )
    one, other = rotate_back(before, mean), rotate_back(turn, mean)
    fill_still(before, senses.turning[i], left)
    fill_still(turn, twist, right)
    for k in range(3):
        push = 0.5 * (one[k] + other[k])
        left[k] += push
        right[k] += push
    sense_all(constants.models, senses.platform_states[i], left, right, senses.platform[i])
    remember(senses, i, pose, twist, velocity)


@device
def remember(senses: Senses, i: int, pose: FloatArray, twist: FloatArray, velocity: Vector) -> None:
    """Keep the head's velocity, the attitude and the twist for the next period."""
    for k in range(3):
        senses.before[i, k] = velocity[k]
    for k in range(4):
        senses.before[i, 3 + k] = pose[3 + k]
    for k in range(6):
        senses.turning[i, k] = twist[k]


INCREMENT_ACTIONS, ACCELERATION_ACTIONS = 0, 1
"""Modes of actions on the pose: increments of it, or its accelerations."""


@device
def pose_of_axes(legs: Any, home: FloatArray, axes: FloatArray, y: FloatArray) -> None:
    """Fill `y` (13,) with the pose at `axes` (6,) about `home` (7,), at rest, that the legs allow.

    Yaw, pitch, roll as in `twin.motion.cueing`: the platform turned from home by Rz Ry Rx.
    """
    cy, cp, cr = cos(0.5 * axes[3]), cos(0.5 * axes[4]), cos(0.5 * axes[5])
    sy, sp, sr = sin(0.5 * axes[3]), sin(0.5 * axes[4]), sin(0.5 * axes[5])
    w, x = cr * cp * cy + sr * sp * sy, sr * cp * cy - cr * sp * sy
    v, z = cr * sp * cy + sr * cp * sy, cr * cp * sy - sr * sp * cy
    a, b, c, d = home[3], home[4], home[5], home[6]
    y[3] = w * a - x * b - v * c - z * d
    y[4] = w * b + x * a + v * d - z * c
    y[5] = w * c - x * d + v * a + z * b
    y[6] = w * d + x * c - v * b + z * a
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
    """Fill `coordinates` (n,) of the actuators at `axes`; False where a leg does not reach."""
    pose_of_axes(machine.legs, machine.home, axes, y)
    reached = inverse_kinematics(machine.legs, y[:7], coordinates)
    for j in range(coordinates.shape[0]):
        coordinates[j] += offset[j]
    return reached


@device
def allowance(machine: Command, j: int, start: float, moved: float) -> float:
    """Return how far actuator j may go on in a period from `start`, in the direction of `moved`.

    No faster than it can, and so far that it can still stop before its end with the largest
    deceleration of commands.
    """
    room = machine.high[j] - start if moved > 0.0 else start - machine.low[j]
    room = max(room, 0.0)
    stopping = machine.period * sqrt(2.0 * machine.brake[j] * room)
    return float(min(room, stopping, machine.reach[j]))


@device
def speed_fraction(machine: Command, coordinates: FloatArray, target: FloatArray) -> float:
    """Return the largest fraction of its speed that an actuator needs from `target` on."""
    most = 0.0
    for j in range(coordinates.shape[0]):
        most = max(most, abs(coordinates[j] - target[j]) / machine.reach[j])
    return most


@device
def keeps_range(machine: Command, coordinates: FloatArray, target: FloatArray) -> bool:
    """Return whether actuators can go from `target` to `coordinates` and stop before their ends."""
    for j in range(coordinates.shape[0]):
        moved = coordinates[j] - target[j]
        if not abs(moved) <= CURVATURE_ALLOWANCE * allowance(machine, j, target[j], moved):
            return False
    return True


@device
def path_fraction(
    machine: Command, coordinates: FloatArray, last: FloatArray, target: FloatArray
) -> float:
    """Return the fraction of the path from `last` to `coordinates` that keeps actuators in range.

    `last` lies already some way from `target`, where the period begins; the actuators' way is
    taken as straight.
    """
    fraction = 1.0
    for j in range(coordinates.shape[0]):
        moved = coordinates[j] - last[j]
        if not isfinite(moved):
            return 0.0
        total = coordinates[j] - target[j]
        if moved * total <= 0.0:
            continue
        most = allowance(machine, j, target[j], total)
        if abs(total) > most:
            room = most - abs(last[j] - target[j])
            if (last[j] - target[j]) * total < 0.0:
                room = most + abs(last[j] - target[j])
            fraction = min(fraction, max(room, 0.0) / abs(moved))
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
    y, trial, coordinates, last = work
    command, rates = state.axes[i], state.rates[i]
    offset, target = state.offsets[i], state.targets[i]
    kept = False
    for _ in range(2):
        for j in range(6):
            trial[j] = command[j] + step[j]
        kept = legs_at(machine, trial, offset, y, coordinates)
        fraction = speed_fraction(machine, coordinates, target) if kept else 0.0
        if not fraction > 1.0:
            break
        for j in range(6):
            step[j] /= fraction
            rates[j] /= fraction
    if not (kept and keeps_range(machine, coordinates, target)):
        for j in range(6):
            trial[j] = command[j]
        for j in range(coordinates.shape[0]):
            last[j] = target[j]
        for axis in machine.free:
            trial[axis] = command[axis] + step[axis]
            legs_at(machine, trial, offset, y, coordinates)
            part = path_fraction(machine, coordinates, last, target)
            trial[axis] = command[axis] + part * step[axis]
            rates[axis] *= part
            legs_at(machine, trial, offset, y, last)
        for j in range(coordinates.shape[0]):
            coordinates[j] = last[j]
    for j in range(6):
        command[j] = trial[j]
    for j in range(coordinates.shape[0]):
        target[j] = coordinates[j]


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
    step, start = np.empty(6), np.empty(n)
    period, rates, targets = machine.period, state.rates, state.targets
    for i in range(actions.shape[0]):
        for j in range(6):
            step[j] = 0.0
        for k in range(machine.free.shape[0]):
            axis = machine.free[k]
            if machine.mode == ACCELERATION_ACTIONS:
                before = rates[i, axis]
                setpoint = before + period * machine.scale[axis] * actions[i, k]
                most = machine.speed[axis]
                rates[i, axis] = min(max(setpoint, -most), most)
                step[axis] = 0.5 * period * (before + rates[i, axis])
            else:
                rates[i, axis] = machine.scale[axis] * actions[i, k] / period
                step[axis] = machine.scale[axis] * actions[i, k]
        for j in range(n):
            start[j] = targets[i, j]
        advance_command(machine, state, i, step, work)
        for j in range(n):
            moved = (targets[i, j] - start[j]) / period
            most = machine.reach[j] / period
            setpoint = moved + machine.gain * (start[j] - measured[i, j])
            command[i, j] = min(max(setpoint, -most), most)


@compiled
def begin_commands(
    machine: Command, indices: IndexArray, state: CommandState, measured: FloatArray
) -> None:
    """Set the commands of the environments `indices` (m,) to home, at rest.

    What the readings then differ from kinematics stays, as the calibration of a real machine.
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
            least = min(machine.low[j] - measured[i, j], 0.0)
            most = max(machine.high[j] - measured[i, j], 0.0)
            setpoint = actions[i, j] * machine.reach[j]
            command[i, j] = min(max(setpoint, least), most) / machine.period
