"""Random search: policies moved in random directions, judged in the same episodes.

A direction is tried forwards and backwards in episodes of the same seeds, side by side in one
vector environment. Their difference is due to the policy alone, whatever target or manoeuvre comes,
and it is that of whole returns: no horizon, and no noise that adds up to a drift.

Where all legs share their numbers, a direction has one gain for each channel.
"""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from twin.basics.arrays import BoolArray, FloatArray, one_of
from twin.envs.channels import channel_slices
from twin.errors import InputError
from twin.training.environments import Episode, Metric
from twin.training.evaluation import run_episodes
from twin.training.learning_curve import LearningCurve
from twin.training.policy import Policy, PolicyNetwork, PolicyOrigin, Residual
from twin.training.settings import SearchSettings

CONSTANT_DIRECTION = "constant"
"""Name of the direction that moves all legs equally, whatever is observed."""


def shared_directions(env: Any, channels: Sequence[str]) -> FloatArray:
    """Return directions `(k, p)` in the numbers of a linear policy: weights, then biases.

    A channel with a number for every leg has the same gain in all legs. One along the axes of the
    platform reaches the legs through the Jacobian at home, as the laws of the tasks do. Each adds
    about 1 to the actions where its observations are 1.

    Args:
        env: vector environment of a task whose actions are of the actuators.
        channels: names of observations, or `CONSTANT_DIRECTION`; one direction each.

    Raises:
        InputError: actions of another kind, or a name of no such channel.
    """
    task = getattr(env.unwrapped, "task", None)
    legs = 0 if task is None else task.platform.n_actuators
    if task is None or len(task.actions) != 1 or task.actions[0].size != legs:
        raise InputError("shared", "is for actions that are those of the actuators")
    jacobian = task.platform.jacobian(task.platform.home)
    slices = channel_slices(task.observations)
    usable_channels = {
        channel_info.name: channel_info
        for channel_info in task.observations
        if channel_info.size in (3, legs)
    }
    action_scale = np.broadcast_to(task.actions[0].scale, (legs,))
    directions = np.zeros((len(channels), legs, env.single_observation_space.shape[0] + 1))
    for weights, name in zip(directions, channels, strict=True):
        if name == CONSTANT_DIRECTION:
            weights[:, -1] = 1.0
            continue
        channel = usable_channels[one_of(name, "shared", (*usable_channels, CONSTANT_DIRECTION))]
        gains = np.eye(legs)
        if channel.size == 3:
            gains = jacobian[:, 3:] if channel.unit.startswith("rad") else jacobian[:, :3]
        gain_in_spaces = (
            gains * np.broadcast_to(channel.scale, (channel.size,)) / action_scale[:, None]
        )
        weights[:, slices[name]] = gain_in_spaces / np.sqrt(
            np.square(gain_in_spaces).sum(axis=1).mean()
        )
    weights_and_biases = directions[:, :, :-1].reshape(len(channels), -1), directions[:, :, -1]
    return np.concatenate(weights_and_biases, axis=1)


OBSERVATION_LIMIT = 10.0
"""Largest normalised observation."""

VARIANCE_FLOOR = 1e-8
"""Added to standard deviations before they divide: one of constant values is zero."""


