"""Randomisations from dictionaries, by name, and from TOML files."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from twin.basics.arrays import one_of
from twin.basics.toml import read_toml
from twin.errors import InputError, ParameterError, brief
from twin.machine.machine import MachineParameters
from twin.machine.randomisation.randomisation import Randomisation
from twin.machine.randomisation.spreads import SPREADS

LIKE = "like"
"""Key of a table for the name of a spread that it widens or changes."""


def as_randomisation(
    value: Any,
    parameters: MachineParameters | None = None,
    task: Mapping[str, float] | Collection[str] = (),
) -> Randomisation:
    """Return the randomisation that a value means.

    Args:
        value: a Randomisation; None for none; a dictionary like a file's content; the name of a
            spread that the package has; or the path of a TOML file.
        parameters: the nominal machine to check against, which a named spread is made for; None
            checks later.
        task: names that the task knows, as for `Randomisation.bound`.

    Raises:
        InputError: none of these, wrong inside, or nothing that fits the machine and its task.
    """
    found = _read(value, parameters)
    if parameters is not None:
        # What one environment checked is not for another to change.
        found = Randomisation(found.distributions, found.source)
        found.bound(parameters, task)
    return found


def _read(value: Any, parameters: MachineParameters | None) -> Randomisation:
    if value is None:
        return Randomisation(())
    if isinstance(value, Randomisation):
        return value
    if isinstance(value, Mapping):
        tables = dict(value)
        source = tables.pop("source", "")
        like = tables.pop(LIKE, None)
        if like is None:
            return Randomisation(tables, source)
        start = _read(one_of(like, LIKE, SPREADS), parameters)
        return Randomisation({**dict(start.distributions), **tables}, source or start.source)
    if isinstance(value, str) and not value.endswith(".toml"):
        one_of(value, "randomisation", SPREADS)
        if parameters is None:
            raise InputError(
                "parameters", f"the spread {brief(value)} is made for a machine; give it"
            )
        return SPREADS[value](parameters)
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
