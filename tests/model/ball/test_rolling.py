"""The rolling ball against closed forms, and against laws that its equations do not know of."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation
from tolerance import assert_within

from twin.basics.arrays import FloatArray
from twin.kernels.ball import BALL_FLYING, BALL_LOST, BALL_ROLLING, BALL_SLIPPING
from twin.model.ball import (
    HOLLOW_INERTIA_FACTOR,
    SOLID_INERTIA_FACTOR,
    Ball,
    on_plate,
    rolling,
)

GRAVITY = np.array([0.0, 0.0, -9.81])
STILL = np.zeros(6)


class Plate(NamedTuple):
    """Where a plate is, how it moves and how that changes."""

    pose: FloatArray
    twist: FloatArray
    acceleration: FloatArray


def ball(**changes):
    """Return a ball of 3 cm on a large plate 0.1 m above the reference point."""
    numbers = {"radius": 0.03, "mass": 0.4, "plate_radius": 50.0, "plate_height": 0.1}
    return Ball(**{**numbers, "friction": 100.0, "rolling_resistance": 0.0, **changes})


def tilted(vector):
    """Return the pose of a plate at the origin turned by a rotation vector [rad]."""
    turn = Rotation.from_rotvec(vector).as_quat(scalar_first=True)
    return np.concatenate([np.zeros(3), turn])


def at(x=0.0, y=0.0, spin=(0.0, 0.0, 0.0)):
    """Return the state of a ball."""
    return np.array([x, y, *spin, 1.0, *np.zeros(11)])


def wavy(time):
    """Return a plate that moves in all six directions, its derivatives by exact differentiation."""
    size = np.array([0.05, -0.04, 0.03, 0.2, 0.15, -0.25])
    speed = np.array([3.0, 4.0, 5.0, 2.5, 3.5, 1.5])
    place, rate = size * np.sin(speed * time), size * speed * np.cos(speed * time)
    second = -size * speed**2 * np.sin(speed * time)
    # Rz(c) Ry(b) Rx(a): omega = c' z + Rz b' y + Rz Ry a' x
    a, b, c = place[3:]
    turn = Rotation.from_euler("ZYX", [c, b, a])
    ez, ey = np.array([0.0, 0.0, 1.0]), np.array([-np.sin(c), np.cos(c), 0.0])
    ex = turn.apply([1.0, 0.0, 0.0])
    omega_c, omega_b = rate[5] * ez, rate[4] * ey
    omega = omega_c + omega_b + rate[3] * ex
    ey_rate = np.cross(omega_c, ey)
    ex_rate = np.cross(omega_c + omega_b, ex)
    alpha = second[5] * ez + second[4] * ey + rate[4] * ey_rate + second[3] * ex + rate[3] * ex_rate
    return Plate(
        np.concatenate([place[:3], turn.as_quat(scalar_first=True)]),
        np.concatenate([rate[:3], omega]),
        np.concatenate([second[:3], alpha]),
    )


def evaluate(own, plate, state):
    """Return the ball's rates on a plate."""
    return rolling(own, state, plate.pose, plate.twist, plate.acceleration, GRAVITY)


def march(own, plate, state, times):
    """Return the states `(k, 17)` at times."""

    def rate(time, now):
        return evaluate(own, plate(time), now).rate

    span = (0.0, float(times[-1]))
    return np.asarray(solve_ivp(rate, span, state, "DOP853", times, rtol=1e-12, atol=1e-12).y.T)


def centre(own, plate, state):
    """Return where the ball's centre is in the base, without the code under test."""
    turn = Rotation.from_quat(plate.pose[3:], scalar_first=True)
    return np.asarray(plate.pose[:3] + turn.apply([*state[:2], own.plate_height + own.radius]))


