"""Robustness: baselines and shipped policies outside the conditions of the training.

    python benchmarks/robustness.py --episodes 8

Each row changes one thing; the rest is as in the policy's training. All columns have the same
episodes on the analytic engine. Rows go to `benchmarks/results/robustness.csv`, the table to the
page given by `--page`, between its marks.
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path
from typing import Any, NamedTuple

from page_section import write_section

from twin.training import evaluate
from twin.training.evaluation.confidence import Mean

RESULTS = Path(__file__).parent / "results" / "robustness.csv"
SEED = 4_000_000
"""Of the first episode: of no training and of no shipped evaluation."""


def times(path: str, factor: float) -> dict[str, Any]:
    """Return the option that multiplies numbers of the machine, with nothing else varied."""
    table = {"kind": "choice", "values": [factor], "relative": True}
    return {"randomisation": {path: table}}


BODY = "platform.body.mass, platform.body.inertia.*.*"
HARDWARE = {"configuration": "hardware", "randomisation": "hardware_spread"}
NOISE = {"observation_noise": 0.02, "action_noise": 0.02}


def late(period: float) -> dict[str, Any]:
    """Return the options that make observations and actions late by a control period [s] each."""
    return {"observation_delay": period, "action_delay": period}


CHANGES: dict[str, dict[str, dict[str, Any]]] = {
    "twin/VibrationIsolation-v0": {
        "as trained": {},
        "real drives that vary": HARDWARE,
        "payload doubled": {**HARDWARE, **times(BODY, 2.0)},
        "episodes of 20 s": {**HARDWARE, "duration": 20.0, "max_episode_steps": 4000},
        "shaking of 0.2 m/s²": {**HARDWARE, "acceleration": 0.2},
        "shaking of 1 m/s²": {**HARDWARE, "acceleration": 1.0},
        "shaking of 2 to 10 Hz": {**HARDWARE, "lowest_frequency": 2.0, "highest_frequency": 10.0},
        "friction doubled": {**HARDWARE, **times("leg.drive.friction_torque", 2.0)},
        "delay doubled": {**HARDWARE, **times("leg.drive.delay", 2.0)},
        "noise of 2 %": {**HARDWARE, **NOISE},
        "late by a period each way": {**HARDWARE, **late(0.005)},
    },
    "twin/PoseTracking-v0": {
        "as trained": {},
        "real drives that vary": HARDWARE,
        "payload doubled": times(BODY, 2.0),
        "no backlash": times("leg.drive.backlash", 0.0),
        "backlash doubled": times("leg.drive.backlash", 2.0),
        "delay doubled": times("leg.drive.delay", 2.0),
        "friction doubled": times("leg.drive.friction_torque", 2.0),
        "noise of 2 %": {**HARDWARE, **NOISE},
        "late by a period each way": {**HARDWARE, **late(0.01)},
    },
    "twin/BallBalance-v0": {
        "as trained": {},
        "real drives that vary": HARDWARE,
        "payload doubled": times(BODY, 2.0),
        "target on a circle": {"target": "circle"},
        "targets for 2 s": {"hold": 2.0},
        "noise of 2 %": NOISE,
        "late by a period each way": late(0.01),
    },
    "twin/MotionCueing-v0": {
        "as trained": {},
        "real drives that vary": HARDWARE,
        "payload doubled": times(BODY, 2.0),
        "strongest drives": {"lowest_intensity": 1.0},
        "weakest drives": {"intensity": 0.4},
        "noise of 2 %": NOISE,
        "late by a period each way": late(0.01),
    },
}
COLUMNS = {
    "twin/VibrationIsolation-v0": ("zero", "isolation_law", "stewart_isolation"),
    "twin/PoseTracking-v0": ("zero", "computed_torque", "stewart_tracking"),
    "twin/BallBalance-v0": ("zero", "balance_law", "stewart_ball"),
    "twin/MotionCueing-v0": ("zero", "adaptive", "stewart_cueing"),
}
RETURNS = {"twin/BallBalance-v0": "return"}
"""Environments judged by another number than their first metric."""


class Row(NamedTuple):
    """Results of one condition."""

    environment: str
    condition: str
    title: str
    zero: str
    baseline: str
    policy: str
    difference: str
    """policy less baseline, episode by episode"""


def measured(environment: str, condition: str, episodes: int) -> Row:
    """Return the row of a condition."""
    names = COLUMNS[environment]
    policy, baseline = names[2], names[1]
    options = CHANGES[environment][condition]
    found = evaluate(
        environment, (baseline, names[0], policy), episodes=episodes, seed=SEED, options=options
    )
    title = RETURNS.get(environment, found.titles[0])
    means = [_text(found.mean(name, "analytic", title)) for name in names]
    apart = found.difference(policy, "analytic", title)
    return Row(environment, condition, title, *means, _text(apart))


def table(rows: list[Row]) -> str:
    """Return the rows in Markdown."""
    lines = ["| condition | zero | baseline | policy | policy less baseline |"]
    lines.append("| --- | --- | --- | --- | --- |")
    before = ""
    for row in rows:
        if row.environment != before:
            name, (_, baseline, policy) = row.environment.split("/")[1], COLUMNS[row.environment]
            lines.append(f"| **{name}**, {row.title} | | `{baseline}` | `{policy}` | |")
            before = row.environment
        lines.append("| " + " | ".join((row.condition, *row[3:])) + " |")
    return "\n".join(lines)


def _text(mean: Mean) -> str:
    return mean.text().replace("+-", "±")


def main() -> None:
    """Measure, write the rows, and the table into a page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--episodes", type=int, default=8)
    parser.add_argument("--environment", choices=COLUMNS, action="append")
    parser.add_argument("--page", type=Path)
    given = parser.parse_args()
    text = RESULTS.read_text(encoding="utf-8").splitlines() if RESULTS.exists() else []
    kept = {(row[0], row[1]): Row(*row) for row in list(csv.reader(text))[1:]}
    for environment in given.environment or COLUMNS:
        for condition in CHANGES[environment]:
            row = measured(environment, condition, given.episodes)
            kept[environment, condition] = row
            print(*row, sep="  ", flush=True)
    order = [(task, name) for task, names in CHANGES.items() for name in names]
    rows = [kept[key] for key in order if key in kept]
    with RESULTS.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(Row._fields)
        writer.writerows(rows)
    if given.page is not None:
        note = f"{given.episodes} episodes each, seeds from {SEED}, means with 95 % intervals."
        write_section(given.page, "robustness", f"{table(rows)}\n\n{note}")


if __name__ == "__main__":
    main()
