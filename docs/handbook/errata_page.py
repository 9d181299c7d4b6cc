"""Pages of the record: errata of the papers, and models made wrong on purpose."""

from __future__ import annotations

from pathlib import Path

from handbook.markdown import table
from twin.validation.published.printed import PaperErrata, read_errata

MUTATIONS = Path(__file__).resolve().parents[2] / "validation" / "mutations.md"
"""The table that `make mutations` writes."""


def mutations_page() -> str:
    """Return the page of the wrong models, as its file has it."""
    return MUTATIONS.read_text(encoding="utf-8")


def errata_page() -> str:
    """Return the page: one table for each paper, with the test that shows each entry."""
    papers = read_errata()
    count = sum(len(paper.entries) for paper in papers)
    head = (
        "# Errata of the papers\n\n"
        f"{count} entries: the printed statement, the right one that this project uses, and the "
        "test that shows the error.\n"
    )
    return "\n".join([head, *(_section(paper) for paper in papers)])


def _section(paper: PaperErrata) -> str:
    rows = [
        (entry.where, entry.printed, f"{entry.right}. Shown by `{entry.test}`")
        for entry in paper.entries
    ]
    body = table(("Where", "Printed", "Right"), rows)
    return f"## {paper.paper}\n\n{paper.reference}\n\n{body}\n{paper.note}\n"
