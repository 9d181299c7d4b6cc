"""Exact derivatives of the dynamics and of a Runge-Kutta step, by dual numbers.

The kernels of one state run on dual numbers. The variables are, in this order: displacement of the
reference point and rotation vector of the platform (6, base axes), twist (6), deflection (2k),
gravity (3), inputs (actuator forces or accelerations), wrench (6). One pass takes as many as a dual
number has derivatives.

The inputs of a step are forces of the motors. Its results are displacement and rotation vector of
the platform after the step (base axes), twist and deflection.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray
from twin.kernels.batched.analytic import Constants, legs_like
from twin.kernels.dynamics.assembly import BODY_GRAVITY, Work, assemble, make_work
from twin.kernels.dynamics.forward import accelerate, forward_dynamics, inverse_dynamics
from twin.kernels.integrators import Stages, driven_step
from twin.kernels.jit import allocating, compiled, device
from twin.kernels.kinematics import inverse_kinematics
from twin.kernels.legs.dispatch import constraint_count, fill_constraints
from twin.kernels.legs.interface import Legs, platform_state
from twin.kernels.linear_algebra import copy, quaternion_rate
from twin.kernels.numbers.arrays import as_duals

Width = tuple[int, ...]
"""A tuple whose length is the number of derivatives per dual number"""


class States(NamedTuple):
    """A batch of states, one row each."""

    poses: FloatArray
    twists: FloatArray
    deflections: FloatArray
    inputs: FloatArray
    wrenches: FloatArray


class Slots(NamedTuple):
    """One state: values in column 0, derivatives in the others."""

    body: FloatArray
    pose: FloatArray
    twist: FloatArray
    deflection: FloatArray
    inputs: FloatArray
    wrench: FloatArray
    result: FloatArray


@allocating
def make_slots(body: FloatArray, states: States, size: int, width: Width) -> Slots:
    """Return memory for one state with a result of `size` entries, the body's values filled in."""
    w = len(width) + 1
    slots = Slots(
        np.zeros((body.shape[0], w)),
        np.zeros((7, w)),
        np.zeros((6, w)),
        np.zeros((states.deflections.shape[1], w)),
        np.zeros((states.inputs.shape[1], w)),
        np.zeros((6, w)),
        np.zeros((size, w)),
    )
    copy(body, slots.body[:, 0])
    return slots


@allocating
def dual_work(legs: Legs, width: Width) -> Work:
    """Return the work arrays of `make_work` for dual numbers."""
    n, n_constraints, w = legs.rows.shape[0], constraint_count(legs), len(width) + 1
    size = 6 + n_constraints
    return Work(
        as_duals(np.empty((6, 6, w)), width),
        as_duals(np.empty((6, w)), width),
        as_duals(np.empty((n, 6, w)), width),
        as_duals(np.empty((n, w)), width),
        as_duals(np.empty((n_constraints, 8, w)), width),
        as_duals(np.empty((size, size, w)), width),
        as_duals(np.empty((size, w)), width),
    )


@device
def fill(states: States, k: int, slots: Slots) -> None:
    """Copy the values of state k."""
    for i in range(7):
        slots.pose[i, 0] = states.poses[k, i]
    for i in range(6):
        slots.twist[i, 0] = states.twists[k, i]
        slots.wrench[i, 0] = states.wrenches[k, i]
    for i in range(states.deflections.shape[1]):
        slots.deflection[i, 0] = states.deflections[k, i]
    for i in range(states.inputs.shape[1]):
        slots.inputs[i, 0] = states.inputs[k, i]


@device
def seed(slots: Slots, variable: int, column: int) -> None:
    """Write the derivatives of a state by a variable into a column."""
    for array in (
        slots.pose,
        slots.twist,
        slots.deflection,
        slots.inputs,
        slots.wrench,
        slots.body,
    ):
        array[:, column] = 0.0
    if variable < 3:
        slots.pose[variable, column] = 1.0
        return
    if variable < 6:
        q = slots.pose
        x, y, z = 1.0 * (variable == 3), 1.0 * (variable == 4), 1.0 * (variable == 5)
        rate = quaternion_rate(q[3, 0], q[4, 0], q[5, 0], q[6, 0], x, y, z)
        for i in range(4):
            q[3 + i, column] = rate[i]
        return
    local_index = variable - 6
    gravity = slots.body[BODY_GRAVITY : BODY_GRAVITY + 3]
    for array in (slots.twist, slots.deflection, gravity, slots.inputs, slots.wrench):
        if local_index < array.shape[0]:
            array[local_index, column] = 1.0
            return
        local_index -= array.shape[0]


