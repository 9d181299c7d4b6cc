"""Dotted paths to the numbers of a platform.toml: which there are, and a machine with others."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from numbers import Real
from typing import Any

from twin.basics.arrays import as_instance
from twin.errors import InputError, ParameterError, brief
from twin.machine.legs.leg import Leg
from twin.machine.machine import MachineParameters
from twin.machine.randomisation.rebuild import machine_with
from twin.machine.randomisation.tables import Keys, leaf, leaves, unit_of, unset

__all__ = ["nominal_value", "nominal_values", "numeric_paths", "resolved", "unit_at", "with_values"]

Places = dict[str, dict[int, tuple[Keys, Any]]]
"""Path -> by leg (from 1; 0 for what is no leg's), the keys and the number there."""

SHOWN = 5
"""Most paths that an error lists."""

LONGEST_NUMBER = 9
"""Digits of a leg's number."""

DRIVES = ("screw", "direct", "gear")
"""Kinds of drives, which are in the paths of problems."""


def numeric_paths(parameters: MachineParameters) -> tuple[str, ...]:
    """Return the path of every number of a machine that `with_values` can change.

    A path is written as in platform.toml: the tables, the field, and the entry (from 0) of a list,
    joined by dots: `"gravity"`, `"platform.body.mass"`, `"home.position.2"`. Of an inertia tensor
    only entries on and above the diagonal are listed; one above is that of both. Below
    `"leg."` is what all legs have, or those legs that have such a number; below `"leg.3."` that of
    leg 3 (from 1) alone. Values are in SI. Fields that the file leaves out have no path.
    """
    # Dictionaries keep the order, and each path once.
    whole = {name: None for name in leaves(parameters) if not name.startswith("leg.")}
    single: dict[str, None] = {}
    for number, leg in enumerate(parameters.legs, start=1):
        for name in leaves(leg):
            whole[f"leg.{name}"] = None
            single[f"leg.{number}.{name}"] = None
    return (*whole, *single)


def nominal_values(parameters: MachineParameters, path: str) -> dict[str, float]:
    """Return the value (SI) a path has now, by the path; where legs differ in it, by leg.

    Args:
        parameters: the machine.
        path: one of `numeric_paths`.

    Raises:
        InputError: the machine has no number at this path.
    """
    as_instance(parameters, "parameters", MachineParameters)
    found = resolved(parameters, parameters.legs, path)
    values = {number: float(value) for number, (_, value) in found.items()}
    if len(set(values.values())) == 1:
        return {path: next(iter(values.values()))}
    last = next(iter(found.values()))[0]
    return {".".join(("leg", str(number), *last)): value for number, value in values.items()}


def nominal_value(parameters: MachineParameters, path: str) -> float:
    """Return the value (SI) that a path has now.

    Raises:
        InputError: the machine has no number at this path, or its legs differ in it.
    """
    values = nominal_values(parameters, path)
    if path not in values:
        raise InputError(path, f"legs differ in it; name one leg: {', '.join(values)}")
    return values[path]


def with_values(
    parameters: MachineParameters, values: Mapping[str, float | str]
) -> MachineParameters:
    """Return the machine with other numbers, checked like a platform.toml.

    A value below `"leg."` holds for all legs that have such a number, those of variants too; one
    below `"leg.3."` for leg 3 alone, whatever `"leg."` says. Everything that follows from the
    parameters, such as masses of cylinders or lengths at home, follows from the new ones.

    Args:
        parameters: the machine to start from; it stays as it is, and is returned if nothing
            differs.
        values: numbers in SI, or texts with a unit such as "2 kN", by path, as `numeric_paths`
            lists them; also fields that the file leaves out.

    Raises:
        InputError: a path the machine does not have (names the nearest), a value that is not one
            finite number or, where only whole numbers make sense, not whole, a unit of the wrong
            kind, or values that no machine can have (names the paths).
    """
    if not isinstance(values, Mapping):
        raise InputError("values", f"must map paths to numbers, not be {brief(values)}")
    as_instance(parameters, "parameters", MachineParameters)
    return with_values_at(parameters, values, places_of(parameters, values))


def places_of(parameters: MachineParameters, paths: Iterable[str]) -> Places:
    """Return where paths lead, in the order in which their values are set.

    Raises:
        InputError: the machine has no number at a path.
    """
    legs = parameters.legs
    # A leg's own value comes after that of all legs.
    ordered = sorted(paths, key=_names_one_leg)
    return {path: resolved(parameters, legs, path, left_out=True) for path in ordered}


def with_values_at(
    parameters: MachineParameters, values: Mapping[str, float | str], places: Places
) -> MachineParameters:
    """Return the machine with other numbers as `with_values` does, where `places_of` are known.

    Raises:
        InputError: as `with_values`.
    """
    changes: dict[tuple[int, Keys], float | str] = {}
    for path, found in places.items():
        for number, (keys, old) in found.items():
            value = _checked(path, values[path], old)
            changes.pop((number, keys), None)
            if value != old:
                changes[number, keys] = value
    if not changes:
        return parameters
    try:
        return machine_with(parameters, parameters.legs, changes)
    except ParameterError as error:
        raise _refused(values, *error.problems[0]) from None


def unit_at(parameters: MachineParameters, path: str) -> str:
    """Return the SI unit of the number at a path, also of one that the file leaves out.

    Empty for numbers without unit.

    Raises:
        InputError: the machine has no number at this path.
    """
    legs = as_instance(parameters, "parameters", MachineParameters).legs
    found = resolved(parameters, legs, path, left_out=True)
    number, (keys, _) = next(iter(found.items()))
    return unit_of(legs[number - 1] if number else parameters, keys)


def _names_one_leg(path: Any) -> bool:
    keys = path.split(".", 2) if isinstance(path, str) else []
    named = keys[:1] == ["leg"] and keys[1:2] != [] and keys[1].isdecimal()
    return named and len(keys[1]) <= LONGEST_NUMBER


def resolved(
    parameters: MachineParameters, legs: tuple[Leg, ...], path: Any, *, left_out: bool = False
) -> dict[int, tuple[Keys, Any]]:
    """Return, by leg (from 1; 0 for what is no leg's), the keys of a path and the number there.

    Args:
        parameters: the machine.
        legs: its legs, as `parameters.legs` gives them.
        path: one of `numeric_paths`.
        left_out: whether fields count, as None, that are left out by all that could have them.

    Raises:
        InputError: the machine has no number at this path.
    """
    keys = tuple(path.split(".")) if isinstance(path, str) else ()
    owners: dict[int, Any] = {0: parameters}
    if _names_one_leg(path):
        number, keys = int(keys[1]), keys[2:]
        owners = {number: legs[number - 1]} if 1 <= number <= len(legs) else {}
    elif keys[:1] == ("leg",):
        keys = keys[1:]
        owners = dict(enumerate(legs, start=1))
    values = {number: leaf(owner, keys) for number, owner in owners.items()}
    found: dict[int, tuple[Keys, Any]]
    found = {number: (keys, value) for number, value in values.items() if value is not None}
    if not found and left_out and keys:
        found = {number: (keys, None) for number in owners if unset(owners[number], keys)}
    if not found:
        raise InputError(path if isinstance(path, str) else brief(path), _unknown(parameters, path))
    return found


def _unknown(parameters: MachineParameters, path: Any) -> str:
    """Return that there is no such path, and which are the nearest."""
    if not isinstance(path, str):
        return "must be a dotted path to a number of platform.toml"
    known = numeric_paths(parameters)
    if not _names_one_leg(path):
        known = tuple(name for name in known if not _names_one_leg(name))
    *outer, row, last = ("", "", *path.split("."))
    twin = ".".join((*outer[2:], last, row))
    if "inertia" in outer and twin in known:
        return f"entries below the diagonal are those above it; name {twin}"
    same = [name for name in known if name.endswith(f".{last}") or name == last]
    inside = [name for name in known if name.startswith(f"{path}.")]
    near = get_close_matches(path, inside or same or known, SHOWN, cutoff=0.0)
    return f"{parameters.name} has no such number; the nearest are {', '.join(near)}"


def _checked(path: str, value: Any, old: float | None) -> float | str:
    """Return `value` as a number of the same type as the `old` one; a text is read by its field."""
    if isinstance(value, str):
        return value
    try:
        number = float(value) if isinstance(value, Real) else math.nan
    except OverflowError:  # an integer of several hundred digits
        number = math.inf
    if isinstance(value, bool) or not math.isfinite(number):
        raise InputError(path, f"must be one finite number, not {brief(value)}")
    if isinstance(old, int):
        if not number.is_integer():
            raise InputError(path, f"must be a whole number, not {brief(value)}")
        return int(number)
    return number


def _refused(values: Mapping[str, float | str], field: str, message: str) -> InputError:
    """Return the error for values that the checks of a machine refuse at a `field`."""
    place = _without_leg(field)
    named = [path for path in values if (_without_leg(path) + ".").startswith(place + ".")]
    meant = named or list(values)
    texts = {path: values[path] for path in meant[:SHOWN]}
    shown = [f"{k} = {v if isinstance(v, str) else f'{v:.9g}'}" for k, v in texts.items()]
    shown += ["..."] if len(meant) > SHOWN else []
    detail = message if {*map(_without_leg, meant)} == {place} else f"{place}: {message}"
    return InputError(", ".join(meant[:SHOWN]), f"refused with {', '.join(shown)}; {detail}")


def _without_leg(path: str) -> str:
    """Return a path that speaks of no leg in particular, nor of the kind of its drive."""
    keys = path.split(".")
    if keys[0] not in ("leg", "variant"):
        return path
    first = [key for key in keys[1:2] if not key.isdecimal()]
    return ".".join(["leg", *first, *(key for key in keys[2:] if key not in DRIVES)])
