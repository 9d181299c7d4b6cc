"""Evaluation: policies and baselines in the same episodes, on several engines."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from gymnasium.utils.seeding import np_random

from twin.analysis.platform import Platform
from twin.basics.arrays import BoolArray, FloatArray, as_floats, whole_number, without
from twin.basics.optional import optional
from twin.control import controller_names, make_controller
from twin.envs.episodes import Episodes
from twin.envs.pose_tracking.task import PoseTracking
from twin.envs.registration import ENVIRONMENTS
from twin.errors import InputError
from twin.motion import Motion
from twin.plant.plant import Plant
from twin.rotations import angle_between
from twin.simulation.simulate import Trajectory, simulate
from twin.training.environments import (
    ENVIRONMENT_METRICS,
    Accumulator,
    Metric,
    change_text,
    check_fit,
    explained_differences,
    make_environments,
    merged_options,
    option_differences,
    signal_values,
)
from twin.training.policy import Policy, policy_for
from twin.training.settings import ENVIRONMENT_LAWS, make_law

CONFIDENCE_LEVEL = 0.95
"""Level of the confidence intervals of means over episodes, by Student's t distribution."""

MIN_PLAIN_NUMBER = 1e-4
"""Smallest number that is not written as a power of ten."""

TRACKING_ENVIRONMENT = "twin/PoseTracking-v0"
"""The environment whose episodes have a machine and a motion, so that a controller can run in
them."""

CONTROLLER_SIGNALS = ("position_error", "orientation_error")
"""Signals of a controller's run: distance [m] and angle [rad] from the reference pose."""

DEFAULT_FIDELITIES = {"bullet": "fast"}
"""Engines whose default fidelity in environments is not "accurate"."""

MAX_ENGINE_STEP = 5e-4
"""[s] Longest step of the engine: half the control period of 1 ms, as in all closed-loop runs."""

DEFAULT_MAX_STEPS = ENVIRONMENTS[TRACKING_ENVIRONMENT].max_episode_steps
"""Default maximum number of steps of an episode of pose tracking."""

ENVIRONMENT_ARGUMENTS = ("machine", "configuration", "engine", "randomisation", "max_episode_steps")
"""Options of an environment that do not belong to its task."""

ZERO_ACTOR = "zero"
"""Name of the actor with actions of zero: as residuals they leave the law alone, else they hold the
actuators."""

EPISODES_PER_PROCESS = 8
"""Largest number of episodes that one process runs in parallel."""

OPTIONS_OF_EVALUATION = ("engine", "info", "scales")
"""Options of a training that an evaluation sets itself, for every engine and policy."""

MISSING_VALUE = "-"


class Mean(NamedTuple):
    """A mean and its confidence interval."""

    value: float
    half_width: float
    """half-width of the interval of Student's t around the mean; NaN for fewer than two values"""
    episodes: int

    def text(self, digits: int = 3) -> str:
        """Return "mean +- half width", to a number of digits of the mean."""
        if self.episodes == 0:
            return "-"
        if not np.isfinite(self.half_width):
            return f"{self.value:.{digits}g}"
        # Both to the same decimal place: that of the mean's last digit.
        magnitude = max(abs(self.value), self.half_width) or 1.0
        last_digit = _power(magnitude) - (digits - 1)
        if magnitude < MIN_PLAIN_NUMBER:
            numbers = self.value, self.half_width
            return " +- ".join(
                f"{value:.{max(0, _power(value) - last_digit)}e}" for value in numbers
            )
        decimals = max(0, -last_digit)
        return f"{self.value:.{decimals}f} +- {self.half_width:.{decimals}f}"


def _power(value: float) -> int:
    """Return the power of ten of the first digit."""
    return int(np.floor(np.log10(abs(value)))) if value else 0


def mean_of(values: Any) -> Mean:
    """Return the mean of independent values `(n,)` with its confidence interval.

    Raises:
        InputError: another shape, or not finite.
    """
    sample = as_floats(values, "values") if np.size(values) else np.empty(0)
    if sample.ndim != 1:
        raise InputError("values", f"must have shape (n,), got {sample.shape}")
    count = sample.size
    if count == 0:
        return Mean(float("nan"), float("nan"), 0)
    if count == 1:
        return Mean(float(sample[0]), float("nan"), 1)
    from scipy.stats import t

    quantile = float(t.ppf(0.5 + 0.5 * CONFIDENCE_LEVEL, count - 1))
    half_width = quantile * float(sample.std(ddof=1)) / float(np.sqrt(count))
    return Mean(float(sample.mean()), half_width, count)