@device
def seed_derivatives(slots: Slots, first_variable: int) -> None:
    """Write the derivatives by the variables from `first_variable` on, one to a column."""
    for j in range(slots.pose.shape[1] - 1):
        seed(slots, first_variable + j, 1 + j)


@allocating
def duals_of(slots: Slots, width: Width) -> Slots:
    """Return the views of a state's slots as dual numbers."""
    return Slots(
        as_duals(slots.body, width),
        as_duals(slots.pose, width),
        as_duals(slots.twist, width),
        as_duals(slots.deflection, width),
        as_duals(slots.inputs, width),
        as_duals(slots.wrench, width),
        as_duals(slots.result, width),
    )


@compiled
def forward_dynamics_slopes(
    body: FloatArray, legs: Legs, width: Width, states: States, out: FloatArray
) -> int:
    """Fill `out` (batch, 6 + k, variables); return the first state without them, or -1.

    Accelerations are linear in forces and wrench: derivatives by these need only further right-hand
    sides of the same equations.
    """
    slots, work, float_work = (
        make_slots(body, states, out.shape[1], width),
        dual_work(legs, width),
        make_work(legs),
    )
    dual_state, matrix = duals_of(slots, width), np.empty((6, 6))
    # The matrix does not depend on forces and wrench: plain numbers, and duals on the right.
    reused_work = Work(*float_work[:-1], work.right)
    n_nonlinear = 15 + states.deflections.shape[1]  # pose, twist, deflection, gravity
    for k in range(out.shape[0]):
        fill(states, k, slots)
        first_variable = 0
        while first_variable < n_nonlinear:
            seed_derivatives(slots, first_variable)
            state = platform_state(dual_state.pose, dual_state.twist)
            if not forward_dynamics(
                dual_state.body,
                legs,
                state,
                dual_state.deflection,
                dual_state.inputs,
                dual_state.wrench,
                dual_state.result,
                work,
            ):
                return k
            copy_derivatives(slots.result, first_variable, out[k])
            first_variable += len(width)
        float_state, deflection_values = (
            platform_state(states.poses[k], states.twists[k]),
            states.deflections[k],
        )
        assemble(body, legs, float_state, deflection_values, float_work)
        for i in range(6):
            copy(float_work.mass_matrix[i], matrix[i])
        while first_variable < out.shape[2]:
            seed_derivatives(slots, first_variable)
            for i in range(6):
                copy(matrix[i], float_work.mass_matrix[i])
            accelerate(
                body,
                legs,
                float_state,
                deflection_values,
                dual_state.inputs,
                dual_state.wrench,
                dual_state.result,
                reused_work,
            )
            copy_derivatives(slots.result, first_variable, out[k])
            first_variable += len(width)
    return -1


@compiled
def inverse_dynamics_slopes(
    body: FloatArray, legs: Legs, width: Width, states: States, out: FloatArray
) -> int:
    """Fill `out` (batch, n, variables); return the first state without them, or -1."""
    slots, work = make_slots(body, states, out.shape[1], width), dual_work(legs, width)
    dual_state = duals_of(slots, width)
    for k in range(out.shape[0]):
        fill(states, k, slots)
        for first_variable in range(0, out.shape[2], len(width)):
            seed_derivatives(slots, first_variable)
            state = platform_state(dual_state.pose, dual_state.twist)
            if not inverse_dynamics(
                dual_state.body,
                legs,
                state,
                dual_state.deflection,
                dual_state.inputs,
                dual_state.wrench,
                dual_state.result,
                work,
            ):
                return k
            copy_derivatives(slots.result, first_variable, out[k])
    return -1


