"""Batches of states in lanes: the lanes of this processor, and states that need a second run."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from twin.basics.arrays import FloatArray, one_of

MOST_LANES = 8
"""Floats of the widest vector register."""

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
    *arrays: FloatArray,
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
    from twin.kernels.lanes.batches import Batch
    from twin.kernels.lanes.groups import buffers_of

    width, size = (0,) * lane_count(), len(arrays[0])
    flat = tuple(np.ascontiguousarray(array).reshape(size, -1) for array in arrays[:-1])
    out = arrays[-1].reshape(size, -1)
    *gathered, result = buffers_of((*flat, out), width)
    groups = -(-size // len(width))
    failed = np.empty(groups, dtype=bool)
    in_lanes(*constants, width, Batch(flat, tuple(gathered), out, result, failed))
    if not failed.any():
        return -1
    states = np.flatnonzero(np.repeat(failed, len(width))[:size])
    again = tuple(np.ascontiguousarray(array[states]) for array in arrays)
    first = kernel(*constants, *again)
    arrays[-1][states] = again[-1]
    return int(states[first]) if first >= 0 else -1
