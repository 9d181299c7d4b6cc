"""Ctrl-C and requests to terminate, for commands that run until then."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def interruption() -> Iterator[Callable[[], bool]]:
    """Yield a function that returns whether Ctrl-C, or a request to terminate, has come."""
    # A list, read now and then: a handler may run while its own thread holds the lock of an event,
    # and one that came just before a wait without end would never run.
    requests: list[int] = []
    before = {
        number: signal.signal(number, lambda number, _: requests.append(number))
        for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield lambda: bool(requests)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
