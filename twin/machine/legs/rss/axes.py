"""Axes of cranks in the base, and where cranks point at angle 0: in a word, or leg by leg."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import AfterValidator, BeforeValidator

from twin.basics.arrays import FloatArray
from twin.machine.legs.leg import LegPlace, check_size
from twin.machine.quantity import Direction

UP = np.array([0.0, 0.0, 1.0])

Given = str | Sequence[float] | Sequence[Sequence[float]]
"""A word, a direction, or one direction per leg."""


def _checked(words: tuple[str, ...]) -> BeforeValidator:
    def check(value: Any) -> Any:
        rows = value if isinstance(value, (list, tuple)) else ()
        one = len(rows) == 3 and not any(isinstance(entry, (list, tuple)) for entry in rows)
        many = rows and all(isinstance(row, (list, tuple)) and len(row) == 3 for row in rows)
        if value not in words and not one and not many:
            raise ValueError(
                f"must be {', '.join(map(repr, words))}, three numbers (a direction in the base), "
                "or a list of such directions, one per leg"
            )
        return value

    return BeforeValidator(check)


def _sized(value: Any) -> Any:
    for row in value if is_per_leg(value) else (value,):
        check_size(row)
    return value


def is_per_leg(value: Any) -> bool:
    """Return whether a list has one direction per leg."""
    return not isinstance(value, str) and isinstance(value[0], (list, tuple))


CrankAxis = Annotated[
    Literal["tangential", "radial"] | Direction | tuple[Direction, ...],
    _checked(("tangential", "radial")),
    AfterValidator(_sized),
]

CrankZero = Annotated[
    Literal["horizontal", "outward"] | Direction | tuple[Direction, ...],
    _checked(("horizontal", "outward")),
    AfterValidator(_sized),
]


def cross_product(left: FloatArray, right: FloatArray) -> FloatArray:
    """Return the cross product `(3,)` of two vectors; `np.cross` takes ten times as long."""
    a, b, c = left
    x, y, z = right
    return np.array([b * z - c * y, c * x - a * z, a * y - b * x])


def direction(given: Given, place: LegPlace, axis: FloatArray | None = None) -> FloatArray:
    """Return the direction `(3,)` of a word, of all legs or of one leg; not a unit vector.

    Args:
        given: "radial" and "outward": from the z axis through the base joint; "tangential": along
            the circle through it; "horizontal": perpendicular to the axis, so that a growing angle
            lifts the crank; or directions.
        place: of the leg.
        axis: `(3,)` of the crank, for "horizontal".
    """
    if not isinstance(given, str):
        row: Any = given[place.number - 1] if is_per_leg(given) else given
        return np.array(row, dtype=float)
    if given == "horizontal" and axis is not None:
        return cross_product(UP, axis)
    if given == "tangential":
        return cross_product(UP, place.base)
    return np.array([place.base[0], place.base[1], 0.0])
