"""Quantities with units in machine files, and tables of them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from typing import Annotated, Any, get_args, get_origin

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    Strict,
    ValidationInfo,
    field_validator,
)
from pydantic.fields import FieldInfo
from pydantic_core import PydanticCustomError

from twin.basics.toml import CONTROL_CHARACTERS

STANDARD_GRAVITY = 9.80665
"""[m/s2] Standard gravity, which turns masses into weights."""

UNIT_QUANTITIES = {
    "m": "length", "rad": "angle", "kg": "mass", "kg m2": "moment of inertia", "W": "power",
    "kg/m3": "density", "N": "force", "N m": "torque", "s": "time", "Hz": "frequency",
    "m/s": "speed", "rad/s": "angular speed", "m/s2": "acceleration", "N/m": "stiffness",
    "rad/s2": "angular acceleration", "N s/m": "damping", "1/s": "rate", "1/s2": "rate squared",
    "N m/rad": "rotary stiffness", "N m s/rad": "rotary damping",
    "A": "current", "N/A": "force per current", "N m/A": "torque per current",
    "degC": "temperature",
}  # fmt: skip
"""Name of the quantity of every SI unit."""

MAX_UNITS_LISTED = 8
"""Maximum number of units that an error lists."""

UNIT_SPELLINGS = str.maketrans(
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

HYPHEN_PATTERN = re.compile(r"-(?=[a-zA-Z])")
"""A hyphen between two units, as in "oz-in"; it stands for their product."""

QUANTITY_PATTERN = re.compile(r"([-+]?[\d.,]+(?:[eE][-+]?\d+)?)\s*(.*)")
"""A number and the unit after it; it accepts a decimal comma, so that the error can name it."""

SERVO_SPEED_PATTERN = re.compile(
    r"([\d.,]+)\s*([a-zA-Z]+)\s*(?:/|\bper\b)\s*([\d.,]+)\s*([a-zA-Z°]+)"
)
"""Speed of an RC servo as data sheets give it, the time of a turn: "0.17 s/60deg"."""

TITLE_PATTERN = re.compile(r"(?P<name>[^\[\]]*?)\s*(\[\s*(?P<unit>[^\[\]]*?)\s*\])?")
"""Title of a table's column: its name, and its unit in brackets."""

MAX_MAGNITUDE = 1e9
"""Largest magnitude in SI units; beyond it products of a few numbers would leave the range in which
float64 is exact.
"""

KIND_FIELDS = ("kind", "layout")
"""Fields that decide which other fields a table has."""


DEGREE = math.pi / 180.0
"""[rad] One degree."""

INCH = 0.0254
"""[m] One inch."""

FOOT = 0.3048
"""[m] One foot."""

POUND = 0.45359237
"""[kg] One pound."""

OUNCE = 0.028349523125
"""[kg] One ounce."""

POUND_FORCE = POUND * STANDARD_GRAVITY
"""[N] Weight of one pound."""

OUNCE_FORCE = OUNCE * STANDARD_GRAVITY
"""[N] Weight of one ounce."""

