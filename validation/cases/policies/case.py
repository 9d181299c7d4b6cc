"""Trained policies.

Policies were trained on the analytic engine, with parameters drawn anew for every episode. Here
they run in MuJoCo, which they never saw: a few episodes, of the same seeds for policy and baseline.
Two tables are shipped with each policy. One has the full evaluation on three engines, with 95 %
confidence intervals. The other has the policy in conditions that differ from those of its training:
where it reaches its goal, and where it does not, is on record.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from twin.analysis.platform import Platform
from twin.training import evaluate, policies
from twin.training.evaluation.confidence import Mean
from twin.validation.case import Case
from twin.validation.cases.policies.robustness import robustness
from twin.validation.cases.policies.shipped import SHIPPED, Shipped
from twin.validation.measures.comparison import LABELS
from twin.validation.results import CaseResult, Measure, Table

CASE = Case(
    "policies",
    __doc__,
    machines=("stewart", "compliant_stewart"),
    because="policies are shipped for stewart and compliant_stewart",
    cost=6.0,
)

SEED = 3_000_000
"""Of the first episode run here: of no training and of no shipped evaluation."""


def run(platform: Platform) -> CaseResult:
    """Run the case on one machine."""
    measures, tables = [], []
    for shipped in SHIPPED[platform.name]:
        held, conditions = robustness(shipped)
        measures += [_better(shipped), held]
        tables += [_full_table(shipped.policy), conditions]
    return CASE.result(platform, measures, (), (), tables)


def _better(shipped: Shipped) -> Measure:
    """Return the policy's error in parts of the baseline's; of returns, the baseline's in parts."""
    found = evaluate(
        shipped.environment,
        (shipped.baseline, shipped.policy),
        engines=("mujoco",),
        episodes=shipped.episodes,
        seed=SEED,
        options=shipped.options,
    )
    title = shipped.title
    policy, baseline = (
        found.mean(name, "mujoco", title).value for name in (shipped.policy, shipped.baseline)
    )
    name, gained = title.partition(" [")[0], title == "return"
    first, second = "the policy", shipped.words
    if gained:
        first, second = second, first
    return Measure(
        f"{name} with {first} in parts of that of {second}, MuJoCo",
        baseline / policy if gained else policy / baseline,
        1.0,
        f"the policy must be better; mean {policy:.3g} to {baseline:.3g} ({title}), "
        f"{shipped.episodes} episode{'s' * (shipped.episodes > 1)}"
        f"{_length(shipped)} from seed {SEED} on",
    )


def _length(shipped: Shipped) -> str:
    """Return how long the episodes are, where they are not as usual."""
    if "max_episode_steps" in shipped.options:
        return f" of {shipped.options['max_episode_steps']} steps"
    return f" of {shipped.options['duration']:g} s" if "duration" in shipped.options else ""


def _full_table(policy: str) -> Table:
    """Return the evaluation that is shipped with a policy."""
    content = json.loads((Path(policies.__path__[0]) / f"{policy}.json").read_text())
    results = content["results"]
    titles = tuple(
        title
        for title in results[0]["metrics"]
        if any(result["metrics"][title]["mean"] is not None for result in results)
    )
    rows = tuple(
        (
            LABELS.get(result["engine"], result["engine"]),
            result["policy"],
            *(_interval(result["metrics"][title]) for title in titles),
        )
        for engine in content["engines"]
        for result in results
        if result["engine"] == engine
    )
    return Table(
        f"Full evaluation of {policy}",
        ("engine", "policy", *titles),
        rows,
        f"`{content['command']}`: {len(content['seeds'])} episodes of `{content['environment']}`, "
        "the same for all; means with 95 % confidence intervals. Read from the file that is "
        "shipped with the policy, not computed anew.",
    )


def _interval(numbers: dict[str, Any]) -> str:
    if numbers["mean"] is None:
        return "-"
    half = numbers["half_width"] or 0.0
    if not numbers["mean"] and not half:
        return "0"
    return Mean(numbers["mean"], half, len(numbers["episodes"])).text().replace("+-", "±")
