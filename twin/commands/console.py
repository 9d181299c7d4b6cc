"""Printing to the console: plain lines and tables, never interpreted as markup."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

PIPED_WIDTH = 160
"""Columns where the output goes to a file or another program."""

COLORS = {"pass": "green", "fail": "bold red", "info": "cyan"}
"""Cells with these texts are coloured; the word says it too."""


class Column(NamedTuple):
    """One column of a table."""

    title: str
    number: bool = False
    """aligned to the right and kept on one line"""


def line(text: str = "", bold: bool = False) -> None:
    """Print a line; long ones are wrapped by the terminal."""
    _console().print(Text(text, style="bold" if bold else ""), soft_wrap=True)


def table(columns: Sequence[Column], rows: Iterable[Sequence[str]], title: str = "") -> None:
    """Print rows of texts under the columns' titles, below a line with the table's own."""
    if title:
        line(title, bold=True)
    shown = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        side = "right" if column.number else "left"
        shown.add_column(Text(column.title), justify=side, no_wrap=column.number)  # type: ignore[arg-type]
    for row in rows:
        shown.add_row(*(Text(cell, style=COLORS.get(cell, "")) for cell in row))
    _console().print(shown)


def _console() -> Console:
    console = Console()
    return console if console.is_terminal else Console(width=PIPED_WIDTH)