UNITS: dict[str, dict[str, float]] = {
    "m": {
        "m": 1.0, "mm": 1e-3, "cm": 1e-2, "um": 1e-6, "nm": 1e-9,
        "in": INCH, "inch": INCH, "mil": 1e-3 * INCH, "ft": FOOT,
    },
    "rad": {
        "rad": 1.0, "mrad": 1e-3, "urad": 1e-6, "deg": DEGREE, "°": DEGREE, "rev": 360 * DEGREE,
        "arcmin": DEGREE / 60, "arcsec": DEGREE / 3600,
    },
    "kg": {"kg": 1.0, "g": 1e-3, "t": 1e3, "lb": POUND, "lbm": POUND, "oz": OUNCE},
    "kg m2": {
        "kg m2": 1.0, "kg cm2": 1e-4, "kg mm2": 1e-6, "g cm2": 1e-7, "g mm2": 1e-9,
        "lb in2": POUND * INCH**2, "lb ft2": POUND * FOOT**2, "oz in2": OUNCE * INCH**2,
        "lbf in s2": POUND_FORCE * INCH, "lbf ft s2": POUND_FORCE * FOOT,
        "ozf in s2": OUNCE_FORCE * INCH,
    },
    "kg/m3": {"kg/m3": 1.0, "g/cm3": 1e3, "kg/dm3": 1e3, "lb/in3": POUND / INCH**3},
    "N": {
        "N": 1.0, "kN": 1e3, "mN": 1e-3, "lbf": POUND_FORCE, "ozf": OUNCE_FORCE,
        "kgf": STANDARD_GRAVITY, "gf": 1e-3 * STANDARD_GRAVITY,
    },
    "m/s": {
        "m/s": 1.0, "mm/s": 1e-3, "cm/s": 1e-2, "um/s": 1e-6, "m/min": 1 / 60,
        "mm/min": 1e-3 / 60, "in/s": INCH, "in/min": INCH / 60, "ft/s": FOOT,
    },
    "m/s2": {
        "m/s2": 1.0, "mm/s2": 1e-3, "cm/s2": 1e-2,
        "g": STANDARD_GRAVITY, "mg": 1e-3 * STANDARD_GRAVITY,
        "in/s2": INCH, "ft/s2": FOOT,
    },
    "rad/s": {
        "rad/s": 1.0, "mrad/s": 1e-3, "deg/s": DEGREE, "°/s": DEGREE, "deg/h": DEGREE / 3600,
        "rpm": math.pi / 30.0, "rev/s": 2 * math.pi,
    },
    "rad/s2": {"rad/s2": 1.0, "deg/s2": DEGREE, "°/s2": DEGREE},
    "N m": {
        "N m": 1.0, "Nm": 1.0, "kN m": 1e3, "N cm": 1e-2, "Ncm": 1e-2, "N mm": 1e-3,
        "Nmm": 1e-3, "mN m": 1e-3, "mNm": 1e-3,
        "kgf m": STANDARD_GRAVITY, "kgf cm": 1e-2 * STANDARD_GRAVITY,
        "gf cm": 1e-5 * STANDARD_GRAVITY,
        "kg cm": 1e-2 * STANDARD_GRAVITY, "g cm": 1e-5 * STANDARD_GRAVITY,
        "lbf in": POUND_FORCE * INCH, "lbf ft": POUND_FORCE * FOOT,
        "lb in": POUND_FORCE * INCH, "lb ft": POUND_FORCE * FOOT,
        "ozf in": OUNCE_FORCE * INCH, "oz in": OUNCE_FORCE * INCH,
    },
    "W": {"W": 1.0, "kW": 1e3, "mW": 1e-3, "hp": 550 * POUND_FORCE * FOOT},
    "N/m": {
        "N/m": 1.0, "kN/m": 1e3, "MN/m": 1e6, "N/mm": 1e3, "N/um": 1e6,
        "lbf/in": POUND_FORCE / INCH, "lbf/ft": POUND_FORCE / FOOT,
    },
    "N s/m": {
        "N s/m": 1.0, "Ns/m": 1.0, "kN s/m": 1e3, "N s/mm": 1e3,
        "lbf s/in": POUND_FORCE / INCH,
    },
    "N m/rad": {
        "N m/rad": 1.0, "Nm/rad": 1.0, "kN m/rad": 1e3, "N m/deg": 1 / DEGREE,
        "lbf in/rad": POUND_FORCE * INCH,
    },
    "N m s/rad": {
        "N m s/rad": 1.0, "N m/krpm": 0.03 / math.pi, "Nm/krpm": 0.03 / math.pi,
    },
    "s": {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "min": 60.0},
    "Hz": {"Hz": 1.0, "kHz": 1e3},
    "1/s": {"1/s": 1.0},
    "1/s2": {"1/s2": 1.0},
    "A": {"A": 1.0, "mA": 1e-3},
    "N/A": {"N/A": 1.0, "kN/A": 1e3},
    "N m/A": {"N m/A": 1.0, "Nm/A": 1.0, "mN m/A": 1e-3, "mNm/A": 1e-3},
    "degC": {"degC": 1.0},
}  # fmt: skip
"""SI unit -> the units of its kind as they are written, with their factors.

Exact by definition: inch, pound, standard gravity. "kg*mm^2", "kg-mm2" and "kg mm²" are "kg mm2".
Hobby servos print torques as "kg cm" and "oz in": there they are weights.
"""


