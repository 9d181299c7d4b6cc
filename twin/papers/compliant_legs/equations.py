"""Equations of motion of the compliant-leg paper and their solutions.

Platform and leg coefficients (`platform_mass_matrix`, `leg_rows`).

The platform has a mass matrix and forces about its reference point. The legs are described by
vectors instead of angles.

With the unit vector n along the leg, of length l, and u = dn/dt, the Lagrangian of the paper's
three point masses gives for the tip's acceleration a under the joint reaction F_r (on the leg) and
the actuator force F_act

    n . a  = (F_act + F_r . n) / m3 + g . n - l4 u^2
    a_perp = l^2 / I F_r_perp + l / I (S g_perp - 2 C u) + 2 l' u

with I = sum m r^2, S = sum m r (`first_moment`) and C = sum m r r' (`coriolis_moment`) of the
masses m1 of the spring, m2 of the housing and m3 of the follower, and for the spring

    (m1 / 4 + m2) delta1'' = -F_act - k delta1 - B delta1'
                             + (m1 r1 / 2 + m2 r2) u^2 + (m1 / 2 + m2) g . n.

Vectors need no angles, so no direction of a leg is singular. Neither m3 nor F_r is in the spring's
equation: both act on the tip, whose distance is the length l, not the deflection.

Reference: compliant-leg paper, equations (30), (55) to (58), corrected (see the errata).

The paper's three linear systems: `free_system`, `locked_system`, `still_system`.

Order of the unknowns for n legs; the first two blocks are all of the free system, the first three
those of the locked one:

    acceleration (6)       x'' y'' z'' and angular acceleration, base axes
    joint reactions (3n)   leg 1 x y z, leg 2 x y z, ...: force of the platform on the leg's tip
    actuator forces (n)    extension positive
    rest lengths (n)       2 l1

Order of the equations: platform (6), equal accelerations of tips and platform joints (3n, leg by
leg), delta2'' = 0 (n), delta1'' = 0 (n).

Reference: compliant-leg paper, equations (76) to (80).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, cross, cross_matrix, rotation_matrix
from twin.errors import InputError, SingularPoseError
from twin.papers.compliant_legs.machine import (
    CompliantMachine,
    LegState,
    checked_pose,
    checked_state,
    dot,
    least_squares,
    leg_state,
    outer,
    solved,
    tip_matrices,
)

RANK_TOLERANCE = 1e-11
"""Smallest singular value over the largest of a system that holds the platform."""


def platform_mass_matrix(machine: CompliantMachine, pose: FloatArray) -> FloatArray:
    """Return `(batch, 6, 6)` of poses `(batch, 7)`: kinetic energy = twist^T M twist / 2.

    Reference: compliant-leg paper, equation (9), in velocities instead of angle rates and with a
    centre of mass that need not be the reference point.
    """
    rotation = rotation_matrix(pose[..., 3:])
    center = rotation @ machine.platform_center
    moment = machine.platform_mass * cross_matrix(center)
    matrix = np.zeros((len(pose), 6, 6))
    matrix[:, :3, :3] = machine.platform_mass * np.eye(3)
    matrix[:, 3:, :3], matrix[:, :3, 3:] = moment, -moment
    matrix[:, 3:, 3:] = _inertia_about_reference(machine, rotation, center)
    return matrix


def platform_forces(machine: CompliantMachine, pose: FloatArray, twist: FloatArray) -> FloatArray:
    """Return `(batch, 6)` gravity minus gyroscopic terms: M acceleration = this + wrenches."""
    rotation = rotation_matrix(pose[..., 3:])
    center = rotation @ machine.platform_center
    omega = twist[:, 3:]
    weight = machine.platform_mass * machine.weight_direction
    momentum = (_inertia_about_reference(machine, rotation, center) @ omega[..., None])[..., 0]
    centripetal = cross(omega, cross(omega, center))
    return np.concatenate(
        [
            weight - machine.platform_mass * centripetal,
            cross(center, weight) - cross(omega, momentum),
        ],
        axis=-1,
    )


def _inertia_about_reference(
    machine: CompliantMachine, rotation: FloatArray, center: FloatArray
) -> FloatArray:
    about_center = rotation @ machine.platform_inertia @ np.swapaxes(rotation, -1, -2)
    parallel_axis = dot(center, center)[..., None, None] * np.eye(3) - outer(center, center)
    return about_center + machine.platform_mass * parallel_axis


class LegRows(NamedTuple):
    """Coefficients of a batch of states: what is linear in reactions and actuator forces."""

    admittance: FloatArray
    """Tip acceleration per joint reaction `(batch, n, 3, 3)` [1/kg]"""
    actuation: FloatArray
    """Tip acceleration per actuator force `(batch, n, 3)` [1/kg]"""
    drift: FloatArray
    """Tip acceleration without reaction and actuator force `(batch, n, 3)` [m/s2]"""
    deflecting_force: FloatArray
    """(m1 / 4 + m2) delta1'' without actuator force `(batch, n)` [N]"""


def leg_rows(machine: CompliantMachine, legs: LegState) -> LegRows:
    """Return the coefficients of the legs' equations at a state."""
    axial_projector = outer(legs.direction, legs.direction)
    transverse_projector = np.eye(3) - axial_projector
    weight = machine.weight_direction
    length, inertia = legs.length[..., None], legs.inertia[..., None]
    axial_weight = legs.direction @ weight
    radial = axial_weight - machine.follower_length * legs.turning_squared
    weight_moment = legs.first_moment[..., None] * (transverse_projector @ weight)
    weight_moment = weight_moment - 2.0 * legs.coriolis_moment[..., None] * legs.direction_rate
    drift = (
        radial[..., None] * legs.direction
        + length / inertia * weight_moment
        + 2.0 * legs.length_rate[..., None] * legs.direction_rate
    )
    follower = machine.follower_mass[:, None]
    return LegRows(
        axial_projector / follower[..., None]
        + (length**2 / inertia)[..., None] * transverse_projector,
        legs.direction / follower,
        drift,
        force_without_spring(machine, legs) - machine.stiffness * legs.deflection,
    )


