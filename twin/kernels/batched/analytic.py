"""The analytic batch: drives and Runge-Kutta steps of every row over one control period."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from twin.basics.arrays import FloatArray
from twin.kernels.batched.arrays import Machines
from twin.kernels.batched.drives import drive_one, issue, read_one
from twin.kernels.bundle import unbundled
from twin.kernels.dynamics.assembly import GRAVITY
from twin.kernels.dynamics.state import Load, derivative
from twin.kernels.dynamics.work import make_work
from twin.kernels.integrators.runge_kutta import Stages, runge_kutta_move
from twin.kernels.jit import by_kind, compiled, device
from twin.kernels.kinematics.inverse import coordinates_and_rates
from twin.kernels.legs.interface import Legs
from twin.kernels.linear_algebra import copy


def legs_at(legs: Legs, i: int) -> Legs:
    """Return the legs of row i of `legs`, whose rows `(N, n, ...)` are those of many machines."""
    raise NotImplementedError


def legs_like(legs: Legs, rows: Any) -> Legs:
    """Return legs of the kind of `legs` with other rows."""
    raise NotImplementedError


@by_kind(legs_like, counting=True)
def _legs_like(legs: Any, rows: Any) -> Callable[..., Any]:
    kind = legs.instance_class
    return lambda legs, rows: kind(rows)


@by_kind(legs_at, counting=True)
def _legs_at(legs: Any, i: int) -> Callable[..., Any]:
    kind = legs.instance_class
    return lambda legs, i: kind(legs.rows[i])


@device
def read_state(machines: Machines, i: int, y: FloatArray) -> None:
    """Fill the state `y` (m,) of row i."""
    inside = machines.deflection.shape[1]
    for j in range(7):
        y[j] = machines.pose[i, j]
    for j in range(6):
        y[7 + j] = machines.twist[i, j]
    for j in range(inside):
        y[13 + j] = machines.deflection[i, j]


@device
def store(machines: Machines, i: int, y: FloatArray, before: FloatArray, step: float) -> None:
    """Take over the state `y` (m,) into row i; `before` (6,) is the twist one `step` [s] ago."""
    inside = machines.deflection.shape[1]
    for j in range(7):
        machines.pose[i, j] = y[j]
    for j in range(6):
        machines.twist[i, j] = y[7 + j]
        machines.acceleration[i, j] = (y[7 + j] - before[j]) / step
    for j in range(inside):
        machines.deflection[i, j] = y[13 + j]


@device
def actuated(legs: Any, y: FloatArray, coordinates: FloatArray, rates: FloatArray) -> None:
    """Fill coordinates and rates `(n,)` of what the actuators move; springs in series left out."""
    coordinates_and_rates(legs, y[:7], y[7:13], coordinates, rates)
    inside = (y.shape[0] - 13) // 2
    for j in range(inside):
        coordinates[j] -= y[13 + j]
        rates[j] -= y[13 + inside + j]


@compiled
def advance_rows(bundle: Any) -> None:
    """Advance all rows that have not failed by one control period.

    Args:
        bundle: of `Constants`, `DriveArrays` and `Machines` of all rows, `Inputs`, the mode of the
            commands (`VELOCITY` or 0) and the step of the engine [s].
    """
    constants, arrays, machines, inputs, mode, step = unbundled(bundle)
    bodies, legs = constants
    n, ratio = inputs.command.shape[1], inputs.shaking.shape[1]
    size = 13 + machines.deflection.shape[1]
    y, work = np.empty(size), make_work(legs_at(legs, 0))
    stages = Stages(np.empty(size), np.empty((4, size)), work)
    before, constant, body = np.zeros(6), np.zeros(n), np.empty(bodies.shape[1])
    for i in range(inputs.command.shape[0]):
        if machines.failed[i]:
            continue
        own = legs_at(legs, i)
        read_state(machines, i, y)
        copy(bodies[i], body)
        coordinates, rates, forces = machines.coordinates[i], machines.rates[i], machines.forces[i]
        load = Load(forces, constant, inputs.wrench[i])
        if not issue(arrays.counters[i], arrays.queue[i], inputs.command[i], inputs.feedforward[i]):
            machines.failed[i] = True
            continue
        for part in range(ratio):
            for k in range(3):
                body[GRAVITY + k] = bodies[i, GRAVITY + k] - inputs.shaking[i, part, k]
            drive_one(arrays, i, ratio, mode, step, coordinates, rates, forces)
            for k in range(6):
                before[k] = y[7 + k]
            if not (
                derivative(body, own, y, load, 0.0, stages.rates[0], work)
                and runge_kutta_move(body, own, y, load, 0.0, step, stages)
            ):
                machines.failed[i] = True
                break
            actuated(own, y, coordinates, rates)
        store(machines, i, y, before, step)
        read_one(arrays, machines, i, ratio * step)
