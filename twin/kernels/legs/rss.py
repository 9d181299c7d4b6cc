"""RSS legs, a crank turned by the actuator, an elbow and a rod: kinematics and dynamics.

The crank turns about the axis u through the base joint; at angle zero it points along c0, a right
angle to u. With c = cos(theta) c0 + sin(theta) (u x c0) and c' = u x c, the elbow is at
a + l_c c, and the rod t = tip - elbow has the length l_r. Hence

    |d|^2 + l_c^2 - 2 l_c d . c = l_r^2,   d = tip - a,

which is A cos(theta) + B sin(theta) = K with A = d . c0, B = d . (u x c0) and has two solutions,
the branches of the elbow. Differentiated, e . (v_tip - l_c c' rate) = 0 with e = t / l_r, so that
rate = w . v_tip with w = e / (l_c e . c').

Reference: extended-configuration-space paper, section 6.

The dynamics are effective mass and bias force of crank and slender rod at the tip. The kinetic
energy of a slender rod with end velocities v_e (elbow) and v_t (tip) is m (v_e^2 + v_e . v_t +
v_t^2) / 6, so its ends are moved by the forces

    F_e = m (2 a_e + a_t) / 6 - m g / 2,   F_t = m (a_e + 2 a_t) / 6 - m g / 2.

With q = l_c c', rate = w . v_t, and the crank's moment of inertia I about its axis, virtual power
gives the force at the tip F = F_t + w (q . F_e + I rate' - moment of the crank's weight), and

    E = (m / 3) 1 + (m / 6) (q w^T + w q^T) + (I + m l_c^2 / 3) w w^T.

Reference: extended-configuration-space paper, section 6; derivation in docs/theory.md.
"""

from __future__ import annotations

from math import acos, atan2, nan, pi, sqrt
from typing import NamedTuple

from twin.basics.arrays import FloatArray
from twin.kernels.jit import device
from twin.kernels.legs.interface import (
    AXIS,
    BASE_JOINT,
    GEOMETRY_SIZE,
    HOME_COORDINATE,
    Acceleration,
    LegResponse,
    PlatformState,
)
from twin.kernels.legs.ups import leg_vector, tip_motion, universal_joint
from twin.kernels.linear_algebra import Matrix, Vector, add, cross, dot, row, scale, subtract

JOINT_COUNT = 3

ZERO_DIRECTION = GEOMETRY_SIZE
"""First of three columns: direction c0 of the crank at angle zero, base frame."""

CRANK_LENGTH = GEOMETRY_SIZE + 3

ROD_LENGTH = GEOMETRY_SIZE + 4

ELBOW_BRANCH = GEOMETRY_SIZE + 5
"""1 for the elbow at the larger angle, -1 for the other."""

MIDDLE_ANGLE = GEOMETRY_SIZE + 6
"""Column: middle of the crank's range [rad]; of equivalent angles the nearest to it is taken."""

RSS_GEOMETRY_SIZE = GEOMETRY_SIZE + 7

SMALLEST_SCALE = pi
"""[rad] Scale of rounding errors: an angle is computed to the rounding of its full range."""

SMALLEST_GAIN = 1e-4
"""Smallest e . c': below it, crank and rod are aligned and the leg is singular."""

ROD_MASS = RSS_GEOMETRY_SIZE

CRANK_INERTIA = RSS_GEOMETRY_SIZE + 1
"""Column: moment of inertia about the crank's axis [kg m2]."""

CRANK_MASS = RSS_GEOMETRY_SIZE + 2

CRANK_MOMENT = RSS_GEOMETRY_SIZE + 3
"""First of three columns: mass times centre of mass [kg m], along the axis, c' and c."""

LEG_SIZE = RSS_GEOMETRY_SIZE + 6

MIN_MASS_SQUARE = 1e-300
"""[kg2] Added to the square of a mass, so that a mass of zero divides nothing by zero."""


class Crank(NamedTuple):
    """Position of crank and rod of one leg, base axes."""

    arm: Vector
    """vector from the reference point to the platform joint [m]"""
    vector: Vector
    """vector from the base joint to the platform joint [m]"""
    direction: Vector
    """c"""
    turning: Vector
    """c' = u x c"""
    rod: Vector
    """e"""
    gain: float
    """l_c e . c' [m]"""


