"""Libraries of the optional `sweep` and `cluster` extras, imported on first use."""

from __future__ import annotations

import os
from importlib import import_module
from types import ModuleType

from twin.errors import MissingDependencyError

SWEEP = "pip install platform-twin[sweep]"
CLUSTER = "pip install platform-twin[cluster]"

LOOPBACK = "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"
"""Set to 0 before Ray is imported it keeps a cluster of this computer on the loopback interface, on
every system; otherwise its ports are open to the network."""

LOCAL = "local"
"""Address of a cluster that is started on this computer and ends with the sweep."""

USAGE = "RAY_USAGE_STATS_ENABLED"


def sweep_library(module: str) -> ModuleType:
    """Return a module of joblib or pyarrow.

    Raises:
        MissingDependencyError: the library is not installed.
    """
    try:
        return import_module(module)
    except ImportError:
        library = module.partition(".")[0]
        raise MissingDependencyError(library, "A sweep", SWEEP) from None


def ray_library(address: str | None = None) -> ModuleType:
    """Return Ray, which reports nothing to anybody.

    Args:
        address: of the cluster; for one of this computer (None or `LOCAL`) Ray is kept away from
            the network, unless somebody has imported it before.

    Raises:
        MissingDependencyError: it is not installed.
    """
    os.environ.setdefault(USAGE, "0")
    if address in (None, LOCAL):
        os.environ.setdefault(LOOPBACK, "0")
    try:
        return import_module("ray")
    except ImportError:
        raise MissingDependencyError("ray", "A sweep on a cluster", CLUSTER) from None
