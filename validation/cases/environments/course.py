"""Short courses of an environment, and what its docstring says of observations and rewards."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray
from twin.envs.channels import channel_slices
from twin.envs.environment import PlatformEnv
from twin.validation.measures.metrics import largest
from twin.validation.results import Measure

LARGEST = 10.0
"""Observations are clipped to it, in parts of their scales."""

ROUNDING = 1e-6
"""Of an observation: single precision of numbers up to 10."""


class Instant(NamedTuple):
    """An environment at the end of a control period."""

    observation: FloatArray
    reward: float
    info: dict[str, Any]
    action: FloatArray
    """of the period; zeros after a reset"""


def course(
    environment: PlatformEnv,
    actions: FloatArray,
    options: Mapping[str, Any] | None = None,
    each: Callable[[], Any] | None = None,
) -> list[Instant]:
    """Return the k + 1 instants of an episode under actions `(k, a)`; `each` follows every step."""
    observation, info = environment.reset(seed=SEED, options=dict(options or {}))
    instants = [Instant(observation, 0.0, info, np.zeros(actions.shape[1]))]
    for action in actions:
        observation, reward, _, _, info = environment.step(action)
        instants.append(Instant(observation, reward, info, action))
        if each is not None:
            each()
    return instants


SEED = 5
"""Of all episodes."""


def column(instants: Sequence[Instant], name: str) -> FloatArray:
    """Return an entry of `info` over the instants `(k, ...)`."""
    return np.array([instant.info[name] for instant in instants])


def observation_error(
    environment: PlatformEnv, instant: Instant, expected: Mapping[str, Any]
) -> float:
    """Return the largest difference of observed channels from `expected` physical values."""
    channels = {channel.name: channel for channel in environment.task.observations}
    slices = channel_slices(environment.task.observations)
    errors = [
        instant.observation[slices[name]]
        - np.clip(np.asarray(value) / channels[name].scale, -LARGEST, LARGEST)
        for name, value in expected.items()
    ]
    return largest(np.concatenate(errors))


def reward_error(
    environment: PlatformEnv, instant: Instant, weights: Mapping[str, float], terms: FloatArray
) -> float:
    """Return the difference of a reward, and of its terms, from those of the docstring."""
    given = np.array([instant.info["reward_terms"][name] for name in weights])
    total = float(np.array(list(weights.values())) @ terms)
    return largest([*(given - terms), instant.reward - total])


def closeness(error: float, scale: float, most: float) -> float:
    """Return 1 without error, 0 at `most`, falling with the logarithm of 1 + error / scale."""
    return max(0.0, 1.0 - float(np.log(1.0 + error / scale) / np.log(1.0 + most / scale)))


def smoothness(action: FloatArray, before: FloatArray) -> float:
    """Return minus the mean square change of an action."""
    return -float(np.mean((action - before) ** 2))


def observation_measure(name: str, what: str, error: float) -> Measure:
    """Return the measure of all observations of an environment."""
    return Measure(
        f"{name}: observations against {what}",
        error,
        ROUNDING,
        "in parts of the scales: single precision of numbers up to 10",
    )


def reward_measure(name: str, error: float) -> Measure:
    """Return the measure of rewards and their terms."""
    return Measure(
        f"{name}: reward and its terms against the formulae of the documentation",
        error,
        1e-9,
        "rounding of errors that are differences of coordinates, in parts of their scales",
    )
