"""Versions of the package and of the libraries that take part in a simulation."""

from __future__ import annotations

from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from platform import python_version


@lru_cache(maxsize=1)
def _installed() -> tuple[tuple[str, str], ...]:
    found = [("platform-twin", version("platform-twin")), ("python", python_version())]
    for library in ("numpy", "scipy", "numba", "mujoco", "pybullet"):
        try:
            found.append((library, version(library)))
        except PackageNotFoundError:
            continue
    return tuple(found)


def library_versions() -> dict[str, str]:
    """Return the versions of the package and of the numeric libraries that are installed."""
    return dict(_installed())
