"""The car of motion cueing against its equations in the road's frame, integrated by scipy.

Nothing here knows of centripetal terms: the car moves in a frame that is fixed to the road, its
head's path is differentiated twice, and the loads of the axles follow from equilibrium.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from twin.analysis.platform import Platform
from twin.basics.arrays import FloatArray
from twin.envs.motion_cueing.manoeuvres import wheel_angle
from twin.motion.cueing import Car
from twin.motion.cueing.car import STEP, Tyre
from twin.validation.measures.metrics import largest
from twin.validation.results import Entry, Measure

GRAVITY = 9.81
"""[m/s2]"""

SPEED = 25.0
"""[m/s] of the car at the start."""

DURATION = 1.0
"""[s] of the bend."""

STEER = 0.05
"""[rad] Largest steering angle in the bend."""

BRAKING = 4.0
"""[m/s2] Largest deceleration in the bend."""

RISE = 0.4
"""[s] in which wheel and brakes reach them."""

SPLINE_DEGREE = 7
"""Of the splines that are differentiated."""

ENDS = 8
"""Samples at either end that are not compared, where a spline is less exact."""

CIRCLE = 3.0
"""[s] Length of the drive into a steady circle."""

SIDE = 1.0
"""[m/s2] Side acceleration in the circle."""

LARGEST_SIDE = 50.0
"""[m/s2] Bound of the side accelerations that are looked for."""

LAG = 0.5
"""[s] in which roll and yaw of the car settle at this speed, at most."""


def bend(time: Any) -> tuple[Any, Any]:
    """Return steering angle [rad] and commanded acceleration [m/s2] of a bend under braking."""
    share = np.sin(0.5 * np.pi * np.asarray(time) / DURATION) ** 2
    return STEER * share, -BRAKING * share


def axle_loads(car: Car, along: float) -> tuple[float, float]:
    """Return the loads [N] of the front and rear axle.

    They follow from the equilibrium in heave, and in pitch about the centre of mass, at an
    acceleration `along` [m/s2] by engine or brakes.
    """
    rows = np.array([[1.0, 1.0], [car.front, -car.rear]])
    front, rear = np.linalg.solve(rows, [car.mass * GRAVITY, -car.height * car.mass * along])
    return float(front), float(rear)


def tyre_force(tyre: Tyre, slip: float, load: float) -> float:
    """Return the side force [N] of an axle by the formula of `Tyre`, to the left."""
    if tyre.linear:
        return -tyre.stiffness * slip
    peak = tyre.friction * load
    factor = tyre.stiffness / (tyre.shape * peak)
    return float(-peak * np.sin(tyre.shape * np.arctan(factor * slip)))


def road_rate(car: Car, state: FloatArray, steer: float, along: float) -> FloatArray:
    """Return the rate `(10,)` of x, y, yaw, their rates, roll, roll rate, pitch, pitch rate.

    Newton's and Euler's equations in the frame of the road. The sprung mass is an inverted pendulum
    on a spring and a damper about each axis, for small angles.
    """
    yaw, velocity, turn = state[2], state[3:5], state[5]
    body = np.array([[np.cos(yaw), np.sin(yaw)], [-np.sin(yaw), np.cos(yaw)]])
    speed = body @ velocity
    total, moment = np.array([car.mass * along, 0.0]), 0.0
    wheels = (
        (car.front, steer, car.front_tyre, axle_loads(car, along)[0]),
        (-car.rear, 0.0, car.rear_tyre, axle_loads(car, along)[1]),
    )
    for place, angle, tyre, load in wheels:
        slip = np.arctan2(speed[1] + turn * place, speed[0]) - angle
        side = tyre_force(tyre, slip, load) * np.array([-np.sin(angle), np.cos(angle)])
        total = total + side
        moment += place * side[1]
    acceleration = total / car.mass
    lever = car.sprung_mass * car.arm
    roll = lever * (acceleration[1] + GRAVITY * state[6]) - car.roll_stiffness * state[6]
    pitch = lever * (GRAVITY * state[8] - acceleration[0]) - car.pitch_stiffness * state[8]
    return np.array(
        [
            *velocity,
            turn,
            *(body.T @ acceleration),
            moment / car.yaw_inertia,
            state[7],
            (roll - car.roll_damping * state[7]) / car.roll_inertia,
            state[9],
            (pitch - car.pitch_damping * state[9]) / car.pitch_inertia,
        ]
    )


def head_motion(car: Car, time: Any) -> FloatArray:
    """Return specific force and angular rate `(k, 6)` at the head in the bend, body axes.

    The second derivative of the head's path and the turn of its attitude, both by splines.
    """
    from scipy.integrate import solve_ivp
    from scipy.interpolate import make_interp_spline
    from scipy.spatial.transform import Rotation

    def rate(now: float, state: FloatArray) -> FloatArray:
        steer, along = bend(now)
        return road_rate(car, state, float(steer), float(along))

    start = np.zeros(10)
    start[3] = SPEED
    span = (time[0], time[-1])
    states = solve_ivp(rate, span, start, "DOP853", time, rtol=1e-11, atol=1e-12, max_step=STEP).y
    attitude = Rotation.from_euler("ZYX", states[[2, 8, 6]].T)
    path = attitude.apply(car.head)
    path[:, :2] += states[:2].T
    second = make_interp_spline(time, path, SPLINE_DEGREE).derivative(2)(time)
    matrix = attitude.as_matrix()
    turning = make_interp_spline(time, matrix, SPLINE_DEGREE).derivative()(time)
    spin = np.swapaxes(matrix, 1, 2) @ turning
    force = attitude.inv().apply(second + np.array([0.0, 0.0, GRAVITY]))
    return np.hstack([force, spin[:, [2, 0, 1], [1, 2, 0]]])


def car_measures(platform: Platform) -> Iterator[Entry]:
    """Yield the differences of the car from its equations and from its steady circle.

    It is the same for every `platform`.
    """
    del platform
    car = Car()
    half = 0.5 * STEP * np.arange(2 * round(DURATION / STEP) + 1)
    found = car.felt(SPEED, *bend(half))
    off = (found - head_motion(car, half[::2]))[ENDS:-ENDS]
    reason = (
        "the car's Runge-Kutta steps of 5 ms: (w T)^4 / 120 of a motion of at most 15 rad/s is "
        "3e-7, of a size of 10"
    )
    yield Measure(
        "car braking in a bend: specific force at the head against differences of its path",
        largest(off[:, :3]),
        3e-6,
        reason,
        unit="m/s2",
    )
    yield Measure(
        "car braking in a bend: angular rate against the derivative of the attitude",
        largest(off[:, 3:]),
        3e-6,
        reason,
        unit="rad/s",
    )
    yield _steady_circle(car)


def _steady_circle(car: Car) -> Measure:
    """Return how far the car is off the steady circle that random drives steer for.

    Roll and side force give the side acceleration, it and the yaw rate the speed, and they the
    steering angle: L r / u + K u r, with the understeer gradient K.
    """
    from scipy.optimize import brentq

    front, rear = (replace(tyre, linear=True) for tyre in (car.front_tyre, car.rear_tyre))
    linear = replace(car, front_tyre=front, rear_tyre=rear)
    half = 0.5 * STEP * np.arange(2 * round(CIRCLE / STEP) + 1)
    share = np.sin(0.5 * np.pi * np.minimum(half / RISE, 1.0)) ** 2
    steer = wheel_angle(linear, np.full(len(half), SPEED), SIDE * share)
    felt = linear.felt(SPEED, steer, np.zeros(len(half)))[-1]
    lever, turn = car.sprung_mass * car.arm, float(np.linalg.norm(felt[3:]))
    lean = lever / (car.roll_stiffness - lever * GRAVITY)

    def excess(side: float) -> float:
        roll = lean * side
        place = car.head[1] * np.cos(roll) - car.head[2] * np.sin(roll)
        side -= turn**2 * place
        return float(side * np.cos(roll) + GRAVITY * np.sin(roll) - felt[1])

    side = float(brentq(excess, -LARGEST_SIDE, LARGEST_SIDE))
    base, speed = car.front + car.rear, side / turn
    difference = car.rear / car.front_tyre.stiffness - car.front / car.rear_tyre.stiffness
    gradient = car.mass / base * difference
    angle = SIDE * (base / SPEED**2 + gradient)
    slowing = SIDE * car.rear / base * angle / SPEED
    return Measure(
        "car on a steady circle: steering angle against the understeer law",
        abs((base / speed + gradient * speed) * turn / angle - 1.0),
        3.0 * LAG * slowing,
        f"the front wheels' drag slows the car by {1e2 * slowing:.3f} percent a second; side "
        "acceleration, yaw and roll each follow the speed within half a second",
    )
