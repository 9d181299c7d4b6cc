"""The axes of a motion by name, x, y, z and angles, and bounds of the numbers that describe it.

Within the bounds no result can overflow.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, as_floats
from twin.errors import InputError, brief
from twin.rotations import convention

POSITIONS = ("x", "y", "z")

SHORTEST_TIME = 1e-6
"""[s] Below the step of any engine."""

LONGEST_TIME = 1e6
"""[s] Above eleven days."""

LARGEST_FREQUENCY = 1e4
"""[Hz] Above what any platform of this kind can follow."""

LARGEST_AMPLITUDE = 1e6
"""[m] or [rad] Keeps amplitude times frequency squared finite."""

LARGEST_SAMPLE = 1e30
"""Of recorded columns in any unit; keeps sums, integrals and conversions finite."""


class AxisSample(NamedTuple):
    """Axes of a motion at given times, one column per axis in the order of `axis_names`."""

    values: FloatArray
    """`(..., k)` displacement from the centre [m], angles [rad]"""
    rates: FloatArray
    """`(..., k)` first time derivatives"""
    accelerations: FloatArray
    """`(..., k)` second time derivatives"""


def axis_names(name: str = "yaw_pitch_roll") -> tuple[str, ...]:
    """Return the names of the axes: x, y, z, then the angles of the convention.

    Angles that a convention calls x, y or z are called angle_x, angle_y, angle_z.

    Raises:
        InputError: unknown convention.
    """
    angles = convention(name).angles
    return POSITIONS + tuple(f"angle_{a}" if a in POSITIONS else a for a in angles)


def known_axis(axis: Any, field: str, name: str) -> int:
    """Return the column of an axis; raises InputError listing the axes of the convention."""
    names = axis_names(name)
    if not isinstance(axis, str) or axis not in names:
        raise InputError(field, f"there is no axis {axis!r}; the axes are {', '.join(names)}")
    return names.index(axis)


def axis_values(value: Any, field: str, name: str, *, one_for_all: bool = False) -> FloatArray:
    """Return one number per axis.

    Args:
        value: a mapping from axis names to numbers (axes left out are zero), or a vector with one
            number per axis of the convention.
        field: name of the argument, for the message.
        name: the angle convention.
        one_for_all: whether a single number is taken for every axis.

    Raises:
        InputError: unknown axis, wrong size, not finite or too large.
    """
    names = axis_names(name)
    if isinstance(value, Mapping):
        result = np.zeros(len(names))
        for axis, entry in value.items():
            column = known_axis(axis, field, name)
            number = as_floats(entry, f"{field}[{axis!r}]")
            if number.ndim:
                raise InputError(f"{field}[{axis!r}]", f"must be one number, got {brief(entry)}")
            result[column] = number
    else:
        array = as_floats(value, field)
        if array.ndim == 0 and one_for_all:
            array = np.full(len(names), float(array))
        if array.shape != (len(names),):
            raise InputError(
                field,
                f"must map axis names to numbers, such as {{{names[-1]!r}: 0.05}}, or hold one "
                f"number for each of {', '.join(names)}",
            )
        result = array.copy()
    if np.abs(result).max() > LARGEST_AMPLITUDE:
        raise InputError(field, f"must not exceed {LARGEST_AMPLITUDE:g}, got {brief(value)}")
    return result
