"""Channels of an environment's observations and actions, and whether a policy fits them."""

from __future__ import annotations

from typing import Any

import numpy as np

from twin.errors import InputError
from twin.training.policy import Policy, PolicyChannel

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
        InputError: other observations or actions, or other scales of them.
    """
    prefix = "single_" if hasattr(env, "num_envs") else ""
    seen, moved = (getattr(env, f"{prefix}{kind}_space") for kind in ("observation", "action"))
    sizes = (seen.shape[0], moved.shape[0])
    own = (policy.mean.size, policy.biases[-1].size)
    if own != sizes:
        raise InputError(
            "policy",
            f"takes {own[0]} observations to {own[1]} actions, the environment has {sizes[0]} and "
            f"{sizes[1]}; give the options that it was trained with",
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
                    f"was trained with {kind} where {there.name} has another place or scale; give "
                    "the options that it was trained with",
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
