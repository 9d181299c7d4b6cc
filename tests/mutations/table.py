"""The table of mutations in `validation/mutations.md`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from mutations.run import Mutation, Outcome
from twin.charts.panels import number
from twin.validation.cases import CASES, load_case

PAGE = Path(__file__).parents[2] / "validation" / "mutations.md"
BEGIN, END = "<!-- mutations: written by make mutations -->", "<!-- mutations: end -->"
SIDES = {"reference": "reference", "mujoco": "MuJoCo", "bullet": "Bullet", "both": "all alike"}

EVERYWHERE = {key for key in CASES if not load_case(key).because} | {"machine_data"}
"""Cases of all machines."""

NUMBER = re.compile(r"\d[\d.e-]*")
SHARE = re.compile(r"\d[\d.e-]* %")

SPECIAL = re.compile(r"([\\`*_{}\[\]<>|$#~])")
"""Has a meaning in Markdown."""

FOLD = "<details>\n<summary>{} wrong models, and the measure that each fails</summary>\n"

HEADER = (
    "| machine | case | wrong | measure | value | tolerance |",
    "| --- | --- | --- | --- | --- | --- |",
)


def plain(text: str) -> str:
    """Return a text for a cell."""
    return SPECIAL.sub(r"\\\1", text.replace("/s2", "/s²"))


def key(mutation: Mutation) -> str:
    """Return the part of a row that does not depend on results."""
    wrong = plain(f"{SIDES[mutation.side]}: {mutation.text}")
    return f"| `{mutation.machine}` | `{mutation.case}` | {wrong} |"


def row(outcome: Outcome) -> str:
    """Return one row."""
    measure = outcome.measure
    tolerance = f"{'at least ' if measure.at_least else ''}{measure.tolerance:.2g}"
    name, value = plain(measure.name), number(measure.value, 2)
    return f"{key(outcome.mutation)} {name} | {value} | {tolerance} |"


def unnumbered(name: str) -> str:
    """Return a measure's name without its numbers."""
    return NUMBER.sub("...", SHARE.sub("a share", name))


def never_failed(outcomes: Sequence[Outcome]) -> list[str]:
    """Return the judged measures of the cases that no mutation fails, by case; numbers left out."""
    general = [one for one in outcomes if one.mutation.case in EVERYWHERE]
    judged, failed = (
        {
            f"`{one.mutation.case}`: {plain(unnumbered(name))}"
            for one in general
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
    title = "Measures of the general cases and of `machine_data` that nothing above fails:"
    text = [title, "", *untested, ""]
    folded = [FOLD.format(len(outcomes)), *HEADER, *map(row, outcomes), "", "</details>"]
    lines = "\n".join([BEGIN, "", *folded, "", *text, END])
    PAGE.write_text(before + lines + after, encoding="utf-8")


def rows() -> list[str]:
    """Return the rows that the page has."""
    text = PAGE.read_text(encoding="utf-8").partition(BEGIN)[2].partition(END)[0]
    return [line for line in text.splitlines() if line.startswith("| `")]
