"""Compilation of kernels as it goes on: one line on a terminal, and no garbage collection."""

from __future__ import annotations

import gc
import sys
from multiprocessing import current_process

from numba.core import event

KIND = "numba:compile"
"""Kind of the events that numba reports when it compiles a function that is not in the cache."""


class Watcher(event.Listener):
    """Pauses the collection of garbage, a fifth of the time; says once that compiling takes long.

    Numba's own lock lets one thread compile at a time, and a kernel compiles those that it calls.
    """

    def __init__(self) -> None:
        self._depth = 0
        self._collecting = False
        self._said = not sys.stderr.isatty() or current_process().name != "MainProcess"

    def on_start(self, _: event.Event) -> None:
        """Count a compilation in."""
        if self._depth == 0:
            self._collecting = gc.isenabled()
            gc.disable()
        self._depth += 1
        if not self._said:
            self._said = True
            print("compiling the equations, once on this computer, 5 to 20 s", file=sys.stderr)

    def on_end(self, _: event.Event) -> None:
        """Count a compilation out."""
        self._depth -= 1
        if self._depth == 0 and self._collecting:
            gc.enable()


def watch_compilation() -> None:
    """Watch all compilations of this process."""
    event.register(KIND, Watcher())  # type: ignore[no-untyped-call]
