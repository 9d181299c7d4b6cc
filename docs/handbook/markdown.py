"""Parts of Markdown pages: tables, folded blocks, fenced blocks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

CODE = re.compile(r"(`[^`]+`)")

SPECIAL = re.compile(r"([\\`*_{}\[\]<>|$#~])")


def plain(text: object) -> str:
    """Return text of which nothing but code in backticks has a meaning in Markdown."""
    parts = CODE.split(" ".join(str(text).split()))
    return "".join(part if k % 2 else SPECIAL.sub(r"\\\1", part) for k, part in enumerate(parts))


def cell(markdown: object) -> str:
    """Return Markdown that may stand in a cell of a table."""
    return re.sub(r"(?<!\\)\|", r"\\|", " ".join(str(markdown).split()))


def table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table; its cells are Markdown on one line."""
    lines = [_row(columns), _row(["---"] * len(columns)), *(_row(row) for row in rows)]
    return "\n".join(lines) + "\n"


def _row(cells: Sequence[object]) -> str:
    return f"| {' | '.join(cell(text) for text in cells)} |"


def folded(title: str, inside: str) -> str:
    """Return a block that opens on a click; `title` is HTML, `inside` Markdown."""
    return f"<details>\n<summary>{title}</summary>\n\n{inside.strip()}\n\n</details>\n"


def fenced(language: str, code: str) -> str:
    """Return a block of code."""
    return f"```{language}\n{code.strip()}\n```\n"
