"""Numbers with a unit: a plain number is SI, a string such as "5.275 deg" is converted to SI."""

from __future__ import annotations

import math
import re
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, Strict

UNITS: dict[str, tuple[str, float]] = {
    "m": ("m", 1.0),
    "mm": ("m", 1e-3),
    "cm": ("m", 1e-2),
    "um": ("m", 1e-6),
    "in": ("m", 0.0254),
    "rad": ("rad", 1.0),
    "deg": ("rad", math.pi / 180.0),
    "kg": ("kg", 1.0),
    "g": ("kg", 1e-3),
    "lb": ("kg", 0.45359237),
    "kg m2": ("kg m2", 1.0),
    "kg cm2": ("kg m2", 1e-4),
    "kg mm2": ("kg m2", 1e-6),
    "g cm2": ("kg m2", 1e-7),
    "g mm2": ("kg m2", 1e-9),
    "kg/m3": ("kg/m3", 1.0),
    "g/cm3": ("kg/m3", 1e3),
    "N": ("N", 1.0),
    "kN": ("N", 1e3),
    "lbf": ("N", 4.4482216152605),
    "kgf": ("N", 9.80665),
    "m/s": ("m/s", 1.0),
    "mm/s": ("m/s", 1e-3),
    "m/s2": ("m/s2", 1.0),
    "mm/s2": ("m/s2", 1e-3),
    "rad/s": ("rad/s", 1.0),
    "deg/s": ("rad/s", math.pi / 180.0),
    "rpm": ("rad/s", math.pi / 30.0),
    "N m": ("N m", 1.0),
    "Nm": ("N m", 1.0),
    "kN m": ("N m", 1e3),
    "N mm": ("N m", 1e-3),
    "kgf cm": ("N m", 0.0980665),
    "lbf in": ("N m", 4.4482216152605 * 0.0254),
    "lbf ft": ("N m", 4.4482216152605 * 0.3048),
    "N/m": ("N/m", 1.0),
    "kN/m": ("N/m", 1e3),
    "MN/m": ("N/m", 1e6),
    "N/mm": ("N/m", 1e3),
    "N/um": ("N/m", 1e6),
    "N s/m": ("N s/m", 1.0),
    "Ns/m": ("N s/m", 1.0),
    "kN s/m": ("N s/m", 1e3),
    "N s/mm": ("N s/m", 1e3),
    "N m/rad": ("N m/rad", 1.0),
    "kN m/rad": ("N m/rad", 1e3),
    "N m s/rad": ("N m s/rad", 1.0),
    "N m/krpm": ("N m s/rad", 0.03 / math.pi),
    "Nm/krpm": ("N m s/rad", 0.03 / math.pi),
    "s": ("s", 1.0),
    "ms": ("s", 1e-3),
    "us": ("s", 1e-6),
    "Hz": ("Hz", 1.0),
    "kHz": ("Hz", 1e3),
    "1/s": ("1/s", 1.0),
    "1/s2": ("1/s2", 1.0),
    "W": ("W", 1.0),
    "kW": ("W", 1e3),
    "deg/h": ("rad/s", math.pi / 648000.0),
    "deg/s2": ("rad/s2", math.pi / 180.0),
    "rad/s2": ("rad/s2", 1.0),
}
"""Unit as written in a file -> (SI unit, factor); "kg*mm^2" and "kg mm²" are "kg mm2"."""

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

QUANTITY = re.compile(r"([-+]?[\d.,]+(?:[eE][-+]?\d+)?)\s*(.*)")
"""A number, decimal comma included so that it can be refused by name, and what follows it."""

LARGEST = 1e9
"""SI; beyond it products of a few numbers would leave the range in which float64 is exact."""


def to_si(value: Any, unit: str) -> float:
    """Return `value` in the SI `unit`.

    Args:
        value: a number in SI, or a string "number unit" with a unit of the same dimension.
        unit: the SI unit of the field.

    Raises:
        ValueError: not a number, unknown unit, wrong dimension, NaN or infinite.
    """
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise ValueError(f"must be a number [{unit}] or a string such as '1.5 {unit}'")
    factor = 1.0
    if isinstance(value, str):
        match = QUANTITY.fullmatch(value.strip())
        if match is None:
            raise ValueError(f"{value!r} is not a number with a unit, such as '1.5 {unit}'")
        number, given = match[1], " ".join(match[2].translate(SPELLINGS).split())
        fitting = [name for name, (si, _) in UNITS.items() if si == unit]
        if UNITS.get(given, ("", 0.0))[0] != unit:
            raise ValueError(
                f"{value!r} has no unit of the right kind; write the number with one of "
                f"{', '.join(fitting)}"
            )
        factor = UNITS[given][1]
        try:
            value = float(number)
        except ValueError:
            raise ValueError(f"{number!r} is not a number; the decimal sign is a point") from None
    try:
        result = float(value) * factor
    except OverflowError:
        raise ValueError("the number is too large") from None
    if not math.isfinite(result):
        raise ValueError("must be finite")
    if abs(result) > LARGEST:
        raise ValueError(f"{result:.3g} {unit} is beyond any machine; check the unit")
    return result


def in_si(unit: str) -> BeforeValidator:
    """Return the validator of a field measured in the SI `unit`."""
    return BeforeValidator(lambda value: to_si(value, unit))


def measured(unit: str) -> Any:
    """Return field metadata that names the SI `unit`."""
    return Field(json_schema_extra={"unit": unit})


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
