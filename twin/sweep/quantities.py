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
    """Return the content of a sweep with its parameters converted to plain numbers.

    Raises:
        ValueError: a unit of another kind than its parameter, or a parameter without units.
        InputError: no machine of that name, or one without that parameter.
    """
    parameters = content.get("parameters")
    if not isinstance(parameters, dict):
        return content
    converted = {
        path: _converted(values, partial(_number, content, str(path)))
        for path, values in parameters.items()
    }
    return content | {"parameters": converted}


def _converted(values: Any, convert: Callable[[str], Any]) -> Any:
    """Return values in which every text that is no number is converted."""
    if isinstance(values, str):
        start_text, *other_texts = values.split(":")
        if not other_texts:
            return ",".join(str(convert(value_text)) for value_text in values.split(","))
        converted_ends = [str(convert(value_text)) for value_text in (start_text, other_texts[0])]
        return ":".join([*converted_ends, *other_texts[1:]])
    if isinstance(values, dict):
        bounds = {name: values[name] for name in ("start", "stop") if name in values}
        return values | {name: _converted(value, convert) for name, value in bounds.items()}
    if isinstance(values, (list, tuple)):
        return [convert(value) if isinstance(value, str) else value for value in values]
    return values


def _number(content: dict[str, Any], path: str, text: str) -> Any:
    """Return the number in SI for a text with a unit; other texts stay as they are."""
    stripped = text.strip()
    if stripped[:1] not in "+-.0123456789" or not stripped or is_number(stripped):
        return text
    unit = _unit(content, path)
    if not unit:
        raise ValueError(f"{path}: {stripped!r} has a unit, but this is a plain number")
    try:
        return to_si(stripped, unit)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def _unit(content: dict[str, Any], path: str) -> str:
    """Return the SI unit of a parameter; empty for those of controllers, which have none."""
    first_word, _, field_name = path.partition(".")
    if first_word == "controller":
        return ""
    if first_word == "motion":
        motion = content.get("motion")
        axis = motion.get("axis", "z") if isinstance(motion, dict) else "z"
        is_tank = isinstance(motion, dict) and motion.get("name") == "tank"
        return MOTION_UNITS.get(field_name, "m" if axis in LENGTH_AXES and not is_tank else "rad")
    return _machine_unit(content, path)


def _machine_unit(content: dict[str, Any], path: str) -> str:
    """Return the SI unit of a number of the machine in the first configuration that has it."""
    configurations = content.get("configurations", "")
    file = parameters_path(content.get("machine", ""))
    for name in (
        configurations
        if isinstance(configurations, (list, tuple)) and configurations
        else (configurations,)
    ):
        try:
            return unit_at(read_parameters(file, name or None), path)
        except InputError as error:
            last_error = error
    raise last_error
