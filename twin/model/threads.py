"""Threads for compiled code that releases the interpreter's lock."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import Any


@lru_cache(maxsize=1)
def _pool(process: int) -> ThreadPoolExecutor:
    """Return the pool of a process; keyed by its id because threads do not survive a fork."""
    del process
    return ThreadPoolExecutor(max_workers=max(1, usable_cores() - 1), thread_name_prefix="twin")


@lru_cache(maxsize=1)
def usable_cores() -> int:
    """Return how many cores this process may use; no more than `NUMBA_NUM_THREADS`, if set."""
    limit = int(os.environ.get("NUMBA_NUM_THREADS", 1 << 16))
    if hasattr(os, "sched_getaffinity"):
        return min(limit, len(os.sched_getaffinity(0)))
    return min(limit, os.cpu_count() or 1)


def on_threads(kernel: Callable[..., Any], calls: Sequence[tuple[Any, ...]]) -> list[Any]:
    """Return what `kernel` returns for each of `calls`, the first on this thread.

    The kernel releases the GIL; what the calls write into must not overlap.
    """
    if len(calls) == 1:
        return [kernel(*calls[0])]
    futures = [_pool(os.getpid()).submit(kernel, *call) for call in calls[1:]]
    return [kernel(*calls[0]), *(future.result() for future in futures)]
