"""Work beside the learning itself: rows of the curve, logs, checkpoints, progress, the end."""

from __future__ import annotations

import sys
import time as clock
from pathlib import Path
from typing import Any

import numpy as np

from twin.training.checkpoints import save_checkpoint
from twin.training.curriculum import Points, widen
from twin.training.learning_curve import LearningCurve
from twin.training.vector_adapter import Episode, VectorAdapter

try:
    from stable_baselines3.common.callbacks import BaseCallback
except ImportError:
    BaseCallback = object

REPORTS = 200
"""Approximate number of rows of a learning curve."""

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
        curriculum: Points = (),
    ) -> None:
        """Take the parts of a training; `steps` is the number of all its steps."""
        super().__init__()
        self.stop = False
        self._folder, self._adapter, self._normaliser = folder, adapter, normaliser
        self._curve, self._progress = curve, progress
        self._steps, self._curriculum = steps, curriculum
        self._every, self._report_every = checkpoint_every, max(1, steps // REPORTS)
        self._saved = self._reported = 0
        self._waiting: list[Episode] = []
        self._text = ""
        self._seconds = float(curve.rows[-1][1]) if curve.rows else 0.0
        self._start = clock.monotonic()

    def save(self) -> Path:
        """Write the learning curve and a checkpoint; return the checkpoint's folder."""
        self._curve.save(self._folder / CURVE)
        self._saved = self.model.num_timesteps
        return save_checkpoint(self._folder, self.model, self._normaliser)

    def report(self) -> None:
        """Add a row to the learning curve, if an episode has ended."""
        steps = self.model.num_timesteps
        self._reported = steps
        episodes, self._waiting = self._waiting, []
        if not episodes:
            return
        self._curve.add(steps, self._seconds + clock.monotonic() - self._start, episodes)
        rewards = float(np.mean([episode.reward for episode in episodes]))
        self._text = f"return {rewards:.4g}"
        for metric in self._adapter.metrics[:1]:
            mean = float(np.mean([episode.metrics[0] for episode in episodes]))
            self._text += f"  {metric.name} {mean:.4g} {metric.unit}"

    def _on_training_start(self) -> None:
        self._saved = self._reported = self.model.num_timesteps

    def _on_rollout_start(self) -> None:
        # Between two rollouts the last update is done: all parts of a checkpoint fit together.
        self._waiting += self._adapter.collect()
        steps = self.model.num_timesteps
        widen(self._adapter.env, self._curriculum, steps / self._steps)
        if steps - self._reported >= self._report_every:
            self.report()
        if steps - self._saved >= self._every:
            self.save()

    def _on_step(self) -> bool:
        self._progress.show(self.model.num_timesteps, self._text)
        return not self.stop

    def _on_training_end(self) -> None:
        self._waiting += self._adapter.collect()
        self.report()


LINE_EVERY = 30.0
"""[s] Time between two lines without a terminal."""


class TrainingProgress:
    """Shows steps, steps per second, and the last return and metric; use it with `with`."""

    def __init__(self, title: str, steps: int, begin: int = 0, shown: bool | None = None) -> None:
        """Describe the training.

        Args:
            title: of the bar.
            steps: of the whole training.
            begin: steps done before.
            shown: False shows nothing.
        """
        self._title, self._steps, self._begin = title, steps, begin
        self._shown = shown
        self._bar: Any = None
        self._task: Any = None
        self._start = self._last = clock.monotonic()

    def __enter__(self) -> TrainingProgress:
        if self._shown is not False and sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn
            from rich.progress import TimeRemainingColumn as Remaining

            self._bar = Progress(
                TextColumn("{task.description}"),
                BarColumn(bar_width=16),
                TextColumn("{task.percentage:.0f} %"),
                TextColumn("{task.fields[text]}"),
                Remaining(),
                console=Console(stderr=True),
                transient=True,
                refresh_per_second=2,
            )
            self._task = self._bar.add_task(
                self._title, total=self._steps, completed=self._begin, text=""
            )
            self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def show(self, steps: int, results: str) -> None:
        """Show the steps done and their results, as a short text."""
        if self._shown is False:
            return
        now = clock.monotonic()
        speed = (steps - self._begin) / max(now - self._start, 1e-9)
        text = f"{speed:,.0f} steps/s  {results}"
        if self._bar is not None:
            self._bar.update(self._task, completed=steps, text=text)
        elif now - self._last >= LINE_EVERY:
            self._last = now
            sys.stderr.write(f"{steps:,} of {self._steps:,} steps  {text}\n")
            sys.stderr.flush()
