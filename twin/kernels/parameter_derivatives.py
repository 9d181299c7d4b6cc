"""Derivatives by parameters of the machine: the kernels of one state with constants as duals."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray
from twin.kernels.batched.analytic import legs_like
from twin.kernels.derivatives import States, Width, dual_work
from twin.kernels.dynamics.forward import forward_dynamics
from twin.kernels.dynamics.inverse import inverse_dynamics
from twin.kernels.jit import allocating, compiled, device
from twin.kernels.kinematics.inverse import inverse_kinematics
from twin.kernels.legs.dispatch import constraint_count, fill_constraints
from twin.kernels.legs.interface import Legs
from twin.kernels.linear_algebra import copy
from twin.kernels.numbers.arrays import as_duals
from twin.kernels.platform_state import platform_state


class Slopes(NamedTuple):
    """Constants of a machine, and their derivatives by p parameters."""

    body: FloatArray
    """`(1 + p, BODY_SIZE)`: values, then derivatives"""
    legs: FloatArray
    """`(1 + p, n, LEG_SIZE)`"""


@device
def seed(constants: Slopes, first: int, body: FloatArray, rows: FloatArray) -> None:
    """Write the constants to column 0, their derivatives from parameter `first` on to the others.

    Columns beyond the last parameter are zero.
    """
    for j in range(body.shape[1]):
        k = 0 if j == 0 else first + j
        for i in range(body.shape[0]):
            body[i, j] = constants.body[k, i] if k < constants.body.shape[0] else 0.0
        for leg in range(rows.shape[0]):
            for i in range(rows.shape[1]):
                rows[leg, i, j] = constants.legs[k, leg, i] if k < constants.legs.shape[0] else 0.0


@device
def take(result: FloatArray, first: int, out: FloatArray) -> None:
    """Copy the derivatives of a result to the columns of `out` from `first` on."""
    for j in range(min(result.shape[1] - 1, out.shape[1] - first)):
        for i in range(out.shape[0]):
            out[i, first + j] = result[i, 1 + j]


class Described(NamedTuple):
    """The constants as duals."""

    body: FloatArray
    legs: Legs


@allocating
def duals_of(legs: Legs, body: FloatArray, rows: FloatArray, width: Width) -> Described:
    """Return the views of constants with derivatives as dual numbers."""
    return Described(as_duals(body, width), legs_like(legs, as_duals(rows, width)))


@allocating
def make_memory(constants: Slopes, width: Width) -> tuple[FloatArray, FloatArray]:
    """Return memory for the constants of the body and of the legs, with derivatives."""
    w = len(width) + 1
    shape = constants.legs.shape
    return np.empty((constants.body.shape[1], w)), np.empty((shape[1], shape[2], w))


@compiled
def forward_dynamics_by_parameters(
    legs: Legs, constants: Slopes, width: Width, states: States, out: FloatArray
) -> int:
    """Fill `out` (batch, 6 + k, p); return the first state without derivatives, or -1."""
    body, rows = make_memory(constants, width)
    machine, work = duals_of(legs, body, rows, width), dual_work(legs, width)
    result = np.empty((out.shape[1], len(width) + 1))
    found = as_duals(result, width)
    for first in range(0, out.shape[2], len(width)):
        seed(constants, first, body, rows)
        for k in range(out.shape[0]):
            state = platform_state(states.poses[k], states.twists[k])
            inside, inputs, wrench = states.deflections[k], states.inputs[k], states.wrenches[k]
            if not forward_dynamics(
                machine.body, machine.legs, state, inside, inputs, wrench, found, work
            ):
                return k
            take(result, first, out[k])
    return -1


@compiled
def inverse_dynamics_by_parameters(
    legs: Legs, constants: Slopes, width: Width, states: States, out: FloatArray
) -> int:
    """Fill `out` (batch, n, p); return the first state without derivatives, or -1."""
    body, rows = make_memory(constants, width)
    machine, work = duals_of(legs, body, rows, width), dual_work(legs, width)
    result = np.empty((out.shape[1], len(width) + 1))
    found = as_duals(result, width)
    for first in range(0, out.shape[2], len(width)):
        seed(constants, first, body, rows)
        for k in range(out.shape[0]):
            state = platform_state(states.poses[k], states.twists[k])
            inside, inputs, wrench = states.deflections[k], states.inputs[k], states.wrenches[k]
            if not inverse_dynamics(
                machine.body, machine.legs, state, inside, inputs, wrench, found, work
            ):
                return k
            take(result, first, out[k])
    return -1


@compiled
def geometry_by_parameters(
    legs: Legs, constants: Slopes, width: Width, poses: FloatArray, out: FloatArray
) -> int:
    """Fill `out` (batch, n + c, p): coordinates of poses, then how far constraints are off.

    Return the first pose that a leg cannot reach, or -1.
    """
    body, rows = make_memory(constants, width)
    machine, w, n = duals_of(legs, body, rows, width), len(width) + 1, legs.rows.shape[0]
    count = constraint_count(legs)
    result, lines = np.empty((n + count, w)), np.empty((count, 8, w))
    found, constraints, still = as_duals(result, width), as_duals(lines, width), np.zeros(6)
    for first in range(0, out.shape[2], len(width)):
        seed(constants, first, body, rows)
        for k in range(out.shape[0]):
            if not inverse_kinematics(machine.legs, poses[k], found):
                return k
            fill_constraints(machine.legs, platform_state(poses[k], still), constraints)
            for i in range(count):
                copy(lines[i, 7], result[n + i])
            take(result, first, out[k])
    return -1
