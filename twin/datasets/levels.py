"""Levels of recorded episodes: random actions, an expert of the task, and medium between them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from twin.basics.progress import Progress
from twin.datasets.actors import Actor, Chance, Noisy
from twin.datasets.controller_actor import ControllerActor
from twin.datasets.episode import play
from twin.errors import InputError

if TYPE_CHECKING:
    import gymnasium

LEVELS = _, MEDIUM, EXPERT = ("random", "medium", "expert")


class Expert(NamedTuple):
    """A baseline that solves a task well, by name, and the options that it acts in."""

    name: str
    options: Mapping[str, Any]


FORCES = {"configuration": "hardware", "action": "forces", "residual": False}

EXPERTS = {
    "twin/PoseTracking-v0": Expert("computed_torque", FORCES),
    "twin/MotionCueing-v0": Expert("tilt_law", {}),
    "twin/VibrationIsolation-v0": Expert("isolation_law", {}),
    "twin/BallBalance-v0": Expert("balance_law", {}),
}

NOISE = (0.01, 10.0)
"""Least and largest standard deviation of a medium actor's noise, in units of the actions."""

HALVINGS = 6
"""Of the logarithm of the noise: to a tenth of its value."""

PROBES = 6
"""Episodes from which a mean return is estimated."""


def of_level(
    environment: str, policy: Any, options: Mapping[str, Any] | None
) -> tuple[Any, Mapping[str, Any] | None]:
    """Return the expert's name for the policies "medium" and "expert", with the options it acts in.

    Given options take the place of the expert's. Other policies are returned as they are.

    Raises:
        InputError: an environment without an expert.
    """
    if not isinstance(policy, str) or policy not in (MEDIUM, EXPERT):
        return policy, options
    expert = expert_of(environment)
    return expert.name, {**expert.options, **(options or {})}


def expert_of(environment: str) -> Expert:
    """Return the expert of an environment.

    Raises:
        InputError: there is none.
    """
    if environment not in EXPERTS:
        raise InputError("environment", f"experts are known for {', '.join(EXPERTS)} only")
    return EXPERTS[environment]


def halfway(env: gymnasium.Env[Any, Any], expert: Actor, progress: bool | None) -> Actor:
    """Return the medium actor: an expert with noise on its actions.

    The standard deviation of the noise is the one whose mean return lies halfway between those of
    random actions and of the expert, in the same few episodes. It is found by bisection.
    """
    if isinstance(expert, ControllerActor):
        expert.cuts = True
    limit, done = step_limit(env), 0
    with Progress("finding the noise", limit * PROBES * (HALVINGS + 2), progress) as bar:

        def mean_return(actor: Actor) -> float:
            nonlocal done
            found = []
            for seed in range(PROBES):
                found.append(play(env, actor, seed, bar, done).total)
                done += limit
            return float(np.mean(found))

        target = 0.5 * (mean_return(Chance(env)) + mean_return(expert))
        low, high = np.log(NOISE)
        for _ in range(HALVINGS):
            middle = 0.5 * (low + high)
            if mean_return(Noisy(expert, env, float(np.exp(middle)))) > target:
                low = middle
            else:
                high = middle
    return Noisy(expert, env, float(np.exp(0.5 * (low + high))))


def step_limit(env: gymnasium.Env[Any, Any]) -> int:
    """Return the largest number of steps of an episode, 1 where there is none."""
    return (env.spec.max_episode_steps if env.spec else None) or 1
