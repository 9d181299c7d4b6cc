"""Actors of a recorded episode: random actions, functions such as policies, controllers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from twin.basics.arrays import FloatArray
from twin.errors import InputError, brief
from twin.training.laws import make_law

if TYPE_CHECKING:
    import gymnasium


Act = Callable[[Any], Any]
"""Observation to action."""

ROUNDING = 1e-6
"""Largest excess of a rounded action over its space; it is cut."""


class Actor(ABC):
    """Chooses the actions of one environment.

    Attributes:
        name: of the algorithm, in the dataset.
    """

    name: str

    def begin(self, seed: int) -> None:
        """Prepare for an episode that has just been reset with `seed`."""
        del seed

    @abstractmethod
    def act(self, observation: Any) -> Any:
        """Return the action for an observation."""


class Chance(Actor):
    """Uniformly distributed actions, the same for the same seed."""

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
        """Take the function and its name in the dataset."""
        self.name, self._function = name, function

    def act(self, observation: Any) -> Any:
        """Return the function's result."""
        return self._function(observation)


class LawActor(Actor):
    """A law of the task by name, made anew for every episode."""

    def __init__(self, name: str, env: gymnasium.Env[Any, Any]) -> None:
        """Take the name of a law and its environment."""
        self.name, self._env = name, env
        self._law: Act | None = None

    def begin(self, seed: int) -> None:
        """Make the law with its filters at rest."""
        del seed
        self._law = make_law(self.name, self._env)

    def act(self, observation: Any) -> Any:
        """Return the law's action."""
        if self._law is None:
            self.begin(0)
        assert self._law is not None
        return self._law(observation)


class Noisy(Actor):
    """Another actor with normally distributed noise on its actions, cut to the action space."""

    def __init__(self, actor: Actor, env: gymnasium.Env[Any, Any], deviation: float) -> None:
        """Take an actor and the standard deviation of the noise, in units of the actions."""
        self.name = f"{actor.name} with noise of {deviation:.3g}"
        self._actor, self._deviation = actor, deviation
        self._space: Any = env.action_space
        self._generator = np.random.default_rng(0)

    def begin(self, seed: int) -> None:
        """Start the actor, and the episode's own noise."""
        self._actor.begin(seed)
        self._generator = np.random.default_rng([seed, 2])

    def act(self, observation: Any) -> FloatArray:
        """Return the actor's action with noise."""
        noise = self._deviation * self._generator.standard_normal(self._space.shape)
        action = np.asarray(self._actor.act(observation)) + noise
        return np.asarray(np.clip(action, self._space.low, self._space.high))


def as_action(action: Any, space: Any) -> Any:
    """Return an action in the environment's space and of its type.

    Raises:
        InputError: wrong shape, not finite, or outside the space.
    """
    try:
        found = np.asarray(action, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("policy", f"gave {brief(action)}, which is not an action") from None
    if found.shape != space.shape:
        raise InputError("policy", f"gave an action of shape {found.shape}, not {space.shape}")
    beyond = np.maximum(found - space.high, space.low - found).max(initial=0.0)
    if not beyond <= ROUNDING:
        raise InputError("policy", "gave an action outside the action space; clip it to the space")
    return np.clip(found, space.low, space.high).astype(space.dtype)
