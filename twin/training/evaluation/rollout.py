"""Rollouts: one episode for each seed, side by side, under a policy."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import BoolArray, FloatArray
from twin.training.environments import make_environments
from twin.training.metrics import Accumulator, Metric, signal_values

Act = Callable[[FloatArray], FloatArray]
"""Observations `(N, o)` to actions `(N, a)`."""

Driver = Callable[[Any], Act]
"""Environment to the policy that acts in it."""


class Outcome(NamedTuple):
    """Results of episodes, one entry each."""

    reward: FloatArray
    """`(N,)` sums of the rewards; NaN where there are none"""
    length: FloatArray
    """`(N,)` steps"""
    terminated: FloatArray
    """`(N,)` 1 where the episode ended before its time"""
    metrics: FloatArray
    """`(N, metrics)` in their units"""


def roll_out(
    environment: str,
    options: Mapping[str, Any],
    driver: Driver | None,
    seeds: Sequence[int],
    metrics: tuple[Metric, ...],
) -> Outcome:
    """Run one episode for each seed.

    Args:
        environment: id.
        options: of the environment.
        driver: called with the environment, returns its policy; None for actions of zero.
        seeds: of the episodes.
        metrics: of the episodes; their signals are in `info`.

    Raises:
        InputError: an unknown id or option.
    """
    env = make_environments(environment, len(seeds), options, "next_step")
    try:
        policy = None if driver is None else driver(env)
        still = np.zeros(env.action_space.shape, dtype=np.float32)

        def act(observation: FloatArray, _: BoolArray) -> Any:
            return still if policy is None else np.asarray(policy(observation), dtype=np.float32)

        return run_episodes(env, act, seeds, metrics)
    finally:
        env.close()


def run_episodes(
    env: Any,
    act: Callable[[FloatArray, BoolArray], Any],
    seeds: Sequence[int],
    metrics: tuple[Metric, ...],
) -> Outcome:
    """Run one episode in each row of a vector environment with autoreset mode "next_step".

    Args:
        env: of N rows.
        act: observations `(N, o)` and whether each episode goes on `(N,)`, to actions `(N, a)`.
        seeds: of the N episodes.
        metrics: of the episodes; their signals are in `info`.
    """
    size = len(seeds)
    observation, _ = env.reset(seed=list(seeds))
    sums = Accumulator(metrics, size)
    reward, length, terminated = np.zeros(size), np.zeros(size), np.zeros(size)
    running = np.ones(size, dtype=bool)
    while running.any():
        observation, gained, ended, truncated, info = env.step(act(observation, running))
        on = np.flatnonzero(running)
        reward[on] += gained[on]
        length[on] += 1
        terminated[on] = ended[on]
        if metrics:
            sums.add(signal_values(metrics, info)[on], on)
        running &= ~(ended | truncated)
    return Outcome(reward, length, terminated, sums.results())