class RandomSearch:
    """Augmented random search on a native vector environment.

    Attributes:
        metrics: metrics for which the environment has signals, which the progress shows.
        steps: number of steps so far, of all environments together.

    Reference:
        Mania, Guy and Recht, "Simple random search of static linear policies is competitive for
        reinforcement learning", NeurIPS 2018, arXiv:1803.07055: V2-t with antithetic directions.
    """

    def __init__(
        self,
        env: Any,
        settings: SearchSettings,
        seed: int,
        law: Residual | None,
        metrics: tuple[Metric, ...],
    ) -> None:
        """Start with a policy whose actions, or corrections, are zero.

        Args:
            env: vector environment with autoreset mode "next_step".
            settings: settings of the search.
            seed: seed of directions and episodes.
            law: law that the policy corrects; None without one.
            metrics: metrics of the episodes.

        Raises:
            InputError: a number of environments that the search cannot divide.
        """
        self.env, self.settings, self.law = env, settings, law
        direction_count, remainder = divmod(env.num_envs, 2 * settings.episodes)
        if remainder or not direction_count:
            group_size = 2 * settings.episodes
            raise InputError("envs", f"must be a multiple of {group_size}: two for each episode")
        self.directions = direction_count
        observation_size = env.single_observation_space.shape[0]
        action_size = env.single_action_space.shape[0]
        self.widths = tuple(pairwise((observation_size, *settings.layers, action_size)))
        self.mean, self.scale = np.zeros(observation_size), np.ones(observation_size)
        self.random = np.random.default_rng(seed)
        self.center = self._start()
        self.steps, self.stop = 0, False
        info = env.reset(seed=seed)[1]
        self.metrics = tuple(metric for metric in metrics if metric.signal in info)

    def run(self, steps: int, curve: LearningCurve, show: Callable[[int, float], bool]) -> Policy:
        """Search for `steps` steps; return the policy.

        Args:
            steps: number of steps of all environments together.
            curve: learning curve, which gets a row for every iteration.
            show: called with the steps done and the mean return; returns False to end the search.
        """
        settings, start_time = self.settings, clock.monotonic()
        shared_basis = shared_directions(self.env, settings.shared) if settings.shared else None
        if shared_basis is None:
            self._normalise()
        size = self.center.size if shared_basis is None else len(shared_basis)
        best_count = max(1, round(settings.best * self.directions))
        while self.steps < steps:
            remaining_fraction = 1.0 - self.steps / steps
            step_size = settings.final_rate + remaining_fraction * (
                settings.rate - settings.final_rate
            )
            directions = self.random.standard_normal((self.directions, size))
            directions = directions if shared_basis is None else directions @ shared_basis
            perturbations = settings.deviation * np.concatenate([directions, -directions])
            episodes = self._episodes(self.center + perturbations)
            curve.add(self.steps, clock.monotonic() - start_time, episodes)
            returns = np.array([episode.reward for episode in episodes])
            forwards, backwards = returns.reshape(2, self.directions, -1).mean(axis=2)
            best_indices = np.argsort(-np.maximum(forwards, backwards))[:best_count]
            deviation = np.concatenate([forwards[best_indices], backwards[best_indices]]).std()
            gradient = (forwards - backwards)[best_indices] @ directions[best_indices]
            self.center = self.center + step_size * gradient / (
                best_count * deviation + VARIANCE_FLOOR
            )
            if not show(self.steps, float(returns.mean())):
                break
        return self.policy()

    def policy(self) -> Policy:
        """Return the present policy."""
        weights, biases = zip(*self.candidate_layers(self.center[None]), strict=True)
        correction, gains = (None, None) if self.law is None else (self.law.share, self.law.gains)
        return Policy(
            tuple(weight[0] for weight in weights),
            tuple(bias[0, 0] for bias in biases),
            self.mean,
            self.scale,
            PolicyNetwork(limit=OBSERVATION_LIMIT, correction=correction),
            PolicyOrigin(environment=self.env.spec.id),
            gains,
        )

    def _start(self) -> FloatArray:
        """Return the initial numbers of a policy `(p,)`: random hidden layers, zero output."""
        arrays = []
        for width, size in self.widths[:-1]:
            weights = self.random.standard_normal(width * size) / np.sqrt(width)
            arrays += [weights, np.zeros(size)]
        width, size = self.widths[-1]
        return np.concatenate([*arrays, np.zeros(width * size + size)])

    def candidate_layers(self, numbers: FloatArray) -> Iterator[tuple[FloatArray, FloatArray]]:
        """Yield weights `(c, out, in)` and biases `(c, 1, out)` of candidates `(c, p)`."""
        start = 0
        for width, size in self.widths:
            end = start + width * size
            yield (
                numbers[:, start:end].reshape(-1, size, width),
                numbers[:, None, end : end + size],
            )
            start = end + size

    def candidate_actions(self, layers: Sequence[Any], observation: FloatArray) -> FloatArray:
        """Return actions `(N, a)` of the candidates in their environments."""
        value = ((observation - self.mean) / self.scale).clip(-OBSERVATION_LIMIT, OBSERVATION_LIMIT)
        value = value.reshape(len(layers[0][0]), -1, value.shape[1])
        for k, (weight, bias) in enumerate(layers):
            value = value @ weight.transpose(0, 2, 1) + bias
            value = np.tanh(value) if k < len(layers) - 1 else value.clip(-1.0, 1.0)
        action = value.reshape(len(observation), -1)
        return action if self.law is None else self.law.compose(observation, action)

    def _normalise(self) -> None:
        """Set mean and scale from the observations of a first round of episodes."""
        collected: list[FloatArray] = []
        candidates = np.broadcast_to(self.center, (2 * self.directions, self.center.size))
        self._episodes(np.array(candidates), collected)
        observations = np.concatenate(collected)
        self.mean, self.scale = observations.mean(axis=0), observations.std(axis=0) + VARIANCE_FLOOR

    def _episodes(
        self, candidates: FloatArray, observations: list[FloatArray] | None = None
    ) -> list[Episode]:
        """Return one episode for each environment; all candidates `(c, p)` get the same seeds."""
        layers = list(self.candidate_layers(candidates))
        seeds = self.random.integers(1 << 31, size=self.settings.episodes).tolist()

        def act(observation: FloatArray, running: BoolArray) -> FloatArray:
            if observations is not None:
                observations.append(observation[running][:: self.settings.episodes].astype(float))
            return self.candidate_actions(layers, observation)

        outcome = run_episodes(self.env, act, seeds * len(candidates), self.metrics)
        self.steps += int(outcome.length.sum())
        return [
            Episode(float(r), int(n), bool(e), tuple(m))
            for r, n, e, m in zip(*outcome, strict=True)
        ]
