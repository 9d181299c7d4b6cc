"""Libraries of the optional extras, imported on first use with a clear error."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from twin.errors import MissingDependencyError

INSTALL = "pip install platform-twin[{}]"


def report_library(module: str, purpose: str) -> ModuleType:
    """Return a module of the `report` extra.

    Args:
        module: dotted name, the library's name first.
        purpose: what it is needed for, as the start of a sentence.

    Raises:
        MissingDependencyError: the library is not installed.
    """
    return _library(module, purpose, "report")


def render_library(module: str, purpose: str) -> ModuleType:
    """Return a module of the `render` extra; arguments as for `report_library`.

    Raises:
        MissingDependencyError: the library is not installed.
    """
    return _library(module, purpose, "render")


def view_library(module: str, purpose: str) -> ModuleType:
    """Return a module of the `view` extra; arguments as for `report_library`.

    Raises:
        MissingDependencyError: the library is not installed.
    """
    return _library(module, purpose, "view")


def _library(module: str, purpose: str, extra: str) -> ModuleType:
    try:
        return import_module(module)
    except ImportError:
        library = module.partition(".")[0]
        raise MissingDependencyError(library, purpose, INSTALL.format(extra)) from None
