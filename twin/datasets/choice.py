"""The actor that a name, a file or a function means."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from twin.control import controller_names
from twin.datasets.actors import Actor, Chance, Function
from twin.datasets.controller_actor import ControllerActor
from twin.errors import InputError

if TYPE_CHECKING:
    import gymnasium

    from twin.training.policy import Policy

WORDS = ("random", "zero")
"""Actors that need no file."""


def saved_policy(policy: Any, environment: str) -> Policy | None:
    """Return the policy of a file or a shipped one by name; None if none is meant.

    Raises:
        InputError: no such policy, or one for another environment.
    """
    if not isinstance(policy, (str, Path)) or policy in (*WORDS, *controller_names()):
        return None
    from twin.training.shipped import load_policy, policy_names

    try:
        found = load_policy(policy)
    except InputError as error:
        if Path(policy).is_file():
            raise
        known = ", ".join((*WORDS, *controller_names(), *policy_names()))
        raise InputError(
            "policy", f"{policy!r} is neither a file nor one of {known} ({error.message})"
        ) from None
    if found.origin.environment != environment:
        raise InputError(
            "policy", f"{policy} is for {found.origin.environment}, not for {environment}"
        )
    return found


def make_actor(policy: Any, env: gymnasium.Env[Any, Any], saved: Policy | None) -> Actor:
    """Return who acts in `env`.

    Args:
        policy: "random", "zero", a controller's name, a function, or what `saved` came from.
        env: the environment.
        saved: what `saved_policy` found.

    Raises:
        InputError: none of these, or a controller that cannot act in this environment.
    """
    if saved is not None:
        return Function(saved, f"{saved.origin.algorithm or 'policy'} ({Path(policy).name})")
    if isinstance(policy, str):
        if policy == "random":
            return Chance(env)
        if policy == "zero":
            nothing = np.zeros(env.action_space.shape or ())
            return Function(lambda _: nothing, "zero")
        return ControllerActor(policy, env)
    if callable(policy):
        return Function(policy, getattr(policy, "__name__", type(policy).__name__))
    raise InputError("policy", f"must be a name, a file or a function, not {policy!r}")
