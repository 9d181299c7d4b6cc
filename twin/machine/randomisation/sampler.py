"""Sampled machines: parameters addressed by dotted paths, drawn and checked again."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from difflib import get_close_matches
from fnmatch import fnmatchcase
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from pydantic import ValidationError

from twin.basics.arrays import as_instance
from twin.errors import InputError, ParameterError, brief
from twin.machine.description import Variant
from twin.machine.file.read import parameters_from
from twin.machine.legs.leg import Leg
from twin.machine.machine import MachineParameters
from twin.machine.quantity import Table
from twin.machine.randomisation.distributions import (
    AnyDistribution,
    Changes,
    Keys,
    changed,
    leaf,
    leaves,
    note,
    unit_of,
    unset,
)

INDEPENDENT_TABLES = ("control", "imu")
"""Tables of a machine that no check of the whole machine reads, only their own checks."""

INDEPENDENT_PLATFORM_TABLES = ("body",)
"""Tables of `[platform]` that only their own checks read."""

INDEPENDENT_LEG_TABLES = (
    "appearance",
    "axial",
    "crank",
    "drive",
    "encoder",
    "friction",
    "housing",
    "rod",
)
"""Tables of a leg that only their own checks read."""

MAX_PATHS_LISTED = 5
"""Maximum number of paths that an error lists."""

MAX_LEG_DIGITS = 9
"""Maximum number of digits of a leg's number."""

DRIVE_KINDS = ("screw", "direct", "gear")
"""Kinds of drives, which are in the paths of problems."""

TASK_FAMILIES = ("motion.", "task.")
"""Beginnings of paths that belong to the task or the motion."""

MAX_REDRAWS = 100
"""Maximum number of draws of one machine; sampling fails if its checks refuse all of them."""


def machine_with(
    parameters: MachineParameters,
    legs: tuple[Leg, ...],
    changes: Mapping[tuple[int, Keys], float | str],
) -> MachineParameters:
    """Return the machine with other numbers; legs that become equal get one common table.

    Where all changes are in tables that the checks of the whole machine do not read, only these
    tables are checked again.

    Args:
        parameters: the machine to start from.
        legs: its legs, as `parameters.legs` gives them.
        changes: new numbers by leg (from 1; 0 for a parameter outside the legs) and keys inside it.

    Raises:
        ParameterError: values that no machine can have.
    """
    machine: Changes = {}
    leg_changes: dict[int, Changes] = {}
    for (number, keys), value in changes.items():
        note(leg_changes.setdefault(number, {}) if number else machine, keys, value)
    if _independent(machine, leg_changes):
        try:
            return _quick(parameters, legs, machine, leg_changes)
        except ValidationError:
            pass  # The checks of the whole file word it.
    content = changed(parameters, machine)
    del content["configuration"]
    main, variants = _groups(parameters, legs, leg_changes)
    # Where there are variants, `[leg]` is read as a table.
    content["leg"] = changed(*main[:2])
    content["variant"] = [
        {"legs": numbers, "leg": changed(leg, change), "source": _source(parameters, leg)}
        for leg, change, numbers in variants
    ]
    sampled = parameters_from(content, parameters.name)
    return sampled.model_copy(update={"configuration": parameters.configuration})


def _independent(machine: Changes, leg_changes: dict[int, Changes]) -> bool:
    return (
        machine.keys() <= {*INDEPENDENT_TABLES, "platform"}
        and machine.get("platform", {}).keys() <= set(INDEPENDENT_PLATFORM_TABLES)
        and all(change.keys() <= set(INDEPENDENT_LEG_TABLES) for change in leg_changes.values())
    )


def _quick(
    parameters: MachineParameters,
    legs: tuple[Leg, ...],
    machine: Changes,
    leg_changes: dict[int, Changes],
) -> MachineParameters:
    """Return changed parameters without the checks of the whole machine."""
    update: dict[str, Any] = _tables(parameters, machine, INDEPENDENT_TABLES)
    if "platform" in machine:
        tables = _tables(parameters.platform, machine["platform"], INDEPENDENT_PLATFORM_TABLES)
        update["platform"] = parameters.platform.model_copy(update=tables)
    if leg_changes:
        main, variants = _groups(parameters, legs, leg_changes)
        update["leg"] = _leg(*main[:2])
        update["variant"] = tuple(
            Variant(legs=tuple(numbers), leg=_leg(leg, change), source=_source(parameters, leg))
            for leg, change, numbers in variants
        )
    return parameters.model_copy(update=update)


