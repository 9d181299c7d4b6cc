"""Batch functions in lanes; those of one state are the same as without.

Each computes the groups from `first` up to `last`. It fills `out` (batch, entries), rows of several
axes laid flat, and marks in `failed` the groups in which a state has no result or fails a check, or
in which states would have taken different ways through a kernel. Their states are to be computed
again, one by one.
"""

from __future__ import annotations

import numpy as np

from twin.basics.arrays import FloatArray
from twin.kernels.dynamics.assembly import assemble, energy
from twin.kernels.dynamics.forward import forward_dynamics
from twin.kernels.dynamics.inverse import inverse_dynamics
from twin.kernels.jit import compiled
from twin.kernels.kinematics.inverse import inverse_kinematics
from twin.kernels.kinematics.jacobian import jacobian, jacobian_derivative
from twin.kernels.lanes.groups import (
    Batch,
    Width,
    allowed,
    gather,
    lanes_work,
    make_group,
    scatter,
)
from twin.kernels.lanes.newton import newton_in_lanes, newton_work
from twin.kernels.legs.dispatch import constraint_count
from twin.kernels.legs.interface import Legs
from twin.kernels.numbers.arrays import as_lanes
from twin.kernels.platform_state import platform_state

TAKEN = {"forward_kinematics_lanes": ("inputs", "poses")}
"""Fields of a batch that a function takes, where not the first ones."""


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
