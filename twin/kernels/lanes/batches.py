"""Batch functions in lanes; those of one state are the same as without.

Each fills `out` (batch, entries), rows of several axes laid flat, and marks in `failed` the groups
in which a state has no result, or in which states would have taken different ways through a
kernel. Their states are to be computed again, one by one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from twin.basics.arrays import FloatArray
from twin.kernels.dynamics.assembly import assemble, energy
from twin.kernels.dynamics.forward import forward_dynamics
from twin.kernels.dynamics.inverse import inverse_dynamics
from twin.kernels.jit import compiled
from twin.kernels.kinematics.inverse import inverse_kinematics
from twin.kernels.kinematics.jacobian import jacobian, jacobian_derivative
from twin.kernels.lanes.groups import Buffers, Width, gather, lanes_work, scatter
from twin.kernels.legs.interface import Legs
from twin.kernels.numbers.arrays import as_lanes
from twin.kernels.platform_state import platform_state


class Batch(NamedTuple):
    """A batch of states, and the memory of one group of them."""

    given: Buffers
    """`(batch, entries)` each"""
    gathered: Buffers
    """`(entries, lanes)` each"""
    out: FloatArray
    """`(batch, entries)`"""
    result: FloatArray
    """`(entries, lanes)`"""
    failed: NDArray[np.bool_]
    """`(groups,)`, where a group is to be computed again"""


class Loaded(NamedTuple):
    """Views of a gathered group with what acts on it, in lanes."""

    pose: FloatArray
    twist: FloatArray
    deflection: FloatArray
    inputs: FloatArray
    """actuator forces, or accelerations"""
    wrench: FloatArray
    result: FloatArray


@compiled
def loaded(batch: Batch, width: Width) -> Loaded:
    """Return the views of a batch's group in lanes."""
    return Loaded(
        as_lanes(batch.gathered[0], width),
        as_lanes(batch.gathered[1], width),
        as_lanes(batch.gathered[2], width),
        as_lanes(batch.gathered[3], width),
        as_lanes(batch.gathered[4], width),
        as_lanes(batch.result, width),
    )


@compiled
def inverse_kinematics_lanes(legs: Legs, width: Width, batch: Batch) -> None:
    """Compute actuator coordinates (n,) of poses."""
    pose, result = as_lanes(batch.gathered[0], width), as_lanes(batch.result, width)
    for group in range(batch.failed.shape[0]):
        gather(batch.given, group, batch.gathered)
        batch.failed[group] = not inverse_kinematics(legs, pose, result)
        scatter(batch.result, group, batch.out)


@compiled
def jacobian_lanes(legs: Legs, width: Width, batch: Batch) -> None:
    """Compute Jacobians (n, 6) of poses."""
    pose, n = as_lanes(batch.gathered[0], width), legs.rows.shape[0]
    result = as_lanes(batch.result.reshape((n, 6, len(width))), width)
    for group in range(batch.failed.shape[0]):
        gather(batch.given, group, batch.gathered)
        jacobian(legs, pose, result)
        batch.failed[group] = False
        scatter(batch.result, group, batch.out)


@compiled
def jacobian_derivative_lanes(legs: Legs, width: Width, batch: Batch) -> None:
    """Compute dJ/dt (n, 6) of poses and twists."""
    pose, twist = as_lanes(batch.gathered[0], width), as_lanes(batch.gathered[1], width)
    result = as_lanes(batch.result.reshape((legs.rows.shape[0], 6, len(width))), width)
    for group in range(batch.failed.shape[0]):
        gather(batch.given, group, batch.gathered)
        jacobian_derivative(legs, platform_state(pose, twist), result)
        batch.failed[group] = False
        scatter(batch.result, group, batch.out)


@compiled
def forward_dynamics_lanes(body: FloatArray, legs: Legs, width: Width, batch: Batch) -> None:
    """Compute accelerations (6 + k,) of poses, twists, deflections, forces and wrenches."""
    at, work = loaded(batch, width), lanes_work(legs, width)
    for group in range(batch.failed.shape[0]):
        gather(batch.given, group, batch.gathered)
        state = platform_state(at.pose, at.twist)
        batch.failed[group] = not forward_dynamics(
            body, legs, state, at.deflection, at.inputs, at.wrench, at.result, work
        )
        scatter(batch.result, group, batch.out)


@compiled
def inverse_dynamics_lanes(body: FloatArray, legs: Legs, width: Width, batch: Batch) -> None:
    """Compute forces (n,) of poses, twists, deflections, accelerations and wrenches."""
    at, work = loaded(batch, width), lanes_work(legs, width)
    for group in range(batch.failed.shape[0]):
        gather(batch.given, group, batch.gathered)
        state = platform_state(at.pose, at.twist)
        batch.failed[group] = not inverse_dynamics(
            body, legs, state, at.deflection, at.inputs, at.wrench, at.result, work
        )
        scatter(batch.result, group, batch.out)


@compiled
def mass_matrix_lanes(body: FloatArray, legs: Legs, width: Width, batch: Batch) -> None:
    """Compute mass matrices (6, 6) of poses, twists and deflections."""
    work, result = lanes_work(legs, width), as_lanes(batch.result, width)
    pose, twist = as_lanes(batch.gathered[0], width), as_lanes(batch.gathered[1], width)
    deflection = as_lanes(batch.gathered[2], width)
    for group in range(batch.failed.shape[0]):
        gather(batch.given, group, batch.gathered)
        singular = assemble(body, legs, platform_state(pose, twist), deflection, work)
        for i in range(6):
            for j in range(i + 1):
                result[6 * i + j] = work.mass_matrix[i, j]
                result[6 * j + i] = work.mass_matrix[i, j]
        batch.failed[group] = singular >= 0
        scatter(batch.result, group, batch.out)


@compiled
def energy_lanes(body: FloatArray, legs: Legs, width: Width, batch: Batch) -> None:
    """Compute energies and dissipated power (3,) of poses, twists and deflections."""
    result, deflection = as_lanes(batch.result, width), as_lanes(batch.gathered[2], width)
    pose, twist = as_lanes(batch.gathered[0], width), as_lanes(batch.gathered[1], width)
    for group in range(batch.failed.shape[0]):
        gather(batch.given, group, batch.gathered)
        state = platform_state(pose, twist)
        result[0], result[1], result[2] = energy(body, legs, state, deflection)
        batch.failed[group] = False
        scatter(batch.result, group, batch.out)
