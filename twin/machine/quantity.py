"""Numbers with a unit: a plain number is SI, a string such as "5.275 deg" is converted to SI."""

from __future__ import annotations

import math
import re
from typing import Annotated, Any, get_args, get_origin

from pydantic import BeforeValidator, Field, Strict
from pydantic.fields import FieldInfo

from twin.machine.units import KINDS, UNITS, factor

SPELLINGS = str.maketrans(
    {
        "²": "2",
        "³": "3",
        "^": "",
        "*": " ",
        "·": " ",
        "\N{MICRO SIGN}": "u",
        "\N{GREEK SMALL LETTER MU}": "u",
    }
)

HYPHEN = re.compile(r"-(?=[a-zA-Z])")
"""Between two units, as in "oz-in"; it stands for their product."""

QUANTITY = re.compile(r"([-+]?[\d.,]+(?:[eE][-+]?\d+)?)\s*(.*)")
"""A number, decimal comma included so that it can be refused by name, and what follows it."""

PACE = re.compile(r"([\d.,]+)\s*([a-zA-Z]+)\s*(?:/|\bper\b)\s*([\d.,]+)\s*([a-zA-Z°]+)")
"""The time that a turn takes, in which data sheets of RC servos give speeds: "0.17 s/60deg"."""

TIMES = {**UNITS["s"], "sec": 1.0}
TURNS = {**UNITS["rad"], "degree": UNITS["rad"]["deg"], "degrees": UNITS["rad"]["deg"]}
"""Units in which `PACE` is written [s], [rad]."""

TITLE = re.compile(r"(?P<name>[^\[\]]*?)\s*(\[\s*(?P<unit>[^\[\]]*?)\s*\])?")
"""Title of a table's column: its name, and its unit in brackets."""

LARGEST = 1e9
"""SI; beyond it products of a few numbers would leave the range in which float64 is exact."""


def is_number(text: str) -> bool:
    """Return whether a text is a number without a unit."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def to_si(value: Any, unit: str) -> float:
    """Return `value` in the SI `unit`.

    Args:
        value: a number in SI, or a string "number unit" with a unit of the same dimension; an
            angular speed also as the time of a turn, "0.17 s/60deg".
        unit: the SI unit of the field.

    Raises:
        ValueError: not a number, unknown unit, wrong dimension, NaN or infinite.
    """
    if type(value) is float and -LARGEST <= value <= LARGEST:  # most numbers, checked again
        return value
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise ValueError(f"must be a number [{unit}] or a string such as '1.5 {unit}'")
    scale = 1.0
    pace = _angular_speed(value)
    if pace is not None:
        if unit != "rad/s":
            raise ValueError(f"{value!r} has a unit of angular speed, not of {KINDS[unit]}")
        value = pace
    elif isinstance(value, str):
        match = QUANTITY.fullmatch(value.strip())
        if match is None:
            raise ValueError(f"{value!r} is not a number with a unit, such as '1.5 {unit}'")
        number, given = match[1], " ".join(HYPHEN.sub(" ", match[2].translate(SPELLINGS)).split())
        try:
            scale = factor(given, unit)
        except ValueError as error:
            raise ValueError(f"{value!r} has {error}") from None
        try:
            value = float(number)
        except ValueError:
            raise ValueError(f"{number!r} is not a number; the decimal sign is a point") from None
    try:
        result = float(value) * scale
    except OverflowError:
        raise ValueError("the number is too large") from None
    if not math.isfinite(result):
        raise ValueError("must be finite")
    if abs(result) > LARGEST:
        raise ValueError(f"{result:.3g} {unit} is beyond any machine; check the unit")
    return result


def _angular_speed(value: Any) -> float | None:
    """Return the speed [rad/s] of a text such as "0.17 s/60deg"; None for anything else."""
    match = PACE.fullmatch(value.strip()) if isinstance(value, str) else None
    if match is None or match[2] not in TIMES or match[4] not in TURNS:
        return None
    try:
        time, turn = float(match[1]), float(match[3])
    except ValueError:
        raise ValueError(f"{value!r} has no two numbers; the decimal sign is a point") from None
    if not (time > 0.0 and turn > 0.0):
        raise ValueError(f"{value!r} must have a time and an angle above zero")
    return turn * TURNS[match[4]] / (time * TIMES[match[2]])


def in_si(unit: str) -> BeforeValidator:
    """Return the validator of a field measured in the SI `unit`."""
    return BeforeValidator(lambda value: to_si(value, unit))


def measured(unit: str) -> Any:
    """Return field metadata that names the SI `unit`."""
    return Field(json_schema_extra={"unit": unit})


def field_unit(annotation: Any) -> str:
    """Return the SI unit that a field or a type inside its annotation carries; empty for none."""
    if isinstance(annotation, FieldInfo):
        extra = annotation.json_schema_extra
        if isinstance(extra, dict) and "unit" in extra:
            return str(extra["unit"])
        inner: tuple[Any, ...] = (annotation.annotation,)
    else:
        inner = get_args(annotation)
        if get_origin(annotation) is Annotated:
            inner = (inner[0], *(entry for entry in inner[1:] if isinstance(entry, FieldInfo)))
    return next((unit for unit in map(field_unit, inner) if unit), "")


Length = Annotated[float, in_si("m"), measured("m")]
Angle = Annotated[float, in_si("rad"), measured("rad")]
Mass = Annotated[float, in_si("kg"), measured("kg")]
Density = Annotated[float, in_si("kg/m3"), measured("kg/m3")]
Inertia = Annotated[float, in_si("kg m2"), measured("kg m2")]
Force = Annotated[float, in_si("N"), measured("N")]
Speed = Annotated[float, in_si("m/s"), measured("m/s")]
Acceleration = Annotated[float, in_si("m/s2"), measured("m/s2")]
AngularSpeed = Annotated[float, in_si("rad/s"), measured("rad/s")]
AngularAcceleration = Annotated[float, in_si("rad/s2"), measured("rad/s2")]
Torque = Annotated[float, in_si("N m"), measured("N m")]
Power = Annotated[float, in_si("W"), measured("W")]
Stiffness = Annotated[float, in_si("N/m"), measured("N/m")]
Damping = Annotated[float, in_si("N s/m"), measured("N s/m")]
RotaryStiffness = Annotated[float, in_si("N m/rad"), measured("N m/rad")]
RotaryDamping = Annotated[float, in_si("N m s/rad"), measured("N m s/rad")]
Time = Annotated[float, in_si("s"), measured("s")]
Frequency = Annotated[float, in_si("Hz"), measured("Hz")]
Rate = Annotated[float, in_si("1/s"), measured("1/s")]
RateSquared = Annotated[float, in_si("1/s2"), measured("1/s2")]
Point = tuple[Length, Length, Length]
Number = Annotated[float, Strict()]
Whole = Annotated[int, Strict()]
Direction = tuple[Number, Number, Number]
