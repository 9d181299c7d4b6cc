"""Environments by id, with names of options and of environments checked."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import gymnasium
from gymnasium.vector import AutoresetMode

from twin.errors import InputError

OWN = "twin/"
"""Before the ids of the package's own environments."""


@contextmanager
def checked_environment(environment: Any) -> Iterator[None]:
    """Register the package's environments; inside, errors of `gymnasium.make` name their field.

    Raises:
        InputError: an unknown id, or options that the environment does not take.
    """
    if not isinstance(environment, str):
        raise InputError("environment", f"must be an id, not {environment!r}")
    importlib.import_module("twin.envs")
    try:
        yield
    except (gymnasium.error.Error, ModuleNotFoundError) as error:
        known = ", ".join(sorted(name for name in gymnasium.registry if name.startswith(OWN)))
        raise InputError(
            "environment", f"cannot make {environment!r} ({error}); known: {known}"
        ) from None
    except TypeError as error:
        field = "options" if environment.startswith(OWN) else "environment"
        raise InputError(field, f"{environment} does not take the options: {error}") from None


def make_environments(
    environment: str, size: int, options: Mapping[str, Any], autoreset: str = "same_step"
) -> Any:
    """Return a native vector environment (`gymnasium.vector.VectorEnv`).

    Args:
        environment: id such as "twin/PoseTracking-v0"; "module:id" imports a module first.
        size: environments in it.
        options: keyword arguments of the environment.
        autoreset: "same_step" (a finished episode is replaced within the step), "next_step" or
            "disabled".

    Raises:
        InputError: an unknown id, or options that the environment does not take.
    """
    with checked_environment(environment):
        return gymnasium.make_vec(
            environment,
            num_envs=size,
            vectorization_mode="vector_entry_point",
            **{**options, "autoreset_mode": AutoresetMode[autoreset.upper()]},
        )
