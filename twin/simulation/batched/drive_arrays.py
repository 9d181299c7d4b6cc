"""Drives and sensors of a batched plant: the plants of all machines as stacked arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from twin.basics.arrays import FloatArray
from twin.control.gains import suitable_velocity_loop, unstable_velocity_loop
from twin.errors import InputError
from twin.kernels.batched.drives import COUNTERS, DELAY_STEPS, ISSUED, PARTS, DriveArrays
from twin.kernels.plant import actuation as column
from twin.kernels.plant.reading import ROWS
from twin.model.machine_model import MachineModel
from twin.plant.plant import Plant

CONTROLLER_PERIOD = 1e-3
"""[s] Period that the velocity loops' gains are derived for, as those of `twin.control`."""


def make_drive_arrays(size: int, actuators: int, capacity: int) -> DriveArrays:
    """Return arrays of zeros; `place_drives` fills them."""
    return DriveArrays(
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


def queue_capacity(delay_steps: int, ratio: int) -> int:
    """Return the largest number of waiting commands, the one in force included."""
    return delay_steps // ratio + 2


def grown(arrays: DriveArrays, capacity: int) -> DriveArrays:
    """Return arrays with queues of `capacity` commands, those in force and waiting included."""
    size, old, _, actuators = arrays.queue.shape
    queue = np.zeros((size, capacity, 2, actuators))
    issued = arrays.counters[:, ISSUED]
    for i in range(size):
        for number in range(max(0, int(issued[i]) - old), int(issued[i])):
            queue[i, number % capacity] = arrays.queue[i, number % old]
    return arrays._replace(queue=queue)


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


def place_drives(
    arrays: DriveArrays, index: int, plant: Plant, gains: FloatArray, state: Any
) -> None:
    """Set the drives of a machine so that they hold it in `state` of an engine."""
    plant.start(state, gains)
    drives = plant.drives
    arrays.constants[index], arrays.resolution[index] = drives.constants, drives.resolution
    arrays.states[index], arrays.gains[index] = plant.states, gains
    arrays.before[index] = 0.0
    arrays.counters[index] = 0
    arrays.counters[index, DELAY_STEPS] = drives.delay_steps
    arrays.counters[index, PARTS] = drives.parts
    arrays.first[index] = plant.actuated(state)[1]
