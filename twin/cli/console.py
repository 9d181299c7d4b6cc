"""Lines, tables, progress bars and Ctrl-C on the console; texts are never read as markup."""

from __future__ import annotations

import signal
import time as clock
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from textwrap import fill

from rich import box
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table as RichTable
from rich.text import Text

from twin.basics.toml import visible
from twin.charts.results import Cell, Results, cell_text, is_number_column, write_page

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


def line(text: str = "", bold: bool = False) -> None:
    """Print a line; long ones are wrapped by the terminal."""
    _console().print(Text(visible(text), style="bold" if bold else ""), soft_wrap=True)


def paragraph(text: str, mark: str = "", bold: bool = False) -> None:
    """Print a text wrapped to `MAX_WIDTH`, its later lines indented by the width of a mark."""
    indent = " " * len(mark)
    line(fill(text, MAX_WIDTH, initial_indent=mark, subsequent_indent=indent), bold)


def show(results: Results, page: Path | None = None) -> None:
    """Print the tables of an analysis and its findings, and write them as a page if one is named.

    Raises:
        InputError: the page cannot be written to.
        MissingDependencyError: plotly or jinja2 is not installed for the page.
    """
    for part in results.tables:
        table(part.columns, part.rows, part.title)
    for sentence in results.findings:
        paragraph(sentence)
    if page is not None:
        line(f"wrote {write_page(results, page)}")


def table(columns: Sequence[str], rows: Iterable[Sequence[Cell]], title: str = "") -> None:
    """Print rows of texts and numbers under the columns' titles, below the title of the table.

    Titles and texts wrap between words; numbers stay on one line, aligned to the right. A table
    that is too wide is printed in parts, each with the columns before the first number.
    """
    if title:
        paragraph(title, bold=True)
    cells = [[visible(cell_text(cell)) for cell in row] for row in rows]
    texts = [[row[k] for row in cells] for k in range(len(columns))]
    is_number = [is_number_column(column) for column in texts]
    widths = [_min_width(*column) for column in zip(columns, texts, is_number, strict=True)]
    width = _console().width
    for part in _parts(is_number, widths, width):
        rich_table = RichTable(box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
        total_width = sum(max(widths[k], len(columns[k])) + COLUMN_GAP for k in part)
        for k in part:
            # Where titles must wrap, rich takes room from all columns alike, also from numbers.
            wraps = is_number[k] and total_width > width
            rich_table.add_column(
                Text(fill(columns[k], widths[k]) if wraps else columns[k]),
                justify="right" if is_number[k] else "left",
                min_width=widths[k],
                overflow="fold",
            )
        for row in cells:
            rich_table.add_row(*(Text(row[k], style=VERDICT_COLORS.get(row[k], "")) for k in part))
        _console().print(rich_table)


def _min_width(title: str, texts: list[str], is_number: bool) -> int:
    """Return the minimum width of a column: that of its longest number or word."""
    words = title.split() + (texts if is_number else " ".join(texts).split())
    return min(LONGEST_WORD, max(map(len, words), default=0))


def _parts(is_number: list[bool], widths: list[int], total_width: int) -> list[list[int]]:
    """Return the columns of each part of a table that is too wide."""
    key_columns = list(range((*is_number, True).index(True)))
    parts = [key_columns.copy()]
    for k in range(len(key_columns), len(widths)):
        part_width = sum(widths[j] + COLUMN_GAP for j in (*parts[-1], k))
        if part_width > total_width and len(parts[-1]) > len(key_columns):
            parts.append(key_columns.copy())
        parts[-1].append(k)
    return parts


def _console() -> Console:
    console = Console()
    return Console(width=min(console.width, MAX_WIDTH) if console.is_terminal else MAX_WIDTH)


class Notices:
    """Repeated messages of a running loop, printed at most once a second and only when new."""

    def __init__(self) -> None:
        """Start without messages."""
        self._shown_lines: set[str] = set()
        self._due_time = 0.0

    def show_due(self, lines: Callable[[], Iterable[str]]) -> None:
        """Print the lines that are new since the last time, if a second has passed since then."""
        if clock.monotonic() < self._due_time:
            return
        self._due_time = clock.monotonic() + NOTICE_PERIOD
        present_lines = list(lines())
        for text in present_lines:
            if text not in self._shown_lines:
                paragraph(text)
        self._shown_lines = set(present_lines)


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
    requests = []
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