def _source(parameters: MachineParameters, leg: Leg) -> str:
    return next(
        (variant.source for variant in parameters.variant if variant.leg is leg), leg.source
    )


def _leg(leg: Leg, change: Changes) -> Leg:
    return leg.model_copy(update=_tables(leg, change, INDEPENDENT_LEG_TABLES))


def _tables(owner: Table, change: Changes, names: tuple[str, ...]) -> dict[str, Table]:
    """Return the tables `names` of `owner` that change, checked."""
    old_tables = {name: getattr(owner, name) for name in names if name in change}
    return {
        name: type(table).model_validate(changed(table, change[name]))
        for name, table in old_tables.items()
    }


def _groups(
    parameters: MachineParameters, legs: tuple[Leg, ...], leg_changes: dict[int, Changes]
) -> tuple[tuple[Leg, Changes, list[int]], list[tuple[Leg, Changes, list[int]]]]:
    """Return leg, changes and leg numbers of the new `[leg]`, and those of the new variants.

    The largest group of legs that share the present `[leg]` becomes the new one; `[leg]` stays if
    no leg uses it.
    """
    groups: list[tuple[Leg, Changes, list[int]]] = []
    for number, leg in enumerate(legs, start=1):
        change = leg_changes.get(number, {})
        for group_leg, group_change, numbers in groups:
            if group_leg is leg and group_change == change:
                numbers.append(number)
                break
        else:
            groups.append((leg, change, [number]))
    base_groups = [group for group in groups if group[0] is parameters.leg]
    main = max(base_groups, key=lambda group: len(group[2]), default=(parameters.leg, {}, []))
    return main, [group for group in groups if group is not main]


Places = dict[str, dict[int, tuple[Keys, Any]]]
"""Path -> leg number (from 1; 0 for a parameter outside the legs) -> keys and value there."""


def numeric_paths(parameters: MachineParameters) -> tuple[str, ...]:
    """Return the path of every number of a machine that `with_values` can change.

    A path is written as in platform.toml: the tables, the field, and the entry (from 0) of a list,
    joined by dots: `"gravity"`, `"platform.body.mass"`, `"home.position.2"`. Of an inertia tensor
    only entries on and above the diagonal are listed; one above is that of both. Below
    `"leg."` is what all legs have, or those legs that have such a number; below `"leg.3."` that of
    leg 3 (from 1) alone. Values are in SI. Fields that the file leaves out have no path.
    """
    # Dictionaries keep the order, and each path once.
    common_paths = {name: None for name in leaves(parameters) if not name.startswith("leg.")}
    single_leg_paths: dict[str, None] = {}
    for number, leg in enumerate(parameters.legs, start=1):
        for name in leaves(leg):
            common_paths[f"leg.{name}"] = None
            single_leg_paths[f"leg.{number}.{name}"] = None
    return (*common_paths, *single_leg_paths)


def nominal_values(parameters: MachineParameters, path: str) -> dict[str, float]:
    """Return a path's present value (SI) by path, or one entry per leg where legs differ.

    Args:
        parameters: the machine.
        path: one of `numeric_paths`.

    Raises:
        InputError: the machine has no number at this path.
    """
    as_instance(parameters, "parameters", MachineParameters)
    entries = resolved(parameters, parameters.legs, path)
    values = {number: float(value) for number, (_, value) in entries.items()}
    if len(set(values.values())) == 1:
        return {path: next(iter(values.values()))}
    keys = next(iter(entries.values()))[0]
    return {".".join(("leg", str(number), *keys)): value for number, value in values.items()}


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
    return with_values_at(parameters, values, resolve_paths(parameters, values))


def resolve_paths(parameters: MachineParameters, paths: Iterable[str]) -> Places:
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
    """Return the machine with other numbers as `with_values` does, where `resolve_paths` are known.

    Raises:
        InputError: as `with_values`.
    """
    changes: dict[tuple[int, Keys], float | str] = {}
    for path, entries in places.items():
        for number, (keys, old_value) in entries.items():
            value = _checked(path, values[path], old_value)
            changes.pop((number, keys), None)
            if value != old_value:
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
    entries = resolved(parameters, legs, path, left_out=True)
    number, (keys, _) = next(iter(entries.items()))
    return unit_of(legs[number - 1] if number else parameters, keys)


