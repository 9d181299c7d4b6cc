"""Delay and noise of a signal between a policy and its machines."""

from __future__ import annotations

from typing import Any

import numpy as np


class DelayLine:
    """Delays one signal of N environments by whole control periods, and adds noise to it.

    Attributes:
        is_direct: whether no environment delays or disturbs the signal.
    """

    def __init__(self, num_envs: int, bound: float) -> None:
        """Make a line without delay and noise; noisy samples are clipped to `bound`."""
        self.is_direct = True
        self._bound = bound
        self._delay_steps = np.zeros(num_envs, dtype=np.int64)
        self._noise_std = np.zeros(num_envs)
        self._generators: list[Any] = [None] * num_envs
        self._rows = np.arange(num_envs)
        self._history: Any = np.zeros((num_envs, 0, 0))
        """`(N, periods, width)`, the newest sample first"""

    def reset(
        self,
        index: int,
        initial: Any,
        *,
        delay_steps: int,
        noise_std: float,
        generator: np.random.Generator,
    ) -> Any:
        """Fill the line of one environment with `initial` `(width,)`; return it with its noise.

        Args:
            index: number of the environment.
            initial: sample that arrives until the first pushed one does.
            delay_steps: delay of the samples in control periods.
            noise_std: standard deviation added to each number; 0 for none.
            generator: seeds the noise; untouched without noise.
        """
        self._delay_steps[index], self._noise_std[index] = delay_steps, noise_std
        self.is_direct = not (self._delay_steps.any() or self._noise_std.any())
        self._lengthen(delay_steps + 1, initial)
        if noise_std:
            self._generators[index] = np.random.default_rng(generator.integers(1 << 62))
        self._history[index] = self._noisy(index, initial)
        return self._history[index, 0]

    def push(self, samples: Any) -> Any:
        """Store the newest samples `(N, width)` and return those that arrive now."""
        if self.is_direct:
            return samples
        self._history[:, 1:] = self._history[:, :-1].copy()
        self._history[:, 0] = samples
        for index in np.flatnonzero(self._noise_std).tolist():
            self._history[index, 0] = self._noisy(index, samples[index])
        return self._history[self._rows, self._delay_steps]

    def _lengthen(self, periods: int, sample: Any) -> None:
        """Extend the history to at least `periods` samples as wide as `sample`."""
        size, length, width = self._history.shape
        if length < periods or width != len(sample):
            history = np.zeros((size, max(length, periods), len(sample)), dtype=sample.dtype)
            history[:, :length, :width] = self._history
            self._history = history

    def _noisy(self, index: int, sample: Any) -> Any:
        noise_std = self._noise_std[index]
        if not noise_std:
            return sample
        noise = noise_std * self._generators[index].standard_normal(len(sample))
        return np.clip(sample + noise, -self._bound, self._bound)
