"""One step of the engine for the drives of a row: its delayed command to forces on the legs."""

from __future__ import annotations

from math import isfinite
from typing import Any

from twin.basics.arrays import FloatArray
from twin.kernels.jit import compiled, device
from twin.kernels.plant.actuation import EFFORT, VELOCITY, actuate
from twin.kernels.plant.reading import COORDINATE, RATE, read_actuators

DELAY_STEPS, PARTS, COUNT, ISSUED = range(4)
"""Columns of a row's counters: delay and steps of the motors in steps of the engine, steps of the
engine and commands since the reset."""

COUNTERS = 4


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


@device
def drive_row(
    constants: FloatArray,
    states: FloatArray,
    gains: FloatArray,
    counters: Any,
    queue: FloatArray,
    first: FloatArray,
    none: FloatArray,
    ratio: int,
    mode: int,
    step: float,
    coordinates: FloatArray,
    rates: FloatArray,
    forces: FloatArray,
) -> None:
    """Advance the drives of one row by a step of the engine; fill `forces` (n,) on the legs.

    Args:
        constants: `(n, CONSTANTS)` of the drives.
        states: `(n, STATES)`, advanced in place.
        gains: `(n, 2)` of the velocity loops.
        counters: `(COUNTERS,)`, advanced in place.
        queue: `(capacity, 2, n)` commands and feedforward, as they were issued.
        first: `(n,)` speeds at the reset, kept until the first command arrives.
        none: `(n,)` zeros.
        ratio: steps of the engine in a control period.
        mode: `VELOCITY` or 0, of the commands.
        step: [s] of the engine.
        coordinates: `(n,)` coordinates of what the actuators move.
        rates: `(n,)` theirs.
        forces: overwritten.
    """
    since, parts = counters[COUNT] - counters[DELAY_STEPS], counters[PARTS]
    counters[COUNT] += 1
    if since < 0:
        actuate(
            constants, states, gains, first, none, none, coordinates, rates, VELOCITY, step, parts,
            forces,
        )  # fmt: skip
        return
    command = queue[(since // ratio) % queue.shape[0]]
    actuate(
        constants, states, gains, command[0], command[1], none, coordinates, rates, mode, step,
        parts, forces,
    )  # fmt: skip


@device
def read_row(
    constants: FloatArray,
    states: FloatArray,
    resolution: FloatArray,
    before: FloatArray,
    span: float,
    coordinates: FloatArray,
    rates: FloatArray,
    readings: FloatArray,
    measured: FloatArray,
    speeds: FloatArray,
    effort: FloatArray,
) -> None:
    """Fill the readings of a row's sensors: `measured`, `speeds`, the motors' `effort` (n,)."""
    read_actuators(constants, states, resolution, before, span, coordinates, rates, readings)
    for j in range(coordinates.shape[0]):
        measured[j] = readings[COORDINATE, j]
        speeds[j] = readings[RATE, j]
        effort[j] = states[j, EFFORT]


@compiled
def issue_rows(
    counters: Any, queue: FloatArray, command: FloatArray, feedforward: FloatArray, failed: Any
) -> None:
    """Put the commands `(N, n)` of all rows into their queues `(N, capacity, 2, n)`.

    Rows whose command is not finite have `failed` (N,).
    """
    for i in range(command.shape[0]):
        if not issue(counters[i], queue[i], command[i], feedforward[i]):
            failed[i] = True


@compiled
def drive_rows(
    arrays: Any,
    failed: Any,
    ratio: int,
    mode: int,
    step: float,
    coordinates: FloatArray,
    rates: FloatArray,
    forces: FloatArray,
) -> None:
    """Advance the drives of all rows that have not failed by one step of the engine.

    Args:
        arrays: a `DriveArrays`.
        failed: `(N,)` rows that stay as they are.
        ratio: steps of the engine in a control period.
        mode: `VELOCITY` or 0.
        step: [s] of the engine.
        coordinates: `(N, n)` coordinates of what the actuators move.
        rates: `(N, n)` theirs.
        forces: `(N, n)`, overwritten.
    """
    for i in range(coordinates.shape[0]):
        if not failed[i]:
            drive_row(
                arrays.constants[i], arrays.states[i], arrays.gains[i], arrays.counters[i],
                arrays.queue[i], arrays.first[i], arrays.none, ratio, mode, step, coordinates[i],
                rates[i], forces[i],
            )  # fmt: skip


@compiled
def read_rows(
    arrays: Any,
    failed: Any,
    span: float,
    coordinates: FloatArray,
    rates: FloatArray,
    measured: FloatArray,
    speeds: FloatArray,
    effort: FloatArray,
) -> None:
    """Read the sensors of all rows that have not failed after `span` [s]; arrays as `read_row`."""
    for i in range(coordinates.shape[0]):
        if not failed[i]:
            read_row(
                arrays.constants[i], arrays.states[i], arrays.resolution[i], arrays.before[i], span,
                coordinates[i], rates[i], arrays.readings[i], measured[i], speeds[i], effort[i],
            )  # fmt: skip
