"""Models of Stable-Baselines3, made from settings or read from a checkpoint."""

from __future__ import annotations

import sys
import time as clock
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from twin.basics.optional import optional
from twin.training.checkpoints import BUFFER_FILE, MODEL_FILE, NORMALISER_FILE, save_checkpoint
from twin.training.environments import Episode, VectorAdapter
from twin.training.learning_curve import Callback, LearningCurve, Row
from twin.training.settings import (
    CurriculumPoints,
    PpoSettings,
    SacSettings,
    SearchSettings,
    TrainingSettings,
    widen,
)

TENSORBOARD_FOLDER = "tensorboard"
"""Folder of logs in the folder of a training."""

EPISODES_RUN = "episodes"
"""Name of the TensorBoard run that holds the episodes' results, and of the group of its charts."""

CURVE_ROWS = 200
"""Approximate number of rows of a learning curve."""

CURVE_FILE = "learning.csv"
"""File of the learning curve in the folder of a training."""

PROGRESS_INTERVAL = 30.0
"""[s] Time between two lines of progress where there is no terminal."""

LARGEST_OBSERVATION = 10.0
"""Bound at which normalised observations are clipped, in standard deviations."""


@contextmanager
def with_tensorboard(folder: Path, callback: Callback | None) -> Iterator[tuple[Callback, ...]]:
    """Yield the callbacks of a learning curve: the given one, and TensorBoard's if installed.

    Args:
        folder: folder of the training.
        callback: callback of the user; None for none.
    """
    callbacks = () if callback is None else (callback,)
    if find_spec("tensorboard") is None:
        yield callbacks
        return
    # Looked up in its module: Weights & Biases puts a class of its own there.
    files = optional("tensorboard.summary.writer.event_file_writer")
    event = optional("tensorboard.compat.proto.event_pb2").Event
    summary = optional("tensorboard.compat.proto.summary_pb2").Summary
    writer = files.EventFileWriter(str(folder / TENSORBOARD_FOLDER / EPISODES_RUN))

    def write(row: Row) -> None:
        summary_values = summary(
            value=[
                summary.Value(tag=f"{EPISODES_RUN}/{name}", simple_value=value)
                for name, value in row.items()
                if name != "steps"
            ]
        )
        writer.add_event(
            event(wall_time=clock.time(), step=int(row["steps"]), summary=summary_values)
        )

    try:
        yield (write, *callbacks)
    finally:
        writer.close()


try:
    from stable_baselines3.common.callbacks import BaseCallback
except ImportError:
    BaseCallback = object


class TrainingCallback(BaseCallback):  # type: ignore[misc]
    """Callback by which Stable-Baselines3 reports every step and every rollout.

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
        curriculum: CurriculumPoints = (),
    ) -> None:
        """Store the parts of a training; `steps` is its total number of steps."""
        super().__init__()
        self.stop = False
        self._folder, self._adapter, self._normaliser = folder, adapter, normaliser
        self._curve, self._progress = curve, progress
        self._steps, self._curriculum = steps, curriculum
        self._every, self._report_every = checkpoint_every, max(1, steps // CURVE_ROWS)
        self._saved_steps = self._reported_steps = 0
        self._unreported_episodes: list[Episode] = []
        self._text = ""
        self._seconds = float(curve.rows[-1][1]) if curve.rows else 0.0
        self._start = clock.monotonic()

    def save(self) -> Path:
        """Write the learning curve and a checkpoint; return the checkpoint's folder."""
        self._curve.save(self._folder / CURVE_FILE)
        self._saved_steps = self.model.num_timesteps
        return save_checkpoint(self._folder, self.model, self._normaliser)

    def report(self) -> None:
        """Add a row to the learning curve, if an episode has ended."""
        steps = self.model.num_timesteps
        self._reported_steps = steps
        episodes, self._unreported_episodes = self._unreported_episodes, []
        if not episodes:
            return
        self._curve.add(steps, self._seconds + clock.monotonic() - self._start, episodes)
        rewards = float(np.mean([episode.reward for episode in episodes]))
        self._text = f"return {rewards:.4g}"
        for metric in self._adapter.metrics[:1]:
            mean = float(np.mean([episode.metrics[0] for episode in episodes]))
            self._text += f"  {metric.name} {mean:.4g} {metric.unit}"

    def _on_training_start(self) -> None:
        self._saved_steps = self._reported_steps = self.model.num_timesteps

    def _on_rollout_start(self) -> None:
        # Between two rollouts the last update is done: all parts of a checkpoint fit together.
        self._unreported_episodes += self._adapter.collect()
        steps = self.model.num_timesteps
        widen(self._adapter.env, self._curriculum, steps / self._steps)
        if steps - self._reported_steps >= self._report_every:
            self.report()
        if steps - self._saved_steps >= self._every:
            self.save()

    def _on_step(self) -> bool:
        self._progress.show(self.model.num_timesteps, self._text)
        return not self.stop

    def _on_training_end(self) -> None:
        self._unreported_episodes += self._adapter.collect()
        self.report()