def _names_one_leg(path: Any) -> bool:
    keys = path.split(".", 2) if isinstance(path, str) else []
    is_leg_path = keys[:1] == ["leg"] and keys[1:2] != [] and keys[1].isdecimal()
    return is_leg_path and len(keys[1]) <= MAX_LEG_DIGITS


def resolved(
    parameters: MachineParameters, legs: tuple[Leg, ...], path: Any, *, left_out: bool = False
) -> dict[int, tuple[Keys, Any]]:
    """Return, by leg (from 1; 0 outside the legs), the keys of a path and the number there.

    Args:
        parameters: the machine.
        legs: its legs, as `parameters.legs` gives them.
        path: one of `numeric_paths`.
        left_out: whether to return None for a field that all tables with it leave out.

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
    entries: dict[int, tuple[Keys, Any]]
    entries = {number: (keys, value) for number, value in values.items() if value is not None}
    if not entries and left_out and keys:
        entries = {number: (keys, None) for number in owners if unset(owners[number], keys)}
    if not entries:
        raise InputError(path if isinstance(path, str) else brief(path), _unknown(parameters, path))
    return entries


def _unknown(parameters: MachineParameters, path: Any) -> str:
    """Return the message that there is no such path, with the nearest ones."""
    if not isinstance(path, str):
        return "must be a dotted path to a number of platform.toml"
    known_paths = numeric_paths(parameters)
    if not _names_one_leg(path):
        known_paths = tuple(name for name in known_paths if not _names_one_leg(name))
    missing_tables = {"drive", "encoder", "imu"} & {*path.split(".")}
    if missing_tables and not (parameters.configuration and parameters.configuration.applied):
        return (
            f"{parameters.name} without a configuration has no such number; take one with drives "
            "and sensors, such as hardware"
        )
    *outer_keys, row_key, last_key = ("", "", *path.split("."))
    transposed_path = ".".join((*outer_keys[2:], last_key, row_key))
    if "inertia" in outer_keys and transposed_path in known_paths:
        return f"entries below the diagonal are those above it; name {transposed_path}"
    same_field = [name for name in known_paths if name.endswith(f".{last_key}") or name == last_key]
    paths_below = [name for name in known_paths if name.startswith(f"{path}.")]
    nearest_paths = get_close_matches(
        path, paths_below or same_field or known_paths, MAX_PATHS_LISTED, cutoff=0.0
    )
    return f"{parameters.name} has no such number; the nearest are {', '.join(nearest_paths)}"


def _checked(path: str, value: Any, old_value: float | None) -> float | str:
    """Return `value` as a number of the type of `old_value`; a text is read by its field."""
    if isinstance(value, str):
        return value
    try:
        number = float(value) if isinstance(value, Real) else math.nan
    except OverflowError:  # an integer of several hundred digits
        number = math.inf
    if isinstance(value, bool) or not math.isfinite(number):
        raise InputError(path, f"must be one finite number, not {brief(value)}")
    if isinstance(old_value, int):
        if not number.is_integer():
            raise InputError(path, f"must be a whole number, not {brief(value)}")
        return int(number)
    return number


def _refused(values: Mapping[str, float | str], field: str, message: str) -> InputError:
    """Return the error for values that the checks of a machine refuse at a `field`."""
    field_path = _without_leg(field)
    refused_paths = [
        path for path in values if (_without_leg(path) + ".").startswith(field_path + ".")
    ]
    suspects = refused_paths or list(values)
    shown_values = {path: values[path] for path in suspects[:MAX_PATHS_LISTED]}
    assignments = [
        f"{k} = {v if isinstance(v, str) else f'{v:.9g}'}" for k, v in shown_values.items()
    ]
    assignments += ["..."] if len(suspects) > MAX_PATHS_LISTED else []
    detail = (
        message if {*map(_without_leg, suspects)} == {field_path} else f"{field_path}: {message}"
    )
    return InputError(
        ", ".join(suspects[:MAX_PATHS_LISTED]), f"refused with {', '.join(assignments)}; {detail}"
    )


def _without_leg(path: str) -> str:
    """Return a path without the leg's number and the kind of its drive."""
    keys = path.split(".")
    if keys[0] not in ("leg", "variant"):
        return path
    leg_number = [key for key in keys[1:2] if not key.isdecimal()]
    return ".".join(["leg", *leg_number, *(key for key in keys[2:] if key not in DRIVE_KINDS)])