def paired_difference(values: Any, baseline: Any) -> Mean:
    """Return the mean of `values - baseline` `(n,)`, of the same episodes in the same order.

    Raises:
        InputError: shapes that differ, or not finite.
    """
    if np.shape(values) != np.shape(baseline):
        raise InputError("baseline", "must have the same episodes as the values")
    return mean_of(np.asarray(values, dtype=float) - np.asarray(baseline, dtype=float))


def mean_over_trainings(values: Any) -> Mean:
    """Return the mean of `(trainings, episodes)` values, all policies in the same episodes.

    The interval covers other trainings and other episodes: the half widths of both, over the
    means of the trainings and over those of the episodes, add up by their squares. One training
    has the interval of its episodes.

    Raises:
        InputError: another shape, or not finite.
    """
    samples = as_floats(values, "values")
    if samples.ndim != 2:
        raise InputError("values", f"must have shape (trainings, episodes), got {samples.shape}")
    half_widths = [
        mean_of(samples.mean(axis=axis)).half_width
        for axis in (0, 1)
        if samples.shape[1 - axis] > 1
    ]
    half_width = float(np.hypot.reduce(half_widths)) if half_widths else float("nan")
    return Mean(float(samples.mean()), half_width, samples.shape[1])


Act = Callable[[FloatArray], FloatArray]
"""Function from observations `(N, o)` to actions `(N, a)`."""

