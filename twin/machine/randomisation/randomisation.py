"""Randomisation as data: the parameters of a machine that differ from episode to episode."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from twin.basics.arrays import as_instance, as_text, bounded, one_of
from twin.basics.toml import read_toml
from twin.errors import InputError, ParameterError, brief
from twin.machine.machine import MachineParameters
from twin.machine.randomisation.distributions import (
    DISTRIBUTION_TYPES,
    AnyDistribution,
    LogUniform,
    Uniform,
)
from twin.machine.randomisation.sampler import Sampled, Sampler, nominal_values, numeric_paths

MAX_MASS_ERROR = 0.1
"""Largest relative error of mass and inertia of the platform with its payload."""

MAX_CENTER_SHIFT = 0.05
"""Largest shift of the centre of mass along an axis, over the mean distance of the platform joints
from the reference point.
"""

DRIVE_WEAR: dict[str, AnyDistribution] = {
    **dict.fromkeys(
        (
            "drive.friction",
            "drive.friction_torque",
            "drive.viscous",
            "drive.viscous_torque",
            "friction.viscous",
        ),
        Uniform(low=0.5, high=1.5, relative=True, each_leg=True),
    ),
    "drive.backlash": Uniform(low=0.0, high=2.0, relative=True, each_leg=True),
}
"""Distributions of friction and backlash, which vary with wear, temperature and lubrication: every
leg has its own value.
"""

DRIVE_ELECTRONICS: dict[str, AnyDistribution] = {
    "drive.delay": Uniform(low=0.0, high=2.0, relative=True),
    "drive.current_lag": LogUniform(low=0.5, high=2.0, relative=True),
}
"""Distributions of the electronics: the same value for all legs, as they share one controller."""

LIKE_FIELD = "like"
"""Field that names the randomisation which a table widens or changes."""


@dataclass(frozen=True)
class Randomisation:
    """Distributions over numbers of a machine and of its task.

    Names are paths of `numeric_paths`, or begin with `"task."` or `"motion."` and belong to the
    task. A name may list several paths, separated by commas, and `*`
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
    """sampler of the machine that `bound` was called with last"""

    def __post_init__(self) -> None:
        tables: Any = self.distributions
        if isinstance(tables, tuple):
            tables = dict(tables)
        if not isinstance(tables, Mapping):
            raise InputError(
                "randomisation", f"must map paths to distributions, not be {brief(tables)}"
            )
        as_text(self.source, "source")
        try:
            distributions = tuple(sorted(_distributions(tables, ""), key=lambda entry: entry[0]))
        except RecursionError:
            raise InputError("randomisation", "is nested too deeply") from None
        for (first_name, _), (second_name, _) in pairwise(distributions):
            if first_name == second_name:
                raise InputError(first_name, "is given twice")
        object.__setattr__(self, "distributions", distributions)

    def bound(
        self, parameters: MachineParameters, task: Mapping[str, float] | Collection[str] = ()
    ) -> Sampler:
        """Return the sampler for one machine, whose paths and extremes are checked once.

        Args:
            parameters: the nominal machine.
            task: names that the task knows, those of paths without their `"task."`; with the
                task's own values where these may be relative.

        Raises:
            InputError: a path that machine and task do not have, one named twice, or an extreme
                value that the machine refuses.
        """
        as_instance(parameters, "parameters", MachineParameters)
        sampler = Sampler(self.distributions, parameters, task)
        object.__setattr__(self, "_last", sampler)
        return sampler

    def sample(
        self, generator: np.random.Generator, parameters: MachineParameters, fraction: float = 1.0
    ) -> Sampled:
        """Return one machine and its task's values, at a fraction of the way from the nominal ones.

        Checks as `bound` does, unless its last call was for the same object `parameters`: the task
        of that call then counts as well.

        Raises:
            InputError: as `bound`, a fraction not from 0 to 1, or a hundred refused draws.
        """
        sampler = self._last
        if sampler is None or sampler.parameters is not parameters:
            sampler = self.bound(parameters)
        return sampler.sample(generator, bounded(fraction, "fraction", 0.0, 1.0))

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
    """Yield the dotted path and the distribution of every entry of nested tables."""
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
            raise InputError(name, f"has no kind; known: {', '.join(DISTRIBUTION_TYPES)}")


def _distribution(name: str, table: Mapping[str, Any]) -> AnyDistribution:
    kind = one_of(table["kind"], f"{name}.kind", DISTRIBUTION_TYPES)
    try:
        return DISTRIBUTION_TYPES[kind](**table)
    except InputError as error:
        raise InputError(f"{name}.{error.field}", error.message) from None


