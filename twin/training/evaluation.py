"""Evaluation: policies and baselines in the same episodes, on several engines."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from twin.basics.arrays import FloatArray
from twin.basics.optional import optional
from twin.errors import InputError
from twin.training.confidence import Mean, mean_of, paired_difference
from twin.training.contestants import Contestant, contestant, metrics_of
from twin.training.rollout import Outcome

RETURN, TERMINATED = "return", "terminated [%]"
PART = 8
"""Most episodes that one process runs side by side."""

Show = Callable[[str], object]


@dataclass(frozen=True)
class Evaluation:
    """Results of contestants on engines in the same episodes."""

    environment: str
    options: dict[str, Any]
    seeds: tuple[int, ...]
    contestants: tuple[str, ...]
    """the first is what the others are compared with"""
    engines: tuple[str, ...]
    results: dict[tuple[str, str], dict[str, FloatArray]] = field(repr=False)
    """(contestant, engine) -> title of a metric -> `(episodes,)`"""

    @property
    def titles(self) -> tuple[str, ...]:
        """Names of the metrics with their units."""
        return tuple(next(iter(self.results.values())))

    def mean(self, name: str, engine: str, title: str) -> Mean:
        """Return a contestant's mean on an engine with its confidence interval."""
        values = self.results[name, engine][title]
        return mean_of(values[np.isfinite(values)])

    def difference(self, name: str, engine: str, title: str) -> Mean:
        """Return the mean difference from the first contestant, episode by episode."""
        values = self.results[name, engine][title]
        baseline = self.results[self.contestants[0], engine][title]
        both = np.isfinite(values) & np.isfinite(baseline)
        return paired_difference(values[both], baseline[both])


@dataclass(frozen=True)
class _Part:
    """Some episodes of one contestant on one engine."""

    contestant: Contestant
    environment: str
    engine: str
    options: dict[str, Any]
    seeds: tuple[int, ...]

    def run(self) -> Outcome:
        metrics = metrics_of(self.environment)
        options = {**self.options, "engine": self.engine}
        return self.contestant.run(self.environment, options, self.seeds, metrics)


def evaluate(
    environment: str,
    contestants: Sequence[str | Path],
    *,
    engines: Sequence[str] = ("analytic",),
    episodes: int = 20,
    seed: int = 1_000_000,
    options: Mapping[str, Any] | None = None,
    jobs: int = 1,
    show: Show | None = None,
) -> Evaluation:
    """Run the same episodes (machines, motions, sensors) with every contestant on every engine.

    Args:
        environment: id, such as "twin/PoseTracking-v0".
        contestants: "zero", names of controllers or laws, names or files of policies; the first
            is the baseline of differences.
        engines: "analytic", "mujoco", "bullet".
        episodes: how many.
        seed: of the first episode, the next numbers of the others. Far from the seeds of training.
        options: of the environment; default those that the first policy was trained with.
        jobs: processes.
        show: called with a few words after every part of the work.

    Raises:
        InputError: an argument that cannot be used, no contestant, no engine.
        MissingDependencyError: more than one process without joblib, or an engine that is missing.
    """
    drivers = [contestant(name, environment) for name in contestants]
    names = [driver.name for driver in drivers]
    if not drivers or len(set(names)) < len(names):
        raise InputError("contestants", "must be one or more, each once")
    if not engines or len(set(engines)) < len(engines):
        raise InputError("engines", "must be one or more, each once")
    if type(episodes) is not int or episodes < 1:
        raise InputError("episodes", f"must be a whole number from 1, not {episodes!r}")
    chosen = _options(drivers, options)
    seeds = tuple(range(seed, seed + episodes))
    parts = [
        _Part(driver, environment, engine, chosen, seeds[k : k + PART])
        for driver in drivers
        for engine in engines
        for k in range(0, episodes, PART)
    ]
    outcomes: dict[tuple[str, str], list[Outcome]] = {}
    for part, outcome in zip(parts, _run(parts, jobs), strict=True):
        outcomes.setdefault((part.contestant.name, part.engine), []).append(outcome)
        if show is not None:
            show(f"{part.contestant.name} on {part.engine}")
    titles = [metric.title for metric in metrics_of(environment)]
    results = {key: _joined(parts, titles) for key, parts in outcomes.items()}
    return Evaluation(environment, chosen, seeds, tuple(names), tuple(engines), results)


def count_parts(contestants: int, engines: int, episodes: int) -> int:
    """Return how often `evaluate` calls `show`."""
    return contestants * engines * -(-episodes // PART)


def _run(parts: Sequence[_Part], jobs: int) -> Iterator[Outcome]:
    """Yield the outcomes in order."""
    if type(jobs) is not int or jobs < 1:
        raise InputError("jobs", f"must be a whole number from 1, not {jobs!r}")
    if jobs == 1 or len(parts) == 1:
        return (part.run() for part in parts)
    joblib = optional("joblib")
    pool = joblib.Parallel(n_jobs=min(jobs, len(parts)), return_as="generator")
    outcomes: Iterator[Outcome] = pool(joblib.delayed(_Part.run)(part) for part in parts)
    return outcomes


def _options(drivers: Sequence[Contestant], given: Mapping[str, Any] | None) -> dict[str, Any]:
    if given is not None:
        return {name: value for name, value in given.items() if name != "engine"}
    for driver in drivers:
        if driver.policy is not None:
            trained = driver.policy.origin.options
            return {name: value for name, value in trained.items() if name != "engine"}
    return {}


def _joined(parts: Sequence[Outcome], titles: Sequence[str]) -> dict[str, FloatArray]:
    """Return the metrics of all episodes `(episodes,)` by title."""
    table = np.concatenate([part.metrics for part in parts])
    joined = {title: table[:, k] for k, title in enumerate(titles)}
    joined[RETURN] = np.concatenate([part.reward for part in parts])
    joined[TERMINATED] = 100.0 * np.concatenate([part.terminated for part in parts])
    return joined