@device
def nearest(angle: float, middle: float) -> float:
    """Return the angle [rad] that differs by whole turns and is nearest to `middle`."""
    return angle - 2.0 * pi * round((angle - middle) / (2.0 * pi))


@device
def crank_equation(
    legs: FloatArray, i: int, vector: Vector, zero: Vector, side: Vector
) -> tuple[float, float, float]:
    """Return A, B and K of the equation of the crank's angle for a tip at `vector`."""
    crank, rod = legs[i, CRANK_LENGTH], legs[i, ROD_LENGTH]
    projection = (dot(vector, vector) + crank * crank - rod * rod) / (2.0 * crank)
    return dot(vector, zero), dot(vector, side), projection


@device
def crank_angle(legs: FloatArray, i: int, vector: Vector) -> float:
    """Return the crank's angle [rad] for a tip at `vector` from its joint; NaN out of reach."""
    zero = row(legs, i, ZERO_DIRECTION)
    normal = cross(row(legs, i, AXIS), zero)
    cosine_term, sine_term, right_side = crank_equation(legs, i, vector, zero, normal)
    amplitude = sqrt(cosine_term * cosine_term + sine_term * sine_term)
    if not abs(right_side) <= amplitude:
        return nan
    angle = atan2(sine_term, cosine_term) + legs[i, ELBOW_BRANCH] * acos(right_side / amplitude)
    return nearest(angle, legs[i, MIDDLE_ANGLE])


@device
def crank_direction(legs: FloatArray, i: int, vector: Vector) -> Vector:
    """Return the crank's direction c for a tip at `vector` from its joint; NaN out of reach.

    That of `crank_angle`, without angles: cos(theta) = (A K - b B s) / r^2 and
    sin(theta) = (B K + b A s) / r^2 with r^2 = A^2 + B^2, s^2 = r^2 - K^2 and the branch b.
    """
    zero = row(legs, i, ZERO_DIRECTION)
    normal = cross(row(legs, i, AXIS), zero)
    cosine_term, sine_term, right_side = crank_equation(legs, i, vector, zero, normal)
    amplitude_square = cosine_term * cosine_term + sine_term * sine_term
    root = legs[i, ELBOW_BRANCH] * sqrt(amplitude_square - right_side * right_side)
    cosine = (cosine_term * right_side - sine_term * root) / amplitude_square
    sine = (sine_term * right_side + cosine_term * root) / amplitude_square
    return add(scale(cosine, zero), scale(sine, normal))


@device
def crank(legs: FloatArray, i: int, position: Vector, matrix: Matrix) -> Crank:
    """Return the position of crank and rod of leg i."""
    arm, vector = leg_vector(legs, i, position, matrix)
    direction = crank_direction(legs, i, vector)
    crank_tangent = cross(row(legs, i, AXIS), direction)
    crank_length = legs[i, CRANK_LENGTH]
    rod = scale(1.0 / legs[i, ROD_LENGTH], subtract(vector, scale(crank_length, direction)))
    return Crank(arm, vector, direction, crank_tangent, rod, crank_length * dot(rod, crank_tangent))


@device
def actuation(
    legs: FloatArray, i: int, position: Vector, matrix: Matrix
) -> tuple[Vector, Vector, float]:
    """Return w, its moment and the crank's angle; see `twin.kernels.legs.dispatch`."""
    linkage = crank(legs, i, position, matrix)
    w = scale(1.0 / linkage.gain, linkage.rod)
    return w, cross(linkage.arm, w), crank_angle(legs, i, linkage.vector)


@device
def crank_rates(
    legs: FloatArray, i: int, linkage: Crank, tip_velocity: Vector
) -> tuple[float, Vector]:
    """Return the rates of the crank's angle and of w."""
    crank_length, inverse = legs[i, CRANK_LENGTH], 1.0 / linkage.gain
    rate = dot(linkage.rod, tip_velocity) / linkage.gain
    rod_rate = scale(
        1.0 / legs[i, ROD_LENGTH],
        subtract(tip_velocity, scale(crank_length * rate, linkage.turning)),
    )
    gain_rate = crank_length * (
        dot(rod_rate, linkage.turning) - rate * dot(linkage.rod, linkage.direction)
    )
    return rate, scale(inverse, subtract(rod_rate, scale(gain_rate * inverse, linkage.rod)))


