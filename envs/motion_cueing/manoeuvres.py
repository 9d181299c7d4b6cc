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
from twin.motion.cueing.manoeuvre import TIME_STEP, as_driven, half_steps, lane_changes
from twin.motion.motion import smooth_rise

DRIVE_DURATION = 12.0
"""[s] Duration of a random drive, and of the named manoeuvres."""

DRIVE_NAME = "drive"
"""Name of random drives among the manoeuvres."""

START_SPEEDS = (30.0 / 3.6, 100.0 / 3.6)
"""[m/s] Lowest and highest speed at the start of a drive."""

MIN_SPEED, MAX_SPEED = 5.0, 40.0
"""[m/s] Lowest and highest planned speed of a drive."""

SIDE_ACCELERATION, BRAKE_ACCELERATION, THROTTLE_ACCELERATION = 4.5, 6.0, 3.5
"""[m/s2] Largest lateral acceleration, deceleration and acceleration at intensity 1."""

LARGEST_STEER = 0.3
"""[rad] Largest angle of the front wheels."""

CAR = Car()
"""Car of the random drives."""

PERIOD_TOLERANCE = 1e-9
"""Relative error of the control period up to which it counts as a whole number of steps."""

RISE_TIME = 0.3
"""[s] Rise time of steps of the wheel and the pedals."""


class Drive(NamedTuple):
    """A random drive of the car: what its driver feels, and how it was made."""

    sensed: FloatArray
    """`(n, 6)` specific force [m/s2] and angular rate [rad/s] at the driver's head, every
    `TIME_STEP`"""
    manoeuvres: tuple[str, ...]
    """names of the pieces in their order"""

    @property
    def manoeuvre(self) -> Manoeuvre:
        """The drive as a manoeuvre."""
        return as_driven(DRIVE_NAME, self.sensed)


class Piece(NamedTuple):
    """A part of a drive: reference accelerations of the car, every half `TIME_STEP`."""

    side_acceleration: FloatArray
    """`(m,)` [m/s2] acceleration to the left"""
    longitudinal_acceleration: FloatArray
    """`(m,)` [m/s2] longitudinal acceleration by engine and brakes"""
    seconds: float
    """[s] duration"""


def random_drive(generator: np.random.Generator, intensity: float) -> Drive:
    """Return a drive of 12 s: manoeuvres in random order, with random strength, sense and length.

    The wheel is turned for the reference side acceleration at the speed expected from the pedals,
    as in the steady circle of a car with linear tyres. The motion of the car follows from its
    model.

    Args:
        generator: random generator of the drive.
        intensity: share of the largest accelerations, above 0 up to 1.
    """
    time = half_steps(DRIVE_DURATION)
    lateral, longitudinal = np.zeros((2, len(time)))
    speed = float(generator.uniform(*START_SPEEDS))
    piece_start, present_speed, names = float(generator.uniform(0.3, 1.0)), speed, []
    # No piece starts in the last 2.5 s, which would cut it off.
    while piece_start < DRIVE_DURATION - 2.5:
        name = tuple(DRIVE_PIECES)[generator.integers(len(DRIVE_PIECES))]
        piece_intensity = intensity * float(generator.uniform(0.5, 1.0))
        first_sample = int(2.0 * piece_start / TIME_STEP)
        piece = DRIVE_PIECES[name](
            time[first_sample:] - piece_start, piece_intensity, present_speed, generator
        )
        lateral[first_sample:] += piece.side_acceleration
        longitudinal[first_sample:] += piece.longitudinal_acceleration
        names.append(name)
        piece_start += piece.seconds + float(generator.uniform(0.2, 1.0))
        present_speed = float(expected_speed(speed, longitudinal)[-1])
    steer = wheel_angle(CAR, expected_speed(speed, longitudinal), lateral)
    return Drive(CAR.sensed(speed, steer, longitudinal), tuple(names))


def expected_speed(speed: float, longitudinal_acceleration: FloatArray) -> FloatArray:
    """Return speeds `(m,)` [m/s] at half steps that the pedals alone would give."""
    speed_change = 0.5 * TIME_STEP * np.cumsum(longitudinal_acceleration)
    return np.clip(speed + speed_change, MIN_SPEED, MAX_SPEED)


def wheel_angle(car: Car, speed: FloatArray, side_acceleration: FloatArray) -> FloatArray:
    """Return angles `(m,)` [rad] of the front wheels for side accelerations [m/s2] at speeds.

    Reference:
        Steady turning of the bicycle model: angle = a (L / v^2 + K), K the understeer gradient
        m / L (rear / C_front - front / C_rear).
    """
    wheelbase = car.front + car.rear
    front, rear = car.front_tyre.stiffness, car.rear_tyre.stiffness
    gradient = car.mass / wheelbase * (car.rear / front - car.front / rear)
    return np.clip(
        side_acceleration * (wheelbase / speed**2 + gradient), -LARGEST_STEER, LARGEST_STEER
    )


