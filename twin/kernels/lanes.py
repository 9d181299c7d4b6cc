"""Batch functions in lanes: several states at once in the vector registers of the processor.

A group has as many states as there are lanes; it is read from a batch and its results are written
back. Functions of one state are the same as without lanes. States as a user gives them
(`Batch.from_user`) are checked in lanes by the rules of `as_floats`, `as_pose` and
`check_constraints`. A group that fails is left to them, for their errors.

Each batch function computes the groups from `first_group` to before `end_group`. It fills `out`
(batch, entries), rows of several axes laid flat, and marks in `failed` the groups in which a state
has no result or fails a check, or in which states would have taken different ways through a kernel.
Their states are to be computed again, one by one.
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
    begin_period,
    drive_row,
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
    allowed,
    inverse_kinematics,
    jacobian,
    jacobian_derivative,
    larger,
    newton_step,
    residual,
)
from twin.kernels.legs.dispatch import constraint_count, fill_constraints, smallest_scale
from twin.kernels.legs.interface import Legs, platform_state
from twin.kernels.linear_algebra import copy, displace
from twin.kernels.numbers.arrays import as_lanes, read_column, write_column
from twin.kernels.numbers.lanes import Lanes, where_larger

FIELDS_READ = {"forward_kinematics_lanes": ("inputs", "poses")}
"""Fields of a batch that a function reads, where these are not the first fields."""


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
    """`(batch, entries)` results of the batch, one row per state"""
    failed: NDArray[np.bool_]
    """`(groups,)` True where a group must be computed again, state by state"""
    from_user: bool
    """whether the states come from a user, so that they are checked and normalised here"""


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
    """`(c, 8)` as of `fill_constraints`; filled for states of a user alone"""


@allocating
def lanes_memory(entries: int, width: Width) -> FloatArray:
    """Return an uninitialised array of `entries` numbers in each lane."""
    return as_lanes(np.empty((entries, len(width))), width)


@allocating
def make_group(legs: Legs, batch: Batch, width: Width) -> Group:
    """Return uninitialised arrays for a group of a batch, but a twist of zero: it may have none."""
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
    n, n_constraints, w = legs.rows.shape[0], constraint_count(legs), len(width)
    size = 6 + n_constraints
    return Work(
        as_lanes(np.empty((6, 6, w)), width),
        as_lanes(np.empty((6, w)), width),
        as_lanes(np.empty((n, 6, w)), width),
        as_lanes(np.empty((n, w)), width),
        as_lanes(np.empty((n_constraints, 8, w)), width),
        as_lanes(np.empty((size, size, w)), width),
        as_lanes(np.empty((size, w)), width),
    )


@device
def read(rows: FloatArray, first_row: int, numbers: FloatArray) -> bool:
    """Read one row per lane from `first_row` on; surplus lanes repeat the last row.

    Returns whether all entries are finite and none is too large.
    """
    is_valid = True
    for k in range(rows.shape[1]):
        lane_value = read_column(rows, first_row, k, numbers)
        numbers[k] = lane_value
        if not abs(lane_value) <= LARGEST_ENTRY:
            is_valid = False
    return is_valid


@device
def normalise_pose(pose: FloatArray) -> bool:
    """Normalise the quaternion; return whether its norm was close to one."""
    norm = sqrt(pose[3] * pose[3] + pose[4] * pose[4] + pose[5] * pose[5] + pose[6] * pose[6])
    for k in range(3, 7):
        pose[k] = pose[k] / norm
    return abs(norm - 1.0) <= QUATERNION_TOLERANCE


@device
def meets_constraints(legs: Legs, group: Group) -> bool:
    """Fill the constraints of a group; return whether its poses and twists meet them."""
    constraint_values = group.constraints
    fill_constraints(legs, platform_state(group.pose, group.twist), constraint_values)
    all_met = True
    for i in range(constraint_values.shape[0]):
        if not abs(constraint_values[i, 7]) <= MOTION_TOLERANCE:
            all_met = False
    return allowed(constraint_values, group.twist, 0.0) and all_met


@device
def gather(legs: Legs, batch: Batch, index: int, width: Width, group: Group) -> bool:
    """Read the states of group `index`; return False where a given one fails a check."""
    first_row = index * len(width)
    is_valid = read(batch.poses, first_row, group.pose)
    is_valid = read(batch.twists, first_row, group.twist) and is_valid
    is_valid = read(batch.deflections, first_row, group.deflection) and is_valid
    is_valid = read(batch.inputs, first_row, group.inputs) and is_valid
    is_valid = read(batch.wrenches, first_row, group.wrench) and is_valid
    if not batch.from_user:
        return True
    is_valid = normalise_pose(group.pose) and is_valid
    if constraint_count(legs) > 0:
        is_valid = meets_constraints(legs, group) and is_valid
    return is_valid


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
    batch.failed[index] = not (regular and (finite or not batch.from_user))


@device
def scatter_rows(
    group: Group, rows: FloatArray, index: int, width: Width, regular: bool, batch: Batch
) -> None:
    """Write `rows` (n, 6) as the results of group `index`, as `scatter` does."""
    for i in range(rows.shape[0]):
        for j in range(6):
            group.result[6 * i + j] = rows[i, j]
    scatter(group, index, width, regular, batch)


@allocating
def newton_work(legs: Legs, width: Width) -> PoseMemory:
    """Return the work arrays of forward kinematics in lanes."""
    n, n_constraints, w = legs.rows.shape[0], constraint_count(legs), len(width)
    return PoseMemory(
        as_lanes(np.empty((n + n_constraints, w)), width),
        as_lanes(np.empty((n + n_constraints, 6, w)), width),
        as_lanes(np.empty((n_constraints, 8, w)), width),
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
    first_larger = where_larger(inf, error, error, inf)
    return where_larger(first_larger, largest, first_larger, largest)


@device
def newton_in_lanes(
    legs: Legs, coordinates: FloatArray, pose: FloatArray, work: PoseMemory
) -> tuple[bool, float, float]:
    """Improve `pose` in place, as `newton` does; return (converged, residuals, iterations).

    A lane that has converged keeps its pose. Where a lane would need a shorter step, is singular
    or leaves its assembly branch, none has converged.
    """
    right, matrix, constraint_values = work.right, work.matrix, work.rows
    trial, step = work.trial, work.step
    length_scale = max(smallest_scale(legs), abs(coordinates[0]))
    for i in range(1, legs.rows.shape[0]):
        length_scale = max(length_scale, abs(coordinates[i]))
    error = residual(legs, pose, coordinates, right, matrix, constraint_values)
    not_converged = 1.0 + 0.0 * length_scale  # 1 in every lane
    branch, n_iterations = not_converged, 0.0 * length_scale
    for iteration in range(NEWTON_STEPS):
        not_converged = where_larger(error, CONVERGED_RESIDUAL * length_scale, not_converged, 0.0)
        if not_converged <= 0.0:
            break
        n_iterations += not_converged
        pivot_ratio = newton_step(matrix, right, step, work.normal)
        if iteration == 0:
            branch = pivot_ratio
        pivot_ratio = where_larger(pivot_ratio * branch, 0.0, abs(pivot_ratio), 0.0)
        if not where_larger(not_converged, 0.0, pivot_ratio, 1.0) > SINGULAR_PIVOT_RATIO:
            return False, error, n_iterations
        rotation_angle = sqrt(step[3] * step[3] + step[4] * step[4] + step[5] * step[5])
        factor = MAX_TURN / max(MAX_TURN, rotation_angle)
        displace(pose, factor, step, trial)
        new_residual = residual(legs, trial, coordinates, right, matrix, constraint_values)
        not_converged = where_larger(error, new_residual, not_converged, 0.0)
        for k in range(7):
            pose[k] = where_larger(not_converged, 0.0, trial[k], pose[k])
        error = where_larger(not_converged, 0.0, new_residual, error)
    return error <= ACCEPTED_RESIDUAL * length_scale, error, n_iterations


class StepGroup(NamedTuple):
    """Memory of a group of rows; the last axis is that of the lanes."""

    body: FloatArray
    legs: FloatArray
    """`(n, LEG_SIZE, lanes)` constants of the legs"""
    y: FloatArray
    """`(m, lanes)` states"""
    forces: FloatArray
    wrench: FloatArray
    coordinates: FloatArray
    rates: FloatArray
    previous_twists: FloatArray
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
def copy_lane(group: StepGroup, lane: int, target_group: StepGroup) -> None:
    """Copy one lane of a group into all lanes of another."""
    for source, target in (
        (group.body, target_group.body),
        (group.y, target_group.y),
        (group.forces, target_group.forces),
        (group.wrench, target_group.wrench),
    ):
        for k in range(source.shape[0]):
            for target_lane in range(source.shape[1]):
                target[k, target_lane] = source[k, lane]
    for leg in range(group.legs.shape[0]):
        for k in range(group.legs.shape[1]):
            for target_lane in range(group.legs.shape[2]):
                target_group.legs[leg, k, target_lane] = group.legs[leg, k, lane]


@device
def index_of(machines: Machines, start: int, lane: int, count: int) -> int:
    """Return the row of a lane; where that failed or does not exist, the first valid row.

    A failed row in a group would make every step of the whole group fail.
    """
    n_rows = machines.failed.shape[0]
    if start + lane < n_rows and not machines.failed[start + lane]:
        return start + lane
    for i in range(start, min(start + count, n_rows)):
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
    n_states = group.y.shape[1]
    for i in range(start, min(start + n_states, machines.failed.shape[0])):
        begin_period(arrays, machines, inputs, i)
    for lane in range(n_states):
        i = index_of(machines, start, lane, n_states)
        read_state(machines, i, y)
        fill_lane(group, lane, constants, inputs, i, y)


@device
def drive(
    group: StepGroup,
    start: int,
    substep: int,
    gravity: FloatArray,
    arrays: DriveArrays,
    machines: Machines,
    inputs: Inputs,
    mode_and_step: tuple[int, float],
) -> None:
    """Advance the drives of a group by a step; note the twists, and the field on the bodies."""
    n_states, ratio = group.y.shape[1], inputs.shaking.shape[1]
    for i in range(start, min(start + n_states, machines.failed.shape[0])):
        if not machines.failed[i]:
            drive_row(arrays, machines, i, ratio, mode_and_step[0], mode_and_step[1])
    for lane in range(n_states):
        i = index_of(machines, start, lane, n_states)
        for k in range(3):
            field = gravity[i, BODY_GRAVITY + k] - inputs.shaking[i, substep, k]
            group.body[BODY_GRAVITY + k, lane] = field
        for k in range(group.forces.shape[0]):
            group.forces[k, lane] = machines.forces[i, k]
        for k in range(6):
            group.previous_twists[lane, k] = group.y[7 + k, lane]


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
    """Copy the state of a lane to row i, and read that row's sensors."""
    for k in range(y.shape[0]):
        y[k] = group.y[k, i - start]
    store(machines, i, y, group.previous_twists[i - start], step)
    read_one(arrays, machines, i, ratio * step)