def force_without_spring(machine: CompliantMachine, legs: LegState) -> FloatArray:
    """Return the forces `(batch, n)` [N] on the deflections without actuator and spring forces."""
    swung = (
        machine.spring_mass * legs.radii[..., 0] / 2.0 + machine.housing_mass * legs.radii[..., 1]
    )
    hanging = machine.hanging_mass * dot(legs.direction, machine.weight_direction)
    return swung * legs.turning_squared + hanging - machine.damping * legs.deflection_rate


class LinearSystem(NamedTuple):
    """Systems of a batch of states; the order of rows and columns is the module's."""

    matrix: FloatArray
    """`(batch, size, size)` matrices of the linear systems"""
    right_side: FloatArray
    """`(batch, size)` right-hand sides"""
    rows: LegRows
    """The legs' coefficients the system was built from"""
    legs: LegState
    """The legs at the states"""


def free_system(
    machine: CompliantMachine,
    pose: FloatArray,
    twist: FloatArray,
    deflection: FloatArray,
    forces: FloatArray,
    wrench: FloatArray,
) -> LinearSystem:
    """Return the systems of size 6 + 3n (24 for six legs) under given actuator forces.

    Poses `(batch, 7)`, twists and wrenches `(batch, 6)`, deflection states `(batch, 2n)`, forces
    `(batch, n)`.

    Reference: compliant-leg paper, equations (76), (77).
    """
    system = _tips_on_platform(machine, pose, twist, deflection, wrench, 6 + 3 * machine.n_legs)
    force_terms = system.rows.actuation * forces[..., None]
    system.right_side[:, 6:] += force_terms.reshape(len(pose), -1)
    return system


def locked_system(
    machine: CompliantMachine,
    pose: FloatArray,
    twist: FloatArray,
    deflection: FloatArray,
    wrench: FloatArray,
) -> LinearSystem:
    """Return the systems of size 6 + 4n (30 for six legs): delta2'' = 0, actuator forces unknown.

    Arguments as for `free_system`.

    Reference: compliant-leg paper, equation (78), with (56) corrected.
    """
    system = _tips_on_platform(machine, pose, twist, deflection, wrench, 6 + 4 * machine.n_legs)
    _lock(machine, system, system.rows.deflecting_force)
    return system


