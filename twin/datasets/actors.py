"""Who acts in an episode that is recorded: chance, a policy, or one of the controllers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from twin.arrays import FloatArray
from twin.control import controller_names
from twin.errors import InputError

if TYPE_CHECKING:
    import gymnasium

    from twin.training.policy import Policy

Act = Callable[[Any], Any]
"""Observation to action."""

WORDS = ("random", "zero")
"""Actors that need no file."""

ROUNDING = 1e-6
"""By which a rounded action may exceed its space; it is cut."""


class Actor(ABC):
    """Chooses the actions of one environment.

    Attributes:
        name: as the dataset calls the algorithm.
    """

    name: str

    def begin(self, seed: int) -> None:
        """Prepare for an episode that has just been reset; `seed` is the episode's."""
        del seed

    @abstractmethod
    def act(self, observation: Any) -> Any:
        """Return the action for an observation."""


class Chance(Actor):
    """Actions that are equally likely everywhere in the space, the same for the same seed."""

    name = "random"

    def __init__(self, env: gymnasium.Env[Any, Any]) -> None:
        """Take the action space of `env`."""
        self._space: Any = env.action_space
        self._generator = np.random.default_rng(0)

    def begin(self, seed: int) -> None:
        """Start the episode's own random numbers."""
        # The environment draws from the seed itself.
        self._generator = np.random.default_rng([seed, 1])

    def act(self, observation: Any) -> FloatArray:
        """Return an action that does not depend on the observation."""
        return np.asarray(self._generator.uniform(self._space.low, self._space.high))


class Function(Actor):
    """A function from observations to actions."""

    def __init__(self, function: Act, name: str) -> None:
        """Take the function and what the dataset calls it."""
        self.name, self._function = name, function

    def act(self, observation: Any) -> Any:
        """Return what the function gives."""
        return self._function(observation)


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
        from twin.datasets.controller_actor import ControllerActor

        return ControllerActor(policy, env)
    if callable(policy):
        return Function(policy, getattr(policy, "__name__", type(policy).__name__))
    raise InputError("policy", f"must be a name, a file or a function, not {policy!r}")


def as_action(action: Any, space: Any) -> Any:
    """Return an action as the environment takes it: in its space and of its type.

    Raises:
        InputError: wrong shape, not finite, or outside the space.
    """
    try:
        found = np.asarray(action, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("policy", f"gave {action!r}, which is no action") from None
    if found.shape != space.shape:
        raise InputError("policy", f"gave an action of shape {found.shape}, not {space.shape}")
    beyond = np.maximum(found - space.high, space.low - found).max(initial=0.0)
    if not beyond <= ROUNDING:
        raise InputError(
            "policy", "gave an action outside the action space; let it clip to what it can do"
        )
    return np.clip(found, space.low, space.high).astype(space.dtype)
