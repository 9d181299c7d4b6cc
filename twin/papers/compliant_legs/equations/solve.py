"""Solutions of the paper's systems: accelerations, reactions, forces, rest lengths; energies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from twin.basics.arrays import FloatArray
from twin.basics.quaternions import rotation_matrix
from twin.errors import InputError, SingularPoseError
from twin.papers.compliant_legs.equations.rows import platform_mass_matrix
from twin.papers.compliant_legs.equations.systems import (
    LinearSystem,
    free_system,
    locked_system,
    still_system,
)
from twin.papers.compliant_legs.machine import CompliantMachine
from twin.papers.compliant_legs.state import (
    checked_pose,
    checked_state,
    dot,
    least_squares,
    leg_state,
    solved,
    tip_matrices,
)

SINGULAR = 1e-11
"""Smallest singular value over the largest of a system that holds the platform."""


@dataclass(frozen=True, eq=False)
class CompliantSolution:
    """Solution of one of the systems, for leading batch axes `(...)`."""

    acceleration: FloatArray
    """`(..., 6)` [m/s2, rad/s2] of the platform, base axes"""
    deflection_acceleration: FloatArray
    """delta1'' `(..., n)` [m/s2]"""
    extension_acceleration: FloatArray
    """delta2'' `(..., n)` [m/s2]"""
    reactions: FloatArray
    """Forces `(..., n, 3)` [N] of the platform on the legs' tips, base axes"""
    forces: FloatArray
    """Actuator forces `(..., n)` [N], extension positive"""
    rest_lengths: FloatArray
    """2 l1 `(..., n)` [m]"""


def solve_free(
    machine: CompliantMachine,
    pose: Any,
    twist: Any = None,
    deflection: Any = None,
    forces: Any = None,
    wrench: Any = None,
) -> CompliantSolution:
    """Return the accelerations under actuator forces.

    Args:
        machine: the machine.
        pose: `(..., 7)`.
        twist: `(..., 6)`; default rest.
        deflection: deflections and their rates `(..., 2n)` [m, m/s]; default zero.
        forces: actuator forces `(..., n)` [N]; default zero.
        wrench: force and moment on the platform `(..., 6)` [N, N m], base axes; default zero.

    Raises:
        InputError: wrong shapes, not finite, no unit quaternion.
        SingularPoseError: a leg has no length.

    Reference: compliant-leg paper, equations (76), (77).
    """
    shape, (poses, twists, deflections, pushes, wrenches) = checked_state(
        machine,
        pose,
        twist,
        deflection,
        forces=(forces, machine.n_legs),
        wrench=(wrench, 6),
    )
    system = free_system(machine, poses, twists, deflections, pushes, wrenches)
    found = solved(system.matrix, system.right_side)
    rest = np.broadcast_to(machine.spring_length, pushes.shape)
    return _solution(machine, system, shape, found, pushes, rest)


def solve_locked(
    machine: CompliantMachine,
    pose: Any,
    twist: Any = None,
    deflection: Any = None,
    wrench: Any = None,
) -> CompliantSolution:
    """Return the accelerations while the actuators keep their extension rates.

    The forces are those the actuators need for it; arguments and errors as for `solve_free`.

    Raises:
        InputError: wrong shapes, not finite, no unit quaternion.
        SingularPoseError: a leg has no length.

    Reference: compliant-leg paper, equation (78).
    """
    shape, (poses, twists, deflections, wrenches) = checked_state(
        machine, pose, twist, deflection, wrench=(wrench, 6)
    )
    system = locked_system(machine, poses, twists, deflections, wrenches)
    found = solved(system.matrix, system.right_side)
    forces = found[:, 6 + 3 * machine.n_legs :]
    rest = np.broadcast_to(machine.spring_length, forces.shape)
    return _solution(machine, system, shape, found, forces, rest)