@pytest.mark.parametrize(
    ("factor", "share"), [(SOLID_INERTIA_FACTOR, 5.0 / 7.0), (HOLLOW_INERTIA_FACTOR, 3.0 / 5.0)]
)
def test_incline(factor, share):
    own, angle, times = ball(inertia_factor=factor), 0.2, np.linspace(0.0, 1.0, 5)
    plate = Plate(tilted([0.0, angle, 0.0]), STILL, STILL)
    states = march(own, lambda time: plate, at(), times)
    expected = 0.5 * share * 9.81 * np.sin(angle) * times**2
    assert_within(states[:, 0], expected, 1e-11)
    assert_within(states[:, 1], 0.0, 1e-12)
    force = evaluate(own, plate, at()).force
    normal = Rotation.from_rotvec([0.0, angle, 0.0]).apply([0.0, 0.0, 1.0])
    assert_allclose(force @ normal, 0.4 * 9.81 * np.cos(angle), rtol=1e-14)
    friction = np.linalg.norm(force - (force @ normal) * normal)
    expected_friction = (1.0 - share) * 0.4 * 9.81 * np.sin(angle)
    assert_allclose(friction, expected_friction, rtol=1e-12)


def test_newton_and_euler_by_differences():
    """Newton: m x'' = F + m g, Euler: I Omega' = -r n x F, x from the motion itself."""
    own = ball(inertia_factor=0.5)
    h, start = 1e-3, at(0.1, -0.05, (4.0, -3.0, 2.0))
    times = np.asarray(np.arange(9) * h + 0.4)
    states = march(own, lambda time: wavy(time + 0.4), start, times - 0.4)
    places = np.array([centre(own, wavy(t), s) for t, s in zip(times, states, strict=True)])
    middle, now = states[4], wavy(times[4])
    found = evaluate(own, now, middle)
    weights = np.array([-1 / 560, 8 / 315, -1 / 5, 8 / 5, -205 / 72, 8 / 5, -1 / 5, 8 / 315])
    second = np.append(weights, -1 / 560) @ places / h**2
    assert_within(0.4 * (second - GRAVITY), found.force, 1e-7)
    normal = Rotation.from_quat(now.pose[3:], scalar_first=True).apply([0.0, 0.0, 1.0])
    turning = -own.radius * np.cross(normal, found.force)
    assert_allclose(own.inertia * found.rate[2:5], turning, rtol=1e-12, atol=1e-15)


def test_rolling_resistance_slows_the_ball():
    own = ball(rolling_resistance=0.01)
    plate, speed = Plate(tilted([0.0, 0.0, 0.3]), STILL, STILL), 0.5
    rate = evaluate(own, plate, at(spin=(0.0, speed / own.radius, 0.0))).rate
    slowing = -0.01 * 9.81 / 1.4
    expected = np.array([0.0, slowing / own.radius, 0.0])
    assert_allclose(rate[2:5], expected, rtol=1e-5, atol=1e-12)


def test_status():
    own = ball(friction=0.2, plate_radius=1.0)
    level = Plate(tilted([0.0, 0.0, 0.0]), STILL, STILL)
    assert evaluate(own, level, at()).status == BALL_ROLLING
    # Solid balls slip where the tilt's tangent exceeds 7/2 of the coefficient of friction.
    limit = np.arctan(3.5 * 0.2)
    for angle, status in ((limit - 1e-3, BALL_ROLLING), (limit + 1e-3, BALL_SLIPPING)):
        plate = Plate(tilted([angle, 0.0, 0.0]), STILL, STILL)
        assert evaluate(own, plate, at()).status == status
    assert evaluate(own, level, at(0.8, 0.7)).status == BALL_LOST
    falling = level._replace(acceleration=np.array([0.0, 0.0, -9.9, 0.0, 0.0, 0.0]))
    assert evaluate(own, falling, at()).status == BALL_FLYING


def test_places_agree_with_the_equations():
    from slipping import slip

    from twin.model.ball import place_on_plate

    own, plate = ball(), wavy(0.7)
    start = np.array([0.1, -0.2, 0.3, 0.4])
    place = place_on_plate(own, plate.pose, plate.twist, start)
    seen = on_plate(plate.pose, plate.twist, place)
    height = own.plate_height + own.radius
    assert_within(seen, [0.1, -0.2, height, 0.3, 0.4, 0.0], 1e-14)
    none = slip(own, plate.pose, plate.twist, place)
    assert_within(none, 0.0, 1e-14)
    rate = evaluate(own, plate, at(0.1, -0.2, place[10:])).rate
    assert_within(rate[:2], [0.3, 0.4], 1e-14)
