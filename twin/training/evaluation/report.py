"""Reports of an evaluation: rows of texts, Markdown, and JSON."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from twin.training.evaluation.confidence import Mean
from twin.training.evaluation.evaluation import TERMINATED, Evaluation
from twin.training.options import change_text

NOTHING = "-"


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
            apart = NOTHING
            if name != evaluation.policies[0]:
                apart = evaluation.difference(name, engine, evaluation.titles[0]).text()
            rows.append((engine, name, *(mean.text() for mean in means), apart))
    return rows


def changes_from_training(evaluation: Evaluation, mark: str = "") -> list[str]:
    """Return a sentence for every policy whose training had other options.

    Args:
        evaluation: its results.
        mark: around names and values, such as the backtick of Markdown.
    """
    changes = evaluation.changes.items()
    said = (change_text(name, each, "evaluated", mark) for name, each in changes)
    return [sentence for sentence in said if sentence]


def as_markdown(evaluation: Evaluation, command: str = "") -> str:
    """Return a table in Markdown, the command above it, the episodes below.

    A column of terminated episodes is left out where there are none.
    """
    columns = [title.replace("/s2", "/s²") for title in report_columns(evaluation)]
    rows = [columns, ["---"] * len(columns), *map(list, report_rows(evaluation))]
    found = []
    if not any(values[TERMINATED].any() for values in evaluation.results.values()):
        place = columns.index(TERMINATED)
        rows = [row[:place] + row[place + 1 :] for row in rows]
        found.append("No episode was terminated.")
    table = "\n".join(f"| {' | '.join(row)} |" for row in rows).replace("+-", "±")
    source = f"`{command}` gives:\n\n" if command else ""
    sentences = [
        f"{len(evaluation.seeds)} episodes of `{evaluation.environment}`, seeds from "
        f"{evaluation.seeds[0]}, the same for all.",
        *found,
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
                    for title, values in found.items()
                },
            }
            for (name, engine), found in evaluation.results.items()
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
