"""Draws for one machine: which numbers every distribution sets, and machines with them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from typing import NamedTuple

import numpy as np

from twin.errors import InputError, brief
from twin.machine.machine import MachineParameters
from twin.machine.randomisation.distributions import AnyDistribution
from twin.machine.randomisation.paths import (
    nominal_values,
    numeric_paths,
    places_of,
    resolved,
    with_values,
    with_values_at,
)

TASK_FAMILIES = ("motion.", "task.")
"""Beginnings of paths that belong to the task or the motion."""

REDRAWS = 100
"""Draws after which a machine that refuses every one of them is given up."""


class Sampled(NamedTuple):
    """One machine of many."""

    parameters: MachineParameters
    """with the drawn numbers, checked like a platform.toml"""
    values: dict[str, float]
    """drawn numbers of the machine (SI) by path"""
    task_values: dict[str, float]
    """drawn numbers of its task by the names it has for them"""


class _Target(NamedTuple):
    path: str
    nominal: float
    whole: bool


class _Draw(NamedTuple):
    """Values that one draw sets."""

    name: str
    """as given, for errors"""
    distribution: AnyDistribution
    targets: tuple[_Target, ...]

    def values(self, draw: float, share: float = 1.0) -> dict[str, float]:
        """Return the numbers by path that a draw means, at a share of the way from the nominal."""
        found = {}
        for path, nominal, whole in self.targets:
            value = self.distribution.applied(draw, nominal)
            if share < 1.0:
                value = nominal + share * (value - nominal)
            found[path] = float(round(value)) if whole else value
        return found


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
        _check_once(machine, parameters)
        _check_extremes(machine, parameters)
        self._machine, self._tasks = tuple(machine), tuple(tasks)
        drawn = [target.path for draw in machine for target in draw.targets]
        self._places = places_of(parameters, drawn)

    @property
    def paths(self) -> tuple[str, ...]:
        """Paths of the machine's numbers that are drawn, then the task's names for its own."""
        draws = (*self._machine, *self._tasks)
        return tuple(target.path for draw in draws for target in draw.targets)

    def sample(self, generator: np.random.Generator, share: float = 1.0) -> Sampled:
        """Return one machine and the values of its task.

        With a `share` below 1 every number goes that share of the way from the nominal one to the
        one drawn.

        The result follows from the generator's state alone, whatever the order of the
        distributions. Values that the machine refuses together, such as a home out of reach,
        are drawn again.

        Raises:
            InputError: no generator, or the machine refused a hundred draws.
        """
        if not isinstance(generator, np.random.Generator):
            raise InputError("generator", f"must be a numpy Generator, not {brief(generator)}")
        task_values = _drawn(self._tasks, generator, share)
        refusal = ""
        for _ in range(REDRAWS):
            values = _drawn(self._machine, generator, share)
            try:
                machine = with_values_at(self.parameters, values, self._places)
                return Sampled(machine, values, task_values)
            except InputError as error:
                refusal = str(error)
        raise InputError(
            "randomisation",
            f"{self.parameters.name} refused {REDRAWS} draws; narrow the distributions. The last "
            f"refusal: {refusal}",
        )


def _drawn(
    draws: tuple[_Draw, ...], generator: np.random.Generator, share: float
) -> dict[str, float]:
    values: dict[str, float] = {}
    for draw in draws:
        values |= draw.values(draw.distribution.draw(generator), share)
    return values


def _patterns(name: str) -> list[str]:
    return [part.strip() for part in name.split(",")]


def _matching(pattern: str, known: Iterable[str]) -> Iterator[str]:
    """Yield the paths that match a pattern, in which `*` matches any one key."""
    keys = pattern.split(".")
    for path in known:
        parts = path.split(".")
        if len(parts) == len(keys) and all(map(fnmatchcase, parts, keys)):
            yield path


def _machine_draws(
    name: str, distribution: AnyDistribution, parameters: MachineParameters
) -> Iterator[_Draw]:
    paths: list[str] = []
    for pattern in _patterns(name):
        found = list(_matching(pattern, numeric_paths(parameters))) if "*" in pattern else [pattern]
        if not found:
            raise InputError(name, f"nothing of {parameters.name} fits {pattern!r}")
        paths += found
    if not distribution.each_leg:
        targets = [_target(parameters, one) for path in paths for one in _parts(parameters, path)]
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


def _parts(parameters: MachineParameters, path: str) -> Iterable[str]:
    """Return the path, or those of single legs where legs differ in its number."""
    return nominal_values(parameters, path)


def _target(parameters: MachineParameters, path: str) -> _Target:
    value = next(iter(resolved(parameters, parameters.legs, path).values()))[1]
    return _Target(path, float(value), isinstance(value, int))


def _task_draw(
    name: str, distribution: AnyDistribution, task: Mapping[str, float] | Collection[str]
) -> _Draw:
    names = {name if name.startswith(TASK_FAMILIES) else f"task.{name}": name for name in task}
    known = ", ".join(sorted(names)) or "none"
    targets = []
    for pattern in _patterns(name):
        found = list(_matching(pattern, sorted(names)))
        if not found:
            raise InputError(name, f"the task has no such number; it has {known}")
        for path in found:
            if (distribution.relative or distribution.offset) and not isinstance(task, Mapping):
                raise InputError(name, "the task has no value of its own to change; give values")
            nominal = float(task[names[path]]) if isinstance(task, Mapping) else 0.0
            targets.append(_Target(names[path], nominal, False))
    if distribution.each_leg:
        raise InputError(name, "each_leg is for paths of all legs")
    return _Draw(name, distribution, tuple(targets))


def _check_once(draws: list[_Draw], parameters: MachineParameters) -> None:
    """Refuse a number that has two draws."""
    seen: dict[object, str] = {}
    legs = parameters.legs
    for draw in draws:
        for target in draw.targets:
            for number, (keys, _) in resolved(parameters, legs, target.path).items():
                place = number, keys
                if place in seen:
                    other = "another name" if seen[place] == draw.name else repr(seen[place])
                    raise InputError(draw.name, f"{target.path} is drawn by {other} as well")
                seen[place] = draw.name


def _check_extremes(draws: list[_Draw], parameters: MachineParameters) -> None:
    """Refuse distributions that reach values which the machine refuses."""
    names = {draw.name: draw.distribution for draw in draws}
    for name, distribution in names.items():
        refusals = []
        for extreme in distribution.extremes:
            values: dict[str, float] = {}
            for draw in draws:
                if draw.name == name:
                    values |= draw.values(extreme)
            try:
                with_values(parameters, values)
            except InputError as error:
                refusals.append(f"a draw of {extreme:.9g} is {error.message}")
        if refusals:
            raise InputError(name, "; ".join(refusals))
