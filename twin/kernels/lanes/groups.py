"""Groups of states: as many as there are lanes, gathered from a batch and put back into it."""

from __future__ import annotations

from typing import Any

import numpy as np

from twin.basics.arrays import FloatArray
from twin.kernels.dynamics.work import Work
from twin.kernels.jit import compiled, device
from twin.kernels.legs.dispatch import constraint_count
from twin.kernels.legs.interface import Legs
from twin.kernels.numbers.arrays import as_lanes

Width = tuple[int, ...]
"""A tuple with one entry per lane: its length is known where a kernel is compiled."""

Buffers = tuple[FloatArray, ...]
"""`(entries, lanes)` each"""


@compiled
def lanes_work(legs: Legs, width: Width) -> Work:
    """Return the work arrays of `make_work` in lanes."""
    n, count, w = legs.rows.shape[0], constraint_count(legs), len(width)
    size = 6 + count
    return Work(
        as_lanes(np.empty((6, 6, w)), width),
        as_lanes(np.empty((6, w)), width),
        as_lanes(np.empty((n, 6, w)), width),
        as_lanes(np.empty((n, w)), width),
        as_lanes(np.empty((count, 8, w)), width),
        as_lanes(np.empty((size, size, w)), width),
        as_lanes(np.empty((size, w)), width),
    )


@device
def gather(batch: tuple[FloatArray, ...], group: int, buffers: Buffers) -> None:
    """Copy the states of a group into lanes; the last one fills those beyond the batch."""
    for array, buffer in zip(batch, buffers):  # noqa: B905 (numba has no strict)
        last, count = array.shape[0] - 1, buffer.shape[1]
        for lane in range(count):
            state = min(group * count + lane, last)
            for k in range(array.shape[1]):
                buffer[k, lane] = array[state, k]


@device
def scatter(buffer: FloatArray, group: int, batch: FloatArray) -> None:
    """Copy the results of a group out of lanes."""
    count = buffer.shape[1]
    for lane in range(min(count, batch.shape[0] - group * count)):
        for k in range(batch.shape[1]):
            batch[group * count + lane, k] = buffer[k, lane]


def buffers_of(arrays: tuple[FloatArray, ...], width: Width) -> Any:
    """Return buffers for a group of states of each array `(batch, entries)`."""
    return tuple(np.empty((array.shape[1], len(width))) for array in arrays)
