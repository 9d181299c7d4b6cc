"""The errata of the papers, read from the tables of errata.md."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from twin.errors import InputError

ERRATA = Path(__file__).parents[1] / "errata.md"

COLUMNS = ("Where", "Printed", "Right", "Assumes", "Shown by")

TEST = re.compile(r"`(tests/[\w/]+\.py::test_\w+)`")
"""A test as pytest takes it."""


class Erratum(NamedTuple):
    """One thing that is printed and cannot be right; texts in Markdown."""

    paper: str
    where: str
    printed: str
    right: str
    """what is used in its place"""
    assumed: str
    """what that takes for granted beyond the printed text"""
    test: str
    """file and name of the test that shows it"""


class PaperErrata(NamedTuple):
    """The errata of one paper."""

    paper: str
    reference: str
    """Markdown"""
    entries: tuple[Erratum, ...]
    note: str
    """text below the table; Markdown"""


def read_errata(path: Path = ERRATA) -> tuple[PaperErrata, ...]:
    """Return the errata of all papers, one section and one table each, in the file's order.

    Raises:
        InputError: a section without a table, or a row that names no test.
    """
    _, *sections = re.split(r"^## ", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return tuple(_section(text) for text in sections)


def _section(text: str) -> PaperErrata:
    title, _, body = text.partition("\n")
    paper = title.strip()
    lines = body.strip().splitlines()
    table = [i for i, line in enumerate(lines) if line.startswith("|")] or [len(lines)]
    header, _, *rows = [_cells(line) for line in lines if line.startswith("|")] or [(), ()]
    if tuple(header) != COLUMNS or not rows:
        raise InputError("errata", f"{paper} needs a table with columns {', '.join(COLUMNS)}")
    entries = tuple(_entry(paper, row) for row in rows)
    before, after = (" ".join(part).strip() for part in (lines[: table[0]], lines[table[-1] + 1 :]))
    return PaperErrata(paper, before, entries, after)


def _cells(line: str) -> tuple[str, ...]:
    cells = re.split(r"(?<!\\)\|", line.strip().strip("|"))
    return tuple(cell.strip().replace("\\|", "|") for cell in cells)


def _entry(paper: str, row: tuple[str, ...]) -> Erratum:
    test = TEST.fullmatch(row[-1])
    if len(row) != len(COLUMNS) or test is None:
        raise InputError("errata", f"{paper}: needs five cells and a test at the end: {row}")
    where, printed, right, assumed, _ = row
    return Erratum(paper, where, printed, right, assumed, test[1])
