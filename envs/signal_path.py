"""Signals between a policy and its machine: observations and actions, late and with noise."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from twin.basics.arrays import FloatArray, bounded
from twin.envs.task import TaskSettings

NAMES = ("observation_noise", "observation_delay", "action_noise", "action_delay")
"""Settings of all tasks that a randomisation may vary as `task.<name>`."""

MOST_NOISE, LONGEST = 1.0, 1.0
"""Of a number's scale; [s]."""


class SignalPath:
    """Both ways of the signals of N environments.

    Attributes:
        usual: name -> value where nothing varies it.
    """

    def __init__(self, settings: TaskSettings, size: int, bounds: tuple[float, float]) -> None:
        """Make paths without delay and noise; `begin` sets those of an episode.

        Args:
            settings: of the task.
            size: N.
            bounds: of the numbers of an observation and of an action.
        """
        self.usual: dict[str, float] = {name: getattr(settings, name) for name in NAMES}
        self._period = settings.period
        self._ways = tuple(_Way(size, bound) for bound in bounds)

    def split(self, values: Mapping[str, Any]) -> tuple[dict[str, float], dict[str, Any]]:
        """Return noise and delays of an episode, and the values that are of its task.

        Raises:
            InputError: a noise above the scale, a delay above 1 s, or one that is negative.
        """
        own = {
            name: bounded(values.get(name, usual), name, 0.0, most)
            for (name, usual), most in zip(
                self.usual.items(), (MOST_NOISE, LONGEST) * 2, strict=True
            )
        }
        return own, {name: value for name, value in values.items() if name not in NAMES}

    def begin(
        self,
        index: int,
        generator: np.random.Generator,
        values: Mapping[str, float],
        first: tuple[Any, Any],
    ) -> Any:
        """Begin an episode; return its first observation as the policy sees it.

        Args:
            index: of the environment.
            generator: of the episode; untouched without noise.
            values: noise and delays, from `split`.
            first: observation and action on their ways before the first step.
        """
        numbers = list(values.values())
        for way, noise, delay, start in zip(
            self._ways, numbers[::2], numbers[1::2], first, strict=True
        ):
            way.begin(index, noise, round(delay / self._period), generator, start)
        return self._ways[0].kept[index, 0]

    def observe(self, observation: Any) -> None:
        """Turn observations `(N, o)` into what policies see of them, in place."""
        if self._ways[0].changes:
            observation[:] = self._ways[0].passed(observation)

    def acted(self, action: FloatArray) -> FloatArray:
        """Return actions `(N, a)` that reach the machines."""
        way = self._ways[1]
        return np.asarray(way.passed(action)) if way.changes else action


class _Way:
    """One way of N rows: the last values, the newest first; `changes` if any is noisy or late."""

    def __init__(self, size: int, bound: float) -> None:
        self._noise, self._late = np.zeros(size), np.zeros(size, dtype=np.int64)
        self._generators: list[Any] = [None] * size
        self._rows, self._bound = np.arange(size), bound
        self.kept: Any = np.zeros((size, 0, 0))
        self.changes = False

    def begin(self, index: int, noise: float, late: int, generator: Any, first: Any) -> None:
        self._noise[index], self._late[index] = noise, late
        if self.changes or noise or late:
            self.changes = bool(self._noise.any() or self._late.any())
        size, length, width = len(self._rows), self.kept.shape[1], len(first)
        if length <= late or self.kept.shape[2] != width:
            longer = np.zeros((size, late + 1, width), dtype=first.dtype)
            longer[:, :length, : self.kept.shape[2]] = self.kept
            self.kept = longer
        if noise:
            self._generators[index] = np.random.default_rng(generator.integers(1 << 62))
        self.kept[index] = self._disturbed(index, first)

    def passed(self, values: Any) -> Any:
        self.kept[:, 1:] = self.kept[:, :-1].copy()
        self.kept[:, 0] = values
        for index in np.flatnonzero(self._noise).tolist():
            self.kept[index, 0] = self._disturbed(index, values[index])
        return self.kept[self._rows, self._late]

    def _disturbed(self, index: int, values: Any) -> Any:
        noise = self._noise[index]
        if not noise:
            return values
        added = noise * self._generators[index].standard_normal(len(values))
        return np.clip(values + added, -self._bound, self._bound)
