"""The library of the optional `symbolic` extra, imported on first use with a clear error."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from twin.errors import MissingDependencyError

INSTALL = "pip install platform-twin[symbolic]"


def sympy_module(name: str = "sympy") -> ModuleType:
    """Return sympy, or one of its modules by its dotted name.

    Raises:
        MissingDependencyError: sympy is not installed.
    """
    try:
        return import_module(name)
    except ImportError:
        purpose = "Deriving equations of motion"
        raise MissingDependencyError("sympy", purpose, INSTALL) from None
