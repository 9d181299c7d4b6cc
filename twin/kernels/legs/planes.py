"""Legs that begin with a hinge: each holds its tip in a plane, and three leave three freedoms.

Leg i keeps its tip in the plane through its base joint a_i at a right angle to the hinge's axis
u_i:

    u_i . (p + R b_i - a_i) = 0,

so that u_i . (v + omega x R b_i) = 0, with the drift u_i . (omega x (omega x R b_i)). Three such
legs leave the height and the platform's normal n free. The place along x and y and the turn about
n follow: a small change of these three moves tip i out of its plane by row_i . (x, y, turn) with

    row_i = (u_ix, u_iy, u_i . (n x R b_i)).

Within its plane the leg moves as a leg on a universal joint does whose second axis never turns, so
all that is not here is that of UPS and RSS legs.

Reference: Carretero, Podhorodeski, Nahon and Gosselin, Kinematic analysis and optimization of a
new three degree-of-freedom spatial parallel manipulator, J. Mech. Design 122 (2000).
"""

from __future__ import annotations

from math import acos, atan2, inf, sqrt

from twin.basics.arrays import FloatArray
from twin.kernels.jit import device
from twin.kernels.legs.interface import AXIS, BASE_JOINT, PLATFORM_JOINT, PlatformState
from twin.kernels.legs.rss import nearest
from twin.kernels.linear_algebra import (
    Matrix,
    Vector,
    add,
    cross,
    dot,
    fill_row,
    rotate,
    rotation_at,
    row,
    scale,
    subtract,
    turned,
    vector_at,
)

CONSTRAINT_COUNT = 3
"""Constraints on the platform's motion, one of each of the three legs."""

MAX_ITERATIONS = 30
"""Limit of Newton's method, which begins at the turn in closed form."""


@device
def tip_distance(legs: FloatArray, i: int, position: Vector, matrix: Matrix) -> float:
    """Return the distance [m] of the tip of leg i from its plane, along the hinge's axis."""
    vector = add(position, rotate(matrix, row(legs, i, PLATFORM_JOINT)))
    return dot(row(legs, i, AXIS), subtract(vector, row(legs, i, BASE_JOINT)))


@device
def fill_constraints(legs: FloatArray, state: PlatformState, rows: FloatArray) -> None:
    """Fill `rows` (3, 8) with each leg's constraint: row (6 entries), drift, distance."""
    omega = state.omega
    for i in range(CONSTRAINT_COUNT):
        axis, arm = row(legs, i, AXIS), rotate(state.matrix, row(legs, i, PLATFORM_JOINT))
        fill_row(rows, i, axis, cross(arm, axis))
        rows[i, 6] = dot(axis, cross(omega, cross(omega, arm)))
        rows[i, 7] = tip_distance(legs, i, state.position, state.matrix)


@device
def dependent_row(legs: FloatArray, i: int, matrix: Matrix) -> Vector:
    """Return how far x, y and a turn about the normal move the tip of leg i out of its plane."""
    axis, normal = row(legs, i, AXIS), (matrix[2], matrix[5], matrix[8])
    arm = rotate(matrix, row(legs, i, PLATFORM_JOINT))
    return axis[0], axis[1], dot(axis, cross(normal, arm))


@device
def dependent_motion(legs: FloatArray, matrix: Matrix, distances: Vector) -> Vector:
    """Return the motion along x and y and about the normal that moves the tips by `distances`."""
    first_row, second_row, third_row = (
        dependent_row(legs, 0, matrix),
        dependent_row(legs, 1, matrix),
        dependent_row(legs, 2, matrix),
    )
    inverse = 1.0 / dot(first_row, cross(second_row, third_row))
    motion = add(
        scale(distances[0], cross(second_row, third_row)),
        scale(distances[1], cross(third_row, first_row)),
    )
    return scale(inverse, add(motion, scale(distances[2], cross(first_row, second_row))))


