"""Lines, tables and progress bars on the console; texts are never interpreted as markup."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from textwrap import fill
from typing import NamedTuple

from rich import box
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

PIPED_WIDTH = 100
"""Columns where the output goes to a file or another program."""

TEXT_WIDTH = 100
"""Columns of sentences."""

COLORS = {"pass": "green", "tight": "yellow", "fail": "bold red", "info": "cyan"}
"""Cells with these texts are coloured; the word says it too."""


class Column(NamedTuple):
    """One column of a table."""

    title: str
    number: bool = False
    """aligned to the right and kept on one line"""


def line(text: str = "", bold: bool = False) -> None:
    """Print a line; long ones are wrapped by the terminal."""
    _console().print(Text(text, style="bold" if bold else ""), soft_wrap=True)


def paragraph(text: str, mark: str = "") -> None:
    """Print a text wrapped to `TEXT_WIDTH`, its later lines indented by the width of a mark."""
    indent = " " * len(mark)
    line(fill(text, TEXT_WIDTH, initial_indent=mark, subsequent_indent=indent))


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


@contextmanager
def progress_bar(title: str, parts: int, done: int = 0) -> Iterator[Callable[[str], None]]:
    """Show a bar on a terminal, with the name of the part that is under way or has just ended.

    Args:
        title: of the whole work.
        parts: how many there are.
        done: count of parts at the first call of what is yielded: 1 where it is called after
            each part, 0 where it is called before.

    Yields:
        A function of a part's name, to be called once per part.
    """
    console = Console(stderr=True)
    columns = (BarColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
    hidden = not console.is_terminal
    with Progress(*columns, console=console, transient=True, disable=hidden) as progress:
        bar = progress.add_task(title, total=parts)
        counts = count(done)
        yield lambda name: progress.update(bar, completed=next(counts), description=name)
