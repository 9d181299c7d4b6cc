"""Reading a platform.toml: every fault ends in one error that names file and field."""

from __future__ import annotations

import hashlib
import tomllib
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from twin.errors import ParameterError
from twin.parameters.machine import MachineParameters
from twin.parameters.table import field_names

LARGEST_FILE = 1_000_000
"""Bytes; a platform.toml has a few thousand."""


def read_parameters(path: str | Path) -> MachineParameters:
    """Return the checked parameters of a platform.toml.

    Raises:
        ParameterError: unreadable, not UTF-8, not TOML, unknown or missing fields, or values that
            no machine can have; lists every problem with its field.
    """
    file = Path(path)
    try:
        with file.open("rb") as stream:
            raw = stream.read(LARGEST_FILE + 1)
    except OSError as error:
        raise ParameterError(file, [("file", f"cannot be read ({error.strerror})")]) from None
    if len(raw) > LARGEST_FILE:
        raise ParameterError(file, [("file", f"larger than {LARGEST_FILE} bytes")])
    try:
        content = tomllib.loads(raw.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise ParameterError(file, [("file", f"is not UTF-8 text ({error.reason})")]) from None
    except tomllib.TOMLDecodeError as error:
        raise ParameterError(file, [("file", f"is not valid TOML: {error}")]) from None
    except ValueError as error:
        # Python refuses to read integers of several thousand digits.
        raise ParameterError(file, [("file", f"has a number too long to read ({error})")]) from None
    except RecursionError:
        raise ParameterError(file, [("file", "is nested too deeply")]) from None
    return parameters_from(content, file)


def parameters_from(content: dict[str, Any], file: str | Path) -> MachineParameters:
    """Return the checked parameters of the content of a platform.toml; `file` names it in errors.

    Raises:
        ParameterError: unknown or missing fields, or values that no machine can have.
    """
    try:
        return MachineParameters.model_validate(content)
    except ValidationError as error:
        raise ParameterError(file, _problems(error)) from None


def _problems(error: ValidationError) -> list[tuple[str, str]]:
    problems = []
    for entry in error.errors(include_url=False):
        context = entry.get("ctx", {})
        tags = {"rigid", "cylinder", "paired_circle", "points", "ups"}
        extra = entry["type"] == "extra_forbidden"
        # The names of union members stand between field names; a user's own field comes last.
        inner, last = (entry["loc"][:-1], entry["loc"][-1:]) if extra else (entry["loc"], ())
        path = [str(part) for part in inner if part not in tags and "[" not in str(part)]
        path += map(str, last)
        field = context.get("field") or ".".join(path) or "file"
        message = entry["msg"].removeprefix("Value error, ")
        message = message.replace("Input should be", "must be")
        if extra:
            close = get_close_matches(path[-1], field_names(MachineParameters, path[:-1]), 1)
            hint = f"did you mean '{close[0]}'?" if close else "check its spelling or remove it"
            message = f"unknown field; {hint}"
        elif entry["type"] == "missing" and isinstance(entry["loc"][-1], int):
            message = "missing; the list is too short"
        elif entry["type"] == "missing":
            message = "missing; add it"
        elif entry["type"].startswith("union_tag"):
            tags_known = context.get("expected_tags", "as one of the shipped machines has it")
            message = f"must be a table with a {context['discriminator']}: {tags_known}"
        problems.append((field, message))
    return problems


def parameters_hash(parameters: MachineParameters) -> str:
    """Return a hexadecimal digest of all parameter values, the same on every machine."""
    text = parameters.model_dump_json()
    return hashlib.sha256(text.encode()).hexdigest()[:16]