class DifferentiatedConstants(NamedTuple):
    """Constants of a machine, and their derivatives by p parameters."""

    body: FloatArray
    """`(1 + p, BODY_SIZE)` values in row 0, then derivatives"""
    legs: FloatArray
    """`(1 + p, n, LEG_SIZE)` values in row 0, then derivatives"""


@device
def seed_parameters(
    constants: DifferentiatedConstants, first_parameter: int, body: FloatArray, rows: FloatArray
) -> None:
    """Write the constants to column 0, derivatives from `first_parameter` on to the others.

    Columns beyond the last parameter are zero.
    """
    for j in range(body.shape[1]):
        k = 0 if j == 0 else first_parameter + j
        for i in range(body.shape[0]):
            body[i, j] = constants.body[k, i] if k < constants.body.shape[0] else 0.0
        for leg in range(rows.shape[0]):
            for i in range(rows.shape[1]):
                rows[leg, i, j] = constants.legs[k, leg, i] if k < constants.legs.shape[0] else 0.0


@device
def copy_derivatives(result: FloatArray, first_column: int, out: FloatArray) -> None:
    """Copy the derivatives of a result to the columns of `out` from `first_column` on."""
    for j in range(min(result.shape[1] - 1, out.shape[1] - first_column)):
        for i in range(out.shape[0]):
            out[i, first_column + j] = result[i, 1 + j]


@allocating
def make_memory(
    legs: Legs, constants: DifferentiatedConstants, width: Width
) -> tuple[FloatArray, FloatArray, Constants]:
    """Return memory for constants of body and legs with derivatives, and its view as duals."""
    w, shape = len(width) + 1, constants.legs.shape
    body, rows = np.empty((constants.body.shape[1], w)), np.empty((shape[1], shape[2], w))
    duals = Constants(as_duals(body, width), legs_like(legs, as_duals(rows, width)))
    return body, rows, duals


@compiled
def forward_dynamics_by_parameters(
    legs: Legs, constants: DifferentiatedConstants, width: Width, states: States, out: FloatArray
) -> int:
    """Fill `out` (batch, 6 + k, p); return the first state without derivatives, or -1."""
    body, leg_rows, machine = make_memory(legs, constants, width)
    work = dual_work(legs, width)
    result = np.empty((out.shape[1], len(width) + 1))
    dual_result = as_duals(result, width)
    for first_parameter in range(0, out.shape[2], len(width)):
        seed_parameters(constants, first_parameter, body, leg_rows)
        for k in range(out.shape[0]):
            state = platform_state(states.poses[k], states.twists[k])
            if not forward_dynamics(
                machine.body,
                machine.legs,
                state,
                states.deflections[k],
                states.inputs[k],
                states.wrenches[k],
                dual_result,
                work,
            ):
                return k
            copy_derivatives(result, first_parameter, out[k])
    return -1


@compiled
def inverse_dynamics_by_parameters(
    legs: Legs, constants: DifferentiatedConstants, width: Width, states: States, out: FloatArray
) -> int:
    """Fill `out` (batch, n, p); return the first state without derivatives, or -1."""
    body, leg_rows, machine = make_memory(legs, constants, width)
    work = dual_work(legs, width)
    result = np.empty((out.shape[1], len(width) + 1))
    dual_result = as_duals(result, width)
    for first_parameter in range(0, out.shape[2], len(width)):
        seed_parameters(constants, first_parameter, body, leg_rows)
        for k in range(out.shape[0]):
            state = platform_state(states.poses[k], states.twists[k])
            if not inverse_dynamics(
                machine.body,
                machine.legs,
                state,
                states.deflections[k],
                states.inputs[k],
                states.wrenches[k],
                dual_result,
                work,
            ):
                return k
            copy_derivatives(result, first_parameter, out[k])
    return -1