def still_system(
    machine: CompliantMachine, pose: FloatArray, extension: FloatArray, wrench: FloatArray
) -> LinearSystem:
    """Return the systems of size 6 + 5n (36 for six legs): rest lengths unknown, nothing moves.

    Poses `(batch, 7)`, extensions delta2 `(batch, n)`, wrenches `(batch, 6)`. Equation (80) makes
    the deflection |L| - l2 - l3 - l4 - delta2 - 2 l1, so that the spring's force, and nothing else,
    depends on the rest length. The equations added are delta1'' = 0: (80) alone would give the rest
    length of a deflection chosen by hand, with which the platform moves.

    Reference: compliant-leg paper, equations (79), (80).
    """
    n = machine.n_legs
    zero_twists = np.zeros((len(pose), 6))
    unstretched = leg_state(machine, pose, zero_twists, np.zeros((len(pose), 2 * n)))
    deflection = unstretched.extension - extension
    states = np.concatenate([deflection, np.zeros_like(deflection)], axis=-1)
    system = _tips_on_platform(machine, pose, zero_twists, states, wrench, 6 + 5 * n)
    stretched = machine.stiffness * (machine.spring_length + deflection)
    driving = force_without_spring(machine, system.legs) - stretched
    _lock(machine, system, driving)
    leg = np.arange(n)
    locked_rows, deflection_rows = 6 + 3 * n + leg, 6 + 4 * n + leg
    mass_ratio = machine.follower_mass / machine.deflecting_mass
    system.matrix[:, locked_rows, deflection_rows] = -mass_ratio * machine.stiffness
    system.matrix[:, deflection_rows, locked_rows] = -1.0
    system.matrix[:, deflection_rows, deflection_rows] = machine.stiffness
    system.right_side[:, deflection_rows] = -driving
    return system


def _tips_on_platform(
    machine: CompliantMachine,
    pose: FloatArray,
    twist: FloatArray,
    deflection: FloatArray,
    wrench: FloatArray,
    size: int,
) -> LinearSystem:
    """Return the equations of platform and tips, whose forces act on both."""
    legs = leg_state(machine, pose, twist, deflection)
    leg_terms = leg_rows(machine, legs)
    matrix, right_side = np.zeros((len(pose), size, size)), np.zeros((len(pose), size))
    tips = tip_matrices(legs.arm)
    matrix[:, :6, :6] = platform_mass_matrix(machine, pose)
    right_side[:, :6] = platform_forces(machine, pose, twist) + wrench
    for i in range(machine.n_legs):
        tip = slice(6 + 3 * i, 9 + 3 * i)
        # The platform feels the opposite of the force on the leg: (24) lacks this sign.
        matrix[:, :6, tip] = np.swapaxes(tips[:, i], -1, -2)
        matrix[:, tip, :6] = tips[:, i]
        matrix[:, tip, tip] = -leg_terms.admittance[:, i]
        right_side[:, tip] = leg_terms.drift[:, i] - legs.centripetal[:, i]
    return LinearSystem(matrix, right_side, leg_terms, legs)


