"""Reading a platform.toml: every fault ends in one error that names file and field."""

from __future__ import annotations

import hashlib
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from twin.errors import InputError, ParameterError, brief
from twin.machine.file.configuration import IDEAL, split_configurations, with_configuration
from twin.machine.file.drawing import content_with_drawing
from twin.machine.file.extends import Files, extended, files_of
from twin.machine.file.generic import HARDWARE, generic_hardware
from twin.machine.legs import LEG_KINDS
from twin.machine.machine import MachineParameters
from twin.machine.table import TAGS as TAG_FIELDS
from twin.machine.table import field_names, tag_names

SPELLING = "check its spelling or remove it"

TAGS = {"rigid", "cylinder", "paired_circle", "polar", "points", *LEG_KINDS}
"""Names of the members of unions, which are between field names in the path of a problem."""

Machines = dict[str | None, MachineParameters]
"""Parameters by configuration."""


def read_parameters(path: str | Path, configuration: str | None = None) -> MachineParameters:
    """Return the checked parameters of a platform.toml, with one of its configurations applied.

    The configuration "ideal" is the file without configuration; so is None.

    Raises:
        InputError: the file has no configuration of that name.
        ParameterError: unreadable, not UTF-8, not TOML, unknown or missing fields, or values that
            no machine can have; lists every problem with its field.
    """
    return _chosen(_machines_of(files_of(path)), configuration)


@lru_cache(maxsize=32)
def _machines_of(files: Files) -> Machines:
    """Return what a file describes; the same objects for the same texts, as none can be changed."""
    *changes, (raw, file) = files
    content = content_with_drawing(raw, file)
    for change, path in reversed(changes):
        content = extended(content_with_drawing(change, path), *_parts(content, file), path)
        file = path
    return _machines(content, file)


def parameters_from(
    content: dict[str, Any], file: str | Path, configuration: str | None = None
) -> MachineParameters:
    """Return the checked parameters of the content of a platform.toml; `file` names it in errors.

    All configurations are checked, not only the one that is applied.

    Raises:
        InputError: there is no configuration of that name.
        ParameterError: unknown or missing fields, or values that no machine can have.
    """
    return _chosen(_machines(content, file), configuration)


def _machines(content: dict[str, Any], file: str | Path) -> Machines:
    """Return the checked parameters of every configuration; that of None is ideal."""
    plain, configurations = _parts(content, file)
    machines: Machines = {}
    for name in (None, *configurations):
        try:
            machines[name] = MachineParameters.model_validate(
                with_configuration(plain, configurations, name)
            )
        except ValidationError as error:
            prefix = "" if name is None else f"configuration.{name}."
            found = [(prefix + field, message) for field, message in _problems(error)]
            raise ParameterError(file, found) from None
    return machines


def _parts(
    content: dict[str, Any], file: str | Path
) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """Return the plain content of a file, and its configurations.

    A file without the configuration `hardware` gets a generic one.
    """
    plain, configurations, problems = split_configurations(content)
    if problems:
        raise ParameterError(file, problems)
    if HARDWARE not in configurations:
        try:
            machine = MachineParameters.model_validate(plain)
        except ValidationError as error:
            raise ParameterError(file, _problems(error)) from None
        configurations = configurations | {HARDWARE: generic_hardware(machine)}
    return plain, configurations


def _chosen(machines: Machines, configuration: str | None) -> MachineParameters:
    if configuration is None or (isinstance(configuration, str) and configuration == IDEAL):
        return machines[None]
    if not isinstance(configuration, str) or configuration not in machines:
        known = f"known: {', '.join((IDEAL, *(name for name in machines if name is not None)))}"
        raise InputError("configuration", f"unknown configuration {brief(configuration)}; {known}")
    return machines[configuration]


def _problems(error: ValidationError) -> list[tuple[str, str]]:
    problems: list[tuple[str, str]] = []
    for entry in error.errors(include_url=False):
        extra = entry["type"] == "extra_forbidden"
        # The names of union members are between field names; a user's own field comes last.
        inner, last = (entry["loc"][:-1], entry["loc"][-1:]) if extra else (entry["loc"], ())
        places = [str(part) for part in inner if "[" not in str(part)]
        path = [*(part for part in places if part not in TAGS), *map(str, last)]
        if path[:1] == ["variant"] and path[2:3] == ["leg"]:
            # In the file a variant's own entries are those of its leg.
            del path[2]
        if entry["type"] == "union_tag_invalid":
            path.append(_discriminator(entry))
        field = entry.get("ctx", {}).get("field") or ".".join(path) or "file"
        message = _message(entry, [part for part in places if not part.isdigit()])
        # What is wrong with [leg] is wrong with every variant of it, and a list whose entries are
        # wrong counts as empty.
        repeated = ("leg." + ".".join(path[2:]), message) in problems
        caused = entry["type"] == "too_short" and entry["input"]
        if not repeated and not caused:
            problems.append((field, message))
    return problems


def _message(entry: ErrorDetails, tables: list[str]) -> str:
    """Return what is wrong and what to do; `tables` is the way to the field through the models."""
    fault, context = entry["type"], entry.get("ctx", {})
    if fault == "extra_forbidden":
        close = get_close_matches(str(entry["loc"][-1]), field_names(MachineParameters, tables), 1)
        return "unknown field; " + (f"did you mean '{close[0]}'?" if close else SPELLING)
    if fault == "missing":
        return "missing; " + ("the list is too short" if _in_list(entry) else "add it")
    if fault == "too_short":
        return f"the list is too short; it needs {context['min_length']} or more entries"
    if fault in ("model_type", "model_attributes_type"):
        return "must be a table"
    if fault.startswith("union_tag"):
        known = ", ".join(f"'{tag}'" for tag in tag_names(MachineParameters, tables))
        name = _discriminator(entry)
        if fault == "union_tag_invalid":
            return f"unknown {name} {brief(entry['input'][name])}; known: {known}"
        return f"must be a table with a '{name}': {known}"
    return entry["msg"].removeprefix("Value error, ").replace("Input should be", "must be")


def _discriminator(entry: ErrorDetails) -> str:
    """Return the name of the field that says which table of a union is meant."""
    return next(name for name in TAG_FIELDS if name in entry["ctx"]["discriminator"])


def _in_list(entry: ErrorDetails) -> bool:
    return isinstance(entry["loc"][-1], int)


def parameters_hash(parameters: MachineParameters) -> str:
    """Return a hexadecimal digest of all parameter values, the same on every machine.

    A drawing is no parameter.
    """
    text = parameters.model_dump_json(exclude_none=True, exclude={"appearance"})
    return hashlib.sha256(text.encode()).hexdigest()[:16]
