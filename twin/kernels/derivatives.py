"""Derivatives of forward and inverse dynamics, exact: the kernels of one state on dual numbers.

Variables, in this order: displacement of the reference point and rotation vector of the platform
(6, base axes), twist (6), deflection (2k), gravity (3), inputs (actuator forces or accelerations),
wrench (6). As many at a time as a dual has derivatives.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray
from twin.kernels.dynamics.assembly import GRAVITY, assemble
from twin.kernels.dynamics.forward import accelerate, forward_dynamics
from twin.kernels.dynamics.inverse import inverse_dynamics
from twin.kernels.dynamics.work import Work, make_work
from twin.kernels.jit import allocating, compiled, device
from twin.kernels.legs.dispatch import constraint_count
from twin.kernels.legs.interface import Legs
from twin.kernels.linear_algebra import copy
from twin.kernels.numbers.arrays import as_duals
from twin.kernels.platform_state import platform_state
from twin.kernels.quaternions import quaternion_rate

Width = tuple[int, ...]
"""A tuple with one entry per derivative of a dual"""


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
    n, count, w = legs.rows.shape[0], constraint_count(legs), len(width) + 1
    size = 6 + count
    return Work(
        as_duals(np.empty((6, 6, w)), width),
        as_duals(np.empty((6, w)), width),
        as_duals(np.empty((n, 6, w)), width),
        as_duals(np.empty((n, w)), width),
        as_duals(np.empty((count, 8, w)), width),
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
    rest = variable
    if rest < 3:
        slots.pose[rest, column] = 1.0
        return
    if rest < 6:
        q = slots.pose
        x, y, z = 1.0 * (rest == 3), 1.0 * (rest == 4), 1.0 * (rest == 5)
        rate = quaternion_rate(q[3, 0], q[4, 0], q[5, 0], q[6, 0], x, y, z)
        for i in range(4):
            q[3 + i, column] = rate[i]
        return
    rest -= 6
    gravity = slots.body[GRAVITY : GRAVITY + 3]
    for array in (slots.twist, slots.deflection, gravity, slots.inputs, slots.wrench):
        if rest < array.shape[0]:
            array[rest, column] = 1.0
            return
        rest -= array.shape[0]


@device
def seed_from(slots: Slots, first: int) -> None:
    """Write the derivatives by the variables from `first` on, one to a column."""
    for j in range(slots.pose.shape[1] - 1):
        seed(slots, first + j, 1 + j)


@device
def take(slots: Slots, first: int, out: FloatArray) -> None:
    """Copy the derivatives of the result to the columns of `out` from `first` on."""
    for j in range(min(slots.result.shape[1] - 1, out.shape[1] - first)):
        for i in range(out.shape[0]):
            out[i, first + j] = slots.result[i, 1 + j]


class Duals(NamedTuple):
    """One state in dual numbers: views of its slots."""

    body: FloatArray
    pose: FloatArray
    twist: FloatArray
    deflection: FloatArray
    inputs: FloatArray
    wrench: FloatArray
    result: FloatArray


@allocating
def duals_of(slots: Slots, width: Width) -> Duals:
    """Return the views of a state's slots as dual numbers."""
    return Duals(
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

    Accelerations are linear in forces and wrench: by these, the equations are solved again as they
    stand, without derivatives of their coefficients.
    """
    slots, work, plain = (
        make_slots(body, states, out.shape[1], width),
        dual_work(legs, width),
        make_work(legs),
    )
    at, matrix = duals_of(slots, width), np.empty((6, 6))
    again = Work(*plain[:-1], work.right)
    for k in range(out.shape[0]):
        fill(states, k, slots)
        first = 0
        while first < 15 + states.deflections.shape[1]:
            seed_from(slots, first)
            state = platform_state(at.pose, at.twist)
            if not forward_dynamics(
                at.body, legs, state, at.deflection, at.inputs, at.wrench, at.result, work
            ):
                return k
            take(slots, first, out[k])
            first += len(width)
        here, inside = platform_state(states.poses[k], states.twists[k]), states.deflections[k]
        assemble(body, legs, here, inside, plain)
        for i in range(6):
            copy(plain.mass_matrix[i], matrix[i])
        while first < out.shape[2]:
            seed_from(slots, first)
            for i in range(6):
                copy(matrix[i], plain.mass_matrix[i])
            accelerate(body, legs, here, inside, at.inputs, at.wrench, at.result, again)
            take(slots, first, out[k])
            first += len(width)
    return -1


@compiled
def inverse_dynamics_slopes(
    body: FloatArray, legs: Legs, width: Width, states: States, out: FloatArray
) -> int:
    """Fill `out` (batch, n, variables); return the first state without them, or -1."""
    slots, work = make_slots(body, states, out.shape[1], width), dual_work(legs, width)
    at = duals_of(slots, width)
    for k in range(out.shape[0]):
        fill(states, k, slots)
        for first in range(0, out.shape[2], len(width)):
            seed_from(slots, first)
            state = platform_state(at.pose, at.twist)
            if not inverse_dynamics(
                at.body, legs, state, at.deflection, at.inputs, at.wrench, at.result, work
            ):
                return k
            take(slots, first, out[k])
    return -1
