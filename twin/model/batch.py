"""Running a serial batch kernel on all cores: chunks on threads, large batches in lanes."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np

from twin.basics.arrays import MAX_AXES, BoolArray, FloatArray, one_of

MIN_STATES_PER_THREAD = 1024
"""States below which a thread costs more (some 100 us) than it saves."""

HEAD_START_STATES = 256
"""States that the calling thread computes while the other threads start."""

MIN_STATES_FOR_LANES = 1024
"""States from which on lanes are used: fewer take less time than to load their kernels."""


@lru_cache(maxsize=1)
def _pool(process: int) -> ThreadPoolExecutor:
    """Return the pool of a process; keyed by its id because threads do not survive a fork."""
    del process
    return ThreadPoolExecutor(max_workers=max(1, usable_cores() - 1), thread_name_prefix="twin")


@lru_cache(maxsize=1)
def usable_cores() -> int:
    """Return the number of cores that this process may use, at most `NUMBA_NUM_THREADS` if set."""
    limit = int(os.environ.get("NUMBA_NUM_THREADS", 1 << 16))
    if hasattr(os, "sched_getaffinity"):
        return min(limit, len(os.sched_getaffinity(0)))
    return min(limit, os.cpu_count() or 1)


def on_threads(kernel: Callable[..., Any], calls: Sequence[tuple[Any, ...]]) -> list[Any]:
    """Return the results of `kernel` for all `calls`; the first runs on this thread.

    The kernel releases the GIL; what the calls write into must not overlap.
    """
    if len(calls) == 1:
        return [kernel(*calls[0])]
    futures = [_pool(os.getpid()).submit(kernel, *call) for call in calls[1:]]
    return [kernel(*calls[0]), *(future.result() for future in futures)]


def chunk_bounds(size: int, count: int, lead: int = 0) -> list[tuple[int, int]]:
    """Return beginning and end of `count` parts of a batch, as nearly alike as possible.

    Args:
        size: of the batch.
        count: of the parts.
        lead: by which the first part, that of the thread that hands out the others, is longer.
    """
    lead = min(lead, size) if count > 1 else 0
    ends = (lead + (size - lead) * chunk // count for chunk in range(1, count + 1))
    return list(pairwise((0, *ends)))


def thread_count(size: int) -> int:
    """Return the number of threads for a batch."""
    return max(1, min(usable_cores(), size // MIN_STATES_PER_THREAD))


@lru_cache(maxsize=1)
def _register_floats() -> int:
    from llvmlite import binding

    features = binding.get_host_cpu_features()
    return 8 if features.get("avx512f") else 4 if features.get("avx2") else 2


def lane_count() -> int:
    """Return the floats of a vector register of this processor: 8, 4 or 2.

    The environment variable `TWIN_LANES` replaces it; 1 is for one state at a time.

    Raises:
        InputError: another number of lanes.
    """
    requested = os.environ.get("TWIN_LANES", "")
    if requested:
        return int(one_of(requested, "TWIN_LANES", ("1", "2", "4", "8")))
    return _register_floats()


def lanes_kernel(kernel: Callable[..., int]) -> Callable[..., None] | None:
    """Return the vectorised (lanes) version of a batch kernel; None if there is none."""
    from twin.kernels import lanes

    name = kernel.__name__.removesuffix("_batch")
    return getattr(lanes, f"{name}_lanes", None)


def fill_in_lanes(
    in_lanes: Callable[..., None],
    constants: tuple[Any, ...],
    states: Sequence[FloatArray],
    out: FloatArray,
    *,
    from_user: bool,
) -> BoolArray:
    """Fill `out` `(batch, ...)` in lanes; return which groups of states have no result.

    Args:
        in_lanes: a kernel of `twin.kernels.lanes`.
        constants: of the machine.
        states: `(batch, .)` each, or `(1, .)` for all.
        out: the results.
        from_user: whether the states are to be checked.
    """
    from twin.kernels.lanes import FIELDS_READ, STATE_FIELDS, Batch

    width, size = (0,) * lane_count(), len(out)
    failed_groups = np.empty(-(-size // len(width)), dtype=bool)
    batch_fields = dict(zip(FIELDS_READ.get(in_lanes.__name__, STATE_FIELDS), states, strict=False))
    arrays = dict.fromkeys(STATE_FIELDS, np.empty((1, 0))) | batch_fields
    batch = Batch(**arrays, out=out.reshape(size, -1), failed=failed_groups, from_user=from_user)
    edges = chunk_bounds(len(failed_groups), thread_count(size), HEAD_START_STATES // len(width))
    on_threads(in_lanes, [(*constants, width, batch, *edge) for edge in edges])
    return failed_groups


def run_in_lanes(
    kernel: Callable[..., int],
    in_lanes: Callable[..., None],
    constants: tuple[Any, ...],
    arrays: tuple[FloatArray, ...],
) -> int:
    """Run a batch kernel in lanes; groups without a result again, state by state.

    Args:
        kernel: of a batch, for the states that are computed again.
        in_lanes: the same in lanes.
        constants: of the machine.
        arrays: `(batch, ...)`, the results last.

    Returns:
        Index of the first state that failed, or -1.
    """
    size = len(arrays[0])
    flat_arrays = [np.ascontiguousarray(array).reshape(size, -1) for array in arrays[:-1]]
    failed_groups = fill_in_lanes(in_lanes, constants, flat_arrays, arrays[-1], from_user=False)
    if not failed_groups.any():
        return -1
    states = np.flatnonzero(np.repeat(failed_groups, lane_count())[:size])
    retried_arrays = tuple(np.ascontiguousarray(array[states]) for array in arrays)
    first_failure = kernel(*constants, *retried_arrays)
    arrays[-1][states] = retried_arrays[-1]
    return int(states[first_failure]) if first_failure >= 0 else -1


def run_large_batch(
    kernel: Callable[..., int],
    constants: tuple[Any, ...],
    states: Sequence[Any],
    sizes: Sequence[int],
    row: tuple[int, ...],
) -> FloatArray | None:
    """Return the results of a kernel for a large batch of a user's unchecked states.

    Args:
        kernel: of a batch.
        constants: of the machine.
        states: poses, and arrays of their shape or one vector for all.
        sizes: of the last axis of each.
        row: shape of one result.

    Returns:
        `(*shape, *row)`. None where the batch is small, an argument is no contiguous array of
        floats, or a state in it fails a check or has no result.
    """
    poses = states[0]
    if type(poses) is not np.ndarray or poses.size < 7 * MIN_STATES_FOR_LANES or lane_count() == 1:
        return None
    shape = poses.shape[:-1]
    in_lanes = lanes_kernel(kernel) if 0 < len(shape) < MAX_AXES else None
    state_rows = (_rows(value, shape, size) for value, size in zip(states, sizes, strict=True))
    arrays = [array for array in state_rows if array is not None]
    if in_lanes is None or len(arrays) < len(states) or len(arrays[0]) < MIN_STATES_FOR_LANES:
        return None
    results = np.empty((len(arrays[0]), *row))
    failed_groups = fill_in_lanes(in_lanes, constants, arrays, results, from_user=True)
    return None if failed_groups.any() else results.reshape((*shape, *row))


def _rows(value: Any, shape: tuple[int, ...], size: int) -> FloatArray | None:
    """Return `(batch, size)` of an array `(*shape, size)`, `(1, size)` of a vector; else None."""
    if type(value) is not np.ndarray or value.dtype != np.float64:
        return None
    if value.shape == (size,):
        return value.reshape(1, size).copy()
    if value.shape != (*shape, size) or not value.flags.carray:
        return None
    return value.reshape(prod(shape), size)


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
    chunks = thread_count(size)
    in_lanes = lanes_kernel(kernel) if size >= MIN_STATES_FOR_LANES and lane_count() > 1 else None
    if in_lanes is not None:
        return run_in_lanes(kernel, in_lanes, constants, arrays)
    if chunks == 1:
        return int(kernel(*constants, *arrays))
    parts = chunk_bounds(size, chunks, HEAD_START_STATES)
    calls = [(*constants, *(array[slice(*chunk)] for array in arrays)) for chunk in parts]
    for (chunk_start, _), first_failure in zip(parts, on_threads(kernel, calls), strict=True):
        if first_failure >= 0:
            return chunk_start + int(first_failure)
    return -1
