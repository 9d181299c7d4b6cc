"""Derivatives of a Runge-Kutta step, exact: the step of one state on dual numbers.

Variables are those of `twin.kernels.derivatives`, in its order, the inputs being forces of the
motors. Results are displacement and rotation vector of the platform after the step (base axes),
twist and deflection.
"""

from __future__ import annotations

import numpy as np

from twin.basics.arrays import FloatArray
from twin.kernels.derivatives import (
    Duals,
    States,
    Width,
    dual_work,
    duals_of,
    fill,
    make_slots,
    seed_from,
)
from twin.kernels.integrators.driven_step import driven_step
from twin.kernels.integrators.runge_kutta import Stages
from twin.kernels.jit import compiled, device
from twin.kernels.legs.interface import Legs
from twin.kernels.numbers.arrays import as_duals


@device
def join(at: Duals, y: FloatArray) -> None:
    """Copy pose, twist and deflection to `y` (13 + 2k,)."""
    for i in range(7):
        y[i] = at.pose[i]
    for i in range(6):
        y[7 + i] = at.twist[i]
    for i in range(at.deflection.shape[0]):
        y[13 + i] = at.deflection[i]


@device
def take_tangents(y: FloatArray, first: int, out: FloatArray) -> None:
    """Copy the derivatives of `y` (13 + 2k, 1 + w) to the columns of `out` from `first` on.

    The derivative dq of a quaternion q becomes the rotation vector 2 dq q*.
    """
    w, x, s, z = y[3, 0], -y[4, 0], -y[5, 0], -y[6, 0]
    for j in range(min(y.shape[1] - 1, out.shape[1] - first)):
        for i in range(3):
            out[i, first + j] = y[i, 1 + j]
        a, b, c, d = y[3, 1 + j], y[4, 1 + j], y[5, 1 + j], y[6, 1 + j]
        out[3, first + j] = 2.0 * (a * x + b * w + c * z - d * s)
        out[4, first + j] = 2.0 * (a * s - b * z + c * w + d * x)
        out[5, first + j] = 2.0 * (a * z + b * s - c * x + d * w)
        for i in range(7, y.shape[0]):
            out[i - 1, first + j] = y[i, 1 + j]


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
    """Fill the states `after` a step and the derivatives `out`; return the first failed, or -1.

    Args:
        body: platform constants.
        legs: leg constants.
        inertia: `(n,)` of the motors.
        width: one entry per derivative of a dual.
        states: a batch.
        step: [s].
        after: `(batch, 13 + 2k)`, overwritten.
        out: `(batch, 12 + 2k, variables)`, overwritten; by as many variables as it has columns.
    """
    size, w = after.shape[1], len(width) + 1
    slots, at_work = make_slots(body, states, 1, width), dual_work(legs, width)
    at, memory = duals_of(slots, width), np.empty((size, w))
    y = as_duals(memory, width)
    stages = Stages(
        as_duals(np.empty((size, w)), width), as_duals(np.empty((4, size, w)), width), at_work
    )
    for k in range(out.shape[0]):
        fill(states, k, slots)
        for first in range(0, out.shape[2], len(width)):
            seed_from(slots, first)
            join(at, y)
            if not driven_step(at.body, legs, inertia, y, at.inputs, at.wrench, step, stages):
                return k
            take_tangents(memory, first, out[k])
        for i in range(size):
            after[k, i] = memory[i, 0]
    return -1
