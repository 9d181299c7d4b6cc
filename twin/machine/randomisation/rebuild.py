"""A machine with other numbers, checked again as far as they matter."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from twin.machine.file.read import parameters_from
from twin.machine.legs.leg import Leg
from twin.machine.machine import MachineParameters
from twin.machine.randomisation.tables import Changes, Keys, changed, note
from twin.machine.table import Table
from twin.machine.variant import Variant

INDEPENDENT = ("control", "imu")
"""Tables of a machine that no check of the whole machine reads, only their own checks."""

INDEPENDENT_OF_PLATFORM = ("body",)
"""The same of `[platform]`."""

INDEPENDENT_OF_LEG = (
    "appearance",
    "axial",
    "crank",
    "drive",
    "encoder",
    "friction",
    "housing",
    "rod",
)
"""The same of a leg."""


def machine_with(
    parameters: MachineParameters,
    legs: tuple[Leg, ...],
    changes: Mapping[tuple[int, Keys], float | str],
) -> MachineParameters:
    """Return the machine with other numbers; legs that become equal share a table.

    Where all changes are in tables that the checks of the whole machine do not read, only these
    tables are checked again: the rest has been.

    Args:
        parameters: the machine to start from.
        legs: its legs, as `parameters.legs` gives them.
        changes: new numbers by leg (from 1; 0 for what is no leg's) and keys inside it.

    Raises:
        ParameterError: values that no machine can have.
    """
    machine: Changes = {}
    inside: dict[int, Changes] = {}
    for (number, keys), value in changes.items():
        note(inside.setdefault(number, {}) if number else machine, keys, value)
    if _independent(machine, inside):
        try:
            return _quick(parameters, legs, machine, inside)
        except ValidationError:
            pass  # The checks of the whole file word it.
    content = changed(parameters, machine)
    del content["configuration"]
    main, rest = _groups(parameters, legs, inside)
    # Where there are variants, `[leg]` is read as a table.
    content["leg"] = changed(*main[:2])
    content["variant"] = [
        {"legs": numbers, "leg": changed(leg, change), "source": _source(parameters, leg)}
        for leg, change, numbers in rest
    ]
    found = parameters_from(content, parameters.name)
    return found.model_copy(update={"configuration": parameters.configuration})


def _independent(machine: Changes, inside: dict[int, Changes]) -> bool:
    return (
        machine.keys() <= {*INDEPENDENT, "platform"}
        and machine.get("platform", {}).keys() <= set(INDEPENDENT_OF_PLATFORM)
        and all(change.keys() <= set(INDEPENDENT_OF_LEG) for change in inside.values())
    )


def _quick(
    parameters: MachineParameters,
    legs: tuple[Leg, ...],
    machine: Changes,
    inside: dict[int, Changes],
) -> MachineParameters:
    update: dict[str, Any] = _tables(parameters, machine, INDEPENDENT)
    if "platform" in machine:
        tables = _tables(parameters.platform, machine["platform"], INDEPENDENT_OF_PLATFORM)
        update["platform"] = parameters.platform.model_copy(update=tables)
    if inside:
        main, rest = _groups(parameters, legs, inside)
        update["leg"] = _leg(*main[:2])
        update["variant"] = tuple(
            Variant(legs=tuple(numbers), leg=_leg(leg, change), source=_source(parameters, leg))
            for leg, change, numbers in rest
        )
    return parameters.model_copy(update=update)


def _source(parameters: MachineParameters, leg: Leg) -> str:
    return next((other.source for other in parameters.variant if other.leg is leg), leg.source)


def _leg(leg: Leg, change: Changes) -> Leg:
    return leg.model_copy(update=_tables(leg, change, INDEPENDENT_OF_LEG))


def _tables(owner: Table, change: Changes, names: tuple[str, ...]) -> dict[str, Table]:
    """Return the tables `names` of `owner` that change, checked."""
    old = {name: getattr(owner, name) for name in names if name in change}
    return {
        name: type(table).model_validate(changed(table, change[name]))
        for name, table in old.items()
    }


def _groups(
    parameters: MachineParameters, legs: tuple[Leg, ...], inside: dict[int, Changes]
) -> tuple[tuple[Leg, Changes, list[int]], list[tuple[Leg, Changes, list[int]]]]:
    """Return leg, changes and numbers of what becomes `[leg]`, and those of what become variants.

    `[leg]` is what most of its legs become; without a leg of its own it stays.
    """
    groups: list[tuple[Leg, Changes, list[int]]] = []
    for number, leg in enumerate(legs, start=1):
        change = inside.get(number, {})
        for other, same, numbers in groups:
            if other is leg and same == change:
                numbers.append(number)
                break
        else:
            groups.append((leg, change, [number]))
    common = [group for group in groups if group[0] is parameters.leg]
    main = max(common, key=lambda group: len(group[2]), default=(parameters.leg, {}, []))
    return main, [group for group in groups if group is not main]
