"""Manoeuvres to be cued, as tables: random drives of a small car, named and recorded ones."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray
from twin.errors import InputError, brief
from twin.kernels.tasks.motion_cueing.cues import GRAVITY
from twin.motion.cueing import MANOEUVRES, Car, Manoeuvre, make_manoeuvre, read_manoeuvre
from twin.motion.cueing.manoeuvre import TIME_STEP, as_driven, lane_changes
from twin.motion.motion import smooth_rise

DRIVE_DURATION = 12.0
"""[s] of a random drive, as of the named manoeuvres."""

DRIVE_NAME = "drive"
"""Name of random drives among the manoeuvres."""

START_SPEEDS = (30.0 / 3.6, 100.0 / 3.6)
"""[m/s] at the start of a drive."""

MIN_SPEED, MAX_SPEED = 5.0, 40.0
"""[m/s] between which a drive stays, as planned."""

SIDE_ACCELERATION, BRAKE_ACCELERATION, THROTTLE_ACCELERATION = 4.5, 6.0, 3.5
"""[m/s2] of accelerations at intensity 1."""

LARGEST_STEER = 0.3
"""[rad]"""

USUAL_CAR = Car()

PERIOD_TOLERANCE = 1e-9
"""Part of a control period by which it may miss a whole number of steps."""

RISE_TIME = 0.3
"""[s] of steps of the wheel and the pedals."""


class Drive(NamedTuple):
    """A random drive."""

    felt: FloatArray
    """`(n, 6)` what the driver feels: specific force and angular rate, every `TIME_STEP`"""
    speed: float
    """[m/s] at the start"""
    intensity: float
    """share of the largest accelerations"""
    manoeuvres: tuple[str, ...]
    """pieces in their order"""

    @property
    def manoeuvre(self) -> Manoeuvre:
        """The drive as a manoeuvre."""
        return as_driven(DRIVE_NAME, self.felt)


class Piece(NamedTuple):
    """A part of a drive: reference accelerations of the car."""

    side: FloatArray
    """`(m,)` [m/s2] acceleration to the left"""
    along: FloatArray
    """`(m,)` [m/s2] of engine and brakes"""
    seconds: float
    """that it lasts"""


def random_drive(generator: np.random.Generator, intensity: float, car: Car | None = None) -> Drive:
    """Return a drive of 12 s: manoeuvres in random order, with random strength, sense and length.

    The wheel is turned for the reference side acceleration at the speed expected from the pedals,
    as in the steady circle of a car with linear tyres. The motion of the car follows from its
    model.

    Args:
        generator: of all that is random.
        intensity: share of the largest accelerations, above 0 up to 1.
        car: default the one of `Car`.
    """
    chosen = USUAL_CAR if car is None else car
    time = np.arange(2 * round(DRIVE_DURATION / TIME_STEP) + 1, dtype=np.float64) * (
        0.5 * TIME_STEP
    )
    side, along = np.zeros((2, len(time)))
    speed = float(generator.uniform(*START_SPEEDS))
    begin, now, names = float(generator.uniform(0.3, 1.0)), speed, []
    while begin < DRIVE_DURATION - 2.5:
        name = tuple(DRIVE_PIECES)[generator.integers(len(DRIVE_PIECES))]
        share = intensity * float(generator.uniform(0.5, 1.0))
        first = int(2.0 * begin / TIME_STEP)
        piece = DRIVE_PIECES[name](time[first:] - begin, share, now, generator)
        side[first:] += piece.side
        along[first:] += piece.along
        names.append(name)
        begin += piece.seconds + float(generator.uniform(0.2, 1.0))
        now = float(expected_speed(speed, along)[-1])
    steer = wheel_angle(chosen, expected_speed(speed, along), side)
    return Drive(chosen.sensed(speed, steer, along), speed, intensity, tuple(names))


def expected_speed(speed: float, along: FloatArray) -> FloatArray:
    """Return speeds `(m,)` [m/s] at half steps that the pedals alone would give."""
    gained = 0.5 * TIME_STEP * np.cumsum(along)
    return np.asarray(np.clip(speed + gained, MIN_SPEED, MAX_SPEED))


def wheel_angle(car: Car, speed: FloatArray, side: FloatArray) -> FloatArray:
    """Return angles `(m,)` [rad] of the front wheels for side accelerations [m/s2] at speeds.

    Reference:
        Steady turning of the bicycle model: angle = a (L / v^2 + K), K the understeer gradient
        m / L (rear / C_front - front / C_rear).
    """
    base = car.front + car.rear
    front, rear = car.front_tyre.stiffness, car.rear_tyre.stiffness
    gradient = car.mass / base * (car.rear / front - car.front / rear)
    return np.asarray(np.clip(side * (base / speed**2 + gradient), -LARGEST_STEER, LARGEST_STEER))


def plateau(time: FloatArray, seconds: float, rise: float = RISE_TIME) -> FloatArray:
    """Return a smooth rise from 0 to 1 at time 0, and a smooth fall after so many seconds."""
    up, down = (smooth_rise((time - begin) / rise) for begin in (0.0, seconds))
    return np.asarray(up - down)


def _sign(generator: np.random.Generator) -> float:
    return 1.0 if generator.random() < 0.5 else -1.0


def _step_steer(
    time: FloatArray, share: float, speed: float, generator: np.random.Generator
) -> Piece:
    seconds = float(generator.uniform(1.5, 4.0))
    side = _sign(generator) * share * SIDE_ACCELERATION * plateau(time, seconds)
    return Piece(side, 0.0 * time, seconds + RISE_TIME)


def _double_lane_change(
    time: FloatArray, share: float, speed: float, generator: np.random.Generator
) -> Piece:
    sign, pause = _sign(generator), float(generator.uniform(0.2, 1.5))
    size = sign * share * SIDE_ACCELERATION
    side = lane_changes(time, ((0.0, size), (2.0 + pause, -size)))
    return Piece(side, 0.0 * time, 4.0 + pause)


def _slalom(time: FloatArray, share: float, speed: float, generator: np.random.Generator) -> Piece:
    frequency, seconds = float(generator.uniform(0.2, 0.5)), float(generator.uniform(3.0, 6.0))
    wave = np.sin(2.0 * np.pi * frequency * time) * plateau(time, seconds, 1.0)
    return Piece(_sign(generator) * share * SIDE_ACCELERATION * wave, 0.0 * time, seconds + 1.0)


def _braking(time: FloatArray, share: float, speed: float, generator: np.random.Generator) -> Piece:
    size = share * BRAKE_ACCELERATION
    seconds = min(float(generator.uniform(1.0, 3.5)), max(speed - MIN_SPEED, 0.0) / size)
    return Piece(0.0 * time, -size * plateau(time, seconds), seconds + RISE_TIME)


def _acceleration(
    time: FloatArray, share: float, speed: float, generator: np.random.Generator
) -> Piece:
    size = share * THROTTLE_ACCELERATION
    seconds = min(float(generator.uniform(1.0, 4.0)), max(MAX_SPEED - speed, 0.0) / size)
    return Piece(0.0 * time, size * plateau(time, seconds), seconds + RISE_TIME)


DRIVE_PIECES: dict[str, Callable[[FloatArray, float, float, np.random.Generator], Piece]] = {
    "step_steer": _step_steer,
    "double_lane_change": _double_lane_change,
    "slalom": _slalom,
    "braking": _braking,
    "acceleration": _acceleration,
}
"""Name -> part of a drive, from times since its begin, intensity and speed."""


def as_manoeuvre(value: Any) -> Manoeuvre | None:
    """Return a manoeuvre that is given, named or in a file; None for random drives.

    Args:
        value: `DRIVE_NAME`, a name in `MANOEUVRES`, the path of a CSV file, or a `Manoeuvre`.

    Raises:
        InputError: none of them, or a file that cannot be read as a manoeuvre.
    """
    if isinstance(value, Manoeuvre):
        return value
    if value == DRIVE_NAME:
        return None
    if isinstance(value, str) and value in MANOEUVRES:
        return _named(value)
    if isinstance(value, str) and not value.lower().endswith(".csv"):
        known = ", ".join((DRIVE_NAME, *MANOEUVRES))
        raise InputError(
            "manoeuvre", f"unknown manoeuvre {brief(value)}; known: {known}, or a CSV file"
        )
    return read_manoeuvre(value)


@lru_cache(maxsize=len(MANOEUVRES))
def _named(name: str) -> Manoeuvre:
    return make_manoeuvre(name)


def fill_driven(drive: Drive, period: float, table: FloatArray) -> None:
    """Fill a table as `fill_table` does with the manoeuvre of a drive."""
    every = round(period / TIME_STEP)
    if abs(every * TIME_STEP - period) > PERIOD_TOLERANCE * period:
        fill_table(drive.manoeuvre, period, table)
        return
    rows = drive.felt[::every][: len(table)]
    table[: len(rows)], table[len(rows) :] = rows, drive.felt[-1]
    table[:, 2] -= GRAVITY


def fill_table(manoeuvre: Manoeuvre, period: float, table: FloatArray) -> None:
    """Fill `table` (L, 6) with specific force less rest and angular rate, a period apart.

    After its end the manoeuvre's last values hold.
    """
    force, rate = manoeuvre.at(period * np.arange(len(table)))
    table[:, :3], table[:, 3:] = force, rate
    table[:, 2] -= GRAVITY
