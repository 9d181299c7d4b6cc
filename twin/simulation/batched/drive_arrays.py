"""Drives and sensors of a batched plant: the plants of all machines as stacked arrays.

The module also makes empty arrays of states, inputs and balls, and chooses an engine's step, of
which a control period has a whole number.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from twin.basics.arrays import FloatArray, positive
from twin.control.gains import suitable_velocity_loop, unstable_velocity_loop
from twin.errors import InputError
from twin.kernels.ball.contact import BALL_SIZE
from twin.kernels.batched.arrays import Balls, Inputs, Machines
from twin.kernels.batched.drives import COUNTERS, DELAY_STEPS, ISSUED, PARTS, DriveArrays
from twin.kernels.plant import columns as column
from twin.kernels.plant.reading import ROWS
from twin.model.constants import changed_legs
from twin.model.evaluation import for_many_machines
from twin.model.machine_model import MachineModel
from twin.plant.drives import check_step, drive_constants
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


def same_drives(one: MachineModel, other: MachineModel) -> bool:
    """Return whether two machines share their legs, with drives and encoders, and their limits."""
    same = one.minimum_coordinates is other.minimum_coordinates and one.limits == other.limits
    return same and not changed_legs(one.parameters, other.parameters)


def varied_plant(before: Plant, platform: MachineModel, timestep: float, limits: bool) -> Plant:
    """Return the plant, without inertial sensor, of a machine in place of another like it.

    Args:
        before: plant of the machine so far, prepared for the same step.
        platform: the machine.
        timestep: of the engine [s].
        limits: as of `Plant`.

    Raises:
        InputError: the step is too long for the drives.
    """
    with for_many_machines():
        if same_drives(before.platform, platform):
            check_step(platform, before.drives.constants, timestep)
            return before.alike(platform)
        plant = Plant(platform, inertial=False, limits=limits)
        plant.prepare(timestep)
    return plant


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


def empty_machines(size: int, n: int, k: int) -> Machines:
    """Return states of `size` machines with n actuators and k deflections of springs."""
    widths = (7, 6, 2 * k, 6, n, n, n, n, n, n)
    arrays: list[Any] = [np.zeros((size, width)) for width in widths]
    return Machines._make([*arrays, np.zeros(size), np.zeros(size, dtype=bool)])


def empty_inputs(size: int, n: int, ratio: int) -> Inputs:
    """Return inputs of `size` machines with n actuators and `ratio` steps in a period."""
    return Inputs(
        np.zeros((size, n)), np.zeros((size, n)), np.zeros((size, 6)), np.zeros((size, ratio, 3))
    )


def empty_balls(size: int) -> Balls:
    """Return arrays for `size` machines."""
    return Balls(
        np.zeros((size, BALL_SIZE)),
        np.zeros((size, 13)),
        np.zeros(size, dtype=np.int64),
        np.zeros(size, dtype=bool),
    )


LONGEST = 1e-3
"""[s] largest default step of an engine."""

ROUNDING = 1e-9

MOST = 100_000
"""Steps in a period."""


def whole_ratio(period: float, timestep: float) -> int:
    """Return how often `timestep` [s] goes into `period` [s].

    Raises:
        InputError: not a whole number of times.
    """
    step = positive(timestep, "timestep")
    ratio = round(period / step) if period / step < MOST else MOST + 1
    if not 1 <= ratio <= MOST or abs(ratio * step - period) > ROUNDING * period:
        raise InputError(
            "timestep",
            f"{step:.9g} s must divide the control period {period:.9g} s into whole steps, "
            f"at most {MOST}; {period / max(1, min(ratio, MOST)):.9g} s does",
        )
    return ratio


def suitable_timestep(
    platform: MachineModel, period: float, check: Callable[[MachineModel, float], None]
) -> float:
    """Return the longest allowed step [s]: at most 1 ms, or a half, a third, ... of it.

    Args:
        platform: the machine.
        period: of control [s].
        check: raises InputError where the engine cannot take a step.

    Raises:
        InputError: no step is short enough.
    """
    least = max(1, -int(-(period / LONGEST) * (1.0 - ROUNDING) // 1))
    last: InputError | None = None
    for part in range(1, MOST // least + 1):
        step = period / (least * part)
        try:
            check(platform, step)
            drive_constants(platform, step)
            loop_gains(platform, step)
        except InputError as error:
            last = error
            if part > 100:
                break
            continue
        return step
    raise last or InputError("period", f"{period:g} s is too long")
