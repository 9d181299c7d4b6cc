"""Standard manoeuvres of a small car and of an aircraft."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from twin.basics.arrays import FloatArray, bounded, one_of
from twin.errors import InputError, brief
from twin.kernels.tasks.motion_cueing.car import GRAVITY
from twin.motion.cueing.car import STEP, Car
from twin.motion.cueing.manoeuvre import Manoeuvre
from twin.motion.motion import minimum_jerk

DURATION = 12.0
"""[s] of every manoeuvre."""

CITY, COUNTRY = 50.0 / 3.6, 80.0 / 3.6
"""[m/s]"""

FLIGHT = 60.0
"""[m/s]"""

BANK = np.radians(30.0)
"""[rad] of the coordinated turn."""


def make_manoeuvre(name: Any, car: Any = None) -> Manoeuvre:
    """Return a standard manoeuvre by its name, 12 s long.

    - `step_steer`: 1.6 deg at the wheels in 0.3 s at 80 km/h, held.
    - `double_lane_change`: two opposite pulls of 2 s at 80 km/h.
    - `slalom`: 0.4 Hz at 50 km/h.
    - `braking`: 6 m/s2 from 80 km/h to standstill.
    - `acceleration`: full throttle from 30 km/h, two gear shifts of 0.35 s.
    - `coordinated_turn`: an aircraft at 60 m/s (or a car on a banked road) rolls to 30 deg within
      3 s and back, so that the specific force stays along its z axis.

    Args:
        name: a key of `MANOEUVRES`.
        car: a `Car`; default the one of the class. The coordinated turn needs none.

    Raises:
        InputError: unknown manoeuvre, no car.
    """
    chosen = Car() if car is None else car
    if not isinstance(chosen, Car):
        raise InputError("car", f"must be a Car, not {brief(car)}")
    return MANOEUVRES[one_of(name, "manoeuvre", MANOEUVRES)](chosen)


def coordinated_turn(bank: Any = BANK, speed: Any = FLIGHT, entry: Any = 3.0) -> Manoeuvre:
    """Return a level turn without side force at constant speed.

    With bank b: specific force g / cos b along z, turn rate g tan b / speed about the vertical.

    Args:
        bank: [rad] held between roll-in and roll-out; positive to the right.
        speed: [m/s].
        entry: [s] of the roll-in and of the roll-out.

    Raises:
        InputError: out of range.
    """
    angle = bounded(bank, "bank", -1.2, 1.2)
    flight = bounded(speed, "speed", 5.0, 500.0)
    seconds = bounded(entry, "entry", 0.3, 5.0)
    time = _time()[::2]
    share, slope, _ = _plateau(time, 1.0, 8.5 - 0.5 * seconds, seconds)
    roll, roll_rate = angle * share, angle * slope
    turn = -GRAVITY * np.tan(roll) / flight
    force, rate = np.zeros((len(time), 3)), np.zeros((len(time), 3))
    force[:, 2] = GRAVITY / np.cos(roll)
    rate[:, 0] = roll_rate
    rate[:, 1] = turn * np.sin(roll)
    rate[:, 2] = turn * np.cos(roll)
    return Manoeuvre("coordinated_turn", time, force, rate)


def _time() -> FloatArray:
    """Return times [s] at half steps."""
    return np.arange(2 * round(DURATION / STEP) + 1, dtype=np.float64) * (0.5 * STEP)


def _plateau(
    time: FloatArray, start: float, stop: float, rise: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return a smooth rise at `start`, a smooth fall at `stop` [s], and two derivatives."""
    up, down = (minimum_jerk((time - begin) / rise) for begin in (start, stop))
    value, slope, curvature = (a - b for a, b in zip(up, down, strict=True))
    return value, slope / rise, curvature / rise**2


def lane_changes(time: FloatArray, changes: Iterable[tuple[float, float]]) -> FloatArray:
    """Return full waves of two seconds, one for every begin [s] and size."""
    result = np.zeros_like(time)
    for begin, size in changes:
        inside = (time >= begin) & (time <= begin + 2.0)
        phase = np.pi * (time[inside] - begin)
        # A sine faded by its own half waves, so that the steering rate is continuous.
        result[inside] = size * np.sin(phase) * np.sin(0.5 * phase) ** 0.5
    return result


def _step_steer(car: Car) -> Manoeuvre:
    time = _time()
    return car.drive(
        "step_steer", COUNTRY, np.radians(1.6) * _plateau(time, 1.0, 8.0, 0.3)[0], 0.0 * time
    )


def _double_lane_change(car: Car) -> Manoeuvre:
    time, size = _time(), np.radians(1.8)
    steer = lane_changes(time, ((1.0, size), (4.5, -size)))
    return car.drive("double_lane_change", COUNTRY, steer, 0.0 * time)


def _slalom(car: Car) -> Manoeuvre:
    time = _time()
    window = _plateau(time, 0.5, 9.0, 1.5)[0]
    steer = np.radians(3.0) * np.sin(2.0 * np.pi * 0.4 * (time - 0.5)) * window
    return car.drive("slalom", CITY, steer, 0.0 * time)


def _braking(car: Car) -> Manoeuvre:
    time = _time()
    return car.drive("braking", COUNTRY, 0.0 * time, -6.0 * _plateau(time, 1.0, 8.0, 0.3)[0])


def _acceleration(car: Car) -> Manoeuvre:
    time = _time()
    traction = np.zeros_like(time)
    for begin, stop, size in ((1.0, 3.0, 3.5), (3.35, 5.6, 2.5), (5.95, 8.5, 1.8)):
        traction += size * _plateau(time, begin, stop, 0.2)[0]
    return car.drive("acceleration", 30.0 / 3.6, 0.0 * time, traction)


MANOEUVRES: dict[str, Callable[[Car], Manoeuvre]] = {
    "step_steer": _step_steer,
    "double_lane_change": _double_lane_change,
    "slalom": _slalom,
    "braking": _braking,
    "acceleration": _acceleration,
    "coordinated_turn": lambda _: coordinated_turn(),
}
"""Name -> maker of the manoeuvre of a car."""