def plateau(time: FloatArray, seconds: float, rise: float = RISE_TIME) -> FloatArray:
    """Return a smooth rise from 0 to 1 at time 0, and a smooth fall after `seconds`."""
    rise_part, fall_part = (smooth_rise((time - begin) / rise) for begin in (0.0, seconds))
    return rise_part - fall_part


def _sign(generator: np.random.Generator) -> float:
    return 1.0 if generator.random() < 0.5 else -1.0


def _step_steer(
    time: FloatArray, intensity: float, speed: float, generator: np.random.Generator
) -> Piece:
    seconds = float(generator.uniform(1.5, 4.0))
    lateral = _sign(generator) * intensity * SIDE_ACCELERATION * plateau(time, seconds)
    return Piece(lateral, 0.0 * time, seconds + RISE_TIME)


def _double_lane_change(
    time: FloatArray, intensity: float, speed: float, generator: np.random.Generator
) -> Piece:
    sign, pause_time = _sign(generator), float(generator.uniform(0.2, 1.5))
    amplitude = sign * intensity * SIDE_ACCELERATION
    lateral = lane_changes(time, ((0.0, amplitude), (2.0 + pause_time, -amplitude)))
    return Piece(lateral, 0.0 * time, 4.0 + pause_time)


def _slalom(
    time: FloatArray, intensity: float, speed: float, generator: np.random.Generator
) -> Piece:
    frequency, seconds = float(generator.uniform(0.2, 0.5)), float(generator.uniform(3.0, 6.0))
    wave = np.sin(2.0 * np.pi * frequency * time) * plateau(time, seconds, 1.0)
    return Piece(_sign(generator) * intensity * SIDE_ACCELERATION * wave, 0.0 * time, seconds + 1.0)


def _braking(
    time: FloatArray, intensity: float, speed: float, generator: np.random.Generator
) -> Piece:
    deceleration = intensity * BRAKE_ACCELERATION
    seconds = min(float(generator.uniform(1.0, 3.5)), max(speed - MIN_SPEED, 0.0) / deceleration)
    return Piece(0.0 * time, -deceleration * plateau(time, seconds), seconds + RISE_TIME)


def _acceleration(
    time: FloatArray, intensity: float, speed: float, generator: np.random.Generator
) -> Piece:
    acceleration = intensity * THROTTLE_ACCELERATION
    seconds = min(float(generator.uniform(1.0, 4.0)), max(MAX_SPEED - speed, 0.0) / acceleration)
    return Piece(0.0 * time, acceleration * plateau(time, seconds), seconds + RISE_TIME)


DRIVE_PIECES: dict[str, Callable[[FloatArray, float, float, np.random.Generator], Piece]] = {
    "step_steer": _step_steer,
    "double_lane_change": _double_lane_change,
    "slalom": _slalom,
    "braking": _braking,
    "acceleration": _acceleration,
}
"""Name -> function that makes a piece from times since its start, intensity and speed."""


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
        return _named_manoeuvre(value)
    if isinstance(value, str) and not value.lower().endswith(".csv"):
        known_names = ", ".join((DRIVE_NAME, *MANOEUVRES))
        raise InputError(
            "manoeuvre", f"unknown manoeuvre {brief(value)}; known: {known_names}, or a CSV file"
        )
    return read_manoeuvre(value)


@lru_cache(maxsize=len(MANOEUVRES))
def _named_manoeuvre(name: str) -> Manoeuvre:
    return make_manoeuvre(name)


def fill_driven(drive: Drive, period: float, table: FloatArray) -> None:
    """Fill a table as `fill_table` does with the manoeuvre of a drive."""
    stride = round(period / TIME_STEP)
    if abs(stride * TIME_STEP - period) > PERIOD_TOLERANCE * period:
        fill_table(drive.manoeuvre, period, table)
        return
    samples = drive.sensed[::stride][: len(table)]
    # The table has specific force, then angular rate; the force at rest is subtracted below.
    table[: len(samples)], table[len(samples) :] = samples, drive.sensed[-1]
    table[:, 2] -= GRAVITY


def fill_table(manoeuvre: Manoeuvre, period: float, table: FloatArray) -> None:
    """Fill `table` (L, 6) with specific force less rest and angular rate, a period apart.

    After its end the manoeuvre's last values hold.
    """
    force, rate = manoeuvre.at(period * np.arange(len(table)))
    table[:, :3], table[:, 3:] = force, rate
    table[:, 2] -= GRAVITY
