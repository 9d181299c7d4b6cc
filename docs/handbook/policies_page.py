"""The page of the shipped policies' results, from the records that they are shipped with."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from handbook.markdown import table
from twin.training import policies
from twin.training.evaluation import Evaluation, Mean, as_markdown

RECORDS = Path(policies.__path__[0])

POLICIES = {
    "Tracking": "stewart_tracking",
    "Isolation": "stewart_isolation",
    "Ball": "stewart_ball",
    "Ball on three legs": "balancer_ball",
    "Cueing": "stewart_cueing",
}
"""Titles of the shipped policies, and their names."""

HEAD = """# Trained policies

Results of the shipped policies in the same episodes as their baselines, then in conditions outside
their training. [Training](../training.md) explains the policies, and
[benchmarks](../benchmarks.md#trained-policies) what the second table shows.
"""

COLUMNS = ("condition", "zero", "baseline", "policy", "policy less baseline")


def policies_page() -> str:
    """Return the page: an evaluation of each shipped policy, then the table of robustness."""
    evaluations = [f"## {title}\n\n{_evaluation(name)}" for title, name in POLICIES.items()]
    content = json.loads((RECORDS / "robustness.json").read_text(encoding="utf-8"))
    robust = f"## Robustness\n\n{table(COLUMNS, _rows(content['rows']))}\n{content['note']}\n"
    return "\n".join([HEAD, *evaluations, robust])


def _evaluation(name: str) -> str:
    """Return the results of one policy as `twin evaluate --markdown` writes them."""
    record = json.loads((RECORDS / f"{name}.json").read_text(encoding="utf-8"))
    results = {
        (row["policy"], row["engine"]): {
            title: np.array(metric["episodes"], dtype=float)
            for title, metric in row["metrics"].items()
        }
        for row in record["results"]
    }
    found = Evaluation(
        record["environment"],
        record["options"],
        tuple(record["seeds"]),
        tuple(record["policies"]),
        tuple(record["engines"]),
        results,
        record["changes"],
    )
    return as_markdown(found, record["command"])


def _rows(rows: list[dict[str, Any]]) -> list[tuple[str, ...]]:
    """Return the rows of the table, with a row of names before those of each policy."""
    cells: list[tuple[str, ...]] = []
    before: tuple[str, ...] = ()
    for row in rows:
        task = f"**{row['environment'].split('/')[1]}**, {row['title']}"
        names = (task, "", f"`{row['baseline name']}`", f"`{row['policy name']}`", "")
        if names != before:
            cells.append(names)
            before = names
        means = (Mean(*row[name]).text() for name in ("zero", "baseline", "policy", "difference"))
        cells.append((row["condition"], *(text.replace("+-", "±") for text in means)))
    return cells
