"""Randomisation as data: the parameters of a machine that differ from episode to episode."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from twin.basics.arrays import one_of
from twin.errors import InputError, brief
from twin.machine.machine import MachineParameters
from twin.machine.randomisation.distributions import KINDS, AnyDistribution
from twin.machine.randomisation.sampler import Sampled, Sampler


@dataclass(frozen=True)
class Randomisation:
    """Distributions over numbers of a machine and of its task.

    Names are paths of `twin.machine.randomisation.paths.numeric_paths`, or begin with `"task."` or
    `"motion."` and belong to the task. A name may list several paths, separated by commas, and `*`
    matches any one key: all of them have the same draw, so that a mass and its inertia tensor
    grow together.

    Args:
        distributions: by name; a table inside a table names the path step by step.
        source: where the distributions are from.

    Raises:
        InputError: no table, an unknown kind, or values that make no distribution.
    """

    distributions: Any
    """names and distributions, sorted by name"""
    source: str = ""
    _last: Sampler | None = field(default=None, init=False, repr=False, compare=False)
    """of the last machine"""

    def __post_init__(self) -> None:
        given: Any = self.distributions
        if isinstance(given, tuple):
            given = dict(given)
        if not isinstance(given, Mapping):
            raise InputError(
                "randomisation", f"must map paths to distributions, not be {brief(given)}"
            )
        if not isinstance(self.source, str):
            raise InputError("source", f"must be a text, not {brief(self.source)}")
        try:
            found = tuple(sorted(_distributions(given, ""), key=lambda entry: entry[0]))
        except RecursionError:
            raise InputError("randomisation", "is nested too deeply") from None
        for (first, _), (second, _) in pairwise(found):
            if first == second:
                raise InputError(first, "is given twice")
        object.__setattr__(self, "distributions", found)

    def bound(
        self, parameters: MachineParameters, task: Mapping[str, float] | Collection[str] = ()
    ) -> Sampler:
        """Return what draws for one machine, checked once for many episodes.

        Args:
            parameters: the nominal machine.
            task: names that the task knows, those of paths without their `"task."`; with the
                task's own values where these may be relative.

        Raises:
            InputError: a path that machine and task do not have, one named twice, or an extreme
                value that the machine refuses.
        """
        if not isinstance(parameters, MachineParameters):
            raise InputError("parameters", "must be MachineParameters, such as platform.parameters")
        sampler = Sampler(self.distributions, parameters, task)
        object.__setattr__(self, "_last", sampler)
        return sampler

    def sample(
        self, generator: np.random.Generator, parameters: MachineParameters, share: float = 1.0
    ) -> Sampled:
        """Return one machine and its task's values, at a share of the way from the nominal ones.

        Checks as `bound` does, unless that was called last for the same object `parameters`, whose
        task then counts as well.

        Raises:
            InputError: as `bound`, or the machine refused a hundred draws.
        """
        last = self._last
        if last is None or last.parameters is not parameters:
            last = self.bound(parameters)
        return last.sample(generator, share)

    def as_dict(self) -> dict[str, Any]:
        """Return plain data that `as_randomisation` reads back, for JSON, TOML or an option."""
        tables: dict[str, Any] = {"source": self.source} if self.source else {}
        for name, distribution in self.distributions:
            fields = distribution.model_dump(exclude_defaults=True)
            fields = {
                key: list(value) if isinstance(value, tuple) else value
                for key, value in fields.items()
            }
            tables[name] = {"kind": distribution.kind} | fields
        return tables


def _distributions(tables: Mapping[Any, Any], prefix: str) -> Iterator[tuple[str, AnyDistribution]]:
    for key, value in tables.items():
        if not isinstance(key, str) or not key.strip():
            raise InputError("randomisation", f"names must be paths, not {brief(key)}")
        name = f"{prefix}{key}"
        if isinstance(value, AnyDistribution):
            yield name, value
        elif not isinstance(value, Mapping):
            raise InputError(name, f"must be a distribution, such as a table, not {brief(value)}")
        elif isinstance(value.get("kind"), str):
            yield name, _distribution(name, value)
        elif value:
            yield from _distributions(value, f"{name}.")
        else:
            raise InputError(name, f"has no kind; known: {', '.join(KINDS)}")


def _distribution(name: str, table: Mapping[str, Any]) -> AnyDistribution:
    kind = one_of(table["kind"], f"{name}.kind", KINDS)
    try:
        return KINDS[kind](**table)
    except InputError as error:
        raise InputError(f"{name}.{error.field}", error.message) from None
