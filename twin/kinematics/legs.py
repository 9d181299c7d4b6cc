"""One leg at a platform state: vectors, rates and the row of the Jacobian.

Leg constants are rows of an array `(n, LEG_SIZE)`; the first nine entries are geometry and are
all that kinematics reads. See docs/dynamics.md for symbols.
"""

from __future__ import annotations

from math import sqrt

from twin.compiled.jit import device
from twin.compiled.vectors import add, cross, dot, norm, rotate, row, scale, subtract

BASE_JOINT = 0
PLATFORM_JOINT = 3
FIRST_AXIS = 6
GEOMETRY_SIZE = 9


@device
def leg_vector(legs, i, position, matrix):
    """Return arm r = R b_i and leg vector d = p + r - a_i, base frame."""
    arm = rotate(matrix, row(legs, i, PLATFORM_JOINT))
    return arm, subtract(add(position, arm), row(legs, i, BASE_JOINT))


@device
def leg_line(legs, i, position, matrix):
    """Return arm, unit direction and length of leg i, base frame."""
    arm, vector = leg_vector(legs, i, position, matrix)
    length = norm(vector)
    return arm, scale(1.0 / length, vector), length


@device
def jacobian_row(arm, direction):
    """Return the moment part r x Z; the row of leg i is (Z, r x Z)."""
    return cross(arm, direction)


@device
def leg_row_derivative(arm, direction, length, velocity, omega):
    """Return the time derivative of the row (Z, r x Z) under the given twist."""
    arm_rate = cross(omega, arm)
    tip_velocity = add(velocity, arm_rate)
    length_rate = dot(direction, tip_velocity)
    turning = scale(1.0 / length, subtract(tip_velocity, scale(length_rate, direction)))
    return turning, add(cross(arm_rate, direction), cross(arm, turning))


@device
def leg_frame(first_axis, direction):
    """Return x = s2 = normalise(s1 x Z), y = Z x s2, and tan(psi) = (s1.Z) / (s1.y)."""
    normal = cross(first_axis, direction)
    cosine = sqrt(dot(normal, normal))
    second = scale(1.0 / cosine, normal)
    return second, cross(direction, second), dot(first_axis, direction) / cosine, cosine


@device
def leg_rotation(frame_x, frame_y, direction, tangent, length, tip_velocity):
    """Return the leg's angular velocity in its own frame and the length rate.

    The spin follows from the universal joint: omega_z = tan(psi) omega_y.
    """
    omega_x = -dot(tip_velocity, frame_y) / length
    omega_y = dot(tip_velocity, frame_x) / length
    return (omega_x, omega_y, tangent * omega_y), dot(tip_velocity, direction)


@device
def leg_acceleration(omega, length_rate, tangent, length, tip_acceleration):
    """Return the leg's angular acceleration and the second rate of its length.

    All vectors in the leg frame; the tip accelerates with `tip_acceleration`.
    """
    alpha_x = -(tip_acceleration[1] + 2.0 * length_rate * omega[0]) / length + omega[2] * omega[1]
    alpha_y = (tip_acceleration[0] - 2.0 * length_rate * omega[1]) / length - omega[2] * omega[0]
    alpha_z = tangent * (alpha_y - omega[0] * omega[2]) - omega[0] * omega[1]
    second_rate = tip_acceleration[2] + length * (omega[0] * omega[0] + omega[1] * omega[1])
    return (alpha_x, alpha_y, alpha_z), second_rate
