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

from math import acos, atan2, cos, nan, pi, sin, sqrt

from twin.kernels.jit import device
from twin.kernels.legs.kinds import AXIS, GEOMETRY_SIZE, HOME_COORDINATE
from twin.kernels.legs.ups.kinematics import leg_vector, universal_joint
from twin.kernels.vectors import add, cross, dot, row, scale, subtract

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


@device
def nearest(angle, middle):
    """Return the angle [rad] that differs by whole turns and is nearest to `middle`."""
    return angle - 2.0 * pi * round((angle - middle) / (2.0 * pi))


@device
def crank_angle(legs, i, vector):
    """Return the crank's angle [rad] for a tip at `vector` from its joint; NaN out of reach."""
    zero = row(legs, i, ZERO)
    side = cross(row(legs, i, AXIS), zero)
    crank, rod = legs[i, CRANK_LENGTH], legs[i, ROD_LENGTH]
    along, across = dot(vector, zero), dot(vector, side)
    wanted = (dot(vector, vector) + crank * crank - rod * rod) / (2.0 * crank)
    reach = sqrt(along * along + across * across)
    if not abs(wanted) <= reach:
        return nan
    angle = atan2(across, along) + legs[i, BRANCH] * acos(wanted / reach)
    return nearest(angle, legs[i, MIDDLE])


@device
def crank(legs, i, position, matrix):
    """Return arm, angle, crank direction c and its derivative c', rod e, and l_c e . c'."""
    arm, vector = leg_vector(legs, i, position, matrix)
    angle = crank_angle(legs, i, vector)
    axis, zero = row(legs, i, AXIS), row(legs, i, ZERO)
    cosine, sine = cos(angle), sin(angle)
    direction = add(scale(cosine, zero), scale(sine, cross(axis, zero)))
    turning = cross(axis, direction)
    length = legs[i, CRANK_LENGTH]
    rod = scale(1.0 / legs[i, ROD_LENGTH], subtract(vector, scale(length, direction)))
    return arm, angle, direction, turning, rod, length * dot(rod, turning)


@device
def drive(legs, i, position, matrix):
    """Return arm, drive w and crank angle; see `twin.kernels.legs.kinematics`."""
    arm, angle, _, _, rod, gain = crank(legs, i, position, matrix)
    return arm, scale(1.0 / gain, rod), angle


@device
def crank_rates(legs, i, direction, turning, rod, gain, tip_velocity):
    """Return rate of the crank's angle, of w, and of the rod's direction."""
    length = legs[i, CRANK_LENGTH]
    rate = dot(rod, tip_velocity) / gain
    rod_rate = scale(
        1.0 / legs[i, ROD_LENGTH], subtract(tip_velocity, scale(length * rate, turning))
    )
    gain_rate = length * (dot(rod_rate, turning) - rate * dot(rod, direction))
    inverse = 1.0 / gain
    return (
        rate,
        scale(inverse, subtract(rod_rate, scale(gain_rate * inverse, rod))),
        rod_rate,
    )


@device
def drive_rate(legs, i, position, matrix, velocity, omega):
    """Return the time derivatives of drive and moment, the row of the Jacobian; see `drive`."""
    arm, _, direction, turning, rod, gain = crank(legs, i, position, matrix)
    arm_rate = cross(omega, arm)
    _, changing, _ = crank_rates(legs, i, direction, turning, rod, gain, add(velocity, arm_rate))
    return changing, add(scale(1.0 / gain, cross(arm_rate, rod)), cross(arm, changing))


@device
def joints(legs, home, i, position, matrix, velocity, omega, linear, angular, out):
    """Fill `out` (3, 3) with (crank, first and second angle of the elbow); see `leg_joints`."""
    arm, angle, direction, turning, rod, gain = crank(legs, i, position, matrix)
    length = legs[i, CRANK_LENGTH]
    arm_rate = cross(omega, arm)
    tip_velocity = add(velocity, arm_rate)
    tip_acceleration = add(add(linear, cross(angular, arm)), cross(omega, arm_rate))
    rate, changing, _ = crank_rates(legs, i, direction, turning, rod, gain, tip_velocity)
    second_rate = dot(rod, tip_acceleration) / gain + dot(changing, tip_velocity)
    elbow_velocity = scale(length * rate, turning)
    elbow_acceleration = scale(
        length, subtract(scale(second_rate, turning), scale(rate * rate, direction))
    )
    _, _, regular = universal_joint(
        home,
        i,
        row(legs, i, AXIS),
        rod,
        legs[i, ROD_LENGTH],
        subtract(tip_velocity, elbow_velocity),
        subtract(tip_acceleration, elbow_acceleration),
        out,
        1,
    )
    out[0, 0] = angle - home[i, HOME_COORDINATE]
    out[0, 1] = rate
    out[0, 2] = second_rate
    # The elbow's first axis is the crank's, about which the crank has turned already.
    out[1, 0] = nearest(out[1, 0] - out[0, 0], 0.0)
    out[1, 1] -= rate
    out[1, 2] -= second_rate
    return regular and abs(gain) > SMALLEST_GAIN * length
