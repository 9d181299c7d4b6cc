"""How far a training is: a bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import sys
import time as clock
from typing import Any

EVERY = 30.0
"""[s] Between two lines where there is no terminal."""


class TrainingProgress:
    """Shows steps, steps a second, and the last return and metric; use it with `with`."""

    def __init__(self, title: str, steps: int, begin: int = 0, wanted: bool | None = None) -> None:
        """Describe the training.

        Args:
            title: what is trained.
            steps: in all.
            begin: steps done before.
            wanted: False to show nothing.
        """
        self._title, self._steps, self._begin = title, steps, begin
        self._wanted = wanted
        self._bar: Any = None
        self._task: Any = None
        self._start = self._last = clock.monotonic()

    def __enter__(self) -> TrainingProgress:
        if self._wanted is not False and sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn
            from rich.progress import TimeRemainingColumn as Remaining

            self._bar = Progress(
                TextColumn("{task.description}"),
                BarColumn(bar_width=16),
                TextColumn("{task.percentage:.0f} %"),
                TextColumn("{task.fields[words]}"),
                Remaining(),
                console=Console(stderr=True),
                transient=True,
                refresh_per_second=2,
            )
            self._task = self._bar.add_task(
                self._title, total=self._steps, completed=self._begin, words=""
            )
            self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def show(self, steps: int, words: str) -> None:
        """Show that `steps` are done; `words` say how well."""
        if self._wanted is False:
            return
        now = clock.monotonic()
        speed = (steps - self._begin) / max(now - self._start, 1e-9)
        text = f"{speed:,.0f} steps/s  {words}"
        if self._bar is not None:
            self._bar.update(self._task, completed=steps, words=text)
        elif now - self._last >= EVERY:
            self._last = now
            sys.stderr.write(f"{steps:,} of {self._steps:,} steps  {text}\n")
            sys.stderr.flush()