def rest_lengths(
    machine: CompliantMachine, pose: Any, extension: Any, wrench: Any = None
) -> CompliantSolution:
    """Return the springs' rest lengths with which the platform is at rest at a pose.

    More legs than six can press against each other: then the smallest actuator forces are taken.

    Args:
        machine: the machine; its own rest lengths are not used.
        pose: `(..., 7)` of rest.
        extension: delta2 of the actuators there `(..., n)` [m].
        wrench: force and moment on the platform `(..., 6)` [N, N m], base axes; default zero.

    Raises:
        InputError: wrong shapes, not finite, no unit quaternion, fewer than six legs.
        SingularPoseError: the legs cannot hold the platform at the pose.

    Reference: compliant-leg paper, equations (79), (80).
    """
    n = machine.n_legs
    shape, (poses, extensions, wrenches) = checked_pose(
        pose, extension=(extension, n), wrench=(wrench, 6)
    )
    if n < 6:
        raise InputError("machine", f"{n} legs cannot hold six degrees of freedom, six are needed")
    system = still_system(machine, poses, extensions, wrenches)
    found = np.empty_like(system.right_side)
    for k in range(len(poses)):
        found[k] = _least_forces(machine, system.matrix[k], system.right_side[k], poses[k])
    return _solution(machine, system, shape, found, found[:, -2 * n : -n], found[:, -n:])


def _least_forces(
    machine: CompliantMachine, matrix: FloatArray, right_side: FloatArray, pose: FloatArray
) -> FloatArray:
    """Return the solution of one still system with the smallest actuator forces."""
    n = machine.n_legs
    scale = np.ones(len(matrix))
    scale[-n:] = machine.stiffness  # rest lengths as forces: no unit decides the rank
    left, singular, right = np.linalg.svd(matrix / scale)
    redundant = n - 6
    rank = len(matrix) - redundant
    if not singular[rank - 1] > SINGULAR * singular[0]:
        raise SingularPoseError(
            "the legs cannot hold the platform at this pose: it is singular. Move away from it.",
            {"pose": pose.copy()},
        )
    found = right[:rank].T @ (left[:, :rank].T @ right_side / singular[:rank])
    free = right[rank:].T
    forces = slice(-2 * n, -n)
    found -= free @ least_squares(free[forces], found[forces])
    return np.asarray(found / scale)


def _solution(
    machine: CompliantMachine,
    system: LinearSystem,
    shape: tuple[int, ...],
    found: FloatArray,
    forces: FloatArray,
    rest: FloatArray,
) -> CompliantSolution:
    n, legs, rows = machine.n_legs, system.legs, system.rows
    acceleration = found[:, :6]
    tips = legs.centripetal + (tip_matrices(legs.arm) @ acceleration[:, None, :, None])[..., 0]
    lengths = dot(legs.direction, tips) + legs.length * legs.turning_squared
    # A rest length that differs from the machine's moves the spring's force with it.
    shifted = machine.stiffness * (rest - machine.spring_length)
    deflections = (rows.deflecting_force + shifted - forces) / machine.deflecting_mass
    return CompliantSolution(
        acceleration.reshape((*shape, 6)),
        deflections.reshape((*shape, n)),
        (lengths - deflections).reshape((*shape, n)),
        found[:, 6 : 6 + 3 * n].reshape((*shape, n, 3)),
        forces.reshape((*shape, n)),
        np.array(rest).reshape((*shape, n)),
    )


def energy(
    machine: CompliantMachine, pose: Any, twist: Any = None, deflection: Any = None
) -> tuple[FloatArray, FloatArray]:
    """Return kinetic and potential energy `(...)` [J], zero at z = 0 and with relaxed springs.

    Arguments as for `solve_free`.

    Raises:
        InputError: wrong shapes, not finite, no unit quaternion.
        SingularPoseError: a leg has no length.

    Reference: compliant-leg paper, equations (9), (10), (30), corrected.
    """
    shape, (poses, twists, deflections) = checked_state(machine, pose, twist, deflection)
    legs = leg_state(machine, poses, twists, deflections)
    mass = platform_mass_matrix(machine, poses)
    kinetic = dot(twists, (mass @ twists[..., None])[..., 0]) / 2.0
    squares = legs.radius_rates**2 + legs.radii**2 * legs.turning_squared[..., None]
    kinetic = kinetic + (legs.masses * squares).sum(axis=(-1, -2)) / 2.0
    center = poses[:, :3] + rotation_matrix(poses[..., 3:]) @ machine.platform_center
    heights = (legs.first_moment * legs.direction[..., 2]).sum(axis=-1)
    heights = heights + (legs.masses.sum(axis=-1) * machine.base_joints[:, 2]).sum()
    lifted = machine.gravity * (machine.platform_mass * center[:, 2] + heights)
    stretched = (machine.stiffness * legs.deflection**2).sum(axis=-1) / 2.0
    return np.asarray(kinetic).reshape(shape), np.asarray(lifted + stretched).reshape(shape)