class TrainingProgress:
    """Shows steps, steps per second, and the last return and metric; use it with `with`."""

    def __init__(self, title: str, steps: int, begin: int = 0, shown: bool | None = None) -> None:
        """Describe the training.

        Args:
            title: title of the progress bar.
            steps: steps of the whole training.
            begin: steps done before this run.
            shown: False shows nothing; True or None show a bar on a terminal, lines elsewhere.
        """
        self._title, self._steps, self._begin = title, steps, begin
        self._is_shown = shown
        self._progress_bar: Any = None
        self._task: Any = None
        self._start = self._last = clock.monotonic()

    def __enter__(self) -> TrainingProgress:
        if self._is_shown is not False and sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn
            from rich.progress import TimeRemainingColumn as Remaining

            self._progress_bar = Progress(
                TextColumn("{task.description}"),
                BarColumn(bar_width=16),
                TextColumn("{task.percentage:.0f} %"),
                TextColumn("{task.fields[text]}"),
                Remaining(),
                console=Console(stderr=True),
                transient=True,
                refresh_per_second=2,
            )
            self._task = self._progress_bar.add_task(
                self._title, total=self._steps, completed=self._begin, text=""
            )
            self._progress_bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._progress_bar is not None:
            self._progress_bar.stop()

    def show(self, steps: int, results: str) -> None:
        """Show the steps done and their results, as a short text."""
        if self._is_shown is False:
            return
        now = clock.monotonic()
        steps_per_second = (steps - self._begin) / max(now - self._start, 1e-9)
        text = f"{steps_per_second:,.0f} steps/s  {results}"
        if self._progress_bar is not None:
            self._progress_bar.update(self._task, completed=steps, text=text)
        elif now - self._last >= PROGRESS_INTERVAL:
            self._last = now
            sys.stderr.write(f"{steps:,} of {self._steps:,} steps  {text}\n")
            sys.stderr.flush()


def make_normaliser(settings: TrainingSettings, adapter: Any, checkpoint: Path | None) -> Any:
    """Return the `VecNormalize` around an adapter, None without normalisation.

    None for random search too, which normalises by itself.

    Args:
        settings: settings of the training.
        adapter: a `VectorAdapter`.
        checkpoint: checkpoint to continue from; None to start.
    """
    hyperparameters = settings.hyperparameters
    if isinstance(hyperparameters, SearchSettings) or not (
        settings.normalise or settings.normalise_rewards
    ):
        return None
    vectors = optional("stable_baselines3.common.vec_env")
    if checkpoint is not None:
        return vectors.VecNormalize.load(str(checkpoint / NORMALISER_FILE), adapter)
    return vectors.VecNormalize(
        adapter,
        norm_obs=settings.normalise,
        norm_reward=settings.normalise_rewards,
        clip_obs=LARGEST_OBSERVATION,
        gamma=hyperparameters.discount,
    )


def make_model(settings: TrainingSettings, env: Any, folder: Path, checkpoint: Path | None) -> Any:
    """Return the model that learns.

    Args:
        settings: settings of the training.
        env: a `VecEnv`.
        folder: folder of the training, for its log.
        checkpoint: checkpoint to continue from; None to start.
    """
    library = optional("stable_baselines3")
    model_class = library.PPO if settings.algorithm == "ppo" else library.SAC
    log_folder = str(folder / TENSORBOARD_FOLDER)
    if checkpoint is None:
        return model_class("MlpPolicy", env, seed=settings.seed, device="cpu",
                           tensorboard_log=log_folder, **_arguments(settings))  # fmt: skip
    model = model_class.load(
        checkpoint / MODEL_FILE, env=env, device="cpu", tensorboard_log=log_folder
    )
    if (checkpoint / BUFFER_FILE).is_file():
        model.load_replay_buffer(checkpoint / BUFFER_FILE)
    return model


def _arguments(settings: TrainingSettings) -> dict[str, Any]:
    hyperparameters = settings.hyperparameters
    if isinstance(hyperparameters, PpoSettings):
        return _ppo(hyperparameters, settings)
    assert isinstance(hyperparameters, SacSettings)
    return _sac(hyperparameters, settings)


def _ppo(algorithm_settings: PpoSettings, settings: TrainingSettings) -> dict[str, Any]:
    """Return the arguments of `stable_baselines3.PPO`."""
    schedules = optional("stable_baselines3.common.utils")
    rate = schedules.LinearSchedule(
        algorithm_settings.learning_rate, algorithm_settings.final_learning_rate, 1.0
    )
    return {
        "learning_rate": rate,
        "n_steps": algorithm_settings.rollout,
        "batch_size": min(algorithm_settings.batch, algorithm_settings.rollout * settings.envs),
        "n_epochs": algorithm_settings.epochs,
        "gamma": algorithm_settings.discount,
        "gae_lambda": algorithm_settings.trace,
        "clip_range": algorithm_settings.clip,
        "ent_coef": algorithm_settings.entropy,
        "vf_coef": algorithm_settings.value_weight,
        "max_grad_norm": algorithm_settings.gradient_norm,
        "target_kl": algorithm_settings.target_divergence,
        "use_sde": algorithm_settings.hold is not None,
        "sde_sample_freq": algorithm_settings.hold or -1,
        "policy_kwargs": _network(algorithm_settings)
        | {"log_std_init": algorithm_settings.log_deviation},
    }


def _sac(algorithm_settings: SacSettings, settings: TrainingSettings) -> dict[str, Any]:
    """Return the arguments of `stable_baselines3.SAC`."""
    return {
        "learning_rate": algorithm_settings.learning_rate,
        "buffer_size": algorithm_settings.buffer,
        "batch_size": algorithm_settings.batch,
        "gamma": algorithm_settings.discount,
        "tau": algorithm_settings.following,
        "learning_starts": algorithm_settings.start,
        "train_freq": 1,
        "gradient_steps": algorithm_settings.updates,
        "policy_kwargs": _network(algorithm_settings),
    }


def _network(algorithm_settings: PpoSettings | SacSettings) -> dict[str, Any]:
    networks = optional("torch").nn
    activation = {"tanh": networks.Tanh, "relu": networks.ReLU}[algorithm_settings.activation]
    return {"net_arch": list(algorithm_settings.layers), "activation_fn": activation}