@device
def actuation_rate(legs: FloatArray, i: int, state: PlatformState) -> tuple[Vector, Vector]:
    """Return the time derivatives of w and arm x w, the row of the Jacobian."""
    linkage = crank(legs, i, state.position, state.matrix)
    arm_rate = cross(state.omega, linkage.arm)
    _, direction_rate = crank_rates(legs, i, linkage, add(state.velocity, arm_rate))
    return direction_rate, add(
        scale(1.0 / linkage.gain, cross(arm_rate, linkage.rod)), cross(linkage.arm, direction_rate)
    )


@device
def fill_crank(
    legs: FloatArray,
    home: FloatArray,
    i: int,
    state: PlatformState,
    acceleration: Acceleration,
    out: FloatArray,
) -> tuple[Crank, Vector, Vector]:
    """Fill the first row of `out` (joints, 3) with the crank's angle; return how the rod moves.

    That is where crank and rod are, and velocity and acceleration of the rod's tip relative to the
    elbow.
    """
    linkage = crank(legs, i, state.position, state.matrix)
    crank_length = legs[i, CRANK_LENGTH]
    tip_velocity, tip_acceleration = tip_motion(linkage.arm, state, acceleration)
    rate, direction_rate = crank_rates(legs, i, linkage, tip_velocity)
    second_rate = dot(linkage.rod, tip_acceleration) / linkage.gain + dot(
        direction_rate, tip_velocity
    )
    elbow_velocity = scale(crank_length * rate, linkage.turning)
    elbow_acceleration = scale(
        crank_length,
        subtract(scale(second_rate, linkage.turning), scale(rate * rate, linkage.direction)),
    )
    out[0, 0] = crank_angle(legs, i, linkage.vector) - home[i, HOME_COORDINATE]
    out[0, 1] = rate
    out[0, 2] = second_rate
    return (
        linkage,
        subtract(tip_velocity, elbow_velocity),
        subtract(tip_acceleration, elbow_acceleration),
    )


@device
def fill_joints(
    legs: FloatArray,
    home: FloatArray,
    i: int,
    state: PlatformState,
    acceleration: Acceleration,
    out: FloatArray,
) -> bool:
    """Fill `out` (3, 3) with (crank, first and second angle of the elbow)."""
    linkage, rod_velocity, rod_acceleration = fill_crank(legs, home, i, state, acceleration, out)
    _, _, regular = universal_joint(
        home,
        i,
        row(legs, i, AXIS),
        linkage.rod,
        legs[i, ROD_LENGTH],
        rod_velocity,
        rod_acceleration,
        out[1:],
    )
    # The elbow's first axis is the crank's, about which the crank has turned already.
    out[1, 0] = nearest(out[1, 0] - out[0, 0], 0.0)
    out[1, 1] -= out[0, 1]
    out[1, 2] -= out[0, 2]
    return regular and abs(linkage.gain) > SMALLEST_GAIN * legs[i, CRANK_LENGTH]


class RssLegs(NamedTuple):
    """Constants of legs with crank, elbow and slender rod."""

    rows: FloatArray
    """`(n, LEG_SIZE)` constants of each leg"""


@device
def inverse(mass: float) -> float:
    """Return 1 / mass, and zero for a mass of zero."""
    return mass / (mass * mass + MIN_MASS_SQUARE)


@device
def factored(
    xx: float, yy: float, zz: float, xy: float, xz: float, yz: float
) -> tuple[Vector, Vector, Vector, Vector]:
    """Return directions and masses whose sum m_k u_k u_k^T is the symmetric matrix given.

    A massless rod leaves a matrix of rank one, a massless leg none.
    """
    reciprocal = inverse(xx)
    l_yx, l_zx = xy * reciprocal, xz * reciprocal
    d_y = yy - l_yx * xy
    l_zy = (yz - l_zx * xy) * inverse(d_y)
    d_z = zz - l_zx * xz - l_zy * l_zy * d_y
    return (1.0, l_yx, l_zx), (0.0, 1.0, l_zy), (0.0, 0.0, 1.0), (xx, d_y, d_z)


@device
def crank_mass_moment(legs: FloatArray, i: int, linkage: Crank) -> Vector:
    """Return mass times centre of mass [kg m] of the crank from its base joint, base frame."""
    moment = row(legs, i, CRANK_MOMENT)
    axis = row(legs, i, AXIS)
    center_offset = add(scale(moment[0], axis), scale(moment[1], linkage.turning))
    return add(center_offset, scale(moment[2], linkage.direction))


