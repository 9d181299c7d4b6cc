"""Batches of states in lanes: the lanes of this processor, and states that need a second run."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np

from twin.basics.arrays import FloatArray, one_of
from twin.model.threads import on_threads

GIVEN = 5
"""Arrays that a batch in lanes has for what is given of states."""

FEWEST_STATES = 1024
"""States from which on lanes are used: fewer take less time than to load their kernels."""


@lru_cache(maxsize=1)
def lane_count() -> int:
    """Return the floats of a vector register of this processor: 8, 4 or 2.

    The environment variable `TWIN_LANES` replaces it; 1 is for one state at a time.

    Raises:
        InputError: another number of lanes.
    """
    from llvmlite import binding

    given = os.environ.get("TWIN_LANES", "")
    if given:
        return int(one_of(given, "TWIN_LANES", ("1", "2", "4", "8")))
    features = binding.get_host_cpu_features()
    return 8 if features.get("avx512f") else 4 if features.get("avx2") else 2


def lanes_kernel(kernel: Callable[..., int]) -> Callable[..., None] | None:
    """Return the kernel in lanes that computes what a batch kernel does; None: there is none."""
    from twin.kernels.lanes import batches

    name = kernel.__name__.removesuffix("_batch")
    return getattr(batches, f"{name}_lanes", None)


def run_in_lanes(
    kernel: Callable[..., int],
    in_lanes: Callable[..., None],
    constants: tuple[Any, ...],
    arrays: tuple[FloatArray, ...],
    threads: int,
) -> int:
    """Run a batch kernel in lanes; groups without a result again, state by state.

    Args:
        kernel: of a batch, for the states that are computed again.
        in_lanes: the same in lanes.
        constants: of the machine.
        arrays: `(batch, ...)`, the results last.
        threads: number of threads.

    Returns:
        Index of the first state that failed, or -1.
    """
    from twin.kernels.lanes.groups import Batch

    width, size = (0,) * lane_count(), len(arrays[0])
    flat = [np.ascontiguousarray(array).reshape(size, -1) for array in arrays[:-1]]
    flat += [np.empty((size, 0))] * (GIVEN - len(flat))
    failed = np.empty(-(-size // len(width)), dtype=bool)
    batch = Batch._make([*flat, arrays[-1].reshape(size, -1), failed])
    edges = np.linspace(0, len(failed), threads + 1).astype(int).tolist()
    calls = [(*constants, width, batch, *groups) for groups in pairwise(edges)]
    on_threads(in_lanes, calls)
    if not failed.any():
        return -1
    states = np.flatnonzero(np.repeat(failed, len(width))[:size])
    again = tuple(np.ascontiguousarray(array[states]) for array in arrays)
    first = kernel(*constants, *again)
    arrays[-1][states] = again[-1]
    return int(states[first]) if first >= 0 else -1