@compiled
def geometry_by_parameters(
    legs: Legs, constants: DifferentiatedConstants, width: Width, poses: FloatArray, out: FloatArray
) -> int:
    """Fill `out` (batch, n + c, p): coordinates of poses, then how far constraints are off.

    Return the first pose that a leg cannot reach, or -1.
    """
    body, leg_rows, machine = make_memory(legs, constants, width)
    w, n, n_constraints = len(width) + 1, legs.rows.shape[0], constraint_count(legs)
    result, constraint_values = np.empty((n + n_constraints, w)), np.empty((n_constraints, 8, w))
    dual_result, constraints, zero_twist = (
        as_duals(result, width),
        as_duals(constraint_values, width),
        np.zeros(6),
    )
    for first_parameter in range(0, out.shape[2], len(width)):
        seed_parameters(constants, first_parameter, body, leg_rows)
        for k in range(out.shape[0]):
            if not inverse_kinematics(machine.legs, poses[k], dual_result):
                return k
            fill_constraints(machine.legs, platform_state(poses[k], zero_twist), constraints)
            for i in range(n_constraints):
                copy(constraint_values[i, 7], result[n + i])
            copy_derivatives(result, first_parameter, out[k])
    return -1


@device
def write_state(dual_state: Slots, y: FloatArray) -> None:
    """Copy pose, twist and deflection to `y` (13 + 2k,)."""
    for i in range(7):
        y[i] = dual_state.pose[i]
    for i in range(6):
        y[7 + i] = dual_state.twist[i]
    for i in range(dual_state.deflection.shape[0]):
        y[13 + i] = dual_state.deflection[i]


@device
def copy_tangents(y: FloatArray, first_column: int, out: FloatArray) -> None:
    """Copy the derivatives of `y` (13 + 2k, 1 + w) to the columns of `out` from `first_column` on.

    The derivative dq of a quaternion q becomes the rotation vector 2 dq q*.
    """
    conjugate_w, conjugate_x, conjugate_y, conjugate_z = y[3, 0], -y[4, 0], -y[5, 0], -y[6, 0]  # q*
    for j in range(min(y.shape[1] - 1, out.shape[1] - first_column)):
        for i in range(3):
            out[i, first_column + j] = y[i, 1 + j]
        a, b, c, d = y[3, 1 + j], y[4, 1 + j], y[5, 1 + j], y[6, 1 + j]
        out[3, first_column + j] = 2.0 * (
            a * conjugate_x + b * conjugate_w + c * conjugate_z - d * conjugate_y
        )
        out[4, first_column + j] = 2.0 * (
            a * conjugate_y - b * conjugate_z + c * conjugate_w + d * conjugate_x
        )
        out[5, first_column + j] = 2.0 * (
            a * conjugate_z + b * conjugate_y - c * conjugate_x + d * conjugate_w
        )
        for i in range(7, y.shape[0]):
            out[i - 1, first_column + j] = y[i, 1 + j]


@compiled
def step_slopes(
    body: FloatArray,
    legs: Legs,
    inertia: FloatArray,
    width: Width,
    states: States,
    step: float,
    after: FloatArray,
    out: FloatArray,
) -> int:
    """Fill the states `after` a step and the derivatives `out`.

    Returns the index of the first state whose step fails, or -1 if none does.

    Args:
        body: platform constants.
        legs: leg constants.
        inertia: `(n,)` of the motors [kg, kg m2], beside that of the legs.
        width: one entry per derivative of a dual.
        states: a batch.
        step: [s] time step.
        after: `(batch, 13 + 2k)`, overwritten.
        out: `(batch, 12 + 2k, variables)`, overwritten; by as many variables as it has columns.
    """
    size, w = after.shape[1], len(width) + 1
    slots, work = make_slots(body, states, 1, width), dual_work(legs, width)
    dual_state, state_slots = duals_of(slots, width), np.empty((size, w))
    y = as_duals(state_slots, width)
    stages = Stages(
        as_duals(np.empty((size, w)), width), as_duals(np.empty((4, size, w)), width), work
    )
    for k in range(out.shape[0]):
        fill(states, k, slots)
        for first_variable in range(0, out.shape[2], len(width)):
            seed_derivatives(slots, first_variable)
            write_state(dual_state, y)
            if not driven_step(
                dual_state.body,
                legs,
                inertia,
                y,
                dual_state.inputs,
                dual_state.wrench,
                step,
                stages,
            ):
                return k
            copy_tangents(state_slots, first_variable, out[k])
        for i in range(size):
            after[k, i] = state_slots[i, 0]
    return -1