@device
def turn_about_normal(legs: FloatArray, position: Vector, matrix: Matrix) -> float:
    """Return the turn [rad] about the normal after which x and y can bring all tips into planes.

    The combination of the three planes that x and y do not change, sum l_i u_i . (x, y) = 0, is
    A cos(turn) + B sin(turn) = C. Of the two solutions the smaller turn is taken; where there is
    none, the turn that comes closest.
    """
    normal = (matrix[2], matrix[5], matrix[8])
    first_axis, second_axis, third_axis = row(legs, 0, AXIS), row(legs, 1, AXIS), row(legs, 2, AXIS)
    weights = cross(
        (first_axis[0], second_axis[0], third_axis[0]),
        (first_axis[1], second_axis[1], third_axis[1]),
    )
    cosine_term, sine_term, right_side = 0.0, 0.0, 0.0
    for i in range(CONSTRAINT_COUNT):
        axis = scale(weights[i], row(legs, i, AXIS))
        arm = rotate(matrix, row(legs, i, PLATFORM_JOINT))
        normal_part = scale(dot(normal, arm), normal)
        cosine_term += dot(axis, subtract(arm, normal_part))
        sine_term += dot(axis, cross(normal, arm))
        right_side += dot(axis, subtract(row(legs, i, BASE_JOINT), add(position, normal_part)))
    amplitude = sqrt(cosine_term * cosine_term + sine_term * sine_term)
    middle_angle, half_angle = atan2(sine_term, cosine_term), 0.0
    if amplitude > 0.0:
        half_angle = acos(max(-1.0, min(1.0, right_side / amplitude)))
    upper_solution, lower_solution = (
        nearest(middle_angle + half_angle, 0.0),
        nearest(middle_angle - half_angle, 0.0),
    )
    return upper_solution if abs(upper_solution) < abs(lower_solution) else lower_solution


@device
def close_planes(legs: FloatArray, y: FloatArray) -> None:
    """Move the pose in `y` along x, y and about its normal until all tips are in their planes.

    The turn in closed form first, then Newton's method until the distances fall no more; its last
    step is taken back where it made them larger.
    """
    matrix, position = rotation_at(y, 3), vector_at(y, 0)
    turn = scale(turn_about_normal(legs, position, matrix), (matrix[2], matrix[5], matrix[8]))
    y[3], y[4], y[5], y[6] = turned(y[3], y[4], y[5], y[6], turn[0], turn[1], turn[2])
    last_distance, last_pose = inf, (y[0], y[1], y[3], y[4], y[5], y[6])
    for _ in range(MAX_ITERATIONS):
        matrix, position = rotation_at(y, 3), vector_at(y, 0)
        distances = (
            tip_distance(legs, 0, position, matrix),
            tip_distance(legs, 1, position, matrix),
            tip_distance(legs, 2, position, matrix),
        )
        distance = abs(distances[0]) + abs(distances[1]) + abs(distances[2])
        if not distance <= last_distance:
            y[0], y[1], y[3], y[4], y[5], y[6] = last_pose
        if not 0.0 < distance < last_distance:
            return
        last_distance, last_pose = distance, (y[0], y[1], y[3], y[4], y[5], y[6])
        motion = dependent_motion(legs, matrix, distances)
        turn = scale(-motion[2], (matrix[2], matrix[5], matrix[8]))
        y[0] -= motion[0]
        y[1] -= motion[1]
        y[3], y[4], y[5], y[6] = turned(y[3], y[4], y[5], y[6], turn[0], turn[1], turn[2])


@device
def project_onto_constraints(legs: FloatArray, y: FloatArray) -> None:
    """Move a state `y` (13 or more) onto the constraints with its height, normal and their rates.

    Of the two poses that do, it is the one with the smaller turn about the normal.
    """
    close_planes(legs, y)
    matrix, climb = rotation_at(y, 3), (0.0, 0.0, y[9])
    normal, omega = (matrix[2], matrix[5], matrix[8]), vector_at(y, 10)
    tilting = subtract(omega, scale(dot(omega, normal), normal))
    motion = dependent_motion(
        legs,
        matrix,
        (
            tip_speed(legs, 0, matrix, climb, tilting),
            tip_speed(legs, 1, matrix, climb, tilting),
            tip_speed(legs, 2, matrix, climb, tilting),
        ),
    )
    y[7], y[8] = -motion[0], -motion[1]
    for k in range(3):
        y[10 + k] = tilting[k] - motion[2] * normal[k]


@device
def tip_speed(legs: FloatArray, i: int, matrix: Matrix, velocity: Vector, omega: Vector) -> float:
    """Return the speed [m/s] at which the tip of leg i leaves its plane."""
    arm = rotate(matrix, row(legs, i, PLATFORM_JOINT))
    return dot(row(legs, i, AXIS), add(velocity, cross(omega, arm)))


@device
def hinge_motion(
    axis: Vector,
    home: Vector,
    along: Vector,
    length: float,
    velocity: Vector,
    acceleration: Vector,
) -> tuple[float, float, float, float, float]:
    """Return angle, rate and acceleration of a link about a hinge, and those of its length.

    Args:
        axis: of the hinge.
        home: direction of the link at angle zero.
        along: its direction.
        length: from the hinge to its end [m].
        velocity: of the end relative to the hinge [m/s].
        acceleration: likewise [m/s2].
    """
    side = cross(axis, along)
    angle = atan2(dot(axis, cross(home, along)), dot(home, along))
    rate, length_rate = dot(side, velocity) / length, dot(along, velocity)
    second_rate = (dot(side, acceleration) - 2.0 * rate * length_rate) / length
    return angle, rate, second_rate, length_rate, dot(along, acceleration) + length * rate * rate
