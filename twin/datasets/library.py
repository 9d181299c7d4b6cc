"""Libraries of the optional `datasets` extra, imported on first use with a clear error."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from twin.errors import MissingDependencyError

INSTALL = "pip install platform-twin[datasets]"

NEEDED = ("minari", "h5py")
"""Minari, and what it writes its files with."""


def dataset_library(module: str = "minari") -> ModuleType:
    """Return a module of Minari.

    Args:
        module: dotted name.

    Raises:
        MissingDependencyError: Minari or h5py is not installed.
    """
    for library in NEEDED:
        try:
            import_module(library)
        except ImportError:
            raise MissingDependencyError(library, "Recording datasets", INSTALL) from None
    return import_module(module)
