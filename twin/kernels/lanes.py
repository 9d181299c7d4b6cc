"""Batch functions in lanes: several states at once in the vector registers of the processor.

A group has as many states as there are lanes; it is read from a batch and its results are written
back. Functions of one state are the same as without lanes. States as a user gives them
(`Batch.given`) are checked in lanes by the rules of `as_floats`, `as_pose` and `check_constraints`.
A group that fails is left to them, for their errors.

Each batch function computes the groups from `first` up to `last`. It fills `out` (batch, entries),
rows of several axes laid flat, and marks in `failed` the groups in which a state has no result or
fails a check, or in which states would have taken different ways through a kernel. Their states are
to be computed again, one by one.
"""

from __future__ import annotations

from math import inf, sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from twin.basics.arrays import LARGEST_ENTRY, QUATERNION_TOLERANCE, FloatArray
from twin.kernels.batched.analytic import (
    Constants,
    DriveArrays,
    Inputs,
    Machines,
    actuated,
    drive_one,
    issue,
    legs_like,
    read_one,
    read_state,
    store,
)
from twin.kernels.bundle import unbundled
from twin.kernels.dynamics.assembly import BODY_GRAVITY, Work, assemble, energy
from twin.kernels.dynamics.forward import Load, derivative, forward_dynamics, inverse_dynamics
from twin.kernels.integrators import Stages, runge_kutta_move
from twin.kernels.jit import allocating, compiled, device, replacing
from twin.kernels.kinematics import (
    ACCEPTED_RESIDUAL,
    CONVERGED_RESIDUAL,
    MAX_TURN,
    MOTION_TOLERANCE,
    NEWTON_STEPS,
    SINGULAR_PIVOT_RATIO,
    PoseMemory,
    inverse_kinematics,
    jacobian,
    jacobian_derivative,
    larger,
    newton_step,
    residual,
)
from twin.kernels.legs.dispatch import constraint_count, fill_constraints, smallest_scale
from twin.kernels.legs.interface import Legs
from twin.kernels.linear_algebra import copy, turned
from twin.kernels.numbers.arrays import as_lanes, read_column, write_column
from twin.kernels.numbers.lanes import Lanes, where_larger
from twin.kernels.platform_state import platform_state

TAKEN_FIELDS = {"forward_kinematics_lanes": ("inputs", "poses")}
"""Fields of a batch that a function takes, where not the first ones."""


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


STATE_FIELDS = Batch._fields[:5]


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
        if not abs(number) <= LARGEST_ENTRY:
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
        if not abs(off) <= MOTION_TOLERANCE * size:
            fine = False
    return fine


@device
def meets_constraints(legs: Legs, group: Group) -> bool:
    """Fill the constraints of a group; return whether its poses and twists meet them."""
    rows = group.constraints
    fill_constraints(legs, platform_state(group.pose, group.twist), rows)
    fine = True
    for i in range(rows.shape[0]):
        if not abs(rows[i, 7]) <= MOTION_TOLERANCE:
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


@allocating
def newton_work(legs: Legs, width: Width) -> PoseMemory:
    """Return the work arrays of forward kinematics in lanes."""
    n, count, w = legs.rows.shape[0], constraint_count(legs), len(width)
    return PoseMemory(
        as_lanes(np.empty((n + count, w)), width),
        as_lanes(np.empty((n + count, 6, w)), width),
        as_lanes(np.empty((count, 8, w)), width),
        as_lanes(np.empty((6, 6, w)), width),
        as_lanes(np.empty((6, w)), width),
        as_lanes(np.empty((7, w)), width),
        as_lanes(np.empty((7, w)), width),
        as_lanes(np.empty((n, w)), width),
        as_lanes(np.empty((n, w)), width),
    )


@replacing(larger, lambda error, _: isinstance(error, Lanes))
def lanes_larger(error: Any, largest: Any) -> Any:
    """Return the larger of two residuals lane by lane; NaN counts as infinite."""
    known = where_larger(inf, error, error, inf)
    return where_larger(known, largest, known, largest)


