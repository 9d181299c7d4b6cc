"""Signals between controller and plant: commands and measurements.

The module also has the dropouts of sensors, and the seeds of their random errors.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, read_only, whole_number
from twin.errors import InputError, brief

Mode = Literal["force", "velocity", "position"]
COMMAND_MODES: tuple[Mode, ...] = ("force", "velocity", "position")
"""Modes of commands; their indices are `FORCE_MODE`, `VELOCITY_MODE` and `POSITION_MODE` of the
kernels."""


class Command(NamedTuple):
    """Command of the drives, in force until the next one."""

    values: FloatArray
    """`(n,)` speeds [m/s, rad/s], forces [N, N m] or positions [m, rad]"""
    mode: Mode = "velocity"
    """"velocity": each drive closes a PI loop around its motor's speed; "force": none;
    "position": for servos and steppers, which take speeds as well, but no forces"""
    feedforward: FloatArray | None = None
    """`(n,)` force added to that of the velocity loop"""
    brakes: FloatArray | None = None
    """`(n,)` 1 where the brake shall hold, 0 where it shall be free; None for free"""


NO_READING = read_only(np.empty(0))
"""Reading of a sensor that the machine does not have."""


class Measurement(NamedTuple):
    """One reading of all sensors; arrays are copies that the controller may keep."""

    time: float
    """[s] of the reading"""
    coordinates: FloatArray
    """`(n,)` [m, rad] as encoders measure them at the actuators: deflections of springs in series
    are left out. Servos and steppers without encoder report their commanded position"""
    rates: FloatArray
    """`(n,)` [m/s, rad/s]: differences of encoder readings, or exact where there is no encoder"""
    forces: FloatArray
    """`(n,)` on the legs, mean over the last step of the engine [N, N m]"""
    valid: bool = True
    """False during a sensor dropout: the values are then the last valid readings"""
    inertial: FloatArray = NO_READING
    """`(6,)` of an inertial sensor: specific force [m/s2], angular rate [rad/s], sensor axes"""
    counts: FloatArray = NO_READING
    """`(n,)` raw encoder counts since power-up or the last index pulse"""
    at_minimum: FloatArray = NO_READING
    """`(n,)` 1 where the switch at the shorter limit is pressed, else 0"""
    at_maximum: FloatArray = NO_READING
    """`(n,)` the same of the longer limit"""


Spans = tuple[tuple[float, float], ...]


def as_spans(value: Any) -> Spans:
    """Return spans (begin, end) [s].

    Raises:
        InputError: no list of pairs, or one that does not begin before it ends.
    """
    try:
        return tuple(_span(interval) for interval in value)
    except TypeError:
        raise InputError(
            "dropouts", f"must be a list of spans (begin, end) [s], not {brief(value)}"
        ) from None


def _span(value: Any) -> tuple[float, float]:
    try:
        begin_time, end_time = (float(entry) for entry in value)
    except (TypeError, ValueError):
        raise InputError(
            "dropouts", f"must be spans (begin, end) [s], not {brief(value)}"
        ) from None
    if not begin_time < end_time:
        raise InputError("dropouts", f"a span begins before it ends, unlike {brief(value)}")
    return begin_time, end_time


def seed_sequence(seed: Any, part: str) -> np.random.SeedSequence:
    """Return the seeds of a named part, which depend on no other part and on no order.

    Raises:
        InputError: a seed that is no whole number, zero or more.
    """
    return np.random.SeedSequence([whole_number(seed, "seed", 0), *part.encode()])
