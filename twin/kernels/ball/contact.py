"""Force between a rolling ball and the plate at the point of contact.

With d the arm from the reference point to the contact, n the plate's normal, P the projection on
the plate, and A, alpha the platform's accelerations, the force of the plate on the ball is

    F = (m n n^T + mu P) (A + alpha x d) + f,     mu = m k / (1 + k),

k the inertia factor: the platform feels a mass m across the plate and mu along it. `docs/ball.md`
derives it.
"""

from __future__ import annotations

from math import sqrt

from twin.basics.arrays import FloatArray
from twin.kernels.jit import device
from twin.kernels.vectors import (
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

RADIUS, MASS, INERTIA_FACTOR, PLATE_RADIUS, PLATE_HEIGHT, FRICTION, RESISTANCE = range(7)
"""Entries of a ball's constants."""

X, Y, SPIN, TURN = 0, 1, 2, 5
"""Entries of a ball's state: position on the plate [m], angular velocity in base axes [rad/s],
quaternion of its orientation."""

FLIES, GAP, DRIFT, KICK = 9, 10, 11, 14
"""Further entries: 1 for a ball off the plate's face, else 0; its distance [m] from the face; its
velocity [m/s] against the plate in plate axes while it flies; force [N] in base axes by which the
plate feels the landing over one step."""

BALL_SIZE = 17

ROLLING, SLIPPING, LOST, FLYING = 0, 1, 2, 3
"""Status of a ball: as the equations assume; friction would not do; over the plate's edge or a
radius above it; pushed off, and soon back."""

SMOOTH_SPEED = 1e-3
"""[m/s] about which rolling resistance changes its sign; of a Coulomb law it is zero."""


@device
def contact_frame(matrix: Matrix) -> tuple[Vector, Vector, Vector]:
    """Return the plate's normal and two directions along it, base axes."""
    return (
        (matrix[2], matrix[5], matrix[8]),
        (matrix[0], matrix[3], matrix[6]),
        (matrix[1], matrix[4], matrix[7]),
    )


@device
def relative_velocity(ball: FloatArray, state: FloatArray, matrix: Matrix, omega: Vector) -> Vector:
    """Return the velocity of the ball's centre against the plate, in plate axes: r Omega_r x n."""
    if state[FLIES] > 0.0:
        return state[DRIFT], state[DRIFT + 1], state[DRIFT + 2]
    a, b, _ = rotate_back(matrix, subtract((state[SPIN], state[SPIN + 1], state[SPIN + 2]), omega))
    return ball[RADIUS] * b, -ball[RADIUS] * a, 0.0


@device
def along(normal: Vector, vector: Vector) -> Vector:
    """Return the part of a vector along the plate."""
    return subtract(vector, scale(dot(normal, vector), normal))


@device
def arms(ball: FloatArray, state: FloatArray, matrix: Matrix) -> tuple[Vector, Vector]:
    """Return contact and centre of the ball from the reference point, base axes."""
    height = ball[PLATE_HEIGHT]
    contact = rotate(matrix, (state[X], state[Y], height))
    return contact, rotate(matrix, (state[X], state[Y], height + ball[RADIUS] + state[GAP]))


@device
def resisting_moment(ball: FloatArray, normal: Vector, spin: Vector, gravity: Vector) -> Vector:
    """Return the moment of rolling resistance on the ball under its weight, base axes."""
    load = -ball[MASS] * dot(normal, gravity)
    turning = along(normal, spin)
    radius = ball[RADIUS]
    speed = sqrt(dot(turning, turning) + (SMOOTH_SPEED / radius) ** 2)
    return scale(-ball[RESISTANCE] * max(load, 0.0) * radius / speed, turning)


@device
def contact_bias(
    ball: FloatArray, state: FloatArray, matrix: Matrix, omega: Vector, gravity: Vector
) -> tuple[Vector, Vector]:
    """Return the force f of the module's equation, and the moment of rolling resistance."""
    normal = contact_frame(matrix)[0]
    _, centre = arms(ball, state, matrix)
    spin = subtract((state[SPIN], state[SPIN + 1], state[SPIN + 2]), omega)
    moving = scale(ball[RADIUS], cross(spin, normal))
    swing = add(cross(omega, cross(omega, centre)), scale(2.0, cross(omega, moving)))
    felt = subtract(swing, gravity)
    moment = resisting_moment(ball, normal, spin, gravity)
    factor = ball[INERTIA_FACTOR] / (1.0 + ball[INERTIA_FACTOR])
    turned = scale(ball[RADIUS], cross(normal, cross(omega, spin)))
    sideways = scale(ball[MASS] * factor, add(along(normal, felt), turned))
    braking = scale(1.0 / (ball[RADIUS] * (1.0 + ball[INERTIA_FACTOR])), cross(normal, moment))
    upward = scale(ball[MASS] * dot(normal, felt), normal)
    return add(upward, subtract(sideways, braking)), moment


@device
def contact_force(
    ball: FloatArray, normal: Vector, contact: Vector, bias: Vector, acceleration: FloatArray
) -> Vector:
    """Return the force of the plate on the ball, base axes, under the platform's acceleration."""
    spinning = (acceleration[3], acceleration[4], acceleration[5])
    point = add((acceleration[0], acceleration[1], acceleration[2]), cross(spinning, contact))
    across = dot(normal, point)
    factor = ball[INERTIA_FACTOR] / (1.0 + ball[INERTIA_FACTOR])
    inertial = scale(factor, subtract(point, scale(across, normal)))
    return add(bias, scale(ball[MASS], add(inertial, scale(across, normal))))


@device
def spin_rate(ball: FloatArray, normal: Vector, force: Vector, moment: Vector) -> Vector:
    """Return the angular acceleration of the ball, base axes: I dOmega/dt = -r n x F + M."""
    inertia = ball[INERTIA_FACTOR] * ball[MASS] * ball[RADIUS] ** 2
    return scale(1.0 / inertia, add(scale(-ball[RADIUS], cross(normal, force)), moment))


@device
def is_off(ball: FloatArray, state: FloatArray) -> bool:
    """Return whether a ball is over the plate's edge, or a radius above it."""
    over = not state[X] ** 2 + state[Y] ** 2 <= ball[PLATE_RADIUS] ** 2
    return over or not state[GAP] <= ball[RADIUS]


@device
def contact_status(ball: FloatArray, state: FloatArray, normal: Vector, force: Vector) -> int:
    """Return the status of a ball on the plate's face for the force of the plate on it.

    Where the force would have to pull, the ball flies.
    """
    if is_off(ball, state):
        return LOST
    push = dot(normal, force)
    if not push > 0.0:
        return FLYING
    friction = along(normal, force)
    return ROLLING if dot(friction, friction) <= (ball[FRICTION] * push) ** 2 else SLIPPING