@device
def newton_in_lanes(
    legs: Legs, coordinates: FloatArray, pose: FloatArray, work: PoseMemory
) -> tuple[bool, float, float]:
    """Improve `pose` in place, as `newton` does; return (converged, residuals, iterations).

    A lane that has converged keeps its pose. Where a lane would need a shorter step, is singular
    or leaves its assembly branch, none has converged.
    """
    right, matrix, rows = work.right, work.matrix, work.rows
    trial, step = work.trial, work.step
    size = max(smallest_scale(legs), abs(coordinates[0]))
    for i in range(1, legs.rows.shape[0]):
        size = max(size, abs(coordinates[i]))
    error = residual(legs, pose, coordinates, right, matrix, rows)
    goes_on = 1.0 + 0.0 * size
    branch, count = goes_on, 0.0 * size
    for iteration in range(NEWTON_STEPS):
        goes_on = where_larger(error, CONVERGED_RESIDUAL * size, goes_on, 0.0)
        if goes_on <= 0.0:
            break
        count += goes_on
        regular = newton_step(matrix, right, step, work.normal)
        if iteration == 0:
            branch = regular
        regular = where_larger(regular * branch, 0.0, abs(regular), 0.0)
        if not where_larger(goes_on, 0.0, regular, 1.0) > SINGULAR_PIVOT_RATIO:
            return False, error, count
        turn = sqrt(step[3] * step[3] + step[4] * step[4] + step[5] * step[5])
        factor = MAX_TURN / max(MAX_TURN, turn)
        for k in range(3):
            trial[k] = pose[k] + factor * step[k]
        trial[3], trial[4], trial[5], trial[6] = turned(
            pose[3], pose[4], pose[5], pose[6], factor * step[3], factor * step[4], factor * step[5]
        )
        now = residual(legs, trial, coordinates, right, matrix, rows)
        goes_on = where_larger(error, now, goes_on, 0.0)
        for k in range(7):
            pose[k] = where_larger(goes_on, 0.0, trial[k], pose[k])
        error = where_larger(goes_on, 0.0, now, error)
    return error <= ACCEPTED_RESIDUAL * size, error, count


