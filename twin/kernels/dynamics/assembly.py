"""Equations of motion in task space: M(pose) a + h(pose, twist) = wrench + J^T forces.

    M = M_platform + sum over legs and k of m_k g_k g_k^T,   g_k = (u_k, r x u_k)

with the directions and effective masses of each leg where it acts on the platform.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray
from twin.kernels.jit import allocating, device
from twin.kernels.legs.dispatch import constraint_count, fill_constraints, leg_energy, response
from twin.kernels.legs.interface import Legs
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
)
from twin.kernels.platform_state import PlatformState

BODY_MASS = 0

BODY_CENTER = 1

BODY_TENSOR = 4
"""About the reference point, platform frame: xx, yy, zz, xy, xz, yz."""

BODY_GRAVITY = 10
"""Field: acceleration that every body feels [m/s2], base axes. Gravity, less that of the base."""

BODY_SIZE = 13


class Work(NamedTuple):
    """Work arrays of a machine with n legs and c constraints."""

    mass_matrix: FloatArray
    """`(6, 6)`"""
    bias: FloatArray
    """`(6,)`"""
    jacobian: FloatArray
    """`(n, 6)`"""
    force: FloatArray
    """`(n,)`"""
    constraints: FloatArray
    """`(c, 8)`: row (6 entries), drift, value"""
    system: FloatArray
    """`(6 + c, 6 + c)`"""
    right: FloatArray
    """`(6 + c,)`"""


@allocating
def make_work(legs: Legs) -> Work:
    """Return work arrays for the machine of these legs."""
    n, count = legs.rows.shape[0], constraint_count(legs)
    size = 6 + count
    return Work(
        np.empty((6, 6)),
        np.empty(6),
        np.empty((n, 6)),
        np.empty(n),
        np.empty((count, 8)),
        np.empty((size, size)),
        np.empty(size),
    )


@device
def field(body: FloatArray) -> Vector:
    """Return the acceleration that every body feels [m/s2], base axes."""
    return body[BODY_GRAVITY], body[BODY_GRAVITY + 1], body[BODY_GRAVITY + 2]


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
def add_body(
    body: FloatArray, matrix: Matrix, omega: Vector, mass_matrix: FloatArray, bias: FloatArray
) -> None:
    """Write the platform's own mass matrix (lower triangle) and bias."""
    mass = body[BODY_MASS]
    center = rotate(matrix, (body[BODY_CENTER], body[BODY_CENTER + 1], body[BODY_CENTER + 2]))
    moment = scale(mass, center)
    gravity = field(body)
    swing = cross(omega, cross(omega, moment))
    turning = subtract(cross(omega, body_tensor_times(body, matrix, omega)), cross(moment, gravity))
    for i in range(3):
        for j in range(i):
            mass_matrix[i, j] = 0.0
        mass_matrix[i, i] = mass
        mass_matrix[i + 3, i] = 0.0
        bias[i] = swing[i] - mass * gravity[i]
        bias[i + 3] = turning[i]
    mass_matrix[4, 0] = moment[2]
    mass_matrix[5, 0] = -moment[1]
    mass_matrix[3, 1] = -moment[2]
    mass_matrix[5, 1] = moment[0]
    mass_matrix[3, 2] = moment[1]
    mass_matrix[4, 2] = -moment[0]
    first = body_tensor_times(body, matrix, (1.0, 0.0, 0.0))
    second = body_tensor_times(body, matrix, (0.0, 1.0, 0.0))
    third = body_tensor_times(body, matrix, (0.0, 0.0, 1.0))
    mass_matrix[3, 3] = first[0]
    mass_matrix[4, 3] = first[1]
    mass_matrix[5, 3] = first[2]
    mass_matrix[4, 4] = second[1]
    mass_matrix[5, 4] = second[2]
    mass_matrix[5, 5] = third[2]


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
    add_body(body, state.matrix, state.omega, mass_matrix, bias)
    singular = -1
    for i in range(legs.rows.shape[0]):
        leg = response(legs, i, state, gravity, deflection)
        arm, w, masses, force = leg.arm, leg.actuation, leg.masses, leg.force
        if not leg.regular:
            singular = i
        add_direction(mass_matrix, masses[0], leg.first, cross(arm, leg.first))
        add_direction(mass_matrix, masses[1], leg.second, cross(arm, leg.second))
        add_direction(mass_matrix, masses[2], leg.third, cross(arm, leg.third))
        turning, moment = cross(arm, force), cross(arm, w)
        for k in range(3):
            bias[k] += force[k]
            bias[k + 3] += turning[k]
            jacobian[i, k] = w[k]
            jacobian[i, k + 3] = moment[k]
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
    center = rotate(matrix, (body[BODY_CENTER], body[BODY_CENTER + 1], body[BODY_CENTER + 2]))
    kinetic = 0.5 * (
        mass * dot(velocity, velocity)
        + 2.0 * mass * dot(velocity, cross(omega, center))
        + dot(omega, body_tensor_times(body, matrix, omega))
    )
    potential = -mass * dot(gravity, add(position, center))
    dissipated = 0.0
    for i in range(legs.rows.shape[0]):
        moving, height, lost = leg_energy(legs, i, state, gravity, deflection)
        kinetic += moving
        potential += height
        dissipated += lost
    return kinetic, potential, dissipated
