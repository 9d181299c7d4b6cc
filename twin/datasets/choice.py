"""The actor of a name, a file or a function."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from twin.control import controller_names
from twin.datasets.actors import Actor, Chance, Function, LawActor
from twin.datasets.controller_actor import ControllerActor
from twin.errors import InputError, brief
from twin.training.laws import LAWS
from twin.training.policy import Policy, policy_for

if TYPE_CHECKING:
    import gymnasium

TASKS = {law: environment for environment, laws in LAWS.items() for law in laws}
"""Law -> environment that it acts in."""

NAMES = ("random", "zero", *controller_names(), *TASKS)
"""Actors without a file."""


def saved_policy(policy: Any, environment: str) -> Policy | None:
    """Return a shipped policy by name, or the one in a file; None for another actor.

    Raises:
        InputError: no such policy, or one for another environment.
    """
    if not isinstance(policy, (str, Path)) or policy in NAMES:
        return None
    return policy_for(policy, environment, NAMES)


def make_actor(policy: Any, env: gymnasium.Env[Any, Any], saved: Policy | None) -> Actor:
    """Return the actor of `env`.

    Args:
        policy: "random", "zero", the name of a controller or of a law of the task, a function, or
            the name of `saved`.
        env: the environment.
        saved: result of `saved_policy`.

    Raises:
        InputError: none of these, or a controller or law that cannot act in this environment.
    """
    if saved is not None:
        return Function(saved, f"{saved.origin.algorithm or 'policy'} ({Path(policy).name})")
    if isinstance(policy, str):
        if policy == "random":
            return Chance(env)
        if policy == "zero":
            nothing = np.zeros(env.action_space.shape or ())
            return Function(lambda _: nothing, "zero")
        if policy not in TASKS:
            return ControllerActor(policy, env)
        if env.spec is None or env.spec.id != TASKS[policy]:
            raise InputError("policy", f"the law {policy} can act in {TASKS[policy]} only")
        return LawActor(policy, env)
    if callable(policy):
        return Function(policy, getattr(policy, "__name__", type(policy).__name__))
    raise InputError("policy", f"must be a name, a file or a function, not {brief(policy)}")
