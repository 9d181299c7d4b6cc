"""RSS leg: effective mass and bias force at the tip of crank and slender rod.

The kinetic energy of a slender rod with end velocities v_e (elbow) and v_t (tip) is
m (v_e^2 + v_e . v_t + v_t^2) / 6, so its ends are moved by the forces

    F_e = m (2 a_e + a_t) / 6 - m g / 2,   F_t = m (a_e + 2 a_t) / 6 - m g / 2.

With q = l_c c', rate = w . v_t, and the crank's moment of inertia I about its axis, virtual power
gives the force at the tip F = F_t + w (q . F_e + I rate' - moment of the crank's weight), and

    E = (m / 3) 1 + (m / 6) (q w^T + w q^T) + (I + m l_c^2 / 3) w w^T.

Reference: extended-configuration-space paper, section 6; derivation in docs/dynamics.md.
"""

from __future__ import annotations

from typing import NamedTuple

from twin.basics.arrays import FloatArray
from twin.kernels.jit import device
from twin.kernels.legs.interface import AXIS, BASE_JOINT, LegResponse
from twin.kernels.legs.rss.kinematics import (
    CRANK_LENGTH,
    RSS_GEOMETRY_SIZE,
    SMALLEST_GAIN,
    Crank,
    crank,
    crank_rates,
)
from twin.kernels.platform_state import PlatformState
from twin.kernels.vectors import Vector, add, cross, dot, row, scale, subtract

ROD_MASS = RSS_GEOMETRY_SIZE
CRANK_INERTIA = RSS_GEOMETRY_SIZE + 1
"""About the crank's axis."""
CRANK_MASS = RSS_GEOMETRY_SIZE + 2
CRANK_MOMENT = RSS_GEOMETRY_SIZE + 3
"""Mass times centre of mass, along the axis, along c' and along c."""
LEG_SIZE = RSS_GEOMETRY_SIZE + 6

TINY = 1e-300
"""[kg2] Square that is nothing beside that of any mass."""


class RssLegs(NamedTuple):
    """Constants of legs with crank, elbow and slender rod."""

    rows: FloatArray
    """`(n, LEG_SIZE)`"""


@device
def inverse(mass: float) -> float:
    """Return 1 / mass, and zero for a mass of zero."""
    return mass / (mass * mass + TINY)


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
def crank_center(legs: FloatArray, i: int, at: Crank) -> Vector:
    """Return mass times centre of mass of the crank from its base joint, base frame."""
    moment = row(legs, i, CRANK_MOMENT)
    axis = row(legs, i, AXIS)
    across = add(scale(moment[0], axis), scale(moment[1], at.turning))
    return add(across, scale(moment[2], at.direction))


@device
def response(
    legs: FloatArray, i: int, state: PlatformState, gravity: Vector, deflection: FloatArray
) -> LegResponse:
    """Return the force that it takes to move the platform joint of leg i."""
    at = crank(legs, i, state.position, state.matrix)
    length, mass = legs[i, CRANK_LENGTH], legs[i, ROD_MASS]
    arm_rate = cross(state.omega, at.arm)
    tip_velocity = add(state.velocity, arm_rate)
    tip_acceleration = cross(state.omega, arm_rate)
    rate, changing = crank_rates(legs, i, at, tip_velocity)
    w = scale(1.0 / at.gain, at.rod)
    second_rate = dot(w, tip_acceleration) + dot(changing, tip_velocity)
    q = scale(length, at.turning)
    elbow = subtract(scale(second_rate, q), scale(length * rate * rate, at.direction))
    sixth = mass / 6.0
    weight = scale(0.5 * mass, gravity)
    at_elbow = subtract(scale(sixth, add(scale(2.0, elbow), tip_acceleration)), weight)
    at_tip = subtract(scale(sixth, add(elbow, scale(2.0, tip_acceleration))), weight)
    inertia = legs[i, CRANK_INERTIA]
    falling = dot(cross(row(legs, i, AXIS), crank_center(legs, i, at)), gravity)
    force = add(at_tip, scale(dot(q, at_elbow) + inertia * second_rate - falling, w))

    third = mass / 3.0
    total = inertia + third * length * length
    first, second, last, masses = factored(
        third + 2.0 * sixth * q[0] * w[0] + total * w[0] * w[0],
        third + 2.0 * sixth * q[1] * w[1] + total * w[1] * w[1],
        third + 2.0 * sixth * q[2] * w[2] + total * w[2] * w[2],
        sixth * (q[0] * w[1] + q[1] * w[0]) + total * w[0] * w[1],
        sixth * (q[0] * w[2] + q[2] * w[0]) + total * w[0] * w[2],
        sixth * (q[1] * w[2] + q[2] * w[1]) + total * w[1] * w[2],
    )
    regular = abs(at.gain) > SMALLEST_GAIN * length
    return LegResponse(at.arm, w, first, second, last, masses, force, regular)


@device
def leg_energy(
    legs: FloatArray, i: int, state: PlatformState, gravity: Vector, deflection: FloatArray
) -> tuple[float, float, float]:
    """Return kinetic and potential energy and dissipated power."""
    at = crank(legs, i, state.position, state.matrix)
    length, mass = legs[i, CRANK_LENGTH], legs[i, ROD_MASS]
    tip = add(state.velocity, cross(state.omega, at.arm))
    rate = dot(at.rod, tip) / at.gain
    elbow = scale(length * rate, at.turning)
    kinetic = mass / 6.0 * (dot(elbow, elbow) + dot(elbow, tip) + dot(tip, tip))
    kinetic += 0.5 * legs[i, CRANK_INERTIA] * rate * rate
    base = row(legs, i, BASE_JOINT)
    ends = add(add(base, scale(length, at.direction)), add(state.position, at.arm))
    moment = add(crank_center(legs, i, at), scale(legs[i, CRANK_MASS], base))
    return kinetic, -dot(gravity, add(scale(0.5 * mass, ends), moment)), 0.0
