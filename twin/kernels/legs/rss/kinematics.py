"""RSS legs: a crank turned by the actuator, an elbow, a rod to the platform.

The crank turns about the axis u through the base joint; at angle zero it points along c0, a right
angle to u. With c = cos(theta) c0 + sin(theta) (u x c0) and c' = u x c, the elbow is at
a + l_c c, and the rod t = tip - elbow has the length l_r. Hence

    |d|^2 + l_c^2 - 2 l_c d . c = l_r^2,   d = tip - a,

which is A cos(theta) + B sin(theta) = K with A = d . c0, B = d . (u x c0) and has two solutions,
the branches of the elbow. Differentiated, e . (v_tip - l_c c' rate) = 0 with e = t / l_r, so that
rate = w . v_tip with w = e / (l_c e . c').

Reference: extended-configuration-space paper, section 6.
"""

from __future__ import annotations

from math import acos, atan2, nan, pi, sqrt
from typing import NamedTuple

from twin.basics.arrays import FloatArray
from twin.kernels.jit import device
from twin.kernels.legs.interface import AXIS, GEOMETRY_SIZE, HOME_COORDINATE
from twin.kernels.legs.ups.kinematics import leg_vector, universal_joint
from twin.kernels.platform_state import Acceleration, PlatformState
from twin.kernels.vectors import Matrix, Vector, add, cross, dot, row, scale, subtract

JOINT_COUNT = 3

ZERO = GEOMETRY_SIZE
"""Direction c0 of the crank at angle zero."""
CRANK_LENGTH = GEOMETRY_SIZE + 3
ROD_LENGTH = GEOMETRY_SIZE + 4
BRANCH = GEOMETRY_SIZE + 5
"""1 for the elbow at the larger angle, -1 for the other."""
MIDDLE = GEOMETRY_SIZE + 6
"""Angle in the middle of the crank's range: of all turns, the one nearest to it counts."""
RSS_GEOMETRY_SIZE = GEOMETRY_SIZE + 7

SMALLEST_SCALE = pi
"""Angles [rad] are computed with errors of their full range's rounding."""

SMALLEST_GAIN = 1e-4
"""e . c' below which crank and rod are stretched or folded, and no rate moves the tip."""


class Crank(NamedTuple):
    """Position of crank and rod of one leg, base axes."""

    arm: Vector
    """from the reference point to the platform joint [m]"""
    vector: Vector
    """from the base joint to the platform joint [m]"""
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
    needed = (dot(vector, vector) + crank * crank - rod * rod) / (2.0 * crank)
    return dot(vector, zero), dot(vector, side), needed


@device
def crank_angle(legs: FloatArray, i: int, vector: Vector) -> float:
    """Return the crank's angle [rad] for a tip at `vector` from its joint; NaN out of reach."""
    zero = row(legs, i, ZERO)
    side = cross(row(legs, i, AXIS), zero)
    along, across, needed = crank_equation(legs, i, vector, zero, side)
    reach = sqrt(along * along + across * across)
    if not abs(needed) <= reach:
        return nan
    angle = atan2(across, along) + legs[i, BRANCH] * acos(needed / reach)
    return nearest(angle, legs[i, MIDDLE])


@device
def crank_direction(legs: FloatArray, i: int, vector: Vector) -> Vector:
    """Return the crank's direction c for a tip at `vector` from its joint; NaN out of reach.

    That of `crank_angle`, without angles: cos(theta) = (A K - b B s) / r^2 and
    sin(theta) = (B K + b A s) / r^2 with r^2 = A^2 + B^2, s^2 = r^2 - K^2 and the branch b.
    """
    zero = row(legs, i, ZERO)
    side = cross(row(legs, i, AXIS), zero)
    along, across, needed = crank_equation(legs, i, vector, zero, side)
    square = along * along + across * across
    root = legs[i, BRANCH] * sqrt(square - needed * needed)
    cosine = (along * needed - across * root) / square
    sine = (across * needed + along * root) / square
    return add(scale(cosine, zero), scale(sine, side))


@device
def crank(legs: FloatArray, i: int, position: Vector, matrix: Matrix) -> Crank:
    """Return the position of crank and rod of leg i."""
    arm, vector = leg_vector(legs, i, position, matrix)
    direction = crank_direction(legs, i, vector)
    turning = cross(row(legs, i, AXIS), direction)
    length = legs[i, CRANK_LENGTH]
    rod = scale(1.0 / legs[i, ROD_LENGTH], subtract(vector, scale(length, direction)))
    return Crank(arm, vector, direction, turning, rod, length * dot(rod, turning))


@device
def actuation(
    legs: FloatArray, i: int, position: Vector, matrix: Matrix
) -> tuple[Vector, Vector, float]:
    """Return arm, w and crank angle; see `twin.kernels.legs.dispatch`."""
    at = crank(legs, i, position, matrix)
    return at.arm, scale(1.0 / at.gain, at.rod), crank_angle(legs, i, at.vector)


@device
def crank_rates(legs: FloatArray, i: int, at: Crank, tip_velocity: Vector) -> tuple[float, Vector]:
    """Return the rates of the crank's angle and of w."""
    length, inverse = legs[i, CRANK_LENGTH], 1.0 / at.gain
    rate = dot(at.rod, tip_velocity) / at.gain
    rod_rate = scale(
        1.0 / legs[i, ROD_LENGTH], subtract(tip_velocity, scale(length * rate, at.turning))
    )
    gain_rate = length * (dot(rod_rate, at.turning) - rate * dot(at.rod, at.direction))
    return rate, scale(inverse, subtract(rod_rate, scale(gain_rate * inverse, at.rod)))


@device
def actuation_rate(legs: FloatArray, i: int, state: PlatformState) -> tuple[Vector, Vector]:
    """Return the time derivatives of w and arm x w, the row of the Jacobian."""
    at = crank(legs, i, state.position, state.matrix)
    arm_rate = cross(state.omega, at.arm)
    _, changing = crank_rates(legs, i, at, add(state.velocity, arm_rate))
    return changing, add(scale(1.0 / at.gain, cross(arm_rate, at.rod)), cross(at.arm, changing))


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
    at = crank(legs, i, state.position, state.matrix)
    length = legs[i, CRANK_LENGTH]
    arm_rate = cross(state.omega, at.arm)
    tip_velocity = add(state.velocity, arm_rate)
    tip_acceleration = add(
        add(acceleration.linear, cross(acceleration.angular, at.arm)), cross(state.omega, arm_rate)
    )
    rate, changing = crank_rates(legs, i, at, tip_velocity)
    second_rate = dot(at.rod, tip_acceleration) / at.gain + dot(changing, tip_velocity)
    elbow_velocity = scale(length * rate, at.turning)
    elbow_acceleration = scale(
        length, subtract(scale(second_rate, at.turning), scale(rate * rate, at.direction))
    )
    _, _, regular = universal_joint(
        home,
        i,
        row(legs, i, AXIS),
        at.rod,
        legs[i, ROD_LENGTH],
        subtract(tip_velocity, elbow_velocity),
        subtract(tip_acceleration, elbow_acceleration),
        out[1:],
    )
    out[0, 0] = crank_angle(legs, i, at.vector) - home[i, HOME_COORDINATE]
    out[0, 1] = rate
    out[0, 2] = second_rate
    # The elbow's first axis is the crank's, about which the crank has turned already.
    out[1, 0] = nearest(out[1, 0] - out[0, 0], 0.0)
    out[1, 1] -= rate
    out[1, 2] -= second_rate
    return regular and abs(at.gain) > SMALLEST_GAIN * length