@compiled
def advance_groups(bundle: Any) -> None:
    """Advance all rows that have not failed by one control period; as `advance_rows`.

    Where a step fails for a group, each of its rows takes it alone. The bundle ends with the width.
    """
    constants, arrays, machines, inputs, mode, step, width = unbundled(bundle)
    n_rows, ratio = machines.failed.shape[0], inputs.shaking.shape[1]
    group = make_step_group(constants, machines, width)
    single_group = make_step_group(constants, machines, width)
    stages, zero_slope = make_stages(constants, group, width)
    y = np.empty(group.y.shape[0])
    for first_row in range(0, n_rows, len(width)):
        begin(group, first_row, constants, arrays, machines, inputs, y)
        end_row = min(first_row + len(width), n_rows)
        for substep in range(ratio):
            drive(group, first_row, substep, constants.body, arrays, machines, inputs, (mode, step))
            if not move(constants, group, zero_slope, step, stages, width):
                for i in range(first_row, end_row):
                    if not machines.failed[i]:
                        copy_lane(group, i - first_row, single_group)
                        succeeded = move(constants, single_group, zero_slope, step, stages, width)
                        copy(single_group.y[:, 0], group.y[:, i - first_row])
                        if not succeeded:
                            finish(group, first_row, i, machines, arrays, step, ratio, y)
                            machines.failed[i] = True
            measure(constants, group, width)
            take_coordinates(group, first_row, machines)
        for i in range(first_row, end_row):
            if not machines.failed[i]:
                finish(group, first_row, i, machines, arrays, step, ratio, y)


