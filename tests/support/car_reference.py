"""The small car in plain Python, with the package's rotations."""

from __future__ import annotations

import math

import numpy as np

from twin.basics.arrays import FloatArray, cross, rotated
from twin.kernels.tasks.motion_cueing.cues import (
    BRAKE_FADE_SPEED,
    GRAVITY,
    MIN_AXLE_LOAD,
    MIN_SLIP_SPEED,
)
from twin.motion.cueing import Car, Manoeuvre, Tyre
from twin.motion.cueing.manoeuvre import TIME_STEP
from twin.motion.motion import rotational_motion

State = tuple[float, ...]


def side_force(tyre: Tyre, slip: float, load: float) -> float:
    """Return the force [N] to the left at a slip angle [rad] under a load [N] above zero."""
    if tyre.linear:
        return -tyre.stiffness * slip
    peak = tyre.friction * load
    return -peak * math.sin(tyre.shape * math.atan(tyre.stiffness * slip / (tyre.shape * peak)))


def derivative(car: Car, state: State, steer: float, traction: float) -> State:
    """Return the time derivative of (yaw, u, v, r, roll, roll rate, pitch, pitch rate).

    Traction [m/s2] is of the engine or, below zero, of the brakes; steer is positive to the left.
    """
    _, u, v, r, roll, roll_rate, pitch, pitch_rate = state
    wheelbase = car.front + car.rear
    along = traction if traction > 0.0 else traction * math.tanh(u / BRAKE_FADE_SPEED)
    moved = car.mass * along * car.height / wheelbase
    weight = car.mass * GRAVITY / wheelbase
    speed = max(u, MIN_SLIP_SPEED)
    front = side_force(
        car.front_tyre,
        math.atan((v + car.front * r) / speed) - steer,
        max(weight * car.rear - moved, MIN_AXLE_LOAD),
    )
    rear = side_force(
        car.rear_tyre,
        math.atan((v - car.rear * r) / speed),
        max(weight * car.front + moved, MIN_AXLE_LOAD),
    )
    turned = front * math.cos(steer)
    a_x = along - front * math.sin(steer) / car.mass
    a_y = (turned + rear) / car.mass
    moment, lever = car.sprung_mass * car.arm, car.sprung_mass * car.arm * GRAVITY
    roll_moment = moment * a_y + (lever - car.roll_stiffness) * roll
    pitch_moment = -moment * a_x + (lever - car.pitch_stiffness) * pitch
    return (
        r,
        a_x + v * r,
        a_y - u * r,
        (car.front * turned - car.rear * rear) / car.yaw_inertia,
        roll_rate,
        (roll_moment - car.roll_damping * roll_rate) / car.roll_inertia,
        pitch_rate,
        (pitch_moment - car.pitch_damping * pitch_rate) / car.pitch_inertia,
    )


def drive(car: Car, speed: float, steer: FloatArray, traction: FloatArray) -> Manoeuvre:
    """Return the manoeuvre of `Car.drive`."""
    wheel, pedal = steer.tolist(), traction.tolist()
    state: State = (0.0, speed, *[0.0] * 6)
    rows = [(*state, *derivative(car, state, wheel[0], pedal[0]))]
    for k in range(0, len(wheel) - 1, 2):
        state = _advanced(car, state, wheel[k : k + 3], pedal[k : k + 3])
        rows.append((*state, *derivative(car, state, wheel[k + 2], pedal[k + 2])))
    return _felt(car, np.array(rows))


def _advanced(car: Car, state: State, steer: list[float], traction: list[float]) -> State:
    """Return the state one step later, by the classical Runge-Kutta rule."""
    rates = [derivative(car, state, steer[0], traction[0])]
    for share, which in ((0.5, 1), (0.5, 1), (1.0, 2)):
        last = rates[-1]
        ahead = tuple(x + share * TIME_STEP * dx for x, dx in zip(state, last, strict=True))
        rates.append(derivative(car, ahead, steer[which], traction[which]))
    return tuple(
        x + TIME_STEP / 6.0 * (a + 2.0 * b + 2.0 * c + d)
        for x, a, b, c, d in zip(state, *rates, strict=True)
    )


def _felt(car: Car, rows: FloatArray) -> Manoeuvre:
    state, rate = rows[:, :8], rows[:, 8:]
    angles = state[:, [0, 6, 4]]
    rates = state[:, [3, 7, 5]]
    turn = rotational_motion(angles, rates, rate[:, [3, 7, 5]], "yaw_pitch_roll")
    flat = np.zeros((len(state), 3))
    flat[:, 0] = rate[:, 1] - state[:, 2] * state[:, 3]
    flat[:, 1] = rate[:, 2] + state[:, 1] * state[:, 3]
    half = 0.5 * state[:, 0]
    zero = np.zeros_like(half)
    yaw = np.stack([np.cos(half), zero, zero, np.sin(half)], axis=1)
    head = rotated(turn.quaternion, np.broadcast_to(car.head, flat.shape))
    total = rotated(yaw, flat) + cross(turn.acceleration, head)
    total += cross(turn.velocity, cross(turn.velocity, head))
    total[:, 2] += GRAVITY
    to_body = turn.quaternion * [1.0, -1.0, -1.0, -1.0]
    time = np.arange(len(state), dtype=np.float64) * TIME_STEP
    return Manoeuvre("drive", time, rotated(to_body, total), rotated(to_body, turn.velocity))
