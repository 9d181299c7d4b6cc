"""The validation cases, one module each, in the order of the report."""

from __future__ import annotations

from importlib import import_module
from typing import cast

from twin.errors import InputError
from twin.validation.case import CaseModule

CASES = (
    "reference",
    "published",
    "published_runs",
    "projection",
    "thesis_motion",
    "tank_motion",
    "free_fall",
    "constant_forces",
    "sinusoidal_forces",
    "convergence",
    "constraint_settings",
)
"""Names of all cases; each is a module here with `CASE` and `run`."""


def load_case(name: str) -> CaseModule:
    """Return the module of a case.

    Raises:
        InputError: unknown name; lists the known ones.
    """
    if not isinstance(name, str) or name not in CASES:
        raise InputError("case", f"unknown case {name!r}; known: {', '.join(CASES)}")
    return cast(CaseModule, import_module(f"{__name__}.{name}"))
