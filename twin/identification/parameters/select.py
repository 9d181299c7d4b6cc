"""Choice of parameters by groups, paths and patterns."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from fnmatch import fnmatchcase

from twin.errors import InputError, brief
from twin.identification.parameters.added import added
from twin.identification.parameters.groups import GROUPS, MAY_VANISH, OTHERS, SIGNED, Spread
from twin.identification.parameters.parameter import SIGNAL, TILT, Parameter
from twin.identification.parameters.words import in_words
from twin.machine.machine import MachineParameters
from twin.machine.quantity import to_si
from twin.machine.randomisation.paths import nominal_values, numeric_paths, unit_at
from twin.model.machine_model import MachineModel, as_model

LEAST_SHARE, MOST_TIMES, MOST_SPREADS = 0.02, 10.0, 20.0
"""Bounds: of a number that stays above zero in parts of its value, and of others in spreads."""


def groups_of(platform: MachineModel) -> tuple[str, ...]:
    """Return the groups of which a machine has at least one parameter."""
    extra = added(as_model(platform))
    return tuple(name for name in GROUPS if _of_group(platform, name, extra))


def select(
    platform: MachineModel,
    names: str | Iterable[str],
    spreads: Mapping[str, float | str] | None = None,
) -> tuple[Parameter, ...]:
    """Return parameters of a machine, each once, in the order of the names.

    Args:
        platform: the machine.
        names: groups (`GROUPS`), numeric paths of platform.toml, paths of tilts ("tilt.x") and of
            errors of signals ("signal.forces.scale"), or patterns of them with `*`; a list, or one
            text with commas. A path below "leg." is one parameter of all legs, or one for each
            where they differ. A group leaves out what is zero in the file.
        spreads: standard deviations in place of the usual ones, by path: in SI or with a unit.

    Raises:
        InputError: a group, path or pattern that the machine does not have, a number that cannot
            be identified, or a spread that is missing or not above zero.
    """
    as_model(platform)
    given = names.split(",") if isinstance(names, str) else list(names)
    if not given or not all(isinstance(name, str) and name.strip() for name in given):
        raise InputError("parameters", f"must be names of groups or paths, not {brief(names)}")
    extra, found = added(platform), dict[str, Parameter]()
    own = {path: _own(platform, path, value) for path, value in dict(spreads or {}).items()}
    for name in map(str.strip, given):
        for parameter in _named(platform, name, extra, own):
            found.setdefault(parameter.path, parameter)
    unused = sorted(own.keys() - found.keys())
    if unused:
        raise InputError(f"spreads[{unused[0]!r}]", "is no path of the selected parameters")
    return tuple(found.values())


def _own(platform: MachineModel, path: str, value: float | str) -> float:
    try:
        extra = added(platform)
        unit = extra[path].unit if path in extra else unit_at(platform.parameters, path)
        spread = to_si(value, unit)
    except InputError:
        raise
    except ValueError as error:
        raise InputError(f"spreads[{path!r}]", str(error)) from None
    if not spread > 0.0:
        raise InputError(f"spreads[{path!r}]", f"must be above zero, not {spread:g}")
    return spread


def _named(
    platform: MachineModel, name: str, extra: dict[str, Parameter], own: dict[str, float]
) -> list[Parameter]:
    """Return the parameters of one name."""
    if name in GROUPS:
        paths = _of_group(platform, name, extra)
        if not paths:
            known = ", ".join(groups_of(platform))
            raise InputError(
                "parameters",
                f"{platform.name} has none of the group {name!r}; it has {known}"
                + _with_configuration(platform),
            )
        return [
            each
            for path, spread in paths.items()
            for each in _parameters(platform, path, spread, extra, own, group=name)
        ]
    if "*" in name:
        paths = {path: _usual(path) for path in _known(platform, extra) if fnmatchcase(path, name)}
        if not paths:
            raise InputError("parameters", f"{platform.name} has no path like {name!r}")
        lists = [_parameters(platform, *pair, extra, own, group=name) for pair in paths.items()]
        return [parameter for each in lists for parameter in each]
    if name.startswith((TILT, SIGNAL)) and name not in extra:
        raise InputError("parameters", f"no {name!r}; known: {', '.join(extra)}")
    if "." not in name:
        known = f"groups ({', '.join(groups_of(platform))}) or a path with dots"
        raise InputError("parameters", f"{name!r} is no group; name one of the {known}")
    return _parameters(platform, name, _usual(name), extra, own)


def _with_configuration(platform: MachineModel) -> str:
    configuration = platform.parameters.configuration
    known = ", ".join(configuration.known) if configuration else ""
    return f". Its configurations may have more: {known}" if known else ""


def _known(platform: MachineModel, extra: dict[str, Parameter]) -> tuple[str, ...]:
    return (*numeric_paths(platform.parameters), *extra)


def _of_group(platform: MachineModel, group: str, extra: dict[str, Parameter]) -> dict[str, Spread]:
    """Return the paths of a group with their spreads; of legs those of all legs together."""
    found: dict[str, Spread] = {}
    for path in _known(platform, extra):
        if path.startswith("leg.") and path.split(".")[1].isdecimal():
            continue
        for pattern, spread in GROUPS[group].items():
            whole = path in extra or any(nominal_values(platform.parameters, path).values())
            if fnmatchcase(path, pattern) and (whole or spread.of != "value"):
                found.setdefault(path, spread)
    return found


def _usual(path: str) -> Spread:
    """Return the spread of a path that is named alone: of the first group that has it."""
    keys = path.split(".")
    common = ".".join([keys[0], *keys[2:]]) if keys[1:2] and keys[1].isdecimal() else path
    patterns = [pair for group in GROUPS.values() for pair in group.items()]
    return next(
        spread for pattern, spread in (*patterns, *OTHERS.items()) if fnmatchcase(common, pattern)
    )


def _parameters(
    platform: MachineModel,
    path: str,
    spread: Spread,
    extra: dict[str, Parameter],
    own: dict[str, float],
    *,
    group: str = "",
) -> list[Parameter]:
    """Return the parameter of a path, or one for each leg where legs differ."""
    if path in extra:
        return [replace(extra[path], spread=own.get(path, extra[path].spread))]
    machine, found = platform.parameters, []
    for single, value in nominal_values(machine, path).items():
        amount = own.get(single) or own.get(path) or _amount(machine, single, spread, value)
        if not amount:
            if group:
                continue
            raise InputError(path, "is zero in the file, so its spread has to be given")
        found.append(_parameter(machine, single, value, amount))
    return found


def _amount(machine: MachineParameters, path: str, spread: Spread, value: float) -> float:
    """Return a standard deviation in the unit of the number."""
    scale = abs(value)
    if spread.of == "unit":
        scale = 1.0
    elif spread.of == "arm":
        scale = machine.mean_arm
    elif spread.of == "moment":
        body, _, entry = path.rpartition(".inertia.")
        moments = [nominal_values(machine, f"{body}.inertia.{k}.{k}") for k in entry.split(".")]
        scale = math.sqrt(math.prod(max(each.values()) for each in moments))
    return spread.amount * scale


def _parameter(machine: MachineParameters, path: str, value: float, spread: float) -> Parameter:
    keys = path.split(".")
    unit = unit_at(machine, path)
    if keys[-1] in ("counts", "analogue_bits", "microsteps"):
        raise InputError(path, "is a whole number, which logs cannot identify")
    entries = keys[-2:] if "inertia" in keys else []
    signed = SIGNED.intersection(keys) or len(set(entries)) == 2 or value < 0.0
    lower, upper = value - MOST_SPREADS * spread, value + MOST_SPREADS * spread
    if not signed:
        least = 1.0 if keys[-1] == "breakaway" else LEAST_SHARE * value
        lower = 0.0 if MAY_VANISH.intersection(keys) else least
        upper = max(MOST_TIMES * value, MOST_SPREADS * spread)
    return Parameter(path, in_words(path), unit, value, spread, lower, upper)