def _lock(machine: CompliantMachine, system: LinearSystem, driving: FloatArray) -> None:
    """Add m3 delta2'' = 0 and the actuator forces' columns; `driving` moves m1 / 4 + m2."""
    legs, leg_terms = system.legs, system.rows
    mass_ratio = machine.follower_mass / machine.deflecting_mass
    first_column = 6 + 3 * machine.n_legs
    for i in range(machine.n_legs):
        tip, force = slice(6 + 3 * i, 9 + 3 * i), first_column + i
        system.matrix[:, tip, force] = -leg_terms.actuation[:, i]
        system.matrix[:, force, tip] = legs.direction[:, i]
        system.matrix[:, force, force] = 1.0 + mass_ratio[i]
    axial_weight = dot(legs.direction, machine.weight_direction)
    follower_force = machine.follower_mass * (
        legs.radii[..., 2] * legs.turning_squared + axial_weight
    )
    system.right_side[:, first_column : first_column + machine.n_legs] = (
        mass_ratio * driving - follower_force
    )


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
    shape, (poses, twists, deflections, actuator_forces, wrenches) = checked_state(
        machine,
        pose,
        twist,
        deflection,
        forces=(forces, machine.n_legs),
        wrench=(wrench, 6),
    )
    system = free_system(machine, poses, twists, deflections, actuator_forces, wrenches)
    solution = solved(system.matrix, system.right_side)
    spring_lengths = np.broadcast_to(machine.spring_length, actuator_forces.shape)
    return _solution(machine, system, shape, solution, actuator_forces, spring_lengths)


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
    solution = solved(system.matrix, system.right_side)
    forces = solution[:, 6 + 3 * machine.n_legs :]
    spring_lengths = np.broadcast_to(machine.spring_length, forces.shape)
    return _solution(machine, system, shape, solution, forces, spring_lengths)


def rest_lengths(
    machine: CompliantMachine, pose: Any, extension: Any, wrench: Any = None
) -> CompliantSolution:
    """Return the springs' rest lengths with which the platform is at rest at a pose.

    More than six legs have internal forces: the actuator forces of smallest norm are then taken.

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
    solutions = np.empty_like(system.right_side)
    for k in range(len(poses)):
        solutions[k] = _least_forces(machine, system.matrix[k], system.right_side[k], poses[k])
    return _solution(
        machine, system, shape, solutions, solutions[:, -2 * n : -n], solutions[:, -n:]
    )


def _least_forces(
    machine: CompliantMachine, matrix: FloatArray, right_side: FloatArray, pose: FloatArray
) -> FloatArray:
    """Return the solution of one still system with the smallest actuator forces."""
    n = machine.n_legs
    scale = np.ones(len(matrix))
    scale[-n:] = machine.stiffness  # rest lengths as forces: no unit decides the rank
    left_vectors, singular_values, right_vectors = np.linalg.svd(matrix / scale)
    redundant = n - 6
    rank = len(matrix) - redundant
    if not singular_values[rank - 1] > RANK_TOLERANCE * singular_values[0]:
        raise SingularPoseError(
            "the legs cannot hold the platform at this pose: it is singular. Move away from it.",
            {"pose": pose.copy()},
        )
    particular = right_vectors[:rank].T @ (
        left_vectors[:, :rank].T @ right_side / singular_values[:rank]
    )
    null_space = right_vectors[rank:].T
    forces = slice(-2 * n, -n)
    particular -= null_space @ least_squares(null_space[forces], particular[forces])
    return np.asarray(particular / scale)


def _solution(
    machine: CompliantMachine,
    system: LinearSystem,
    shape: tuple[int, ...],
    solution: FloatArray,
    forces: FloatArray,
    rest_length: FloatArray,
) -> CompliantSolution:
    """Return accelerations and forces from the solution of a system."""
    n, legs, leg_terms = machine.n_legs, system.legs, system.rows
    acceleration = solution[:, :6]
    tips = legs.centripetal + (tip_matrices(legs.arm) @ acceleration[:, None, :, None])[..., 0]
    lengths = dot(legs.direction, tips) + legs.length * legs.turning_squared
    # A rest length that differs from the machine's moves the spring's force with it.
    spring_preload = machine.stiffness * (rest_length - machine.spring_length)
    deflections = (leg_terms.deflecting_force + spring_preload - forces) / machine.deflecting_mass
    return CompliantSolution(
        acceleration.reshape((*shape, 6)),
        deflections.reshape((*shape, n)),
        (lengths - deflections).reshape((*shape, n)),
        solution[:, 6 : 6 + 3 * n].reshape((*shape, n, 3)),
        forces.reshape((*shape, n)),
        np.array(rest_length).reshape((*shape, n)),
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
    return np.asarray(kinetic).reshape(shape), (lifted + stretched).reshape(shape)
