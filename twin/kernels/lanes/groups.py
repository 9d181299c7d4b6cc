"""Groups of states: as many as there are lanes, read from a batch and written back to it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from twin.basics.arrays import FloatArray
from twin.kernels.dynamics.work import Work
from twin.kernels.jit import compiled, device
from twin.kernels.legs.dispatch import constraint_count
from twin.kernels.legs.interface import Legs
from twin.kernels.numbers.arrays import as_lanes
from twin.kernels.numbers.columns import read_column, write_column

Width = tuple[int, ...]
"""A tuple with one entry per lane: its length is known where a kernel is compiled."""


class Batch(NamedTuple):
    """A batch of states, one row each; what a function does not take has no columns."""

    poses: FloatArray
    twists: FloatArray
    deflections: FloatArray
    inputs: FloatArray
    """actuator forces, or accelerations"""
    wrenches: FloatArray
    out: FloatArray
    """`(batch, entries)`"""
    failed: NDArray[np.bool_]
    """`(groups,)`, where a group is to be computed again"""


class Group(NamedTuple):
    """The states of a group in lanes."""

    pose: FloatArray
    twist: FloatArray
    deflection: FloatArray
    inputs: FloatArray
    wrench: FloatArray
    result: FloatArray


@compiled
def lanes_memory(entries: int, width: Width) -> FloatArray:
    """Return memory for numbers in lanes."""
    return as_lanes(np.empty((entries, len(width))), width)


@compiled
def make_group(batch: Batch, width: Width) -> Group:
    """Return memory for one group of a batch."""
    return Group(
        lanes_memory(batch.poses.shape[1], width),
        lanes_memory(batch.twists.shape[1], width),
        lanes_memory(batch.deflections.shape[1], width),
        lanes_memory(batch.inputs.shape[1], width),
        lanes_memory(batch.wrenches.shape[1], width),
        lanes_memory(batch.out.shape[1], width),
    )


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
def read(rows: FloatArray, first: int, numbers: FloatArray) -> None:
    """Read as many rows as there are lanes, from `first` on; the last row fills lanes beyond."""
    for k in range(rows.shape[1]):
        numbers[k] = read_column(rows, first, k, numbers)


@device
def gather(batch: Batch, first: int, group: Group) -> None:
    """Read the states of a group, from row `first` on."""
    read(batch.poses, first, group.pose)
    read(batch.twists, first, group.twist)
    read(batch.deflections, first, group.deflection)
    read(batch.inputs, first, group.inputs)
    read(batch.wrenches, first, group.wrench)


@device
def scatter(group: Group, first: int, batch: Batch) -> None:
    """Write the results of a group; lanes beyond the batch hold those of its last row."""
    for k in range(batch.out.shape[1]):
        write_column(batch.out, first, k, group.result[k])
