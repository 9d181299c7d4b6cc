"""What happens beside the learning itself: rows of the curve, logs, checkpoints, the end."""

from __future__ import annotations

import time as clock
from pathlib import Path
from typing import Any

import numpy as np

from twin.training.checkpoints import save_checkpoint
from twin.training.learning_curve import LearningCurve
from twin.training.training_progress import TrainingProgress
from twin.training.vector_adapter import Episode, VectorAdapter

try:
    from stable_baselines3.common.callbacks import BaseCallback
except ImportError:
    BaseCallback = object

REPORTS = 200
"""Rows of a learning curve, about."""

CURVE = "learning.csv"


class TrainingCallback(BaseCallback):  # type: ignore[misc]
    """Called by Stable-Baselines3 around every step and every rollout.

    Attributes:
        stop: set to True to end the training after the present step.
    """

    def __init__(
        self,
        folder: Path,
        adapter: VectorAdapter,
        normaliser: Any,
        curve: LearningCurve,
        progress: TrainingProgress,
        steps: int,
        checkpoint_every: int,
    ) -> None:
        """Take the parts of a training; `steps` are those of the whole of it."""
        super().__init__()
        self.stop = False
        self._folder, self._adapter, self._normaliser = folder, adapter, normaliser
        self._curve, self._progress = curve, progress
        self._every, self._report_every = checkpoint_every, max(1, steps // REPORTS)
        self._saved = self._reported = 0
        self._waiting: list[Episode] = []
        self._kinds = ""
        self._seconds = float(curve.rows[-1][1]) if curve.rows else 0.0
        self._start = clock.monotonic()

    def save(self) -> Path:
        """Write the learning curve and a checkpoint; returns the checkpoint's folder."""
        self._curve.save(self._folder / CURVE)
        self._saved = self.model.num_timesteps
        return save_checkpoint(self._folder, self.model, self._normaliser)

    def report(self) -> None:
        """Add a row to the learning curve and to the log, if an episode has ended."""
        steps = self.model.num_timesteps
        self._reported = steps
        episodes, self._waiting = self._waiting, []
        if not episodes:
            return
        self._curve.add(steps, self._seconds + clock.monotonic() - self._start, episodes)
        rewards = float(np.mean([episode.reward for episode in episodes]))
        self._kinds = f"return {rewards:.4g}"
        for k, metric in enumerate(self._adapter.metrics):
            mean = float(np.mean([episode.metrics[k] for episode in episodes]))
            self.logger.record(f"episode/{metric.name} {metric.unit}".strip(), mean)
            if k == 0:
                self._kinds += f"  {metric.name} {mean:.4g} {metric.unit}"
        early = float(np.mean([episode.terminated for episode in episodes]))
        self.logger.record("episode/terminated", early)

    def _on_training_start(self) -> None:
        self._saved = self._reported = self.model.num_timesteps

    def _on_rollout_start(self) -> None:
        # Between two rollouts the last update is done: what a checkpoint holds belongs together.
        self._waiting += self._adapter.collect()
        steps = self.model.num_timesteps
        if steps - self._reported >= self._report_every:
            self.report()
        if steps - self._saved >= self._every:
            self.save()

    def _on_step(self) -> bool:
        self._progress.show(self.model.num_timesteps, self._kinds)
        return not self.stop

    def _on_training_end(self) -> None:
        self._waiting += self._adapter.collect()
        self.report()
