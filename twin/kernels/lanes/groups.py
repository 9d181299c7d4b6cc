"""Groups of states: as many as there are lanes, read from a batch and written back to it.

States as a user gives them (`Batch.given`) are checked in lanes by the rules of `as_floats`,
`as_pose` and `check_constraints`. A group that fails is left to them, for their errors.
"""

from __future__ import annotations

from math import inf, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from twin.basics.arrays import HUGE, QUATERNION_TOLERANCE, FloatArray
from twin.kernels.dynamics.work import Work
from twin.kernels.jit import allocating, device
from twin.kernels.kinematics.constraints import TOLERANCE
from twin.kernels.legs.dispatch import constraint_count, fill_constraints
from twin.kernels.legs.interface import Legs
from twin.kernels.numbers.arrays import as_lanes
from twin.kernels.numbers.columns import read_column, write_column
from twin.kernels.platform_state import platform_state

Width = tuple[int, ...]
"""A tuple with one entry per lane: its length is known where a kernel is compiled."""


class Batch(NamedTuple):
    """A batch of states, one row each or one for all.

    What a function does not take has no columns.
    """

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
    given: bool
    """whether states are as a user gives them: not checked, quaternions not normalised"""


STATES = Batch._fields[:5]


class Group(NamedTuple):
    """The states of a group in lanes."""

    pose: FloatArray
    twist: FloatArray
    deflection: FloatArray
    inputs: FloatArray
    wrench: FloatArray
    result: FloatArray
    constraints: FloatArray
    """`(c, 8)`: row (6 entries), drift, value; of states that a user gives"""


@allocating
def lanes_memory(entries: int, width: Width) -> FloatArray:
    """Return memory for numbers in lanes."""
    return as_lanes(np.empty((entries, len(width))), width)


@allocating
def make_group(legs: Legs, batch: Batch, width: Width) -> Group:
    """Return memory for one group of a batch, at rest."""
    return Group(
        lanes_memory(batch.poses.shape[1], width),
        as_lanes(np.zeros((6, len(width))), width),
        lanes_memory(batch.deflections.shape[1], width),
        lanes_memory(batch.inputs.shape[1], width),
        lanes_memory(batch.wrenches.shape[1], width),
        lanes_memory(batch.out.shape[1], width),
        as_lanes(np.empty((constraint_count(legs), 8, len(width))), width),
    )


@allocating
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
def read(rows: FloatArray, first: int, numbers: FloatArray) -> bool:
    """Read as many rows as there are lanes, from `first` on; the last row fills lanes beyond.

    Returns whether all entries are finite and none is too large.
    """
    fine = True
    for k in range(rows.shape[1]):
        number = read_column(rows, first, k, numbers)
        numbers[k] = number
        if not abs(number) <= HUGE:
            fine = False
    return fine


@device
def normalise_pose(pose: FloatArray) -> bool:
    """Scale the quaternion to length one; return whether it was one nearly."""
    norm = sqrt(pose[3] * pose[3] + pose[4] * pose[4] + pose[5] * pose[5] + pose[6] * pose[6])
    for k in range(3, 7):
        pose[k] = pose[k] / norm
    return abs(norm - 1.0) <= QUATERNION_TOLERANCE


@device
def allowed(rows: FloatArray, motion: FloatArray, drift: float) -> bool:
    """Return whether a twist (drift 0) or an acceleration (drift 1) meets the constraints."""
    size = max(1.0, abs(motion[0]))
    for k in range(1, 6):
        size = max(size, abs(motion[k]))
    fine = True
    for i in range(rows.shape[0]):
        off = drift * rows[i, 6]
        for k in range(6):
            off += rows[i, k] * motion[k]
        if not abs(off) <= TOLERANCE * size:
            fine = False
    return fine


@device
def meets_constraints(legs: Legs, group: Group) -> bool:
    """Fill the constraints of a group; return whether its poses and twists meet them."""
    rows = group.constraints
    fill_constraints(legs, platform_state(group.pose, group.twist), rows)
    fine = True
    for i in range(rows.shape[0]):
        if not abs(rows[i, 7]) <= TOLERANCE:
            fine = False
    return allowed(rows, group.twist, 0.0) and fine


@device
def gather(legs: Legs, batch: Batch, index: int, width: Width, group: Group) -> bool:
    """Read the states of group `index`; return False where a given one fails a check."""
    first = index * len(width)
    fine = read(batch.poses, first, group.pose)
    fine = read(batch.twists, first, group.twist) and fine
    fine = read(batch.deflections, first, group.deflection) and fine
    fine = read(batch.inputs, first, group.inputs) and fine
    fine = read(batch.wrenches, first, group.wrench) and fine
    if not batch.given:
        return True
    fine = normalise_pose(group.pose) and fine
    if constraint_count(legs) > 0:
        fine = meets_constraints(legs, group) and fine
    return fine


@device
def scatter(group: Group, index: int, width: Width, regular: bool, batch: Batch) -> None:
    """Write the results of group `index`, and mark it where it has none or not all are finite.

    Lanes beyond the batch hold those of its last row.
    """
    finite = True
    for k in range(batch.out.shape[1]):
        result = group.result[k]
        write_column(batch.out, index * len(width), k, result)
        if not abs(result) < inf:
            finite = False
    batch.failed[index] = not (regular and (finite or not batch.given))