class StepGroup(NamedTuple):
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
def make_step_group(constants: Constants, machines: Machines, width: Width) -> StepGroup:
    """Return memory for a group of rows."""
    w, n = len(width), machines.forces.shape[1]
    return StepGroup(
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
    group: StepGroup, lane: int, constants: Constants, inputs: Inputs, i: int, y: FloatArray
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
def copy_lane(group: StepGroup, lane: int, alone: StepGroup) -> None:
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
    group: StepGroup,
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
    group: StepGroup,
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
            field = gravity[i, BODY_GRAVITY + k] - inputs.shaking[i, part, k]
            group.body[BODY_GRAVITY + k, lane] = field
        for k in range(group.forces.shape[0]):
            group.forces[k, lane] = machines.forces[i, k]
        for k in range(6):
            group.before[lane, k] = group.y[7 + k, lane]


@device
def take_coordinates(group: StepGroup, start: int, machines: Machines) -> None:
    """Copy coordinates and rates of the actuators into the rows from `start` on."""
    for lane in range(min(group.y.shape[1], machines.failed.shape[0] - start)):
        if not machines.failed[start + lane]:
            for k in range(group.coordinates.shape[0]):
                machines.coordinates[start + lane, k] = group.coordinates[k, lane]
                machines.rates[start + lane, k] = group.rates[k, lane]


@device
def finish(
    group: StepGroup,
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
    group, alone = (
        make_step_group(constants, machines, width),
        make_step_group(constants, machines, width),
    )
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
def make_stages(constants: Constants, group: StepGroup, width: Width) -> tuple[Stages, FloatArray]:
    """Return memory of the steps of a group, and zero rates of its forces."""
    w, size = len(width), group.y.shape[0]
    work = lanes_work(legs_like(constants.legs, constants.legs.rows[0]), width)
    trial, rates = np.empty((size, w)), np.empty((4, size, w))
    none = np.zeros((group.forces.shape[0], w))
    return Stages(as_lanes(trial, width), as_lanes(rates, width), work), as_lanes(none, width)


@allocating
def move(
    constants: Constants,
    group: StepGroup,
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
def measure(constants: Constants, group: StepGroup, width: Width) -> None:
    """Fill coordinates and rates at the actuators of a group."""
    legs = legs_like(constants.legs, as_lanes(group.legs, width))
    coordinates, rates = as_lanes(group.coordinates, width), as_lanes(group.rates, width)
    actuated(legs, as_lanes(group.y, width), coordinates, rates)


@compiled
def inverse_kinematics_lanes(legs: Legs, width: Width, batch: Batch, first: int, last: int) -> None:
    """Compute actuator coordinates (n,) of poses."""
    at = make_group(legs, batch, width)
    for group in range(first, last):
        fine = gather(legs, batch, group, width, at)
        regular = inverse_kinematics(legs, at.pose, at.result)
        scatter(at, group, width, fine and regular, batch)


@compiled
def forward_kinematics_lanes(legs: Legs, width: Width, batch: Batch, first: int, last: int) -> None:
    """Compute pose, residual and iterations (9,) of coordinates and guesses."""
    at = make_group(legs, batch, width)
    work = newton_work(legs, width)
    for group in range(first, last):
        fine = gather(legs, batch, group, width, at)
        converged, at.result[7], at.result[8] = newton_in_lanes(legs, at.inputs, at.pose, work)
        for k in range(7):
            at.result[k] = at.pose[k]
        scatter(at, group, width, fine and converged, batch)


@compiled
def jacobian_lanes(legs: Legs, width: Width, batch: Batch, first: int, last: int) -> None:
    """Compute Jacobians (n, 6) of poses."""
    at = make_group(legs, batch, width)
    rows = as_lanes(np.empty((legs.rows.shape[0], 6, len(width))), width)
    for group in range(first, last):
        fine = gather(legs, batch, group, width, at)
        jacobian(legs, at.pose, rows)
        for i in range(rows.shape[0]):
            for j in range(6):
                at.result[6 * i + j] = rows[i, j]
        scatter(at, group, width, fine, batch)


@compiled
def jacobian_derivative_lanes(
    legs: Legs, width: Width, batch: Batch, first: int, last: int
) -> None:
    """Compute dJ/dt (n, 6) of poses and twists."""
    at = make_group(legs, batch, width)
    rows = as_lanes(np.empty((legs.rows.shape[0], 6, len(width))), width)
    for group in range(first, last):
        fine = gather(legs, batch, group, width, at)
        jacobian_derivative(legs, platform_state(at.pose, at.twist), rows)
        for i in range(rows.shape[0]):
            for j in range(6):
                at.result[6 * i + j] = rows[i, j]
        scatter(at, group, width, fine, batch)


@compiled
def forward_dynamics_lanes(
    body: FloatArray, legs: Legs, width: Width, batch: Batch, first: int, last: int
) -> None:
    """Compute accelerations (6 + k,) of poses, twists, deflections, forces and wrenches."""
    at = make_group(legs, batch, width)
    work = lanes_work(legs, width)
    for group in range(first, last):
        fine = gather(legs, batch, group, width, at)
        state = platform_state(at.pose, at.twist)
        regular = forward_dynamics(
            body, legs, state, at.deflection, at.inputs, at.wrench, at.result, work
        )
        scatter(at, group, width, fine and regular, batch)


@compiled
def inverse_dynamics_lanes(
    body: FloatArray, legs: Legs, width: Width, batch: Batch, first: int, last: int
) -> None:
    """Compute forces (n,) of poses, twists, deflections, accelerations and wrenches."""
    at = make_group(legs, batch, width)
    work = lanes_work(legs, width)
    for group in range(first, last):
        fine = gather(legs, batch, group, width, at)
        state = platform_state(at.pose, at.twist)
        if batch.given and constraint_count(legs) > 0:
            fine = allowed(at.constraints, at.inputs, 1.0) and fine
        regular = inverse_dynamics(
            body, legs, state, at.deflection, at.inputs, at.wrench, at.result, work
        )
        scatter(at, group, width, fine and regular, batch)


@compiled
def mass_matrix_lanes(
    body: FloatArray, legs: Legs, width: Width, batch: Batch, first: int, last: int
) -> None:
    """Compute mass matrices (6, 6) of poses, twists and deflections."""
    at = make_group(legs, batch, width)
    work = lanes_work(legs, width)
    for group in range(first, last):
        fine = gather(legs, batch, group, width, at)
        state = platform_state(at.pose, at.twist)
        singular = assemble(body, legs, state, at.deflection, work)
        for i in range(6):
            for j in range(i + 1):
                at.result[6 * i + j] = work.mass_matrix[i, j]
                at.result[6 * j + i] = work.mass_matrix[i, j]
        scatter(at, group, width, fine and singular < 0, batch)


@compiled
def energy_lanes(
    body: FloatArray, legs: Legs, width: Width, batch: Batch, first: int, last: int
) -> None:
    """Compute energies and dissipated power (3,) of poses, twists and deflections."""
    at = make_group(legs, batch, width)
    for group in range(first, last):
        fine = gather(legs, batch, group, width, at)
        state = platform_state(at.pose, at.twist)
        at.result[0], at.result[1], at.result[2] = energy(body, legs, state, at.deflection)
        scatter(at, group, width, fine, batch)