PolicyMaker = Callable[[Any], Act]
"""Function from an environment to the policy that acts in it."""


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
    make_policy: PolicyMaker | None,
    seeds: Sequence[int],
    metrics: tuple[Metric, ...],
) -> Outcome:
    """Run one episode for each seed.

    Args:
        environment: id.
        options: options of the environment.
        make_policy: called with the environment, returns its policy; None for actions of zero.
        seeds: seeds of the episodes.
        metrics: metrics of the episodes; their signals are in `info`.

    Raises:
        InputError: an unknown id or option.
    """
    env = make_environments(environment, len(seeds), options, "next_step")
    try:
        policy = None if make_policy is None else make_policy(env)
        zero_actions = np.zeros(env.action_space.shape, dtype=np.float32)

        def act(observation: FloatArray, _: BoolArray) -> Any:
            return (
                zero_actions
                if policy is None
                else np.asarray(policy(observation), dtype=np.float32)
            )

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
        env: vector environment with N rows.
        act: observations `(N, o)` and whether each episode goes on `(N,)`, to actions `(N, a)`.
        seeds: seeds of the N episodes.
        metrics: metrics of the episodes; their signals are in `info`.
    """
    size = len(seeds)
    observation, _ = env.reset(seed=list(seeds))
    sums = Accumulator(metrics, size)
    reward, length, terminated = np.zeros(size), np.zeros(size), np.zeros(size)
    running = np.ones(size, dtype=bool)
    while running.any():
        observation, step_reward, terminated_now, truncated, info = env.step(
            act(observation, running)
        )
        active = np.flatnonzero(running)
        reward[active] += step_reward[active]
        length[active] += 1
        terminated[active] = terminated_now[active]
        if metrics:
            sums.add(signal_values(metrics, info)[active], active)
        running &= ~(terminated_now | truncated)
    return Outcome(reward, length, terminated, sums.results())


def run_controller(
    name: str,
    options: Mapping[str, Any],
    seeds: Sequence[int],
    metrics: tuple[Metric, ...],
) -> Outcome:
    """Run a controller with its control period in the episodes that the seeds draw.

    The controller knows the machine as its file describes it, as a policy does; it does not know
    the changes of a randomisation. Its errors count at the environment's control instants.

    Args:
        name: one of `twin.control.controller_names()`.
        options: options of the environment, with the engine.
        seeds: seeds of the episodes, and of the plants' sensors.
        metrics: metrics of the errors, from `CONTROLLER_SIGNALS`.

    Raises:
        InputError: a controller that does not fit the machine, or an unknown option.
        MissingDependencyError: a library of the controller's design is not installed.
    """
    environment_options: dict[str, Any] = {
        "engine": "analytic",
        "max_episode_steps": DEFAULT_MAX_STEPS,
        **options,
    }
    machine, configuration, engine, randomisation, max_steps = map(
        environment_options.get, ENVIRONMENT_ARGUMENTS
    )
    assert engine is not None
    episodes = Episodes(
        PoseTracking,
        machine or PoseTracking.default_machine,
        configuration,
        "analytic",
        len(seeds),
        randomisation,
        without(options, *ENVIRONMENT_ARGUMENTS),
    )
    episodes.reset(range(len(seeds)), [np_random(seed)[0] for seed in seeds])
    task: Any = episodes.task
    batch, motions = task.batch, task.motions
    period = batch.period
    engine_step = period / int(np.ceil(period / min(MAX_ENGINE_STEP, batch.timestep) - 1e-9))
    sums = Accumulator(metrics, len(seeds))
    length, terminated = np.zeros(len(seeds)), np.zeros(len(seeds))
    for k, (platform, motion, seed) in enumerate(zip(batch.platforms, motions, seeds, strict=True)):
        periods = int(min(round(motion.duration / period), episodes.max_steps[k]))
        periods = periods if max_steps in (None, -1) else min(periods, max_steps)
        pose, twist, _ = platform.constrain(*motion.sample(np.zeros(1)))
        trajectory = simulate(
            platform,
            periods * period,
            pose[0],
            twist[0],
            controller=make_controller(name, episodes.platform, motion),
            plant=Plant(platform, seed=seed),
            engine=engine,
            fidelity=options.get("fidelity") or DEFAULT_FIDELITIES.get(engine, "accurate"),
            timestep=engine_step,
            every=round(period / engine_step),
            progress=False,
        )
        errors = _errors(platform, motion, trajectory)
        for step_errors in zip(*(errors[metric.signal] for metric in metrics), strict=True):
            sums.add(np.array([step_errors]), np.array([k]))
        length[k], terminated[k] = len(trajectory) - 1, float(bool(trajectory.stopped))
    episodes.close()
    return Outcome(np.full(len(seeds), np.nan), length, terminated, sums.results())


def _errors(platform: Platform, motion: Motion, run: Trajectory) -> dict[str, FloatArray]:
    """Return the signals at the control instants after the start, each `(k,)`."""
    time = np.minimum(run.time[1:], motion.duration)
    reference = platform.constrain(*motion.sample(time)).pose
    distance = np.linalg.norm(run.pose[1:, :3] - reference[:, :3], axis=1)
    angle = angle_between(run.pose[1:, 3:], reference[:, 3:])
    return dict(zip(CONTROLLER_SIGNALS, (distance, angle), strict=True))


class Entry(NamedTuple):
    """A policy or a baseline in an evaluation."""

    name: str
    """name in the tables"""
    policy: Policy | None = None
    """trained policy; None for a baseline"""

    def run(
        self,
        environment: str,
        options: Mapping[str, Any],
        seeds: Sequence[int],
        metrics: tuple[Metric, ...],
    ) -> Outcome:
        """Return the outcome of the episodes of the seeds.

        Raises:
            InputError: options or a machine that do not fit.
        """
        if self.policy is None and self.name in controller_names():
            return run_controller(self.name, options, seeds, metrics)
        make_policy = None if self.name == ZERO_ACTOR else partial(_act, self)
        return roll_out(environment, options, make_policy, seeds, metrics)


def _act(entry: Entry, env: Any) -> Act:
    """Return a policy that fits an environment; without one, the law of that name."""
    if entry.policy is None:
        return make_law(entry.name, env)
    check_fit(entry.policy, env)
    return entry.policy


def baseline_names(environment: str) -> tuple[str, ...]:
    """Return the names of the baselines of an environment."""
    controllers = controller_names() if environment == TRACKING_ENVIRONMENT else ()
    return (ZERO_ACTOR, *ENVIRONMENT_LAWS.get(environment, ()), *controllers)


def entry(name: str | Path, environment: str) -> Entry:
    """Return a baseline by name, a shipped policy, or the policy in a file.

    Raises:
        InputError: an unknown name, a policy for another environment, or a controller without a
            motion to follow.
    """
    names = baseline_names(environment)
    if name in names:
        return Entry(str(name))
    for other in {TRACKING_ENVIRONMENT, *ENVIRONMENT_LAWS}:
        if name in baseline_names(other):
            raise InputError("policy", f"{name} is a baseline of {other} only")
    return Entry(str(name), policy_for(name, environment, names))


RETURN_COLUMN, TERMINATED_COLUMN = "return", "terminated [%]"


Show = Callable[[str], object]


@dataclass(frozen=True)
class Evaluation:
    """Results of policies and baselines on engines in the same episodes."""

    environment: str
    options: dict[str, Any]
    seeds: tuple[int, ...]
    policies: tuple[str, ...]
    """names of policies and baselines; the others are compared with the first"""
    engines: tuple[str, ...]
    results: dict[tuple[str, str], dict[str, FloatArray]] = field(repr=False)
    """(policy, engine) -> title of a metric -> `(episodes,)`"""
    changes: dict[str, dict[str, tuple[str, str]]] = field(default_factory=dict)
    """policy -> option -> (value here, value in its training), where they differ"""

    @property
    def titles(self) -> tuple[str, ...]:
        """Names of the metrics with their units."""
        return tuple(next(iter(self.results.values())))

    def mean(self, name: str, engine: str, title: str) -> Mean:
        """Return a policy's mean on an engine with its confidence interval."""
        values = self.results[name, engine][title]
        return mean_of(values[np.isfinite(values)])

    def difference(self, name: str, engine: str, title: str) -> Mean:
        """Return the mean difference from the first policy, episode by episode."""
        values = self.results[name, engine][title]
        baseline = self.results[self.policies[0], engine][title]
        valid = np.isfinite(values) & np.isfinite(baseline)
        return paired_difference(values[valid], baseline[valid])


