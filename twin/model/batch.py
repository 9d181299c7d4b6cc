"""Running a serial batch kernel on all cores: chunks of the batch on threads, no copies."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache, partial
from itertools import pairwise
from typing import Any

import numpy as np

from twin.basics.arrays import FloatArray
from twin.model.lanes import FEWEST_STATES, MOST_LANES, lane_count, lanes_kernel, run_in_lanes

SMALLEST_CHUNK = 1024
"""States below which handing work to a thread (some 100 us) costs more than it saves."""


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


def run_batch(
    kernel: Callable[..., int],
    constants: tuple[FloatArray, ...],
    arrays: tuple[FloatArray, ...],
) -> int:
    """Run `kernel(*constants, *arrays)` over the first axis of `arrays`, split over the cores.

    The kernel releases the GIL, writes its results into some of the arrays and returns the index
    of the first state it could not handle, or -1. One state never depends on another, so the
    result is the same for any number of threads. Large batches run in lanes, with results that are
    the same to rounding.

    Returns:
        Index of the first state that failed, or -1.
    """
    size = len(arrays[0])
    chunks = min(usable_cores(), size // SMALLEST_CHUNK)
    part_kernel, shared = kernel, constants
    in_lanes = lanes_kernel(kernel) if size >= FEWEST_STATES and lane_count() > 1 else None
    if in_lanes is not None:
        part_kernel, shared = partial(run_in_lanes, kernel, in_lanes, constants), ()
    if chunks < 2:
        return int(part_kernel(*shared, *arrays))
    # Edges between groups of lanes, so that the same states share a group on any number of threads.
    edges: list[int] = (
        (np.linspace(0, size, chunks + 1) // MOST_LANES * MOST_LANES).astype(int).tolist()
    )
    edges[-1] = size
    parts = [tuple(array[start:stop] for array in arrays) for start, stop in pairwise(edges)]
    failures = on_threads(part_kernel, [(*shared, *part) for part in parts])
    for start, failed in zip(edges[:-1], failures, strict=True):
        if failed >= 0:
            return start + int(failed)
    return -1
