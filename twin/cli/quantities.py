"""Options that are quantities: a plain number is SI, "3 deg", "20 mm" or "500 ms" is converted."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import typer

from twin.errors import InputError, brief

if TYPE_CHECKING:
    from twin.analysis.platform import Platform
    from twin.basics.arrays import FloatArray

MAX_UNITS_SHOWN = 3
"""Maximum number of units of each kind in a message."""

NUMBERED_AXES = ("x", "y", "z")
ANGLE_NAMES = ("yaw", "pitch", "roll")


class Measured(float):
    """A number in SI that knows the SI unit with which it was written; empty for none."""

    unit: str = ""


def quantity(text: Any, field: str, *units: str) -> Measured:
    """Return the SI number of a text such as "20 mm"; a plain number is SI.

    Args:
        text: the number with or without its unit.
        field: name of the option, for the message.
        units: SI units it may have.

    Raises:
        InputError: not a number, not finite, or a unit of another kind; the message lists units.
    """
    from twin.machine.quantity import UNITS, to_si

    number, problem = _number(text), f"must be a plain number, not {brief(text)}"
    for unit in units if number is not None else UNITS.keys() & units:
        try:
            measured = Measured(to_si(text if number is None else number, unit))
        except ValueError as error:
            problem = str(error)
            continue
        measured.unit = "" if number is not None else unit
        return measured
    if len(units) > 1 and number is None:
        unit_list = ", ".join(", ".join([*UNITS[unit]][:MAX_UNITS_SHOWN]) for unit in units)
        problem = f"{brief(text)} is no number with one of the units {unit_list}"
    raise InputError(field, problem)


def quantities(text: str | None, field: str, *units: str) -> list[float] | None:
    """Return the SI numbers of a text such as "20 mm,5 mm,0"; None for None.

    Args:
        text: numbers separated by commas.
        field: name of the option, for the message.
        units: SI units, one per number; the last is that of all that follow.

    Raises:
        InputError: a part is no such quantity.
    """
    if text is None:
        return None
    parts = text.split(",")
    part_units = [units[min(k, len(units) - 1)] for k in range(len(parts))]
    return [
        quantity(part.strip(), field, unit) for part, unit in zip(parts, part_units, strict=True)
    ]


def in_unit(value: float | None, field: str, unit: str, of: str) -> float | None:
    """Return a quantity that was read with several units, where it fits what it is used for.

    Args:
        value: as `quantity` returns it, or a number.
        field: name of the option, for the message.
        unit: SI unit that it must have, if any was written.
        of: description of its use, for the message.

    Raises:
        InputError: another unit.
    """
    given_unit = getattr(value, "unit", "")
    if given_unit and given_unit != unit:
        raise InputError(field, f"has a unit of {given_unit}, but {of} is in {unit}")
    return value


def quantity_option(text: str, field: str, *units: str) -> Any:
    """Return an option that is a quantity in one of some SI units, with its help text."""
    return typer.Option(help=text, metavar="QUANTITY", parser=_parser(field, units))


def _parser(field: str, units: tuple[str, ...]) -> Callable[[Any], Any]:
    """Return the parser of an option's value, whose errors name the option."""

    def parse(value: Any) -> Any:
        try:
            return None if value is None else quantity(value, field, *units)
        except InputError as error:
            raise typer.BadParameter(error.message, param_hint=field) from None

    return parse


def pose_of(platform: Platform, text: str | None, field: str = "pose") -> FloatArray | None:
    """Return the pose `(7,)` of a text; None for None.

    Either seven numbers, position and unit quaternion; or up to three coordinates of the position
    and names with values, such as "0,0,900 mm,pitch=3 deg" or "z=0.9,yaw=5 deg". What is left out
    is as at home; angles are yaw, pitch and roll of the platform in the base frame.

    Raises:
        InputError: no such text.
        UnreachablePoseError: as `Platform.constrain`.
    """
    import numpy as np

    from twin.rotations import angles_from_quaternion, pose_from_angles

    if text is None:
        return None
    parts = [part.strip() for part in text.split(",")]
    if len(parts) == 7 and "=" not in text:
        return np.array(quantities(text, field, "m", "m", "m", ""))
    angles = angles_from_quaternion(platform.home[3:])
    values = dict(zip((*NUMBERED_AXES, *ANGLE_NAMES), (*platform.home[:3], *angles), strict=True))
    for k, part in enumerate(parts):
        name, equal_sign, value = part.partition("=")
        if not equal_sign:
            name, value = (NUMBERED_AXES[k] if k < len(NUMBERED_AXES) else "", part)
        name = name.strip()
        if name not in values:
            form = "7 numbers, or x, y, z and names such as pitch=3 deg"
            raise InputError(field, f"must be {form}, not {brief(text)}")
        values[name] = quantity(value.strip(), field, "m" if name in NUMBERED_AXES else "rad")
    pose = pose_from_angles(
        [values[name] for name in NUMBERED_AXES], [values[name] for name in ANGLE_NAMES]
    )
    return np.asarray(platform.constrain(pose).pose)


def _number(text: Any) -> float | None:
    try:
        return float(text)
    except (TypeError, ValueError):
        return None