class Sampled(NamedTuple):
    """One sampled machine, with the values that were drawn for it."""

    parameters: MachineParameters
    """machine with the drawn numbers, checked like a platform.toml"""
    values: dict[str, float]
    """drawn numbers of the machine (SI) by path"""
    task_values: dict[str, float]
    """drawn numbers of its task by the names it has for them"""


class _Target(NamedTuple):
    path: str
    nominal: float
    is_integer: bool


class _Draw(NamedTuple):
    """The paths that one draw sets, and their distribution."""

    name: str
    """path as given, for errors"""
    distribution: AnyDistribution
    targets: tuple[_Target, ...]

    def values(self, draw: float, fraction: float = 1.0) -> dict[str, float]:
        """Return a draw's values by path, at a `fraction` of the way from the nominal ones."""
        values = {}
        for path, nominal, is_integer in self.targets:
            value = self.distribution.applied(draw, nominal)
            if fraction < 1.0:
                value = nominal + fraction * (value - nominal)
            values[path] = float(round(value)) if is_integer else value
        return values


class Sampler:
    """Draws of one machine's parameters, checked once and then drawn many times."""

    def __init__(
        self,
        distributions: Iterable[tuple[str, AnyDistribution]],
        parameters: MachineParameters,
        task: Mapping[str, float] | Collection[str] = (),
    ) -> None:
        """Check that the machine has the paths and allows the extremes of each alone.

        Args:
            distributions: names and distributions; a name is a path, or several separated by
                commas, in which `*` matches any key: all have the same draw.
            parameters: the nominal machine.
            task: names that the task knows, those of paths without their `"task."`; with the
                task's own values where these may be relative.

        Raises:
            InputError: a path that machine and task do not have, one named twice, or an extreme
                value that the machine refuses.
        """
        self.parameters = parameters
        machine: list[_Draw] = []
        tasks: list[_Draw] = []
        for name, distribution in sorted(distributions, key=lambda entry: entry[0]):
            if name.strip().startswith(TASK_FAMILIES):
                tasks.append(_task_draw(name, distribution, task))
            else:
                machine += _machine_draws(name, distribution, parameters)
        _check_once(machine, tasks, parameters)
        _check_extremes(machine, parameters)
        self._machine, self._tasks = tuple(machine), tuple(tasks)
        drawn_paths = [target.path for draw in machine for target in draw.targets]
        self._places = resolve_paths(parameters, drawn_paths)

    @property
    def paths(self) -> tuple[str, ...]:
        """Paths of the machine's numbers that are drawn, then the task's names for its own."""
        draws = (*self._machine, *self._tasks)
        return tuple(target.path for draw in draws for target in draw.targets)

    def sample(self, generator: np.random.Generator, fraction: float = 1.0) -> Sampled:
        """Return one machine and the values of its task.

        With a `fraction` below 1 every number goes that share of the way from the nominal one to
        the one drawn.

        The result follows from the generator's state alone, whatever the order of the
        distributions. Values that the machine refuses together, such as a home out of reach,
        are drawn again.

        Raises:
            InputError: no generator, or the machine refused a hundred draws.
        """
        as_instance(generator, "generator", np.random.Generator)
        task_values = _drawn(self._tasks, generator, fraction)
        refusal = ""
        for _ in range(MAX_REDRAWS):
            values = _drawn(self._machine, generator, fraction)
            try:
                machine = with_values_at(self.parameters, values, self._places)
                return Sampled(machine, values, task_values)
            except InputError as error:
                refusal = str(error)
        raise InputError(
            "randomisation",
            f"{self.parameters.name} refused {MAX_REDRAWS} draws; narrow the distributions. "
            f"The last refusal: {refusal}",
        )


def _drawn(
    draws: tuple[_Draw, ...], generator: np.random.Generator, fraction: float
) -> dict[str, float]:
    values: dict[str, float] = {}
    for draw in draws:
        values |= draw.values(draw.distribution.draw(generator), fraction)
    return values


def _patterns(name: str) -> list[str]:
    return [part.strip() for part in name.split(",")]


