"""Libraries of the optional `rl` extra, imported on first use with a clear error."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from twin.errors import MissingDependencyError

INSTALL = "pip install torch==2.13.0 && pip install platform-twin[rl]"
"""PyTorch by its version first: the extra alone may bring a several times larger build."""

POOL = "pip install platform-twin[sweep]"

PICTURE = "pip install matplotlib"


def training_library(module: str, purpose: str = "Training") -> ModuleType:
    """Return a module of PyTorch or Stable-Baselines3.

    Args:
        module: dotted name, the library's name first.
        purpose: what it is needed for, as the start of a sentence.

    Raises:
        MissingDependencyError: the library is not installed.
    """
    return _library(module, purpose, INSTALL)


def pool_library() -> ModuleType:
    """Return joblib, which runs work in several processes.

    Raises:
        MissingDependencyError: it is not installed.
    """
    return _library("joblib", "Evaluating in several processes", POOL)


def picture_library(module: str) -> ModuleType:
    """Return a module of matplotlib.

    Raises:
        MissingDependencyError: it is not installed.
    """
    return _library(module, "Drawing learning curves", PICTURE)


def check_training() -> None:
    """Check that everything a training needs is installed, before anything is written.

    Raises:
        MissingDependencyError: a library is missing.
    """
    for module in ("torch", "stable_baselines3", "tensorboard"):
        training_library(module)
    picture_library("matplotlib")


def _library(module: str, purpose: str, install: str) -> ModuleType:
    try:
        return import_module(module)
    except ImportError:
        raise MissingDependencyError(module.partition(".")[0], purpose, install) from None