@allocating
def make_stages(constants: Constants, group: StepGroup, width: Width) -> tuple[Stages, FloatArray]:
    """Return memory of the steps of a group, and zero rates of its forces."""
    w, size = len(width), group.y.shape[0]
    work = lanes_work(legs_like(constants.legs, constants.legs.rows[0]), width)
    trial, rates = np.empty((size, w)), np.empty((4, size, w))
    zero_slope = np.zeros((group.forces.shape[0], w))
    return Stages(as_lanes(trial, width), as_lanes(rates, width), work), as_lanes(zero_slope, width)


@allocating
def move(
    constants: Constants,
    group: StepGroup,
    zero_slope: FloatArray,
    step: float,
    stages: Stages,
    width: Width,
) -> bool:
    """Advance all lanes of a group by a step; return False, and leave them, where one fails."""
    body, y = as_lanes(group.body, width), as_lanes(group.y, width)
    legs = legs_like(constants.legs, as_lanes(group.legs, width))
    load = Load(as_lanes(group.forces, width), zero_slope, as_lanes(group.wrench, width))
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
def inverse_kinematics_lanes(
    legs: Legs, width: Width, batch: Batch, first_group: int, end_group: int
) -> None:
    """Compute actuator coordinates (n,) of poses."""
    group = make_group(legs, batch, width)
    for index in range(first_group, end_group):
        is_valid = gather(legs, batch, index, width, group)
        regular = inverse_kinematics(legs, group.pose, group.result)
        scatter(group, index, width, is_valid and regular, batch)


