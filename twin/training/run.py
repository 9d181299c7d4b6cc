"""Training: from settings to a folder with checkpoints, logs, learning curve and policy."""

from __future__ import annotations

import json
import signal
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from twin.basics.files import as_path, new_folder, write_text
from twin.basics.optional import library_versions, optional
from twin.errors import InputError
from twin.training.algorithms import (
    CURVE_FILE,
    TrainingCallback,
    TrainingProgress,
    make_model,
    make_normaliser,
    with_tensorboard,
)
from twin.training.checkpoints import (
    checkpoint_folders,
    remove_leftovers,
    restore_random_generators,
)
from twin.training.environments import (
    ENVIRONMENT_METRICS,
    VectorAdapter,
    channels,
    check_registered,
    make_environments,
)
from twin.training.learning_curve import Callback, LearningCurve
from twin.training.policy import Policy, PolicyOrigin, Residual, export_policy
from twin.training.random_search import RandomSearch
from twin.training.settings import (
    NO_LAW,
    RANDOM_SEARCH,
    SearchSettings,
    TrainingSettings,
    linear_gains,
    training_settings,
    widen,
)

LEARNING_LIBRARIES = ("torch", "stable_baselines3", "tensorboard")
"""Libraries that gradient-based algorithms need."""


@contextmanager
def ended_by_signals(training: Any) -> Iterator[None]:
    """Let the first Ctrl-C or termination signal end the training in order, the second at once."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    previous_handlers = {kind: signal.getsignal(kind) for kind in (signal.SIGINT, signal.SIGTERM)}

    def end(kind: int, _: object) -> None:
        training.stop = True
        signal.signal(kind, previous_handlers[signal.Signals(kind)])

    for kind in previous_handlers:
        signal.signal(kind, end)
    try:
        yield
    finally:
        for kind, handler in previous_handlers.items():
            signal.signal(kind, handler)


CONFIGURATION_FILE, POLICY_FILE, PICTURE_FILE = "config.json", "policy.npz", "learning.png"


@dataclass(frozen=True)
class Training:
    """Results of a training."""

    folder: Path
    steps: int
    """total number of steps"""
    finished: bool
    """whether all steps were done; False after an interruption"""
    policy: Policy


def train(
    environment: str,
    folder: str | Path,
    *,
    steps: int,
    algorithm: str | None = None,
    envs: int | None = None,
    seed: int = 0,
    options: Mapping[str, Any] | None = None,
    hyperparameters: Mapping[str, Any] | None = None,
    resume: bool = False,
    progress: bool | None = None,
    callback: Callback | None = None,
    command: str = "",
    **settings: Any,
) -> Training:
    """Train a policy; write config.json, checkpoints, logs, learning curve and policy.npz.

    TensorBoard's log has the rows of the learning curve; random search does without TensorBoard.

    A killed training goes on at its last checkpoint when it is called again with `resume`: model,
    optimiser, normalisation, replay buffer, random generators and step counter are restored;
    episodes begin anew. Ctrl-C ends it after the present step, with a checkpoint.

    Args:
        environment: id, such as "twin/PoseTracking-v0".
        folder: for all files.
        steps: steps of all environments together.
        algorithm: "ppo", "sac" or "ars"; default: that of the task, "ppo" without one.
        envs: environments side by side; default: 384 for "ars", 64 for the others.
        seed: seed of everything random.
        options: keyword arguments of the environment.
        hyperparameters: hyperparameters of the algorithm, where they differ from the defaults.
        resume: go on with the training in the folder; without one, begin.
        progress: False shows nothing.
        callback: called with every row of the learning curve, a dictionary of numbers by the names
            of the columns, such as "steps" and "return 50 %".
        command: for the policy's origin.
        settings: further fields of `TrainingSettings`.

    Raises:
        InputError: an argument that cannot be used, a folder that holds another training.
        MissingDependencyError: PyTorch, Stable-Baselines3, TensorBoard or matplotlib is missing.
    """
    training = training_settings(
        algorithm, hyperparameters or {}, environment=environment, steps=steps, envs=envs,
        seed=seed, options=dict(options or {}), **settings,
    )  # fmt: skip
    check_registered(environment)
    is_search = training.algorithm == RANDOM_SEARCH
    for library in ("matplotlib", *(() if is_search else LEARNING_LIBRARIES)):
        optional(library)
    if is_search and resume:
        raise InputError("resume", "is not for random search, which has no checkpoints")
    # An environment that is refused leaves no folder behind.
    hyperparameter_set = training.hyperparameters
    episode_limit = (
        {}
        if hyperparameter_set.episode is None
        else {"max_episode_steps": hyperparameter_set.episode}
    )
    autoreset = "next_step" if is_search else "same_step"
    env = make_environments(environment, training.envs, training.options | episode_limit, autoreset)
    try:
        law = None
        if hyperparameter_set.law != NO_LAW:
            law = Residual(linear_gains(hyperparameter_set.law, env), hyperparameter_set.correction)
        metrics = ENVIRONMENT_METRICS.get(environment, ())
        if isinstance(hyperparameter_set, SearchSettings):
            learn = partial(_search, RandomSearch(env, hyperparameter_set, seed, law, metrics))
        else:
            optional("torch").set_num_threads(training.threads)
            learn = partial(_run, VectorAdapter(env, metrics, law=law), law)
        training_folder = _prepared(as_path(folder, "out"), training, command, resume)
        with with_tensorboard(training_folder, callback) as callbacks:
            return learn(training, training_folder, progress, command, callbacks)
    finally:
        env.close()


def _search(
    search: RandomSearch,
    settings: TrainingSettings,
    folder: Path,
    progress: bool | None,
    command: str,
    callbacks: Sequence[Callback],
) -> Training:
    """Train by random search in a folder."""
    curve = LearningCurve(search.metrics, callbacks)
    progress_points = settings.hyperparameters.curriculum
    widen(search.env, progress_points, 0.0)
    with (
        TrainingProgress(RANDOM_SEARCH, settings.steps, 0, progress) as progress_bar,
        ended_by_signals(search),
    ):

        def show(steps: int, mean_return: float) -> bool:
            progress_bar.show(steps, f"return {mean_return:.4g}")
            curve.save(folder / CURVE_FILE)
            widen(search.env, progress_points, steps / settings.steps)
            return not search.stop

        policy = search.run(settings.steps, curve, show)
    policy = replace(policy, origin=_origin(settings, search.steps, search.env, command))
    policy.save(folder / POLICY_FILE)
    title = f"{RANDOM_SEARCH} in {settings.environment}, seed {settings.seed}"
    curve.draw(folder / PICTURE_FILE, title)
    return Training(folder, search.steps, search.steps >= settings.steps, policy)


def _run(
    adapter: VectorAdapter,
    law: Residual | None,
    settings: TrainingSettings,
    folder: Path,
    progress: bool | None,
    command: str,
    callbacks: Sequence[Callback],
) -> Training:
    """Train with Stable-Baselines3 in a folder, from its last checkpoint if there is one.

    `law` is the linear law that the policy corrects, None where it acts alone.
    """
    checkpoints = checkpoint_folders(folder)
    last_checkpoint = checkpoints[-1] if checkpoints else None
    normaliser = make_normaliser(settings, adapter, last_checkpoint)
    model = make_model(settings, normaliser or adapter, folder, last_checkpoint)
    steps_done = model.num_timesteps
    curriculum = settings.hyperparameters.curriculum
    widen(adapter.env, curriculum, steps_done / settings.steps)
    # The signals are known after the first reset; the learning begins with one of its own.
    adapter.reset()
    adapter.seed(_episode_seed(settings.seed, steps_done))
    curve = LearningCurve(adapter.metrics, callbacks)
    if last_checkpoint is not None:
        restore_random_generators(last_checkpoint)
        curve.load(folder / CURVE_FILE, steps_done)
    title = f"{settings.algorithm} in {settings.environment}"
    with TrainingProgress(settings.algorithm, settings.steps, steps_done, progress) as progress_bar:
        callback = TrainingCallback(
            folder,
            adapter,
            normaliser,
            curve,
            progress_bar,
            settings.steps,
            settings.checkpoint_every,
            curriculum,
        )
        if steps_done < settings.steps:
            with ended_by_signals(callback):
                model.learn(
                    settings.steps - steps_done,
                    callback=callback,
                    reset_num_timesteps=last_checkpoint is None,
                    tb_log_name="run",
                )
            callback.save()
    policy = export_policy(
        model, _origin(settings, model.num_timesteps, adapter.env, command), normaliser, law
    )
    policy.save(folder / POLICY_FILE)
    curve.draw(folder / PICTURE_FILE, f"{title}, seed {settings.seed}")
    return Training(folder, model.num_timesteps, model.num_timesteps >= settings.steps, policy)


def _episode_seed(seed: int, steps_done: int) -> int:
    """Return the seed of the episodes after `steps_done` steps; it differs after a checkpoint."""
    if steps_done == 0:
        return seed
    return int(np.random.SeedSequence([seed, steps_done]).generate_state(1)[0])


def _prepared(folder: Path, settings: TrainingSettings, command: str, resume: bool) -> Path:
    """Return the training's folder, created with its configuration file.

    Raises:
        InputError: it holds a training already, or one with other settings.
    """
    file = folder / CONFIGURATION_FILE
    settings_content = settings.model_dump(mode="json")
    if file.is_file():
        if not resume:
            raise InputError("out", f"{folder} holds a training; resume it, or give another folder")
        try:
            stored_settings = json.loads(file.read_text(encoding="utf-8"))["settings"]
        except (ValueError, KeyError, TypeError):
            raise InputError("out", f"{file} is no configuration of a training") from None
        changed_settings = sorted(
            name for name in settings_content if stored_settings.get(name) != settings_content[name]
        )
        if changed_settings:
            raise InputError(changed_settings[0], f"differs from that of the training in {folder}")
        remove_leftovers(folder)
        return folder
    content = {"command": command, "settings": settings_content, "versions": _versions()}
    with new_folder(folder, "out"):
        write_text(file, json.dumps(content, indent=2) + "\n")
    return folder


def _versions() -> dict[str, str]:
    from importlib.metadata import version
    from importlib.util import find_spec

    libraries = ("gymnasium", "torch", "stable-baselines3")
    installed = (name for name in libraries if find_spec(name.replace("-", "_")))
    return library_versions() | {name: version(name) for name in installed}


def _origin(settings: TrainingSettings, steps: int, env: Any, command: str) -> PolicyOrigin:
    """Return the origin of a policy, for its file."""
    observations, actions = channels(env)
    return PolicyOrigin(
        environment=settings.environment,
        options=settings.options,
        observations=observations,
        actions=actions,
        parameters=getattr(getattr(env.unwrapped, "platform", None), "hash", ""),
        algorithm=settings.algorithm,
        steps=steps,
        seed=settings.seed,
        command=command,
        settings=settings.model_dump(mode="json", include={"envs", "normalise", "hyperparameters"}),
        versions=_versions(),
    )
