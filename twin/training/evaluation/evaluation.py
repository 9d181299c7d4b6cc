"""Evaluation: policies and baselines in the same episodes, on several engines."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from twin.basics.arrays import FloatArray, whole_number
from twin.basics.optional import optional
from twin.errors import InputError
from twin.training.evaluation.baselines import Entry, entry
from twin.training.evaluation.confidence import Mean, mean_of, paired_difference
from twin.training.evaluation.rollout import Outcome
from twin.training.metrics import METRICS
from twin.training.options import explained_differences, merged_options, option_differences

RETURN, TERMINATED = "return", "terminated [%]"
PART = 8
"""Largest number of episodes that one process runs side by side."""

NOT_FOR_ALL = ("engine", "info", "scales")
"""Options of a training that an evaluation sets by itself, for every engine and policy."""

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
        both = np.isfinite(values) & np.isfinite(baseline)
        return paired_difference(values[both], baseline[both])


@dataclass(frozen=True)
class _Part:
    """Some episodes of one policy on one engine."""

    policy: Entry
    environment: str
    engine: str
    options: dict[str, Any]
    seeds: tuple[int, ...]

    def run(self) -> Outcome:
        options = {**self.options, "engine": self.engine}
        metrics = METRICS.get(self.environment, ())
        trained = self.policy.policy
        if trained is not None and "scales" in trained.options:
            options["scales"] = trained.options["scales"]
        with explained_differences(trained, options, self.policy.name):
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
        episodes: how many.
        seed: of the first episode; the others have the next numbers. Far from those of training.
        options: of the environment, in place of those that the first policy was trained with.
        jobs: processes.
        show: called with a short text after every part of the work.

    Raises:
        InputError: an argument that cannot be used, no policy, no engine.
        MissingDependencyError: more than one process without joblib, or an engine that is missing.
    """
    entries = [entry(name, environment) for name in policies]
    names = [each.name for each in entries]
    if not entries or len(set(names)) < len(names):
        raise InputError("policies", "must be one or more, each once")
    if not engines or len(set(engines)) < len(engines):
        raise InputError("engines", "must be one or more, each once")
    whole_number(episodes, "episodes", 1)
    chosen = _options(entries, options)
    seeds = tuple(range(seed, seed + episodes))
    parts = [
        _Part(each, environment, engine, chosen, seeds[k : k + PART])
        for each in entries
        for engine in engines
        for k in range(0, episodes, PART)
    ]
    outcomes: dict[tuple[str, str], list[Outcome]] = {}
    for part, outcome in zip(parts, _run(parts, jobs), strict=True):
        outcomes.setdefault((part.policy.name, part.engine), []).append(outcome)
        if show is not None:
            show(f"{part.policy.name} on {part.engine}")
    titles = [metric.title for metric in METRICS.get(environment, ())]
    results = {key: _joined(parts, titles) for key, parts in outcomes.items()}
    changes = {
        each.name: option_differences(each.policy, chosen)
        for each in entries
        if each.policy is not None
    }
    return Evaluation(environment, chosen, seeds, tuple(names), tuple(engines), results, changes)


def count_parts(policies: int, engines: int, episodes: int) -> int:
    """Return the number of times that `evaluate` calls `show`."""
    return policies * engines * -(-episodes // PART)


def _run(parts: Sequence[_Part], jobs: int) -> Iterator[Outcome]:
    """Yield the outcomes in order."""
    whole_number(jobs, "jobs", 1)
    if jobs == 1 or len(parts) == 1:
        return (part.run() for part in parts)
    joblib = optional("joblib")
    pool = joblib.Parallel(n_jobs=min(jobs, len(parts)), return_as="generator")
    outcomes: Iterator[Outcome] = pool(joblib.delayed(_Part.run)(part) for part in parts)
    return outcomes


def _options(entries: Sequence[Entry], given: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the options of the first policy's training with the given ones, for all entries."""
    trained = (each for each in entries if each.policy is not None)
    first = next(trained, Entry("zero"))
    options = merged_options(first.policy, given, first.name)
    return {name: value for name, value in options.items() if name not in NOT_FOR_ALL}


def _joined(parts: Sequence[Outcome], titles: Sequence[str]) -> dict[str, FloatArray]:
    """Return the metrics of all episodes `(episodes,)` by title."""
    table = np.concatenate([part.metrics for part in parts])
    joined = {title: table[:, k] for k, title in enumerate(titles)}
    joined[RETURN] = np.concatenate([part.reward for part in parts])
    joined[TERMINATED] = 100.0 * np.concatenate([part.terminated for part in parts])
    return joined