@dataclass(frozen=True)
class _Part:
    """Some episodes of one policy on one engine, run by one process."""

    policy: Entry
    environment: str
    engine: str
    options: dict[str, Any]
    seeds: tuple[int, ...]

    def run(self) -> Outcome:
        """Run the episodes of this part; called in a process of its own."""
        options = {**self.options, "engine": self.engine}
        metrics = ENVIRONMENT_METRICS.get(self.environment, ())
        trained_policy = self.policy.policy
        if trained_policy is not None and "scales" in trained_policy.options:
            options["scales"] = trained_policy.options["scales"]
        with explained_differences(trained_policy, options, self.policy.name):
            return self.policy.run(self.environment, options, self.seeds, metrics)


def evaluate(
    environment: str,
    policies: Sequence[str | Path],
    *,
    engines: Sequence[str] = ("analytic",),
    episodes: int = 20,
    seed: int = 1_000_000,
    options: Mapping[str, Any] | None = None,
    jobs: int = 1,
    show: Show | None = None,
) -> Evaluation:
    """Run the same episodes (machines, motions, sensors) with every policy on every engine.

    Args:
        environment: id, such as "twin/PoseTracking-v0".
        policies: names of baselines ("zero", controllers, laws), names or files of policies; the
            others are compared with the first.
        engines: "analytic", "mujoco", "bullet".
        episodes: number of episodes.
        seed: of the first episode; the others have the next numbers. Far from those of training.
        options: of the environment, in place of those that the first policy was trained with.
        jobs: number of processes.
        show: called with a short text after every part of the work.

    Raises:
        InputError: an argument that cannot be used, no policy, no engine.
        MissingDependencyError: more than one process without joblib, or an engine that is missing.
    """
    entries = [entry(name, environment) for name in policies]
    names = [item.name for item in entries]
    if not entries or len(set(names)) < len(names):
        raise InputError("policies", "must be one or more, each once")
    if not engines or len(set(engines)) < len(engines):
        raise InputError("engines", "must be one or more, each once")
    whole_number(episodes, "episodes", 1)
    all_options = _options(entries, options)
    seeds = tuple(range(seed, seed + episodes))
    tasks = [
        _Part(item, environment, engine, all_options, seeds[k : k + EPISODES_PER_PROCESS])
        for item in entries
        for engine in engines
        for k in range(0, episodes, EPISODES_PER_PROCESS)
    ]
    outcomes: dict[tuple[str, str], list[Outcome]] = {}
    for task, outcome in zip(tasks, _run(tasks, jobs), strict=True):
        outcomes.setdefault((task.policy.name, task.engine), []).append(outcome)
        if show is not None:
            show(f"{task.policy.name} on {task.engine}")
    titles = [metric.title for metric in ENVIRONMENT_METRICS.get(environment, ())]
    results = {key: _concatenated(tasks, titles) for key, tasks in outcomes.items()}
    changes = {
        item.name: option_differences(item.policy, all_options)
        for item in entries
        if item.policy is not None
    }
    return Evaluation(
        environment, all_options, seeds, tuple(names), tuple(engines), results, changes
    )


