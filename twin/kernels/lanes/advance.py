"""The analytic batch in lanes: drives row by row, Runge-Kutta steps of several rows at once."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray
from twin.kernels.batched.analytic import actuated, legs_like, read_state, store
from twin.kernels.batched.arrays import Constants, Inputs, Machines
from twin.kernels.batched.drives import DriveArrays, drive_one, issue, read_one
from twin.kernels.bundle import unbundled
from twin.kernels.dynamics.assembly import GRAVITY
from twin.kernels.dynamics.state import Load, derivative
from twin.kernels.integrators.runge_kutta import Stages, runge_kutta_move
from twin.kernels.jit import allocating, compiled, device
from twin.kernels.lanes.groups import Width, lanes_work
from twin.kernels.linear_algebra import copy
from twin.kernels.numbers.arrays import as_lanes


class Group(NamedTuple):
    """Memory of a group of rows; the last axis is that of the lanes."""

    body: FloatArray
    legs: FloatArray
    """`(n, LEG_SIZE, lanes)`"""
    y: FloatArray
    """`(m, lanes)` states"""
    forces: FloatArray
    wrench: FloatArray
    coordinates: FloatArray
    rates: FloatArray
    before: FloatArray
    """`(lanes, 6)` twists a step ago"""


@allocating
def make_group(constants: Constants, machines: Machines, width: Width) -> Group:
    """Return memory for a group of rows."""
    w, n = len(width), machines.forces.shape[1]
    return Group(
        np.empty((constants.body.shape[1], w)),
        np.empty((n, constants.legs.rows.shape[2], w)),
        np.empty((13 + machines.deflection.shape[1], w)),
        np.empty((n, w)),
        np.empty((6, w)),
        np.empty((n, w)),
        np.empty((n, w)),
        np.zeros((w, 6)),
    )


@device
def fill_lane(
    group: Group, lane: int, constants: Constants, inputs: Inputs, i: int, y: FloatArray
) -> None:
    """Copy constants, state `y` and wrench of row i into a lane."""
    for k in range(group.body.shape[0]):
        group.body[k, lane] = constants.body[i, k]
    for leg in range(group.legs.shape[0]):
        for k in range(group.legs.shape[1]):
            group.legs[leg, k, lane] = constants.legs.rows[i, leg, k]
    for k in range(y.shape[0]):
        group.y[k, lane] = y[k]
    for k in range(6):
        group.wrench[k, lane] = inputs.wrench[i, k]


@device
def copy_lane(group: Group, lane: int, alone: Group) -> None:
    """Copy one lane of a group into all lanes of another."""
    for source, target in (
        (group.body, alone.body),
        (group.y, alone.y),
        (group.forces, alone.forces),
        (group.wrench, alone.wrench),
    ):
        for k in range(source.shape[0]):
            for other in range(source.shape[1]):
                target[k, other] = source[k, lane]
    for leg in range(group.legs.shape[0]):
        for k in range(group.legs.shape[1]):
            for other in range(group.legs.shape[2]):
                alone.legs[leg, k, other] = group.legs[leg, k, lane]


@device
def index_of(machines: Machines, start: int, lane: int, count: int) -> int:
    """Return the row for a lane: its own, or where that failed or is none, the first that goes on.

    A failed row in a group would make every step of all the others fail with it.
    """
    rows = machines.failed.shape[0]
    if start + lane < rows and not machines.failed[start + lane]:
        return start + lane
    for i in range(start, min(start + count, rows)):
        if not machines.failed[i]:
            return i
    return start


@device
def begin(
    group: Group,
    start: int,
    constants: Constants,
    arrays: DriveArrays,
    machines: Machines,
    inputs: Inputs,
    y: FloatArray,
) -> None:
    """Issue the commands of the rows from `start` on, and gather the rows."""
    count = group.y.shape[1]
    for i in range(start, min(start + count, machines.failed.shape[0])):
        if not machines.failed[i]:
            counters, queue = arrays.counters[i], arrays.queue[i]
            fine = issue(counters, queue, inputs.command[i], inputs.feedforward[i])
            machines.failed[i] = not fine
    for lane in range(count):
        i = index_of(machines, start, lane, count)
        read_state(machines, i, y)
        fill_lane(group, lane, constants, inputs, i, y)


@device
def drive(
    group: Group,
    start: int,
    part: int,
    gravity: FloatArray,
    arrays: DriveArrays,
    machines: Machines,
    inputs: Inputs,
    clock: tuple[int, float],
) -> None:
    """Advance the drives of a group by a step; note the twists, and the field on the bodies."""
    count, ratio = group.y.shape[1], inputs.shaking.shape[1]
    for i in range(start, min(start + count, machines.failed.shape[0])):
        if not machines.failed[i]:
            coordinates, rates = machines.coordinates[i], machines.rates[i]
            drive_one(arrays, i, ratio, clock[0], clock[1], coordinates, rates, machines.forces[i])
    for lane in range(count):
        i = index_of(machines, start, lane, count)
        for k in range(3):
            field = gravity[i, GRAVITY + k] - inputs.shaking[i, part, k]
            group.body[GRAVITY + k, lane] = field
        for k in range(group.forces.shape[0]):
            group.forces[k, lane] = machines.forces[i, k]
        for k in range(6):
            group.before[lane, k] = group.y[7 + k, lane]


@device
def take_coordinates(group: Group, start: int, machines: Machines) -> None:
    """Copy coordinates and rates of the actuators into the rows from `start` on."""
    for lane in range(min(group.y.shape[1], machines.failed.shape[0] - start)):
        if not machines.failed[start + lane]:
            for k in range(group.coordinates.shape[0]):
                machines.coordinates[start + lane, k] = group.coordinates[k, lane]
                machines.rates[start + lane, k] = group.rates[k, lane]


@device
def finish(
    group: Group,
    start: int,
    i: int,
    machines: Machines,
    arrays: DriveArrays,
    step: float,
    ratio: int,
    y: FloatArray,
) -> None:
    """Take over the state of a lane into row i, and read its sensors."""
    for k in range(y.shape[0]):
        y[k] = group.y[k, i - start]
    store(machines, i, y, group.before[i - start], step)
    read_one(arrays, machines, i, ratio * step)


@compiled
def advance_groups(bundle: Any) -> None:
    """Advance all rows that have not failed by one control period; as `advance_rows`.

    Where a step fails for a group, each of its rows takes it alone. The bundle ends with the width.
    """
    constants, arrays, machines, inputs, mode, step, width = unbundled(bundle)
    rows, ratio = machines.failed.shape[0], inputs.shaking.shape[1]
    group, alone = make_group(constants, machines, width), make_group(constants, machines, width)
    stages, none = make_stages(constants, group, width)
    y = np.empty(group.y.shape[0])
    for start in range(0, rows, len(width)):
        begin(group, start, constants, arrays, machines, inputs, y)
        last = min(start + len(width), rows)
        for part in range(ratio):
            drive(group, start, part, constants.body, arrays, machines, inputs, (mode, step))
            if not move(constants, group, none, step, stages, width):
                for i in range(start, last):
                    if not machines.failed[i]:
                        copy_lane(group, i - start, alone)
                        done = move(constants, alone, none, step, stages, width)
                        copy(alone.y[:, 0], group.y[:, i - start])
                        if not done:
                            finish(group, start, i, machines, arrays, step, ratio, y)
                            machines.failed[i] = True
            measure(constants, group, width)
            take_coordinates(group, start, machines)
        for i in range(start, last):
            if not machines.failed[i]:
                finish(group, start, i, machines, arrays, step, ratio, y)


@allocating
def make_stages(constants: Constants, group: Group, width: Width) -> tuple[Stages, FloatArray]:
    """Return memory of the steps of a group, and zero rates of its forces."""
    w, size = len(width), group.y.shape[0]
    work = lanes_work(legs_like(constants.legs, constants.legs.rows[0]), width)
    trial, rates = np.empty((size, w)), np.empty((4, size, w))
    none = np.zeros((group.forces.shape[0], w))
    return Stages(as_lanes(trial, width), as_lanes(rates, width), work), as_lanes(none, width)


@allocating
def move(
    constants: Constants,
    group: Group,
    none: FloatArray,
    step: float,
    stages: Stages,
    width: Width,
) -> bool:
    """Advance all lanes of a group by a step; return False, and leave them, where one fails."""
    body, y = as_lanes(group.body, width), as_lanes(group.y, width)
    legs = legs_like(constants.legs, as_lanes(group.legs, width))
    load = Load(as_lanes(group.forces, width), none, as_lanes(group.wrench, width))
    return derivative(body, legs, y, load, 0.0, stages.rates[0], stages.work) and runge_kutta_move(
        body, legs, y, load, 0.0, step, stages
    )


@allocating
def measure(constants: Constants, group: Group, width: Width) -> None:
    """Fill coordinates and rates of what the actuators of a group move."""
    legs = legs_like(constants.legs, as_lanes(group.legs, width))
    coordinates, rates = as_lanes(group.coordinates, width), as_lanes(group.rates, width)
    actuated(legs, as_lanes(group.y, width), coordinates, rates)