@compiled
def forward_kinematics_lanes(
    legs: Legs, width: Width, batch: Batch, first_group: int, end_group: int
) -> None:
    """Compute pose, residual and iterations (9,) of coordinates and guesses."""
    group = make_group(legs, batch, width)
    work = newton_work(legs, width)
    for index in range(first_group, end_group):
        is_valid = gather(legs, batch, index, width, group)
        converged, group.result[7], group.result[8] = newton_in_lanes(
            legs, group.inputs, group.pose, work
        )
        for k in range(7):
            group.result[k] = group.pose[k]
        scatter(group, index, width, is_valid and converged, batch)


@compiled
def jacobian_lanes(
    legs: Legs, width: Width, batch: Batch, first_group: int, end_group: int
) -> None:
    """Compute Jacobians (n, 6) of poses."""
    group = make_group(legs, batch, width)
    jacobian_rows = as_lanes(np.empty((legs.rows.shape[0], 6, len(width))), width)
    for index in range(first_group, end_group):
        is_valid = gather(legs, batch, index, width, group)
        jacobian(legs, group.pose, jacobian_rows)
        scatter_rows(group, jacobian_rows, index, width, is_valid, batch)


@compiled
def jacobian_derivative_lanes(
    legs: Legs, width: Width, batch: Batch, first_group: int, end_group: int
) -> None:
    """Compute dJ/dt (n, 6) of poses and twists."""
    group = make_group(legs, batch, width)
    jacobian_rows = as_lanes(np.empty((legs.rows.shape[0], 6, len(width))), width)
    for index in range(first_group, end_group):
        is_valid = gather(legs, batch, index, width, group)
        jacobian_derivative(legs, platform_state(group.pose, group.twist), jacobian_rows)
        scatter_rows(group, jacobian_rows, index, width, is_valid, batch)


@compiled
def forward_dynamics_lanes(
    body: FloatArray, legs: Legs, width: Width, batch: Batch, first_group: int, end_group: int
) -> None:
    """Compute accelerations (6 + k,) of poses, twists, deflections, forces and wrenches."""
    group = make_group(legs, batch, width)
    work = lanes_work(legs, width)
    for index in range(first_group, end_group):
        is_valid = gather(legs, batch, index, width, group)
        state = platform_state(group.pose, group.twist)
        regular = forward_dynamics(
            body, legs, state, group.deflection, group.inputs, group.wrench, group.result, work
        )
        scatter(group, index, width, is_valid and regular, batch)


@compiled
def inverse_dynamics_lanes(
    body: FloatArray, legs: Legs, width: Width, batch: Batch, first_group: int, end_group: int
) -> None:
    """Compute forces (n,) of poses, twists, deflections, accelerations and wrenches."""
    group = make_group(legs, batch, width)
    work = lanes_work(legs, width)
    for index in range(first_group, end_group):
        is_valid = gather(legs, batch, index, width, group)
        state = platform_state(group.pose, group.twist)
        if batch.from_user and constraint_count(legs) > 0:
            is_valid = allowed(group.constraints, group.inputs, 1.0) and is_valid
        regular = inverse_dynamics(
            body, legs, state, group.deflection, group.inputs, group.wrench, group.result, work
        )
        scatter(group, index, width, is_valid and regular, batch)


@compiled
def mass_matrix_lanes(
    body: FloatArray, legs: Legs, width: Width, batch: Batch, first_group: int, end_group: int
) -> None:
    """Compute mass matrices (6, 6) of poses, twists and deflections."""
    group = make_group(legs, batch, width)
    work = lanes_work(legs, width)
    for index in range(first_group, end_group):
        is_valid = gather(legs, batch, index, width, group)
        state = platform_state(group.pose, group.twist)
        singular = assemble(body, legs, state, group.deflection, work)
        for i in range(6):
            for j in range(i + 1):
                group.result[6 * i + j] = work.mass_matrix[i, j]
                group.result[6 * j + i] = work.mass_matrix[i, j]
        scatter(group, index, width, is_valid and singular < 0, batch)


@compiled
def energy_lanes(
    body: FloatArray, legs: Legs, width: Width, batch: Batch, first_group: int, end_group: int
) -> None:
    """Compute energies and dissipated power (3,) of poses, twists and deflections."""
    group = make_group(legs, batch, width)
    for index in range(first_group, end_group):
        is_valid = gather(legs, batch, index, width, group)
        state = platform_state(group.pose, group.twist)
        group.result[0], group.result[1], group.result[2] = energy(
            body, legs, state, group.deflection
        )
        scatter(group, index, width, is_valid, batch)