@device
def response(
    legs: FloatArray, i: int, state: PlatformState, gravity: Vector, deflection: FloatArray
) -> LegResponse:
    """Return effective masses and bias force of leg i at its platform joint."""
    linkage = crank(legs, i, state.position, state.matrix)
    crank_length, mass = legs[i, CRANK_LENGTH], legs[i, ROD_MASS]
    arm_rate = cross(state.omega, linkage.arm)
    tip_velocity = add(state.velocity, arm_rate)
    tip_acceleration = cross(state.omega, arm_rate)
    rate, direction_rate = crank_rates(legs, i, linkage, tip_velocity)
    w = scale(1.0 / linkage.gain, linkage.rod)
    second_rate = dot(w, tip_acceleration) + dot(direction_rate, tip_velocity)
    q = scale(crank_length, linkage.turning)
    elbow_acceleration = subtract(
        scale(second_rate, q), scale(crank_length * rate * rate, linkage.direction)
    )
    mass_sixth = mass / 6.0
    weight = scale(0.5 * mass, gravity)
    elbow_force = subtract(
        scale(mass_sixth, add(scale(2.0, elbow_acceleration), tip_acceleration)), weight
    )
    tip_force = subtract(
        scale(mass_sixth, add(elbow_acceleration, scale(2.0, tip_acceleration))), weight
    )
    inertia = legs[i, CRANK_INERTIA]
    weight_moment = dot(cross(row(legs, i, AXIS), crank_mass_moment(legs, i, linkage)), gravity)
    force = add(tip_force, scale(dot(q, elbow_force) + inertia * second_rate - weight_moment, w))

    mass_third = mass / 3.0
    tip_inertia = inertia + mass_third * crank_length * crank_length
    first_direction, second_direction, third_direction, masses = factored(
        mass_third + 2.0 * mass_sixth * q[0] * w[0] + tip_inertia * w[0] * w[0],
        mass_third + 2.0 * mass_sixth * q[1] * w[1] + tip_inertia * w[1] * w[1],
        mass_third + 2.0 * mass_sixth * q[2] * w[2] + tip_inertia * w[2] * w[2],
        mass_sixth * (q[0] * w[1] + q[1] * w[0]) + tip_inertia * w[0] * w[1],
        mass_sixth * (q[0] * w[2] + q[2] * w[0]) + tip_inertia * w[0] * w[2],
        mass_sixth * (q[1] * w[2] + q[2] * w[1]) + tip_inertia * w[1] * w[2],
    )
    regular = abs(linkage.gain) > SMALLEST_GAIN * crank_length
    return LegResponse(
        linkage.arm,
        w,
        cross(linkage.arm, w),
        first_direction,
        second_direction,
        third_direction,
        masses,
        force,
        regular,
    )


@device
def leg_energy(
    legs: FloatArray, i: int, state: PlatformState, gravity: Vector, deflection: FloatArray
) -> tuple[float, float, float]:
    """Return kinetic and potential energy and dissipated power."""
    linkage = crank(legs, i, state.position, state.matrix)
    crank_length, mass = legs[i, CRANK_LENGTH], legs[i, ROD_MASS]
    tip_velocity = add(state.velocity, cross(state.omega, linkage.arm))
    rate = dot(linkage.rod, tip_velocity) / linkage.gain
    elbow_velocity = scale(crank_length * rate, linkage.turning)
    kinetic = (
        mass
        / 6.0
        * (
            dot(elbow_velocity, elbow_velocity)
            + dot(elbow_velocity, tip_velocity)
            + dot(tip_velocity, tip_velocity)
        )
    )
    kinetic += 0.5 * legs[i, CRANK_INERTIA] * rate * rate
    base = row(legs, i, BASE_JOINT)
    sum_of_ends = add(
        add(base, scale(crank_length, linkage.direction)), add(state.position, linkage.arm)
    )
    crank_moment = add(crank_mass_moment(legs, i, linkage), scale(legs[i, CRANK_MASS], base))
    return kinetic, -dot(gravity, add(scale(0.5 * mass, sum_of_ends), crank_moment)), 0.0
