"""Trained policies."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

from twin.analysis.platform import Platform
from twin.training import evaluate, policies
from twin.validation.case import CaseResult, Measure, validation_case

HARDWARE_SETTINGS = {"configuration": "hardware", "randomisation": "hardware_spread"}


FIRST_SEED = 3_000_000
"""Seed of the first episode; no training and no shipped evaluation has used it."""


class ShippedPolicy(NamedTuple):
    """A policy that is shipped with the project, and the result that it has to reach."""

    policy: str
    environment: str
    baseline: str
    baseline_words: str
    """the baseline in the words of the report"""
    options: dict[str, Any]
    title: str
    """title of the metric that is judged"""
    episodes: int
    """number of episodes in this case; the full evaluation has more"""
    max_ratio: float | None
    """largest result relative to the baseline, in the table of robustness, that is good enough;
    None: it has to be better by more than the interval"""
    known_failures: tuple[str, ...]
    """conditions of that table in which the policy is known to fall short"""


SHIPPED_POLICIES = {
    "stewart": (
        ShippedPolicy(
            "stewart_tracking",
            "twin/PoseTracking-v0",
            "cascade",
            "the cascade of the thesis at 1 kHz",
            {"duration": 2.0},
            "position error [mm]",
            2,
            2.0,
            ("ideal plant", "payload doubled", "delay doubled", "friction doubled"),
        ),
        ShippedPolicy(
            "stewart_ball",
            "twin/BallBalance-v0",
            "balance_law",
            "the linear law that it corrects",
            {"max_episode_steps": 400},
            "return",
            1,
            None,
            ("target on a circle", "noise of 2 %", "late by a period each way"),
        ),
        ShippedPolicy(
            "stewart_cueing",
            "twin/MotionCueing-v0",
            "adaptive",
            "the adaptive washout",
            {},
            "perceived error [thresholds]",
            1,
            None,
            (),
        ),
    ),
    "compliant_stewart": (
        ShippedPolicy(
            "stewart_isolation",
            "twin/VibrationIsolation-v0",
            "isolation_law",
            "the linear law that it corrects, on drives that its training did not have",
            HARDWARE_SETTINGS,
            "transmissibility",
            1,
            None,
            (
                "ideal plant",
                "real drives that vary",
                "episodes of 20 s",
                "shaking of 1 m/s²",
                "noise of 2 %",
                "late by a period each way",
            ),
        ),
    ),
}
"""Policies that are shipped, by machine."""


def robustness(shipped_policy: ShippedPolicy) -> Measure:
    """Return how many conditions of a policy's table have another outcome than on record."""
    content = json.loads((Path(policies.__path__[0]) / "robustness.json").read_text())
    rows = [row for row in content["rows"] if row["policy name"] == shipped_policy.policy]
    return measure_of(rows, shipped_policy)


def measure_of(rows: list[dict[str, Any]], shipped_policy: ShippedPolicy) -> Measure:
    """Return how many conditions have another outcome than the one on record."""
    judged_rows = [row for row in rows if row["title"] == shipped_policy.title]
    failed_conditions = {
        row["condition"] for row in judged_rows if falls_short(row, shipped_policy.max_ratio)
    }
    baseline = judged_rows[0]["baseline name"]
    goal_text = (
        f"better than {baseline} by more than the interval"
        if shipped_policy.max_ratio is None
        else f"at most {shipped_policy.max_ratio:g} times {baseline}"
    )
    known_text = ", ".join(shipped_policy.known_failures) or "none"
    return Measure(
        "conditions with another outcome than on record, "
        f"{shipped_policy.title.partition(' [')[0]} of {shipped_policy.policy}",
        len(failed_conditions ^ set(shipped_policy.known_failures)),
        0.0,
        f"{goal_text} in {len(judged_rows)} conditions, but for those on record: {known_text}; a "
        "change for the better fails too",
    )


def falls_short(row: dict[str, Any], max_ratio: float | None) -> bool:
    """Return True where a policy misses its goal in a condition; see `ShippedPolicy.max_ratio`."""
    if max_ratio is not None:
        return bool(row["policy"][0] > max_ratio * row["baseline"][0])
    gain, half_width, _ = row["difference"]
    return bool((gain if row["title"] == "return" else -gain) <= half_width)


@validation_case(
    machines=("stewart", "compliant_stewart"),
    because="policies are shipped for stewart and compliant_stewart",
    run_time=6.0,
)
def check_policies(platform: Platform) -> CaseResult:
    """Trained policies.

    Policies were trained on the analytic engine, with parameters drawn anew for every episode. Here
    they run in MuJoCo, which they never saw: a few episodes, of the same seeds for policy and
    baseline. A table is shipped with each policy, of conditions that differ from those of its
    training: where it reaches its goal, and where it does not, is on record.
    """
    policies = SHIPPED_POLICIES[platform.name]
    measures = [judge(policy) for policy in policies for judge in (_better, robustness)]
    return check_policies.result(platform, measures)


def _better(shipped_policy: ShippedPolicy) -> Measure:
    """Return the policy's error relative to the baseline's, or the inverse ratio of returns."""
    evaluation = evaluate(
        shipped_policy.environment,
        (shipped_policy.baseline, shipped_policy.policy),
        engines=("mujoco",),
        episodes=shipped_policy.episodes,
        seed=FIRST_SEED,
        options=shipped_policy.options,
    )
    title = shipped_policy.title
    policy, baseline = (
        evaluation.mean(name, "mujoco", title).value
        for name in (shipped_policy.policy, shipped_policy.baseline)
    )
    name, is_return = title.partition(" [")[0], title == "return"
    numerator, denominator = "the policy", shipped_policy.baseline_words
    if is_return:
        numerator, denominator = denominator, numerator
    return Measure(
        f"{name} with {numerator} in parts of that of {denominator}, MuJoCo",
        baseline / policy if is_return else policy / baseline,
        1.0,
        f"the policy must be better; mean {policy:.3g} to {baseline:.3g} ({title}), "
        f"{shipped_policy.episodes} episode{'s' * (shipped_policy.episodes > 1)}"
        f"{_length(shipped_policy)} from seed {FIRST_SEED} on",
    )


def _length(shipped_policy: ShippedPolicy) -> str:
    """Return how long the episodes are, where they have not the default length."""
    options = shipped_policy.options
    if "max_episode_steps" in options:
        return f" of {options['max_episode_steps']} steps"
    return f" of {options['duration']:g} s" if "duration" in options else ""
