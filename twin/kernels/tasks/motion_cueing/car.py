"""The small car of `twin.motion.cueing.car` as a compiled kernel: a drive in two milliseconds."""

from __future__ import annotations

from math import atan, cos, sin, tanh

import numpy as np

from twin.basics.arrays import FloatArray
from twin.kernels.jit import compiled, device
from twin.kernels.vectors import Vector, add, cross

GRAVITY = 9.81
"""[m/s2] on the vehicle and on the platform's driver."""

STANDSTILL = 0.3
"""[m/s] below which brakes fade, so that the car stops and does not reverse."""

SLOWEST = 1.0
"""[m/s] Slip angles are taken at this speed at least."""

LEAST_LOAD = 200.0
"""[N] on an axle, so that its tyres stay defined while the car stands on its nose."""

(
    MASS, SPRUNG_MASS, YAW_INERTIA, ROLL_INERTIA, PITCH_INERTIA, FRONT, REAR, HEIGHT, ARM,
    ROLL_STIFFNESS, ROLL_DAMPING, PITCH_STIFFNESS, PITCH_DAMPING, FRONT_TYRE,
) = range(14)  # fmt: skip
"""Entries of a car; the front tyre has four: stiffness, friction, shape, 1 where linear."""

REAR_TYRE = FRONT_TYRE + 4
HEAD = REAR_TYRE + 4
CAR_SIZE = HEAD + 3

STATES = 8
"""Yaw, forward and side speed, yaw rate, roll, roll rate, pitch, pitch rate."""


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
    along = traction if traction > 0.0 else traction * tanh(u / STANDSTILL)
    wheelbase = car[FRONT] + car[REAR]
    moved = car[MASS] * along * car[HEIGHT] / wheelbase
    weight = car[MASS] * GRAVITY / wheelbase
    speed = max(u, SLOWEST)
    front = side_force(
        car,
        FRONT_TYRE,
        atan((v + car[FRONT] * r) / speed) - steer,
        max(weight * car[REAR] - moved, LEAST_LOAD),
    )
    rear = side_force(
        car,
        REAR_TYRE,
        atan((v - car[REAR] * r) / speed),
        max(weight * car[FRONT] + moved, LEAST_LOAD),
    )
    turned = front * cos(steer)
    a_x = along - front * sin(steer) / car[MASS]
    a_y = (turned + rear) / car[MASS]
    moment = car[SPRUNG_MASS] * car[ARM]
    lever = moment * GRAVITY
    rolling = moment * a_y + (lever - car[ROLL_STIFFNESS]) * state[4]
    pitching = -moment * a_x + (lever - car[PITCH_STIFFNESS]) * state[6]
    rate[0] = r
    rate[1] = a_x + v * r
    rate[2] = a_y - u * r
    rate[3] = (car[FRONT] * turned - car[REAR] * rear) / car[YAW_INERTIA]
    rate[4] = state[5]
    rate[5] = (rolling - car[ROLL_DAMPING] * state[5]) / car[ROLL_INERTIA]
    rate[6] = state[7]
    rate[7] = (pitching - car[PITCH_DAMPING] * state[7]) / car[PITCH_INERTIA]


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
def felt(car: FloatArray, state: FloatArray, rate: FloatArray, row: FloatArray) -> None:
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
    head = to_road(pitch, roll, (car[HEAD], car[HEAD + 1], car[HEAD + 2]))
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
    """Fill `rows` (n + 1, 6) with what the head feels along a drive, a Runge-Kutta step apart.

    Args:
        car: `(CAR_SIZE,)`.
        speed: [m/s] at the start.
        steer: `(2 n + 1,)` [rad] at half steps.
        traction: `(2 n + 1,)` [m/s2] likewise.
        step: [s].
        rows: overwritten.
    """
    state, ahead, rates = np.zeros(STATES), np.empty(STATES), np.empty((4, STATES))
    state[1] = speed
    car_rate(car, state, steer[0], traction[0], rates[0])
    felt(car, state, rates[0], rows[0])
    for k in range(rows.shape[0] - 1):
        for stage in range(1, 4):
            share = step if stage == 3 else 0.5 * step
            for j in range(STATES):
                ahead[j] = state[j] + share * rates[stage - 1, j]
            at = 2 * k + (2 if stage == 3 else 1)
            car_rate(car, ahead, steer[at], traction[at], rates[stage])
        for j in range(STATES):
            total = rates[0, j] + 2.0 * rates[1, j] + 2.0 * rates[2, j] + rates[3, j]
            state[j] += step / 6.0 * total
        car_rate(car, state, steer[2 * k + 2], traction[2 * k + 2], rates[0])
        felt(car, state, rates[0], rows[k + 1])