def _matching(pattern: str, known_paths: Iterable[str]) -> Iterator[str]:
    """Yield the paths that match a pattern, in which `*` matches any one key."""
    keys = pattern.split(".")
    for path in known_paths:
        path_keys = path.split(".")
        if len(path_keys) == len(keys) and all(map(fnmatchcase, path_keys, keys)):
            yield path


def _machine_draws(
    name: str, distribution: AnyDistribution, parameters: MachineParameters
) -> Iterator[_Draw]:
    """Yield the draws of a name that stands for numbers of the machine."""
    paths: list[str] = []
    for pattern in _patterns(name):
        matches = (
            list(_matching(pattern, numeric_paths(parameters))) if "*" in pattern else [pattern]
        )
        if not matches:
            raise InputError(name, f"nothing of {parameters.name} fits {pattern!r}")
        paths += matches
    if not distribution.each_leg:
        targets = [
            _target(parameters, single_path)
            for path in paths
            for single_path in nominal_values(parameters, path)
        ]
        yield _Draw(name, distribution, tuple(targets))
        return
    for number in range(1, len(parameters.legs) + 1):
        targets = []
        for path in paths:
            keys = path.split(".")
            if keys[0] != "leg" or keys[1].isdecimal():
                raise InputError(name, f"each_leg is for paths of all legs, unlike {brief(path)}")
            if number in resolved(parameters, parameters.legs, path):
                targets.append(_target(parameters, ".".join(("leg", str(number), *keys[1:]))))
        if targets:
            yield _Draw(name, distribution, tuple(targets))


def _target(parameters: MachineParameters, path: str) -> _Target:
    value = next(iter(resolved(parameters, parameters.legs, path).values()))[1]
    return _Target(path, float(value), isinstance(value, int))


def _task_draw(
    name: str, distribution: AnyDistribution, task: Mapping[str, float] | Collection[str]
) -> _Draw:
    """Return the draw of a name that stands for numbers of the task."""
    name_of_path = {
        known if known.startswith(TASK_FAMILIES) else f"task.{known}": known for known in task
    }
    known_paths = ", ".join(sorted(name_of_path)) or "none"
    targets = []
    for pattern in _patterns(name):
        matches = list(_matching(pattern, sorted(name_of_path)))
        if not matches:
            raise InputError(name, f"the task has no such number; it has {known_paths}")
        for path in matches:
            if (distribution.relative or distribution.offset) and not isinstance(task, Mapping):
                raise InputError(
                    name,
                    "the task has no value of its own that a draw could be relative to; leave out "
                    "relative and offset",
                )
            task_name = name_of_path[path]
            nominal = float(task[task_name]) if isinstance(task, Mapping) else 0.0
            targets.append(_Target(task_name, nominal, False))
    if distribution.each_leg:
        raise InputError(name, "each_leg is for paths of all legs, unlike numbers of the task")
    return _Draw(name, distribution, tuple(targets))


def _check_once(
    machine_draws: list[_Draw], task_draws: list[_Draw], parameters: MachineParameters
) -> None:
    """Raise InputError if two distributions draw the same number."""
    legs = parameters.legs
    # A number of the machine is known by leg and keys: several paths lead to it.
    drawn_places: list[tuple[_Draw, str, object]] = [
        (draw, target.path, (number, keys))
        for draw in machine_draws
        for target in draw.targets
        for number, (keys, _) in resolved(parameters, legs, target.path).items()
    ]
    drawn_places += [
        (draw, target.path, target.path) for draw in task_draws for target in draw.targets
    ]
    name_of_place: dict[object, str] = {}
    for draw, path, place in drawn_places:
        if place in name_of_place:
            other_name = (
                "another path of this name"
                if name_of_place[place] == draw.name
                else repr(name_of_place[place])
            )
            raise InputError(draw.name, f"{path} is drawn by {other_name} as well")
        name_of_place[place] = draw.name


def _check_extremes(draws: list[_Draw], parameters: MachineParameters) -> None:
    """Refuse distributions that reach values which the machine refuses."""
    names = {draw.name: draw.distribution for draw in draws}
    for name, distribution in names.items():
        refusals = []
        for bound in distribution.extremes:
            values: dict[str, float] = {}
            for draw in draws:
                if draw.name == name:
                    values |= draw.values(bound)
            try:
                with_values(parameters, values)
            except InputError as error:
                refusals.append(f"a draw of {bound:.9g} is {error.message}")
        if refusals:
            raise InputError(name, "; ".join(refusals))
