"""Trained policies.

Policies were trained on the analytic engine, with parameters drawn anew for every episode. Here
they run in MuJoCo, which they never saw: a few episodes, of the same seeds for policy and baseline.
The table gives the full evaluation that is shipped with each policy, on three
engines, with 95 % confidence intervals.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

from twin.platform import Platform
from twin.training import Evaluation, evaluate, policies
from twin.validation.case import Case
from twin.validation.results import CaseResult, Measure, Table

CASE = Case(
    "policies",
    __doc__,
    machines=("stewart", "compliant_stewart"),
    because="policies are shipped for stewart and compliant_stewart",
    cost=3.0,
)

SEED = 3_000_000
"""Of the first episode run here: of no training and of no shipped evaluation."""


class Shipped(NamedTuple):
    """A shipped policy and what it has to beat."""

    policy: str
    environment: str
    baseline: str
    words: str
    options: dict[str, Any]
    episodes: int
    """run here; the full evaluation has more"""


SHIPPED = {
    "stewart": Shipped(
        "stewart_tracking",
        "twin/PoseTracking-v0",
        "cascade",
        "the cascade of the thesis at 1 kHz",
        {"duration": 2.0},
        2,
    ),
    "compliant_stewart": Shipped(
        "stewart_isolation",
        "twin/VibrationIsolation-v0",
        "isolation_law",
        "the linear law beneath it, on drives that its training did not have",
        {"configuration": "hardware", "randomisation": "hardware_spread"},
        1,
    ),
}


def run(platform: Platform) -> CaseResult:
    """Run the case on one machine."""
    shipped = SHIPPED[platform.name]
    found = evaluate(
        shipped.environment,
        (shipped.baseline, shipped.policy),
        engines=("mujoco",),
        episodes=shipped.episodes,
        seed=SEED,
        options=shipped.options,
    )
    return CASE.result(platform, [_better(found, shipped)], (), (), (_full_table(shipped.policy),))


def _better(found: Evaluation, shipped: Shipped) -> Measure:
    """Return the policy's first metric in parts of the baseline's."""
    title = found.titles[0]
    policy, baseline = (
        found.mean(name, "mujoco", title).value for name in (shipped.policy, shipped.baseline)
    )
    name = title.partition(" [")[0]
    return Measure(
        f"{name} with the policy in parts of that of {shipped.words}, MuJoCo",
        policy / baseline,
        1.0,
        f"the policy must be better; mean {policy:.3g} to {baseline:.3g} ({title}) in "
        f"episodes of the seeds from {SEED} ({shipped.episodes})",
    )


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
            result["engine"],
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
        f"{content['command']}: {len(content['seeds'])} episodes of {content['environment']}, the "
        "same for all; means with 95 % confidence intervals. Read from the file that is shipped "
        "with the policy, not computed anew.",
    )


def _interval(numbers: dict[str, Any]) -> str:
    if numbers["mean"] is None:
        return "-"
    return f"{numbers['mean']:.3g} ± {numbers['half_width'] or 0.0:.2g}"