def count_parts(policies: int, engines: int, episodes: int) -> int:
    """Return the number of times that `evaluate` calls `show`."""
    return policies * engines * -(-episodes // EPISODES_PER_PROCESS)


def _run(parts: Sequence[_Part], jobs: int) -> Iterator[Outcome]:
    """Yield the outcomes in the order of the parts."""
    whole_number(jobs, "jobs", 1)
    if jobs == 1 or len(parts) == 1:
        return (part.run() for part in parts)
    joblib = optional("joblib")
    pool = joblib.Parallel(n_jobs=min(jobs, len(parts)), return_as="generator")
    outcomes: Iterator[Outcome] = pool(joblib.delayed(_Part.run)(part) for part in parts)
    return outcomes


def _options(entries: Sequence[Entry], own_options: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the options of the first policy's training with the given ones, for all entries."""
    trained_entries = (item for item in entries if item.policy is not None)
    first_entry = next(trained_entries, Entry("zero"))
    options = merged_options(first_entry.policy, own_options, first_entry.name)
    return without(options, *OPTIONS_OF_EVALUATION)


def _concatenated(parts: Sequence[Outcome], titles: Sequence[str]) -> dict[str, FloatArray]:
    """Return the metrics of all episodes `(episodes,)` by title."""
    table = np.concatenate([part.metrics for part in parts])
    columns = {title: table[:, k] for k, title in enumerate(titles)}
    columns[RETURN_COLUMN] = np.concatenate([part.reward for part in parts])
    columns[TERMINATED_COLUMN] = 100.0 * np.concatenate([part.terminated for part in parts])
    return columns


def report_columns(evaluation: Evaluation) -> tuple[str, ...]:
    """Return the titles of the columns of `report_rows`."""
    return ("engine", "policy", *evaluation.titles, "difference")


def report_rows(evaluation: Evaluation) -> list[tuple[str, ...]]:
    """Return one row of texts for every engine and policy: means with 95 % intervals.

    The last column is the difference of the first metric from the first policy's.
    """
    rows = []
    for engine in evaluation.engines:
        for name in evaluation.policies:
            means = [evaluation.mean(name, engine, title) for title in evaluation.titles]
            difference = MISSING_VALUE
            if name != evaluation.policies[0]:
                difference = evaluation.difference(name, engine, evaluation.titles[0]).text()
            rows.append((engine, name, *(mean.text() for mean in means), difference))
    return rows


def changes_from_training(evaluation: Evaluation, mark: str = "") -> list[str]:
    """Return a sentence for every policy whose training had other options.

    Args:
        evaluation: its results.
        mark: around names and values, such as the backtick of Markdown.
    """
    changes = evaluation.changes.items()
    sentences = (change_text(name, differences, "evaluated", mark) for name, differences in changes)
    return [sentence for sentence in sentences if sentence]


def as_markdown(evaluation: Evaluation, command: str = "") -> str:
    """Return a table in Markdown, the command above it, the episodes below.

    A column of terminated episodes is left out where there are none.
    """
    columns = [title.replace("/s2", "/s²") for title in report_columns(evaluation)]
    rows = [columns, ["---"] * len(columns), *map(list, report_rows(evaluation))]
    notes = []
    if not any(values[TERMINATED_COLUMN].any() for values in evaluation.results.values()):
        column = columns.index(TERMINATED_COLUMN)
        rows = [row[:column] + row[column + 1 :] for row in rows]
        notes.append("No episode was terminated.")
    table = "\n".join(f"| {' | '.join(row)} |" for row in rows).replace("+-", "±")
    source = f"`{command}` gives:\n\n" if command else ""
    sentences = [
        f"{len(evaluation.seeds)} episodes of `{evaluation.environment}`, seeds from "
        f"{evaluation.seeds[0]}, the same for all.",
        *notes,
        "Means have 95 % confidence intervals (Student's t).",
        f'The column "difference" is the {evaluation.titles[0].partition(" [")[0]} less that of '
        f"`{evaluation.policies[0]}`, episode by episode.",
        *changes_from_training(evaluation, "`"),
    ]
    return f"{source}{table}\n\n{' '.join(sentences)}\n"


def as_json(evaluation: Evaluation, command: str = "") -> str:
    """Return all results, single episodes included, as JSON; a missing number is null."""
    content = {
        "command": command,
        "environment": evaluation.environment,
        "options": evaluation.options,
        "changes": evaluation.changes,
        "seeds": list(evaluation.seeds),
        "policies": list(evaluation.policies),
        "engines": list(evaluation.engines),
        "results": [
            {
                "policy": name,
                "engine": engine,
                "metrics": {
                    title: {
                        **_numbers(evaluation.mean(name, engine, title)),
                        "difference": _numbers(evaluation.difference(name, engine, title)),
                        "episodes": [_number(value) for value in values.tolist()],
                    }
                    for title, values in outcome.items()
                },
            }
            for (name, engine), outcome in evaluation.results.items()
        ],
    }
    return json.dumps(content, indent=2, allow_nan=False) + "\n"


def _numbers(mean: Mean) -> dict[str, Any]:
    return {
        "mean": _number(mean.value),
        "half_width": _number(mean.half_width),
        "episodes": mean.episodes,
    }


def _number(value: float) -> float | None:
    return value if np.isfinite(value) else None
