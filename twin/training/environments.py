"""Environments by id, with names of options checked; their channels, and whether a policy fits."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode

from twin.errors import InputError, brief
from twin.training.options import difference_text, option_differences
from twin.training.policy import Policy, PolicyChannel

OWN = "twin/"
"""Before the ids of the package's own environments."""


@contextmanager
def checked_environment(environment: Any) -> Iterator[None]:
    """Register the package's environments; inside, errors of `gymnasium.make` name their field.

    Raises:
        InputError: an unknown id, or options that the environment does not take.
    """
    if not isinstance(environment, str):
        raise InputError("environment", f"must be an id, not {brief(environment)}")
    importlib.import_module("twin.envs")
    try:
        yield
    except (gymnasium.error.Error, ModuleNotFoundError) as error:
        known = ", ".join(sorted(name for name in gymnasium.registry if name.startswith(OWN)))
        raise InputError(
            "environment", f"cannot make {brief(environment)} ({error}); known: {known}"
        ) from None
    except InputError:
        raise
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


SAME = 1e-6
"""Relative difference up to which scales are the same."""


def channels(env: Any) -> tuple[tuple[PolicyChannel, ...], tuple[PolicyChannel, ...]]:
    """Return the channels of observations and actions; none for an environment without names."""
    task = getattr(env.unwrapped, "task", None)
    if task is None:
        return (), ()
    return _channels(task.observations), _channels(task.actions)


def check_fit(policy: Policy, env: Any) -> None:
    """Check that a policy is made for an environment: the same numbers with the same meaning.

    Args:
        policy: trained.
        env: a single environment, or a vector of them.

    Raises:
        InputError: other observations or actions, or other scales of them; names the options that
            differ from those of the training.
    """
    differences = option_differences(policy, env.spec.kwargs) if env.spec else {}
    advice = "make it with `policy.options`, the options of the training"
    if differences:
        advice = f"not as in the training: {difference_text(differences)}"
    prefix = "single_" if hasattr(env, "num_envs") else ""
    seen, moved = (getattr(env, f"{prefix}{kind}_space") for kind in ("observation", "action"))
    sizes = (seen.shape[0], moved.shape[0])
    own = (policy.mean.size, policy.biases[-1].size)
    if own != sizes:
        raise InputError(
            "policy",
            f"takes {own[0]} observations to {own[1]} actions, the environment has {sizes[0]} and "
            f"{sizes[1]}; {advice}",
        )
    for kind, table in zip(("observations", "actions"), channels(env), strict=True):
        trained = getattr(policy.origin, kind)
        if not (trained and table):
            continue
        for here, there in zip(table, trained, strict=False):
            scales = np.atleast_1d(here.scale), np.atleast_1d(there.scale)
            alike = (here.name, here.size, here.unit) == (there.name, there.size, there.unit)
            if not alike or not np.allclose(*scales, rtol=SAME, atol=0.0):
                raise InputError(
                    "policy",
                    f"was trained with {kind} where {there.name} has another place or scale; "
                    f"{advice}",
                )


def _channels(table: Any) -> tuple[PolicyChannel, ...]:
    return tuple(
        PolicyChannel(
            name=channel.name, size=channel.size, unit=channel.unit, scale=_scale(channel.scale)
        )
        for channel in table
    )


def _scale(scale: Any) -> float | tuple[float, ...]:
    values = np.asarray(scale, dtype=float)
    return float(values) if values.ndim == 0 else tuple(values.tolist())