def hardware_spread(parameters: MachineParameters) -> Randomisation:
    """Return distributions of a machine's payload and drives about the values of its file.

    Mass and inertia of the platform by 10 % either way, together; its centre of mass by 5 % of the
    mean distance of the platform joints along each axis; friction and viscous friction of every
    drive, and viscous friction below sliding feet, 0.5 to 1.5 times, backlash 0 to 2 times; delay
    of all drives 0 to 2 times, lag of their current loops 0.5 to 2 times. Numbers that are zero or
    left out stay. The bounds are engineering choices: friction of screws changes that much with
    load, temperature and wear, data sheets give backlash as a largest value, and delay depends on
    where in the cycle a command arrives.

    Raises:
        InputError: a machine without drives.
    """
    if all(leg.drive is None for leg in parameters.legs):
        configuration = parameters.configuration
        configuration_hint = (
            "; load it with one of its configurations: " + ", ".join(configuration.known)
            if configuration
            else ""
        )
        raise InputError("parameters", f"{parameters.name} has no drives{configuration_hint}")
    max_shift = MAX_CENTER_SHIFT * parameters.mean_arm
    distributions: dict[str, AnyDistribution] = {
        "platform.body.mass, platform.body.inertia.*.*": Uniform(
            low=1.0 - MAX_MASS_ERROR, high=1.0 + MAX_MASS_ERROR, relative=True
        )
    }
    for axis in range(3):
        distributions[f"platform.body.center_of_mass.{axis}"] = Uniform(
            low=-max_shift, high=max_shift, offset=True
        )
    distributions |= dict(_present(parameters))
    return Randomisation(
        distributions, "Adopted: wear, temperature, payload and a controller's cycle"
    )


def _present(parameters: MachineParameters) -> Iterator[tuple[str, AnyDistribution]]:
    known_paths = set(numeric_paths(parameters))
    for name, distribution in (DRIVE_WEAR | DRIVE_ELECTRONICS).items():
        path = f"leg.{name}"
        if path in known_paths and any(nominal_values(parameters, path).values()):
            yield path, distribution


def wide_spread(parameters: MachineParameters) -> Randomisation:
    """Return distributions for policies that shall also work on machines other than the file's.

    Those of `hardware_spread`, with mass and inertia of the platform half to twice, together, and
    dry friction of every drive and viscous friction below sliding feet 0 to 2 times.

    Raises:
        InputError: a machine without drives.
    """
    distributions = dict(hardware_spread(parameters).distributions)
    for name in distributions:
        if name.startswith("platform.body.mass"):
            distributions[name] = LogUniform(low=0.5, high=2.0, relative=True)
        elif "friction" in name:
            distributions[name] = Uniform(low=0.0, high=2.0, relative=True, each_leg=True)
    return Randomisation(distributions, "Adopted: another payload, new and worn drives")


RANDOMISATIONS: dict[str, Callable[[MachineParameters], Randomisation]] = {
    "hardware_spread": hardware_spread,
    "wide_spread": wide_spread,
}
"""Randomisations by name."""


def as_randomisation(
    value: Any,
    parameters: MachineParameters | None = None,
    task: Mapping[str, float] | Collection[str] = (),
) -> Randomisation:
    """Return the randomisation that a value, name, table or file describes.

    Args:
        value: a Randomisation; None for none; a dictionary like a file's content; the name of a
            spread that the package has; or the path of a TOML file.
        parameters: the nominal machine to check against, which a named spread is made for; None
            checks later.
        task: names that the task knows, as for `Randomisation.bound`.

    Raises:
        InputError: none of these, wrong inside, or nothing that fits the machine and its task.
    """
    randomisation = _read(value, parameters)
    if parameters is not None:
        # What one environment checked is not for another to change.
        randomisation = Randomisation(randomisation.distributions, randomisation.source)
        randomisation.bound(parameters, task)
    return randomisation


def _read(value: Any, parameters: MachineParameters | None) -> Randomisation:
    """Return the randomisation that a name, a table or a file stands for."""
    if value is None:
        return Randomisation(())
    if isinstance(value, Randomisation):
        return value
    if isinstance(value, Mapping):
        tables = dict(value)
        source = tables.pop("source", "")
        base_name = tables.pop(LIKE_FIELD, None)
        if base_name is None:
            return Randomisation(tables, source)
        base = _read(one_of(base_name, LIKE_FIELD, RANDOMISATIONS), parameters)
        return Randomisation({**dict(base.distributions), **tables}, source or base.source)
    if isinstance(value, str) and not value.endswith(".toml"):
        one_of(value, "randomisation", RANDOMISATIONS)
        if parameters is None:
            raise InputError(
                "parameters", f"the spread {brief(value)} is made for a machine; give it"
            )
        return RANDOMISATIONS[value](parameters)
    if isinstance(value, (str, Path)):
        return read_randomisation(value)
    raise InputError(
        "randomisation",
        f"must be a Randomisation, a table, a name or the path of a TOML file, not {brief(value)}",
    )


def read_randomisation(path: str | Path) -> Randomisation:
    """Return the randomisation of a TOML file.

    Every table with a `kind` is a distribution; the tables around it are its path.

    Raises:
        InputError: unreadable, not TOML, or wrong inside.
    """
    try:
        content = read_toml(path)
    except ParameterError as error:
        (_, message), *_ = error.problems
        raise InputError("path", f"{path} {message}") from None
    return as_randomisation(content)
