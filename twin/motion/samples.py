"""Faults of recorded samples: time without increase or with jumps, implausible sizes.

The units of recorded columns say what they measure, and which sizes a platform can reach.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, as_floats, bounded
from twin.errors import InputError
from twin.motion.axes import LARGEST_SAMPLE, LONGEST_TIME, POSITIONS, SHORTEST_TIME, axis_names

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


FEWEST_SAMPLES = 4
"""A cubic spline needs four samples; from six on the spline is quintic."""

SLOWEST_SAMPLING = 0.5
"""[s] No motion of a platform can be read from samples further apart."""

DEFAULT_GAP = 10.0
"""Median intervals that may be missing when no largest gap is given."""

SMALLEST_INTERVAL = 1e-6
"""Part of the median interval; closer samples make the spline meaningless."""


class SampleError(InputError):
    """A fault in one sample.

    Attributes:
        row: number of the sample, from 0.
        column: name of its column.
    """

    def __init__(self, row: int, column: str, message: str) -> None:
        super().__init__(f"{column}[{row}]", message)
        self.row = row
        self.column = column

    def __reduce__(self) -> tuple[Any, ...]:
        """Keep the error intact across processes."""
        return type(self), (self.row, self.column, self.message)


def check_time(time: FloatArray, largest_gap: Any, check_size: bool) -> None:
    """Check that times `(n,)` [s] increase, without gaps.

    Args:
        time: [s].
        largest_gap: [s] allowed between samples; None for ten median intervals.
        check_size: whether sampling slower than any platform motion is a fault.

    Raises:
        SampleError: says at which sample the fault is.
    """
    if len(time) < FEWEST_SAMPLES:
        raise SampleError(
            len(time) - 1, "time", f"the record ends here; it needs {FEWEST_SAMPLES} samples"
        )
    steps = np.diff(time)
    if (steps <= 0.0).any():
        row = int((steps <= 0.0).argmax()) + 1
        what = "repeats" if steps[row - 1] == 0.0 else "is before"
        raise SampleError(
            row,
            "time",
            f"{time[row]:.9g} s {what} the sample before ({time[row - 1]:.9g} s); sort the "
            "samples and remove double ones",
        )
    median = float(np.median(steps))
    if check_size and median > SLOWEST_SAMPLING:
        raise SampleError(
            1,
            "time",
            f"samples are {median:g} s apart: wrong unit of time?",
        )
    if not SHORTEST_TIME <= time[-1] - time[0] <= LONGEST_TIME:
        raise SampleError(
            len(time) - 1,
            "time",
            f"the record lasts {time[-1] - time[0]:g} s, not {SHORTEST_TIME:g} to "
            f"{LONGEST_TIME:g} s: wrong unit of time?",
        )
    if steps.min() < SMALLEST_INTERVAL * median:
        row = int(steps.argmin()) + 1
        raise SampleError(row, "time", "hardly later than the sample before; remove one of the two")
    if largest_gap is None:
        allowed = DEFAULT_GAP * median
    else:
        allowed = bounded(largest_gap, "largest_gap", SHORTEST_TIME, LONGEST_TIME)
    if steps.max() > allowed:
        row = int(steps.argmax()) + 1
        raise SampleError(
            row,
            "time",
            f"gap of {steps[row - 1]:g} s before this sample, at most {allowed:g} s are bridged; "
            "fill in samples, or split the record",
        )


def check_sizes(columns: Mapping[str, FloatArray], known: Mapping[str, Column]) -> None:
    """Check that no value is larger than a platform reaches.

    Args:
        columns: column name -> values `(n,)` in SI units, without time.
        known: what each column measures.

    Raises:
        SampleError: says at which sample the fault is.
    """
    for name, values in columns.items():
        quantity = known[name].quantity
        row = int(np.abs(values).argmax())
        if np.abs(values[row]) > quantity.largest:
            others = ", ".join(unit for unit in quantity.factors if unit != quantity.si)
            raise SampleError(
                row,
                name,
                f"{values[row]:.6g} {quantity.si} is more than a platform reaches "
                f"({quantity.largest:.4g} {quantity.si}): wrong unit? Other units of "
                f"{quantity.name}: {others}",
            )
        if name == "az" and abs(abs(values.mean()) - STANDARD_GRAVITY) < 0.05 * STANDARD_GRAVITY:
            raise SampleError(
                0,
                name,
                f"its mean is {values.mean():.4g} m/s2: gravity is still in it; subtract it",
            )


def as_columns(
    time: Any, columns: Any, known: Mapping[str, Column]
) -> tuple[FloatArray, dict[str, FloatArray]]:
    """Return times `(n,)` and columns as finite arrays of the same length.

    Raises:
        InputError: unknown or missing column, an axis given twice, wrong shape, not finite.
    """
    times = as_floats(time, "time")
    if times.ndim != 1 or not times.size:
        raise InputError("time", f"must be a list (n,) [s], got shape {times.shape}")
    if not isinstance(columns, Mapping) or not columns:
        raise InputError(
            "columns", f"no axis is given; give at least one of {', '.join(list(known)[1:])}"
        )
    if np.abs(times).max() > LARGEST_SAMPLE:
        raise InputError("time", f"must not exceed {LARGEST_SAMPLE:g} s")
    result: dict[str, FloatArray] = {}
    for name, values in columns.items():
        if not isinstance(name, str) or name not in known or name == "time":
            raise InputError("columns", f"there is no column {name!r}; known: {', '.join(known)}")
        for other in result:
            if known[other].axis == known[name].axis:
                raise InputError(
                    name, f"axis {known[name].axis!r} is already given by {other!r}; leave one out"
                )
        result[name] = as_floats(values, name)
        if result[name].shape != times.shape:
            raise InputError(
                name, f"must hold one value per time {times.shape}, got {result[name].shape}"
            )
        if np.abs(result[name]).max() > LARGEST_SAMPLE:
            raise InputError(name, f"must not exceed {LARGEST_SAMPLE:g}")
    return times, result
