"""Ends of trainings: the first Ctrl-C lets the present step finish."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any


@dataclass
class Ending:
    """Whether a search shall end after the present iteration."""

    stop: bool = False


@contextmanager
def ended_by_signals(training: Any) -> Iterator[None]:
    """Let the first Ctrl-C or termination end the training in order, the second at once."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {kind: signal.getsignal(kind) for kind in (signal.SIGINT, signal.SIGTERM)}

    def end(kind: int, _: object) -> None:
        training.stop = True
        signal.signal(kind, before[signal.Signals(kind)])

    for kind in before:
        signal.signal(kind, end)
    try:
        yield
    finally:
        for kind, handler in before.items():
            signal.signal(kind, handler)
