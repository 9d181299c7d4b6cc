"""Drives and sensors of a batched plant: the plants of all rows as stacked arrays."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray
from twin.control.gains import suitable_velocity_loop, unstable_velocity_loop
from twin.errors import InputError
from twin.kernels.plant import actuation as column
from twin.kernels.plant.drives import COUNTERS, ISSUED, LATE, PARTS
from twin.kernels.plant.reading import ROWS
from twin.model.machine_model import MachineModel
from twin.plant.plant import Plant

CONTROLLER_PERIOD = 1e-3
"""[s] Period that the velocity loops' gains are derived for, as those of `twin.control`."""


class DriveBank(NamedTuple):
    """Arrays of all rows, first axis rows; read and written by `drive_kernel`."""

    constants: FloatArray
    """`(N, n, CONSTANTS)`"""
    states: FloatArray
    """`(N, n, STATES)`"""
    gains: FloatArray
    """`(N, n, 2)`"""
    digits: FloatArray
    """`(N, n)`"""
    before: FloatArray
    """`(N, n)` last readings of the encoders"""
    told: FloatArray
    """`(N, ROWS, n)` work of the readings"""
    counters: Any
    """`(N, COUNTERS)` whole numbers"""
    queue: FloatArray
    """`(N, capacity, 2, n)` commands and feedforward that have been issued"""
    first: FloatArray
    """`(N, n)` speeds at the reset"""
    none: FloatArray
    """`(n,)` zeros"""


def make_bank(size: int, actuators: int, capacity: int) -> DriveBank:
    """Return an empty bank; `place_row` fills its rows."""
    return DriveBank(
        np.zeros((size, actuators, column.CONSTANTS)),
        np.zeros((size, actuators, column.STATES)),
        np.zeros((size, actuators, 2)),
        np.zeros((size, actuators)),
        np.zeros((size, actuators)),
        np.zeros((size, ROWS, actuators)),
        np.zeros((size, COUNTERS), dtype=np.int64),
        np.zeros((size, capacity, 2, actuators)),
        np.zeros((size, actuators)),
        np.zeros(actuators),
    )


def queue_capacity(late: int, ratio: int) -> int:
    """Return how many commands wait at most, the one in force included."""
    return late // ratio + 2


def grown(bank: DriveBank, capacity: int) -> DriveBank:
    """Return a bank whose queues hold `capacity` commands, with what is in force and waits."""
    size, old, _, actuators = bank.queue.shape
    queue = np.zeros((size, capacity, 2, actuators))
    issued = bank.counters[:, ISSUED]
    for i in range(size):
        for number in range(max(0, int(issued[i]) - old), int(issued[i])):
            queue[i, number % capacity] = bank.queue[i, number % old]
    return bank._replace(queue=queue)


def loop_gains(platform: MachineModel, timestep: float) -> FloatArray:
    """Return gains `(n, 2)` of a machine's velocity loops: gain, and gain per integral time.

    Raises:
        InputError: the loops cannot work at steps of `timestep` [s].
    """
    gain, time = suitable_velocity_loop(platform, CONTROLLER_PERIOD)
    gains = np.ascontiguousarray(np.stack([gain, gain / time], axis=1))
    reason = unstable_velocity_loop(platform, gains, timestep)
    if reason:
        raise InputError("timestep", reason)
    return gains


def place_row(bank: DriveBank, row: int, plant: Plant, gains: FloatArray, state: Any) -> None:
    """Put the drives of a row where they hold the machine in `state` of an engine."""
    plant.start(state, gains)
    drives = plant.drives
    bank.constants[row], bank.digits[row] = drives.constants, drives.digits
    bank.states[row], bank.gains[row] = plant.states, gains
    bank.before[row] = 0.0
    bank.counters[row] = 0
    bank.counters[row, LATE], bank.counters[row, PARTS] = drives.late, drives.parts
    bank.first[row] = plant.actuated(state)[1]
