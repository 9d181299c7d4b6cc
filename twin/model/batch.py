"""Running a serial batch kernel on all cores: chunks of the batch on threads, no copies."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from twin.basics.arrays import FloatArray
from twin.model.lanes import FEWEST_STATES, lane_count, lanes_kernel, run_in_lanes
from twin.model.threads import on_threads, usable_cores

SMALLEST_CHUNK = 1024
"""States below which handing work to a thread (some 100 us) costs more than it saves."""


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
    chunks = max(1, min(usable_cores(), size // SMALLEST_CHUNK))
    in_lanes = lanes_kernel(kernel) if size >= FEWEST_STATES and lane_count() > 1 else None
    if in_lanes is not None:
        return run_in_lanes(kernel, in_lanes, constants, arrays, chunks)
    edges: list[int] = np.linspace(0, size, chunks + 1).astype(int).tolist()
    parts = [tuple(array[start:stop] for array in arrays) for start, stop in pairwise(edges)]
    failures = on_threads(kernel, [(*constants, *part) for part in parts])
    for start, failed in zip(edges[:-1], failures, strict=True):
        if failed >= 0:
            return start + int(failed)
    return -1
