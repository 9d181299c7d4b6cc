"""Drives and encoders of many machines: delayed commands to forces on the legs, and readings."""

from __future__ import annotations

from math import isfinite
from typing import Any, NamedTuple

from twin.basics.arrays import FloatArray
from twin.kernels.batched.arrays import Machines
from twin.kernels.jit import compiled, device
from twin.kernels.plant.actuation import actuate
from twin.kernels.plant.columns import EFFORT, VELOCITY
from twin.kernels.plant.reading import COORDINATE, RATE, read_actuators

DELAY_STEPS, PARTS, COUNT, ISSUED = range(4)
"""Columns of a row's counters: delay and steps of the motors in steps of the engine, steps of the
engine and commands since the reset."""

COUNTERS = 4


class DriveArrays(NamedTuple):
    """Drives, encoders and commands on their way, of many machines; first axis rows."""

    constants: FloatArray
    """`(N, n, CONSTANTS)`"""
    states: FloatArray
    """`(N, n, STATES)`"""
    gains: FloatArray
    """`(N, n, 2)`"""
    resolution: FloatArray
    """`(N, n)`"""
    before: FloatArray
    """`(N, n)` last readings of the encoders"""
    readings: FloatArray
    """`(N, ROWS, n)` work of the readings"""
    counters: Any
    """`(N, COUNTERS)` whole numbers"""
    queue: FloatArray
    """`(N, capacity, 2, n)` commands and feedforward that have been issued"""
    first: FloatArray
    """`(N, n)` speeds at the reset"""
    none: FloatArray
    """`(n,)` zeros"""


@device
def drive_one(
    arrays: DriveArrays,
    i: int,
    ratio: int,
    mode: int,
    step: float,
    coordinates: FloatArray,
    rates: FloatArray,
    forces: FloatArray,
) -> None:
    """Advance the drives of row i by a step of the engine; fill `forces` (n,) on the legs.

    Args:
        arrays: `DriveArrays`, or a group with arrays of the same names; states and counters are
            advanced.
        i: row.
        ratio: steps of the engine in a control period.
        mode: `VELOCITY` or 0, of the commands.
        step: [s] of the engine.
        coordinates: `(n,)` of what the actuators move.
        rates: `(n,)` theirs.
        forces: overwritten.
    """
    constants, states, gains = arrays.constants[i], arrays.states[i], arrays.gains[i]
    counters = arrays.counters[i]
    since, parts = counters[COUNT] - counters[DELAY_STEPS], counters[PARTS]
    counters[COUNT] += 1
    # One call for both cases: each is compiled anew for a mode that is a constant.
    given, feedforward, kind = arrays.first[i], arrays.none, VELOCITY
    if since >= 0:
        command = arrays.queue[i, (since // ratio) % arrays.queue.shape[1]]
        given, feedforward, kind = command[0], command[1], mode
    actuate(
        constants, states, gains, given, feedforward, arrays.none, coordinates, rates,
        kind, step, parts, forces,
    )  # fmt: skip


@device
def read_one(arrays: DriveArrays, machines: Machines, i: int, span: float) -> None:
    """Fill measured coordinates and rates, and efforts of the motors, of row i after `span` [s]."""
    states, readings = arrays.states[i], arrays.readings[i]
    read_actuators(
        arrays.constants[i], states, arrays.resolution[i], arrays.before[i], span,
        machines.coordinates[i], machines.rates[i], readings,
    )  # fmt: skip
    for j in range(states.shape[0]):
        machines.measured[i, j] = readings[COORDINATE, j]
        machines.measured_rates[i, j] = readings[RATE, j]
        machines.effort[i, j] = states[j, EFFORT]


@device
def issue(counters: Any, queue: FloatArray, command: FloatArray, feedforward: FloatArray) -> bool:
    """Put a command `(n,)` with its feedforward into the `queue` (capacity, 2, n) of a row.

    Returns whether all of it is finite; what is not spoils the drives.
    """
    slot, finite = counters[ISSUED] % queue.shape[0], True
    for j in range(command.shape[0]):
        queue[slot, 0, j] = command[j]
        queue[slot, 1, j] = feedforward[j]
        finite = finite and isfinite(command[j]) and isfinite(feedforward[j])
    counters[ISSUED] += 1
    return finite


@compiled
def issue_all(
    counters: Any, queue: FloatArray, command: FloatArray, feedforward: FloatArray, failed: Any
) -> None:
    """Put the commands `(N, n)` of all rows into their queues `(N, capacity, 2, n)`.

    Rows whose command is not finite have `failed` (N,).
    """
    for i in range(command.shape[0]):
        if not issue(counters[i], queue[i], command[i], feedforward[i]):
            failed[i] = True


@compiled
def drive_all(arrays: DriveArrays, machines: Machines, ratio: int, mode: int, step: float) -> None:
    """Advance the drives of all rows that have not failed by one step of the engine.

    Args:
        arrays: `DriveArrays`.
        machines: `Machines`; forces are overwritten.
        ratio: steps of the engine in a control period.
        mode: `VELOCITY` or 0.
        step: [s] of the engine.
    """
    for i in range(machines.failed.shape[0]):
        if not machines.failed[i]:
            drive_one(
                arrays, i, ratio, mode, step,
                machines.coordinates[i], machines.rates[i], machines.forces[i],
            )  # fmt: skip


@compiled
def read_all(arrays: DriveArrays, machines: Machines, span: float) -> None:
    """Read the sensors of all rows that have not failed after `span` [s]; as `read_one`."""
    for i in range(machines.failed.shape[0]):
        if not machines.failed[i]:
            read_one(arrays, machines, i, span)
