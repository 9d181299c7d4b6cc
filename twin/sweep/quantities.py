"""Values of a sweep with units, in SI: "3 deg", or "0:4 ms:5"."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from twin.errors import InputError
from twin.machine.file.read import read_parameters
from twin.machine.machine import parameters_path
from twin.machine.quantity import is_number, to_si
from twin.machine.randomisation.sampler import unit_at

MOTION_UNITS = {"frequency": "Hz", "duration": "s"}
LENGTH_AXES = ("x", "y", "z")


def in_si(content: dict[str, Any]) -> dict[str, Any]:
    """Return the content of a sweep whose parameters are plain numbers.

    Raises:
        ValueError: a unit of another kind than its parameter, or a parameter without units.
        InputError: no machine of that name, or one without that parameter.
    """
    parameters = content.get("parameters")
    if not isinstance(parameters, dict):
        return content
    found = {
        path: _converted(values, partial(_number, content, str(path)))
        for path, values in parameters.items()
    }
    return content | {"parameters": found}


def _converted(values: Any, convert: Callable[[str], Any]) -> Any:
    """Return values with every text that is no number converted."""
    if isinstance(values, str):
        first, *more = values.split(":")
        if not more:
            return ",".join(str(convert(part)) for part in values.split(","))
        ends = [str(convert(part)) for part in (first, more[0])]
        return ":".join([*ends, *more[1:]])
    if isinstance(values, dict):
        inside = {name: values[name] for name in ("start", "stop") if name in values}
        return values | {name: _converted(value, convert) for name, value in inside.items()}
    if isinstance(values, (list, tuple)):
        return [convert(value) if isinstance(value, str) else value for value in values]
    return values


def _number(content: dict[str, Any], path: str, text: str) -> Any:
    """Return a text as it is where it is a plain number or none at all, else its number in SI."""
    word = text.strip()
    if word[:1] not in "+-.0123456789" or not word or is_number(word):
        return text
    unit = _unit(content, path)
    if not unit:
        raise ValueError(f"{path}: {word!r} has a unit, but this is a plain number")
    try:
        return to_si(word, unit)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def _unit(content: dict[str, Any], path: str) -> str:
    """Return the SI unit of a parameter; empty for those of controllers, which have none."""
    table, _, field = path.partition(".")
    if table == "controller":
        return ""
    if table == "motion":
        motion = content.get("motion")
        axis = motion.get("axis", "z") if isinstance(motion, dict) else "z"
        tank = isinstance(motion, dict) and motion.get("name") == "tank"
        return MOTION_UNITS.get(field, "m" if axis in LENGTH_AXES and not tank else "rad")
    return _machine_unit(content, path)


def _machine_unit(content: dict[str, Any], path: str) -> str:
    """Return the SI unit of a number of the machine in the first configuration that has it."""
    names = content.get("configurations", "")
    file = parameters_path(content.get("machine", ""))
    for name in names if isinstance(names, (list, tuple)) and names else (names,):
        try:
            return unit_at(read_parameters(file, name or None), path)
        except InputError as error:
            missing = error
    raise missing
