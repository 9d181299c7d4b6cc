"""UPS legs at a platform state: vectors, rates and the row of the Jacobian.

Here and in the other kinds, leg constants are rows of an array, of which kinematics reads the
geometry alone. See docs/dynamics.md for symbols.
"""

from __future__ import annotations

from math import atan2, sqrt

from twin.basics.arrays import FloatArray
from twin.kernels.jit import device
from twin.kernels.legs.interface import AXIS, BASE_JOINT, HOME_COORDINATE, PLATFORM_JOINT
from twin.kernels.platform_state import Acceleration, PlatformState
from twin.kernels.vectors import (
    Matrix,
    Vector,
    add,
    cross,
    dot,
    norm,
    rotate,
    row,
    scale,
    subtract,
)

JOINT_COUNT = 3

SMALLEST_COSINE = 1e-9
"""Sine of the angle between leg and first axis below which the joint angles mean nothing."""


@device
def leg_vector(legs: FloatArray, i: int, position: Vector, matrix: Matrix) -> tuple[Vector, Vector]:
    """Return arm r = R b_i and leg vector d = p + r - a_i, base frame."""
    arm = rotate(matrix, row(legs, i, PLATFORM_JOINT))
    return arm, subtract(add(position, arm), row(legs, i, BASE_JOINT))


@device
def leg_line(
    legs: FloatArray, i: int, position: Vector, matrix: Matrix
) -> tuple[Vector, Vector, float]:
    """Return arm, unit direction and length of leg i, base frame."""
    arm, vector = leg_vector(legs, i, position, matrix)
    length = norm(vector)
    return arm, scale(1.0 / length, vector), length


actuation = leg_line
"""See `twin.kernels.legs.dispatch`: the arm is the tip's, w the leg's direction."""


@device
def actuation_rate(legs: FloatArray, i: int, state: PlatformState) -> tuple[Vector, Vector]:
    """Return the time derivatives of w and arm x w, the row of the Jacobian."""
    arm, direction, length = leg_line(legs, i, state.position, state.matrix)
    arm_rate = cross(state.omega, arm)
    tip_velocity = add(state.velocity, arm_rate)
    length_rate = dot(direction, tip_velocity)
    turning = scale(1.0 / length, subtract(tip_velocity, scale(length_rate, direction)))
    return turning, add(cross(arm_rate, direction), cross(arm, turning))


@device
def leg_frame(first_axis: Vector, direction: Vector) -> tuple[Vector, Vector, float, float]:
    """Return x = s2 = normalise(s1 x Z), y = Z x s2, tan(psi) = (s1.Z) / (s1.y), and |s1 x Z|."""
    normal = cross(first_axis, direction)
    cosine = sqrt(dot(normal, normal))
    second = scale(1.0 / cosine, normal)
    return second, cross(direction, second), dot(first_axis, direction) / cosine, cosine


@device
def leg_rotation(
    frame_x: Vector,
    frame_y: Vector,
    direction: Vector,
    tangent: float,
    length: float,
    tip_velocity: Vector,
) -> tuple[Vector, float]:
    """Return the leg's angular velocity in its own frame and the length rate.

    The spin follows from the universal joint: omega_z = tan(psi) omega_y.
    """
    omega_x = -dot(tip_velocity, frame_y) / length
    omega_y = dot(tip_velocity, frame_x) / length
    return (omega_x, omega_y, tangent * omega_y), dot(tip_velocity, direction)


@device
def leg_acceleration(
    omega: Vector, length_rate: float, tangent: float, length: float, tip_acceleration: Vector
) -> tuple[Vector, float]:
    """Return the leg's angular acceleration and the second rate of its length.

    All vectors in the leg frame; the tip accelerates with `tip_acceleration`.
    """
    alpha_x = -(tip_acceleration[1] + 2.0 * length_rate * omega[0]) / length + omega[2] * omega[1]
    alpha_y = (tip_acceleration[0] - 2.0 * length_rate * omega[1]) / length - omega[2] * omega[0]
    alpha_z = tangent * (alpha_y - omega[0] * omega[2]) - omega[0] * omega[1]
    second_rate = tip_acceleration[2] + length * (omega[0] * omega[0] + omega[1] * omega[1])
    return (alpha_x, alpha_y, alpha_z), second_rate


@device
def universal_angles(
    home: FloatArray, i: int, first: Vector, x: Vector, y: Vector, along: Vector
) -> tuple[float, float]:
    """Return the angles of a universal joint about its two axes, zero at home.

    Args:
        home: home rows `(n, HOME_SIZE)`.
        i: leg.
        first: first axis.
        x: x axis of the leg frame, the second axis.
        y: y axis of the leg frame.
        along: z axis of the leg frame.
    """
    home_x = (home[i, 0], home[i, 3], home[i, 6])
    home_z = (home[i, 2], home[i, 5], home[i, 8])
    home_y = cross(home_z, home_x)
    turn = atan2(dot(first, cross(home_x, x)), dot(home_x, x))
    return turn, atan2(dot(first, home_z), dot(first, home_y)) - atan2(
        dot(first, along), dot(first, y)
    )


@device
def universal_joint(
    home: FloatArray,
    i: int,
    first: Vector,
    along: Vector,
    length: float,
    velocity: Vector,
    acceleration: Vector,
    out: FloatArray,
) -> tuple[float, float, bool]:
    """Write angles, rates and accelerations of a universal joint; return those of the length.

    The first two rows of `out` (joints, 3) are filled. `velocity` and `acceleration` are those of
    the leg's far end relative to the joint. The last value returned is False where the leg lies
    along the first axis.
    """
    x, y, tangent, cosine = leg_frame(first, along)
    if not (length > 0.0 and cosine > SMALLEST_COSINE):
        return 0.0, 0.0, False
    turn, rate = leg_rotation(x, y, along, tangent, length, velocity)
    in_frame = (dot(acceleration, x), dot(acceleration, y), dot(acceleration, along))
    turn_rate, second_rate = leg_acceleration(turn, rate, tangent, length, in_frame)
    out[0, 0], out[1, 0] = universal_angles(home, i, first, x, y, along)
    out[0, 1] = turn[1] / cosine
    out[1, 1] = turn[0]
    out[0, 2] = (turn_rate[1] - turn[0] * turn[2]) / cosine
    out[1, 2] = turn_rate[0]
    return rate, second_rate, True


@device
def fill_joints(
    legs: FloatArray,
    home: FloatArray,
    i: int,
    state: PlatformState,
    acceleration: Acceleration,
    out: FloatArray,
) -> bool:
    """Fill `out` (3, 3) with (first angle, second angle, extension)."""
    arm, along, length = leg_line(legs, i, state.position, state.matrix)
    arm_rate = cross(state.omega, arm)
    tip_velocity = add(state.velocity, arm_rate)
    tip_acceleration = add(
        add(acceleration.linear, cross(acceleration.angular, arm)), cross(state.omega, arm_rate)
    )
    rate, second_rate, regular = universal_joint(
        home, i, row(legs, i, AXIS), along, length, tip_velocity, tip_acceleration, out
    )
    out[2, 0] = length - home[i, HOME_COORDINATE]
    out[2, 1] = rate
    out[2, 2] = second_rate
    return regular
