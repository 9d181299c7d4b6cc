"""The table of mutations in `docs/validation.md`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from mutations.run import Mutation, Outcome

PAGE = Path(__file__).parents[2] / "docs" / "validation.md"
BEGIN, END = "<!-- mutations: written by make mutations -->", "<!-- mutations: end -->"
SIDES = {"reference": "reference", "mujoco": "MuJoCo", "bullet": "Bullet", "both": "all alike"}

NUMBER = re.compile(r"\d[\d.e-]*")

HEADER = (
    "| machine | wrong | case | measure | value | bar |",
    "| --- | --- | --- | --- | --- | --- |",
)


def key(mutation: Mutation) -> str:
    """Return the part of a row that does not depend on results."""
    wrong = f"{SIDES[mutation.side]}: {mutation.text}"
    return f"| `{mutation.machine}` | {wrong} | `{mutation.case}` | {mutation.measure} |"


def row(outcome: Outcome) -> str:
    """Return one row."""
    measure = outcome.measure
    bar = f"{'at least ' if measure.at_least else ''}{measure.tolerance:.2g}"
    return f"{key(outcome.mutation)} {measure.value:.2g} | {bar} |"


def never_failed(outcomes: Sequence[Outcome]) -> list[str]:
    """Return the judged measures of the cases that no mutation fails, by case; numbers left out."""
    judged, failed = (
        {
            f"`{one.mutation.case}`: {NUMBER.sub('#', name)}"
            for one in outcomes
            for name in names(one)
        }
        for names in (lambda one: one.judged, lambda one: one.failed)
    )
    return sorted(judged - failed)


def write(outcomes: Sequence[Outcome]) -> None:
    """Write the table into the page."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    untested = [f"- {name}" for name in never_failed(outcomes)]
    text = ["Measures of these cases that nothing above fails:", "", *untested, ""]
    lines = "\n".join([BEGIN, "", *HEADER, *map(row, outcomes), "", *text, END])
    PAGE.write_text(before + lines + after, encoding="utf-8")


def rows() -> list[str]:
    """Return the rows that the page has."""
    text = PAGE.read_text(encoding="utf-8").partition(BEGIN)[2].partition(END)[0]
    return [line for line in text.splitlines() if line.startswith("| `")]
