"""Equations of motion in task space: M(pose) a + h(pose, twist) = wrench + J^T forces.

    M = M_platform + sum over legs and k of m_k g_k g_k^T,   g_k = (u_k, r x u_k)

with the directions and effective masses of each leg where it acts on the platform.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray
from twin.kernels.jit import allocating, device
from twin.kernels.legs.dispatch import (
    add_rod_spin,
    constraint_count,
    fill_constraints,
    leg_energy,
    response,
)
from twin.kernels.legs.interface import Legs, PlatformState
from twin.kernels.linear_algebra import (
    Matrix,
    Vector,
    add,
    cross,
    dot,
    rotate,
    rotate_back,
    scale,
    subtract,
    vector_at,
)

BODY_MASS = 0

BODY_CENTER = 1

BODY_TENSOR = 4
"""First of six entries: inertia tensor about the reference point, platform frame: xx, yy, zz, xy,
xz, yz."""

BODY_GRAVITY = 10
"""First of three entries: field [m/s2], base axes: gravity less the acceleration of the base."""

BODY_SIZE = 13


class Work(NamedTuple):
    """Work arrays of a machine with n legs and c constraints."""

    mass_matrix: FloatArray
    """`(6, 6)` of the whole machine in task space, base axes"""
    bias: FloatArray
    """`(6,)` Coriolis, centrifugal and gravity wrench h [N, N m], base axes"""
    jacobian: FloatArray
    """`(n, 6)` actuator rates from the twist"""
    force: FloatArray
    """`(n,)` of the actuators [N, N m]"""
    constraints: FloatArray
    """`(c, 8)`: row C (6 entries) and drift, so that C a + drift = 0, then the pose's error"""
    system: FloatArray
    """`(6 + c, 6 + c)` matrix of the linear system with multipliers"""
    right: FloatArray
    """`(6 + c,)` right-hand side of that system"""


@allocating
def make_work(legs: Legs) -> Work:
    """Return work arrays for the machine of these legs."""
    n, n_constraints = legs.rows.shape[0], constraint_count(legs)
    size = 6 + n_constraints
    return Work(
        np.empty((6, 6)),
        np.empty(6),
        np.empty((n, 6)),
        np.empty(n),
        np.empty((n_constraints, 8)),
        np.empty((size, size)),
        np.empty(size),
    )


@device
def field(body: FloatArray) -> Vector:
    """Return the acceleration that every body feels [m/s2], base axes."""
    return vector_at(body, BODY_GRAVITY)


@device
def body_tensor_times(body: FloatArray, matrix: Matrix, a: Vector) -> Vector:
    """Return the platform's tensor about the reference point times a, base frame."""
    px, py, pz = rotate_back(matrix, a)
    t = BODY_TENSOR
    return rotate(
        matrix,
        (
            body[t] * px + body[t + 3] * py + body[t + 4] * pz,
            body[t + 3] * px + body[t + 1] * py + body[t + 5] * pz,
            body[t + 4] * px + body[t + 5] * py + body[t + 2] * pz,
        ),
    )


