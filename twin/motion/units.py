"""Units of recorded columns: what they measure, factors to SI, and sizes a platform can reach."""

from __future__ import annotations

import math
from typing import NamedTuple

from twin.motion.axes import POSITIONS, axis_names

STANDARD_GRAVITY = 9.80665
"""[m/s2]"""


class Quantity(NamedTuple):
    """Physical quantity of a column."""

    name: str
    si: str
    factors: dict[str, float]
    """unit as written -> factor to SI"""
    largest: float
    """[SI] magnitude above which the unit is taken to be wrong"""


TIME = Quantity("time", "s", {"s": 1.0, "ms": 1e-3, "us": 1e-6, "min": 60.0}, 1e6)
LENGTH = Quantity("length", "m", {"m": 1.0, "mm": 1e-3, "cm": 1e-2, "um": 1e-6, "in": 0.0254}, 10.0)
ANGLE = Quantity("angle", "rad", {"rad": 1.0, "mrad": 1e-3, "deg": math.pi / 180.0}, math.pi / 2.0)
ACCELERATION = Quantity(
    "acceleration",
    "m/s2",
    {"m/s2": 1.0, "m/s^2": 1.0, "mm/s2": 1e-3, "mm/s^2": 1e-3, "g": STANDARD_GRAVITY},
    500.0,
)
ANGULAR_ACCELERATION = Quantity(
    "angular acceleration",
    "rad/s2",
    {"rad/s2": 1.0, "rad/s^2": 1.0, "deg/s2": math.pi / 180.0, "deg/s^2": math.pi / 180.0},
    5000.0,
)


class Column(NamedTuple):
    """A column that a recording may have."""

    axis: str
    """name of the axis, or 'time'"""
    quantity: Quantity


def known_columns(convention: str) -> dict[str, Column]:
    """Return the columns of a recording: time, axes as values, axes as accelerations.

    Values are named after the axis (z, pitch). Accelerations are ax, ay, az, and the angle's
    name with `_acceleration` (pitch_acceleration: second time derivative of that angle).

    Raises:
        InputError: unknown convention.
    """
    columns = {"time": Column("time", TIME)}
    for axis in axis_names(convention):
        if axis in POSITIONS:
            columns[axis] = Column(axis, LENGTH)
            columns[f"a{axis}"] = Column(axis, ACCELERATION)
        else:
            columns[axis] = Column(axis, ANGLE)
            columns[f"{axis}_acceleration"] = Column(axis, ANGULAR_ACCELERATION)
    return columns