def factor(given: str, unit: str) -> float:
    """Return what one `given` unit is in the SI `unit`.

    Raises:
        ValueError: the unit is none of its kind; says which are, the nearest first.
    """
    known_units = UNITS[unit]
    if given in known_units:
        return known_units[given]
    unit_kinds = [UNIT_QUANTITIES[si] for si, names in UNITS.items() if given in names]
    close_units = get_close_matches(given, known_units, 3, cutoff=0.5)
    listed = [*close_units, *(name for name in known_units if name not in close_units)][
        :MAX_UNITS_LISTED
    ]
    mismatch = f"{given!r} is no unit of {UNIT_QUANTITIES[unit]}: " if given else ""
    if unit_kinds:
        mismatch = f"{given!r} is a unit of {unit_kinds[0]}, not of {UNIT_QUANTITIES[unit]}: "
    raise ValueError(
        f"no unit of the right kind; {mismatch}write the number with one of "
        f"{', '.join(listed)}{', ...' if len(known_units) > len(listed) else ''}"
    )


TIME_UNITS = {**UNITS["s"], "sec": 1.0}
"""[s] Units of time in which speeds of servos are written."""

TURN_UNITS = {**UNITS["rad"], "degree": UNITS["rad"]["deg"], "degrees": UNITS["rad"]["deg"]}
"""[rad] Units of angle in which speeds of servos are written."""


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
        ValueError: not a number, unknown unit, wrong dimension, NaN, or beyond `MAX_MAGNITUDE`.
    """
    # Short way for numbers in SI, such as those of a table that is validated a second time.
    if type(value) is float and -MAX_MAGNITUDE <= value <= MAX_MAGNITUDE:
        return value
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise ValueError(f"must be a number [{unit}] or a string such as '1.5 {unit}'")
    unit_factor = 1.0
    angular_speed = _angular_speed(value)
    if angular_speed is not None:
        if unit != "rad/s":
            raise ValueError(
                f"{value!r} has a unit of angular speed, not of {UNIT_QUANTITIES[unit]}"
            )
        value = angular_speed
    elif isinstance(value, str):
        match = QUANTITY_PATTERN.fullmatch(value.strip())
        if match is None:
            raise ValueError(f"{value!r} is not a number with a unit, such as '1.5 {unit}'")
        number = match[1]
        given_unit = HYPHEN_PATTERN.sub(" ", match[2].translate(UNIT_SPELLINGS))
        try:
            unit_factor = factor(" ".join(given_unit.split()), unit)
        except ValueError as error:
            raise ValueError(f"{value!r} has {error}") from None
        try:
            value = float(number)
        except ValueError:
            raise ValueError(f"{number!r} is not a number; the decimal sign is a point") from None
    try:
        result = float(value) * unit_factor
    except OverflowError:
        raise ValueError("the number is too large") from None
    if not math.isfinite(result):
        raise ValueError("must be finite")
    if abs(result) > MAX_MAGNITUDE:
        raise ValueError(f"{result:.3g} {unit} is beyond any machine; check the unit")
    return result


def _angular_speed(value: Any) -> float | None:
    """Return the speed [rad/s] of a text such as "0.17 s/60deg"; None for anything else."""
    match = SERVO_SPEED_PATTERN.fullmatch(value.strip()) if isinstance(value, str) else None
    if match is None or match[2] not in TIME_UNITS or match[4] not in TURN_UNITS:
        return None
    try:
        time, turn_angle = float(match[1]), float(match[3])
    except ValueError:
        raise ValueError(f"{value!r} has no two numbers; the decimal sign is a point") from None
    if not (time > 0.0 and turn_angle > 0.0):
        raise ValueError(f"{value!r} must have a time and an angle above zero")
    return turn_angle * TURN_UNITS[match[4]] / (time * TIME_UNITS[match[2]])


def in_si(unit: str) -> BeforeValidator:
    """Return the validator of a field measured in the SI `unit`."""
    return BeforeValidator(lambda value: to_si(value, unit))


def measured(unit: str) -> Any:
    """Return field metadata that names the SI `unit`."""
    return Field(json_schema_extra={"unit": unit})


def field_unit(annotation: Any) -> str:
    """Return the SI unit that a field or a type inside its annotation carries; empty for none."""
    if isinstance(annotation, FieldInfo):
        schema_extra = annotation.json_schema_extra
        if isinstance(schema_extra, dict) and "unit" in schema_extra:
            return str(schema_extra["unit"])
        annotation_parts: tuple[Any, ...] = (annotation.annotation,)
    else:
        annotation_parts = get_args(annotation)
        if get_origin(annotation) is Annotated:
            annotation_parts = (
                annotation_parts[0],
                *(entry for entry in annotation_parts[1:] if isinstance(entry, FieldInfo)),
            )
    return next((unit for unit in map(field_unit, annotation_parts) if unit), "")


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


class Table(BaseModel):
    """A table whose numbers come from one stated source."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        allow_inf_nan=False,
        str_strip_whitespace=True,
        defer_build=True,
    )

    source: str = Field(min_length=1, description="Where the numbers of this table are from")

    @field_validator("source", "title", check_fields=False)
    @classmethod
    def _has_no_control_characters(cls, value: str, info: ValidationInfo) -> str:
        if CONTROL_CHARACTERS.search(value) or (
            info.field_name == "title" and len(value.splitlines()) > 1
        ):
            lines = " and ends of lines" if info.field_name == "title" else ""
            raise ValueError(f"has control characters; remove them{lines}")
        return value

    @property
    def derived(self) -> frozenset[str]:
        """Names of fields that follow from other fields of the file, and so cannot be varied."""
        return frozenset()


