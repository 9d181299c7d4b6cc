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
"""Largest width of tables and sentences in characters; it is used where the output goes to a
file."""

LONGEST_WORD = 36
"""Number of characters of a word or number that are kept together."""

COLUMN_GAP = 2
"""Number of characters between two columns."""

NOTICE_PERIOD = 1.0
"""[s] Minimum time between two notices of the same kind."""

VERDICT_COLORS = {"pass": "green", "tight": "yellow", "fail": "bold red", "info": "cyan"}
"""Colours of cells with these texts; the text alone also says it."""


class Column(NamedTuple):
    """One column of a table."""

    title: str
    number: bool = False
    """whether its cells are numbers: aligned to the right and kept on one line"""


def line(text: str = "", bold: bool = False) -> None:
    """Print a line; long ones are wrapped by the terminal."""
    _console().print(Text(visible(text), style="bold" if bold else ""), soft_wrap=True)


def paragraph(text: str, mark: str = "", bold: bool = False) -> None:
    """Print a text wrapped to `MAX_WIDTH`, its later lines indented by the width of a mark."""
    indent = " " * len(mark)
    line(fill(text, MAX_WIDTH, initial_indent=mark, subsequent_indent=indent), bold)


def table(columns: Sequence[Column], rows: Iterable[Sequence[str]], title: str = "") -> None:
    """Print rows of texts under the columns' titles, below a line with the title of the table.

    Titles and texts wrap between words; numbers stay on one line. A table that is too wide is
    printed in parts, each with the texts before the first number.
    """
    if title:
        paragraph(title, bold=True)
    cells = [tuple(map(visible, row)) for row in rows]
    min_widths = [_least(column, [row[k] for row in cells]) for k, column in enumerate(columns)]
    for column_indices in _parts(columns, min_widths, _console().width):
        rich_table = Table(box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
        total_width = sum(
            max(min_widths[k], len(columns[k].title)) + COLUMN_GAP for k in column_indices
        )
        for k in column_indices:
            number, title = columns[k].number, columns[k].title
            # Where titles must wrap, rich takes room from all columns alike, also from numbers.
            title = (
                fill(title, min_widths[k]) if number and total_width > _console().width else title
            )
            alignment: Any = "right" if number else "left"
            rich_table.add_column(
                Text(title), justify=alignment, min_width=min_widths[k], overflow="fold"
            )
        for row in cells:
            rich_table.add_row(
                *(Text(row[k], style=VERDICT_COLORS.get(row[k], "")) for k in column_indices)
            )
        _console().print(rich_table)


def _least(column: Column, cells: list[str]) -> int:
    """Return the minimum width of a column: that of its longest number or word."""
    texts = [column.title.split(), *([cell] if column.number else cell.split() for cell in cells)]
    return min(
        LONGEST_WORD, max((len(word) for text_words in texts for word in text_words), default=0)
    )


def _parts(columns: Sequence[Column], least: list[int], width: int) -> list[list[int]]:
    """Return the columns of each part of a table that is too wide for `width`."""
    key_count = next((k for k, column in enumerate(columns) if column.number), len(columns))
    parts = [list(range(key_count))]
    for k in range(key_count, len(columns)):
        is_too_wide = (
            sum(least[j] + COLUMN_GAP for j in (*parts[-1], k)) > width
            and len(parts[-1]) > key_count
        )
        parts = [*parts, [*range(key_count), k]] if is_too_wide else [*parts[:-1], [*parts[-1], k]]
    return parts


def _console() -> Console:
    console = Console()
    return Console(width=min(console.width, MAX_WIDTH) if console.is_terminal else MAX_WIDTH)


class Notices:
    """Repeated messages of a running loop, printed at most once a second and only when new."""

    def __init__(self) -> None:
        """Start without messages."""
        self._shown: set[str] = set()
        self._due = 0.0

    def show_due(self, lines: Callable[[], Iterable[str]]) -> None:
        """Print the lines that are new since the last time, if a second has passed since then."""
        if clock.monotonic() < self._due:
            return
        self._due = clock.monotonic() + NOTICE_PERIOD
        present_lines = list(lines())
        for text in present_lines:
            if text not in self._shown:
                paragraph(text)
        self._shown = set(present_lines)


@contextmanager
def progress_bar(title: str, parts: int | None, done: int = 0) -> Iterator[Callable[[str], None]]:
    """Show a bar on a terminal, with the name of the part that is under way or has just ended.

    Args:
        title: title of the whole work.
        parts: number of parts; None where it is not known.
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
    signals = [signal.SIGINT, signal.SIGTERM]
    if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:
        signals.append(signal.SIGHUP)
    previous_handlers = {
        number: signal.signal(number, lambda number, _: requests.append(number))
        for number in signals
    }
    try:
        yield lambda: bool(requests)
    finally:
        for number, handler in previous_handlers.items():
            signal.signal(number, handler)
