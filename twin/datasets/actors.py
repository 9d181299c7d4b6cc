"""Who acts in an episode that is recorded: chance, a policy, or one of the controllers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from twin.basics.arrays import FloatArray
from twin.errors import InputError

if TYPE_CHECKING:
    import gymnasium


Act = Callable[[Any], Any]
"""Observation to action."""

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
