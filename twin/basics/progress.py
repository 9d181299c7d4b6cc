"""Progress bars for long work, and a message when compiling begins."""

from __future__ import annotations

import gc
import sys
import time as clock
from multiprocessing import current_process
from typing import Any

from numba.core import event

from twin.errors import InputError, brief

DELAY_OF_BAR = 2.0
"""[s] Computing time after which a progress bar appears."""

STEPS_BETWEEN_LOOKS = 64
"""Default number of steps between two readings of the clock: some steps take only a microsecond."""

COMPILE_EVENT = "numba:compile"
"""Kind of the numba events for the compilation of a function that is not in the cache."""


class Progress:
    """A progress bar on a terminal, shown after `DELAY_OF_BAR`; use it with `with`."""

    def __init__(
        self, title: str, steps: int, shown: bool | None = None, *, every: int = STEPS_BETWEEN_LOOKS
    ) -> None:
        """Describe the work.

        Args:
            title: title of the work.
            steps: number of steps.
            shown: True to show it at once, False never, None when it takes a while.
            every: steps between two readings of the clock; 1 where each step takes long.

        Raises:
            InputError: `shown` is none of these.
        """
        if shown is not None and not isinstance(shown, bool):
            raise InputError("progress", f"must be True, False or None, not {brief(shown)}")
        self._title = title
        self._steps = steps
        self._shown = shown
        self._every = every
        self._start = clock.monotonic()
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if self._bar is not None:
            if kind is None:
                self._bar.update(self._task, completed=self._steps)
            self._bar.stop()

    def tick(self, step: int) -> None:
        """Report that `step` is done."""
        if step % self._every or self._shown is False:
            return
        if self._bar is not None:
            self._bar.update(self._task, completed=step)
        elif self._shown or clock.monotonic() - self._start >= DELAY_OF_BAR:
            self._show()

    def _show(self) -> None:
        """Open the bar, where standard error is a terminal or the user wants it."""
        from rich.console import Console
        from rich.progress import Progress as Bar

        console = Console(stderr=True)
        if not (self._shown or console.is_terminal):
            self._shown = False
            return
        self._bar = Bar(console=console, transient=console.is_terminal)
        self._task = self._bar.add_task(self._title, total=self._steps)
        self._bar.start()


class Watcher(event.Listener):
    """Pauses garbage collection while numba compiles, which saves a fifth; prints one message.

    Numba's own lock lets one thread compile at a time, and a kernel compiles those that it calls.
    """

    def __init__(self) -> None:
        self._depth = 0
        self._collecting = False
        self._said = not sys.stderr.isatty() or current_process().name != "MainProcess"

    def on_start(self, _: event.Event) -> None:
        """Count the start of a compilation."""
        if self._depth == 0:
            self._collecting = gc.isenabled()
            gc.disable()
        self._depth += 1
        if not self._said:
            self._said = True
            print("compiling the equations, once on this computer, 5 to 20 s", file=sys.stderr)

    def on_end(self, _: event.Event) -> None:
        """Count the end of a compilation."""
        self._depth -= 1
        if self._depth == 0 and self._collecting:
            gc.enable()


def watch_compilation() -> None:
    """Watch all compilations of this process; see `Watcher`."""
    event.register(COMPILE_EVENT, Watcher())  # type: ignore[no-untyped-call]
