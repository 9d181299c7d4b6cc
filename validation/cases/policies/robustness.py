"""Table of robustness that is shipped with the policies: policies outside their training."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from twin.training import policies
from twin.training.evaluation.confidence import Mean
from twin.validation.cases.policies.shipped import Shipped
from twin.validation.results import Measure, Table

COLUMNS = ("zero", "baseline", "policy", "difference")


def robustness(shipped: Shipped) -> tuple[Measure, Table]:
    """Return the table of a policy, and the conditions whose outcome is not the one on record."""
    content = json.loads((Path(policies.__path__[0]) / "robustness.json").read_text())
    rows = [row for row in content["rows"] if row["policy name"] == shipped.policy]
    return measure_of(rows, shipped), _table(rows, content["note"], shipped.policy)


def measure_of(rows: list[dict[str, Any]], shipped: Shipped) -> Measure:
    """Return how many conditions have another outcome than the one on record."""
    judged = [row for row in rows if row["title"] == shipped.title]
    short = {row["condition"] for row in judged if falls_short(row, shipped.within)}
    than = judged[0]["baseline name"]
    goal = (
        f"better than {than} by more than the interval"
        if shipped.within is None
        else f"at most {shipped.within:g} times {than}"
    )
    known = ", ".join(shipped.short) or "none"
    return Measure(
        f"conditions with another outcome than on record, {shipped.title.partition(' [')[0]} of "
        f"{shipped.policy}",
        len(short ^ set(shipped.short)),
        0.0,
        f"{goal} in {len(judged)} conditions, but for those on record: {known}; a change for the "
        "better fails too",
    )


def falls_short(row: dict[str, Any], within: float | None) -> bool:
    """Return True where a policy misses its goal in a condition; see `Shipped.within`."""
    if within is not None:
        return bool(row["policy"][0] > within * row["baseline"][0])
    gained, half, _ = row["difference"]
    return bool((gained if row["title"] == "return" else -gained) <= half)


def _table(rows: list[dict[str, Any]], note: str, policy: str) -> Table:
    return Table(
        f"Robustness of {policy}",
        ("condition", "of", "zero", rows[0]["baseline name"], policy, "difference"),
        tuple(
            (row["condition"], row["title"], *(Mean(*row[name]).text() for name in COLUMNS))
            for row in rows
        ),
        f"One thing is changed at a time, the rest is as in the training. {note} Read from the "
        "file that is shipped with the policies, not computed anew.",
    )