@device
def fill_body(
    body: FloatArray, matrix: Matrix, omega: Vector, mass_matrix: FloatArray, bias: FloatArray
) -> None:
    """Fill the platform's own mass matrix (lower triangle) and bias."""
    mass = body[BODY_MASS]
    center = rotate(matrix, vector_at(body, BODY_CENTER))
    mass_moment = scale(mass, center)
    gravity = field(body)
    centrifugal = cross(omega, cross(omega, mass_moment))
    moment_bias = subtract(
        cross(omega, body_tensor_times(body, matrix, omega)), cross(mass_moment, gravity)
    )
    for i in range(3):
        for j in range(i):
            mass_matrix[i, j] = 0.0
        mass_matrix[i, i] = mass
        mass_matrix[i + 3, i] = 0.0
        bias[i] = centrifugal[i] - mass * gravity[i]
        bias[i + 3] = moment_bias[i]
    mass_matrix[4, 0] = mass_moment[2]
    mass_matrix[5, 0] = -mass_moment[1]
    mass_matrix[3, 1] = -mass_moment[2]
    mass_matrix[5, 1] = mass_moment[0]
    mass_matrix[3, 2] = mass_moment[1]
    mass_matrix[4, 2] = -mass_moment[0]
    tensor_x = body_tensor_times(body, matrix, (1.0, 0.0, 0.0))
    tensor_y = body_tensor_times(body, matrix, (0.0, 1.0, 0.0))
    tensor_z = body_tensor_times(body, matrix, (0.0, 0.0, 1.0))
    mass_matrix[3, 3] = tensor_x[0]
    mass_matrix[4, 3] = tensor_x[1]
    mass_matrix[5, 3] = tensor_x[2]
    mass_matrix[4, 4] = tensor_y[1]
    mass_matrix[5, 4] = tensor_y[2]
    mass_matrix[5, 5] = tensor_z[2]


@device
def add_direction(mass_matrix: FloatArray, mass: float, u: Vector, moment: Vector) -> None:
    """Add mass * g g^T with g = (u, moment) to the lower triangle."""
    g = (u[0], u[1], u[2], moment[0], moment[1], moment[2])
    for i in range(6):
        scaled = mass * g[i]
        for j in range(i + 1):
            mass_matrix[i, j] += scaled * g[j]


@device
def assemble(
    body: FloatArray, legs: Legs, state: PlatformState, deflection: FloatArray, work: Work
) -> int:
    """Fill mass matrix (lower triangle), bias, Jacobian and constraints of one state into `work`.

    Returns -1, or a leg that is singular: one that lies along its universal joint's first axis,
    has no length, or cannot reach the pose.
    """
    mass_matrix, bias, jacobian = work.mass_matrix, work.bias, work.jacobian
    gravity = field(body)
    fill_body(body, state.matrix, state.omega, mass_matrix, bias)
    singular = -1
    for i in range(legs.rows.shape[0]):
        leg = response(legs, i, state, gravity, deflection)
        arm, masses, force = leg.arm, leg.masses, leg.force
        if not leg.regular:
            singular = i
        add_direction(mass_matrix, masses[0], leg.first, cross(arm, leg.first))
        add_direction(mass_matrix, masses[1], leg.second, cross(arm, leg.second))
        add_direction(mass_matrix, masses[2], leg.third, cross(arm, leg.third))
        force_moment = cross(arm, force)
        for k in range(3):
            bias[k] += force[k]
            bias[k + 3] += force_moment[k]
            jacobian[i, k] = leg.actuation[k]
            jacobian[i, k + 3] = leg.actuation_moment[k]
        add_rod_spin(legs, i, state, mass_matrix, bias)
    fill_constraints(legs, state, work.constraints)
    return singular


@device
def energy(
    body: FloatArray, legs: Legs, state: PlatformState, deflection: FloatArray
) -> tuple[float, float, float]:
    """Return kinetic and potential energy [J] and dissipated power [W].

    Potential energy is zero at the base frame's origin and for springs at rest length.
    """
    position, matrix, velocity, omega = state
    mass, gravity = body[BODY_MASS], field(body)
    center = rotate(matrix, vector_at(body, BODY_CENTER))
    kinetic = 0.5 * (
        mass * dot(velocity, velocity)
        + 2.0 * mass * dot(velocity, cross(omega, center))
        + dot(omega, body_tensor_times(body, matrix, omega))
    )
    potential = -mass * dot(gravity, add(position, center))
    dissipated = 0.0
    for i in range(legs.rows.shape[0]):
        kinetic_energy, potential_energy, dissipated_power = leg_energy(
            legs, i, state, gravity, deflection
        )
        kinetic += kinetic_energy
        potential += potential_energy
        dissipated += dissipated_power
    return kinetic, potential, dissipated
