"""Libraries of the optional `report` extra, imported on first use with a clear error."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from twin.errors import MissingDependencyError

INSTALL = "pip install platform-twin[report]"


def report_library(module: str, purpose: str) -> ModuleType:
    """Return a module of the `report` extra.

    Args:
        module: dotted name, the library's name first.
        purpose: what it is needed for, as the start of a sentence.

    Raises:
        MissingDependencyError: the library is not installed.
    """
    try:
        return import_module(module)
    except ImportError:
        raise MissingDependencyError(module.partition(".")[0], purpose, INSTALL) from None
