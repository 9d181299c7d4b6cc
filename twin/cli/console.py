"""Lines, tables, progress bars and Ctrl-C on the console; texts are never read as markup."""

from __future__ import annotations

import signal
import time as clock
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from textwrap import fill
from typing import Any, NamedTuple

from rich import box
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from twin.basics.toml import visible

MAX_WIDTH = 100
"""Columns of tables and sentences at most, and where the output goes to a file."""

LONGEST_WORD = 36
"""Characters of a word or number that are kept together."""

COLUMN_GAP = 2
"""Characters between two columns."""

NOTICE_PERIOD = 1.0
"""[s] Between two notices of the same kind."""

VERDICT_COLORS = {"pass": "green", "tight": "yellow", "fail": "bold red", "info": "cyan"}
"""Cells with these texts are coloured; the word says it too."""


class Column(NamedTuple):
    """One column of a table."""

    title: str
    number: bool = False
    """aligned to the right and kept on one line"""


def line(text: str = "", bold: bool = False) -> None:
    """Print a line; long ones are wrapped by the terminal."""
    _console().print(Text(visible(text), style="bold" if bold else ""), soft_wrap=True)


def paragraph(text: str, mark: str = "", bold: bool = False) -> None:
    """Print a text wrapped to `MAX_WIDTH`, its later lines indented by the width of a mark."""
    indent = " " * len(mark)
    line(fill(text, MAX_WIDTH, initial_indent=mark, subsequent_indent=indent), bold)


def table(columns: Sequence[Column], rows: Iterable[Sequence[str]], title: str = "") -> None:
    """Print rows of texts under the columns' titles, below a line with the table's own.

    Titles and texts wrap between words; numbers stay on one line. A table that is too wide is
    printed in parts, each with the texts before the first number.
    """
    if title:
        paragraph(title, bold=True)
    cells = [tuple(map(visible, row)) for row in rows]
    least = [_least(column, [row[k] for row in cells]) for k, column in enumerate(columns)]
    for part in _parts(columns, least, _console().width):
        shown = Table(box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
        full = sum(max(least[k], len(columns[k].title)) + COLUMN_GAP for k in part)
        for k in part:
            number, title = columns[k].number, columns[k].title
            # Where titles must wrap, rich takes room from all columns alike, also from numbers.
            title = fill(title, least[k]) if number and full > _console().width else title
            side: Any = "right" if number else "left"
            shown.add_column(Text(title), justify=side, min_width=least[k], overflow="fold")
        for row in cells:
            shown.add_row(*(Text(row[k], style=VERDICT_COLORS.get(row[k], "")) for k in part))
        _console().print(shown)


def _least(column: Column, cells: list[str]) -> int:
    """Return the least width of a column: of its numbers, or of its longest word."""
    texts = [column.title.split(), *([cell] if column.number else cell.split() for cell in cells)]
    return min(LONGEST_WORD, max((len(word) for words in texts for word in words), default=0))


def _parts(columns: Sequence[Column], least: list[int], width: int) -> list[list[int]]:
    """Return the columns of every part of a table that is not wider than `width`."""
    keys = next((k for k, column in enumerate(columns) if column.number), len(columns))
    parts = [list(range(keys))]
    for k in range(keys, len(columns)):
        wide = sum(least[j] + COLUMN_GAP for j in (*parts[-1], k)) > width and len(parts[-1]) > keys
        parts = [*parts, [*range(keys), k]] if wide else [*parts[:-1], [*parts[-1], k]]
    return parts


def _console() -> Console:
    console = Console()
    return Console(width=min(console.width, MAX_WIDTH) if console.is_terminal else MAX_WIDTH)


class Notices:
    """Lines of a loop that goes on, printed once a second at most and only where they are new."""

    def __init__(self) -> None:
        """Begin with none."""
        self._shown: set[str] = set()
        self._due = 0.0

    def show_due(self, lines: Callable[[], Iterable[str]]) -> None:
        """Print the lines that are new since the last time, if a second has passed since then."""
        if clock.monotonic() < self._due:
            return
        self._due = clock.monotonic() + NOTICE_PERIOD
        found = list(lines())
        for text in found:
            if text not in self._shown:
                paragraph(text)
        self._shown = set(found)


@contextmanager
def progress_bar(title: str, parts: int | None, done: int = 0) -> Iterator[Callable[[str], None]]:
    """Show a bar on a terminal, with the name of the part that is under way or has just ended.

    Args:
        title: of the whole work.
        parts: how many there are; None where this is not known.
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


@contextmanager
def interruption() -> Iterator[Callable[[], bool]]:
    """Yield a function that returns whether a signal to end has come.

    These are Ctrl-C, a request to terminate, and the end of the terminal, unless that is ignored as
    by nohup.
    """
    # A list, read now and then: a handler may run while its own thread holds the lock of an event,
    # and one that came just before a wait without end would never run.
    requests: list[int] = []
    numbers = [signal.SIGINT, signal.SIGTERM]
    if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:
        numbers.append(signal.SIGHUP)
    before = {
        number: signal.signal(number, lambda number, _: requests.append(number))
        for number in numbers
    }
    try:
        yield lambda: bool(requests)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