def problem(field: str, message: str) -> PydanticCustomError:
    """Return the error of a check of several fields; the reader of the file shows its `field`."""
    return PydanticCustomError("machine", "{message}", {"message": message, "field": field})


def field_names(table: type[Table], path: Sequence[str]) -> set[str]:
    """Return the names of the fields that may be in the table at `path` inside `table`.

    The path may hold the tag (kind or layout) of a member of a union after the union's field.
    """
    return {name for member in _members(table, path) for name in member.model_fields}


def tag_names(table: type[Table], path: Sequence[str]) -> list[str]:
    """Return the tags of the members of the union at `path` inside `table`."""
    return [tag for member in _members(table, path) for tag in sorted(_tags(member))]


def _members(table: type[Table], path: Sequence[str]) -> list[type[Table]]:
    """Return the tables that a path through the models can lead to."""
    tables = [table]
    for part in path:
        fields = [parent.model_fields[part] for parent in tables if part in parent.model_fields]
        if fields:
            tables = [inner for field in fields for inner in tables_in(field.annotation)]
        else:
            tables = [inner for inner in tables if part in _tags(inner)]
    return tables


def _tags(table: type[Table]) -> set[str]:
    fields = table.model_fields
    return {fields[name].default for name in ("kind", "layout") if name in fields}


def tables_in(annotation: Any) -> Iterator[type[Table]]:
    """Yield the classes of the tables that a field's annotation names."""
    if isinstance(annotation, type) and issubclass(annotation, Table):
        yield annotation
    for argument in get_args(annotation):
        yield from tables_in(argument)


def merged(table: dict[str, Any], change: dict[str, Any], source: Any) -> dict[str, Any]:
    """Return `table` with the entries of `change` in place of its own, table by table.

    A table whose kind or layout changes is replaced as a whole. Tables with a new entry take
    `source` as theirs unless the change states one, or there is none.
    """
    result = dict(table)
    for key, value in change.items():
        old_value = table.get(key)
        if (
            isinstance(value, dict)
            and isinstance(old_value, dict)
            and not _another(old_value, value)
        ):
            result[key] = merged(old_value, value, source)
        else:
            result[key] = _with_source(value, source)
    plain_fields = [key for key, value in change.items() if not isinstance(value, dict)]
    if plain_fields and "source" not in plain_fields and source is not None:
        result["source"] = source
    return result


def _another(table: dict[str, Any], change: dict[str, Any]) -> bool:
    return any(tag in change and change[tag] != table.get(tag) for tag in KIND_FIELDS)


def _with_source(value: Any, source: Any) -> Any:
    if not isinstance(value, dict) or source is None:
        return value
    return {"source": source} | {key: _with_source(entry, source) for key, entry in value.items()}
