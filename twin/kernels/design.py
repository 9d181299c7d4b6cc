"""What candidates of a design need: coordinates, forces, speeds, angles, clearances, condition."""

from __future__ import annotations

from math import acos, cos, inf, sqrt

import numpy as np

from twin.basics.arrays import FloatArray
from twin.kernels.jit import allocating, compiled, device
from twin.kernels.legs import rss, ups
from twin.kernels.legs.interface import BASE_JOINT
from twin.kernels.linear_algebra import (
    Matrix,
    Vector,
    add,
    cross,
    dot,
    norm,
    rotate,
    rotate_back,
    rotation,
    row,
    scale,
    subtract,
)

SHORTEST, LONGEST, FORCE, SPEED, CONDITION, BASE_ANGLE, PLATFORM_ANGLE, CLEARANCE, LOST = range(9)
"""Columns of the needs: smallest and largest coordinate [m, rad], largest force [N, N m] and speed
[m/s, rad/s] of an actuator, largest condition number, largest angles of legs from home at base and
platform [rad], smallest distance of two legs [m], and the fraction of poses that are out of reach
or behind a singular pose."""

NEED_COUNT = 9

POWER_STEPS = 16
"""Steps of the power iteration for a singular value, which is a few percent too small at worst."""

NEGLIGIBLE = 1e-12
"""Pivot of a Jacobian, moments per arm, below which the pose counts as singular."""


@device
def closest_approach(p: Vector, p_end: Vector, q: Vector, q_end: Vector) -> float:
    """Return the smallest distance [m] of two segments.

    Reference: C. Ericson, Real-Time Collision Detection, section 5.1.9.
    """
    u, v, offset = subtract(p_end, p), subtract(q_end, q), subtract(p, q)
    a, b, c = dot(u, u), dot(u, v), dot(v, v)
    d, e = dot(u, offset), dot(v, offset)
    determinant = a * c - b * b
    s = min(max((b * e - c * d) / determinant, 0.0), 1.0) if determinant > 1e-12 * a * c else 0.0
    t = (b * s + e) / c
    if t < 0.0:
        t, s = 0.0, min(max(-d / a, 0.0), 1.0)
    elif t > 1.0:
        t, s = 1.0, min(max((b - d) / a, 0.0), 1.0)
    return norm(add(offset, subtract(scale(s, u), scale(t, v))))


@device
def inverted(matrix: FloatArray, inverse: FloatArray) -> float:
    """Fill the inverse of `matrix` (6, 6), which is destroyed; return the determinant's sign.

    Zero for a singular matrix.
    """
    sign = 1.0
    for i in range(6):
        for j in range(6):
            inverse[i, j] = 1.0 if i == j else 0.0
    for j in range(6):
        pivot = j
        for i in range(j + 1, 6):
            if abs(matrix[i, j]) > abs(matrix[pivot, j]):
                pivot = i
        if not abs(matrix[pivot, j]) > NEGLIGIBLE:
            return 0.0
        if pivot != j:
            sign = -sign
            for k in range(6):
                matrix[j, k], matrix[pivot, k] = matrix[pivot, k], matrix[j, k]
                inverse[j, k], inverse[pivot, k] = inverse[pivot, k], inverse[j, k]
        sign = sign if matrix[j, j] > 0.0 else -sign
        factor = 1.0 / matrix[j, j]
        for k in range(6):
            matrix[j, k] *= factor
            inverse[j, k] *= factor
        for i in range(6):
            if i != j:
                factor = matrix[i, j]
                for k in range(6):
                    matrix[i, k] -= factor * matrix[j, k]
                    inverse[i, k] -= factor * inverse[j, k]
    return sign


@device
def scaled_inverse(
    jacobian: FloatArray, arm: float, scaled: FloatArray, inverse: FloatArray
) -> float:
    """Fill the Jacobian with moments divided by `arm` [m], and its inverse; return its sign.

    `jacobian` (6, 6) is destroyed.
    """
    for i in range(6):
        for j in range(6):
            jacobian[i, j] /= arm if j > 2 else 1.0
            scaled[i, j] = jacobian[i, j]
    return inverted(jacobian, inverse)


@allocating
def largest_singular_value(matrix: FloatArray) -> float:
    """Return the largest singular value of `matrix` (6, 6) by power iteration."""
    vector, image = np.empty(6), np.empty(6)
    for i in range(6):
        vector[i] = 1.0 + 0.1 * i
    value = 0.0
    for _ in range(POWER_STEPS):
        for i in range(6):
            image[i] = 0.0
            for j in range(6):
                image[i] += matrix[i, j] * vector[j]
        square = 0.0
        for j in range(6):
            vector[j] = 0.0
            for i in range(6):
                vector[j] += matrix[i, j] * image[i]
            square += vector[j] * vector[j]
        value = sqrt(sqrt(square))
        factor = 1.0 / sqrt(square) if square > 0.0 else 0.0
        for j in range(6):
            vector[j] *= factor
    return value


@device
def angle_between(first: Vector, second: Vector) -> float:
    """Return the angle [rad] between two unit vectors."""
    return acos(min(max(dot(first, second), -1.0), 1.0))


@allocating
def place_legs(
    rows: FloatArray,
    has_cranks: bool,
    position: Vector,
    quaternion: tuple[float, float, float, float],
    jacobian: FloatArray,
    coordinates: FloatArray,
    points: FloatArray,
) -> bool:
    """Fill Jacobian (6, 6), coordinates (6,) and points (6, 3, 3) of the legs at a pose.

    The points of a leg are its base joint, its elbow, and its platform joint; a straight leg has
    the base joint twice. Returns False where a leg does not reach.
    """
    matrix = rotation(quaternion[0], quaternion[1], quaternion[2], quaternion[3])
    reached = True
    for i in range(6):
        base = row(rows, i, BASE_JOINT)
        if has_cranks:
            at = rss.crank(rows, i, position, matrix)
            arm, direction = at.arm, scale(1.0 / at.gain, at.rod)
            coordinate = rss.crank_angle(rows, i, at.vector)
            elbow = add(base, scale(rows[i, rss.CRANK_LENGTH], at.direction))
        else:
            arm, direction, coordinate = ups.leg_line(rows, i, position, matrix)
            elbow = base
        moment, tip = cross(arm, direction), add(position, arm)
        coordinates[i] = coordinate
        for k in range(3):
            jacobian[i, k], jacobian[i, 3 + k] = direction[k], moment[k]
            points[i, 0, k], points[i, 1, k], points[i, 2, k] = base[k], elbow[k], tip[k]
        reached = reached and abs(coordinate) < inf and abs(direction[0]) < inf
    return reached


@device
def point(points: FloatArray, i: int, j: int) -> Vector:
    """Return point j of leg i."""
    return points[i, j, 0], points[i, j, 1], points[i, j, 2]


@device
def clearance(points: FloatArray, has_cranks: bool) -> float:
    """Return the smallest distance [m] of the axes of two legs."""
    least = inf
    for i in range(6):
        for j in range(i):
            for k in range(0 if has_cranks else 1, 2):
                for m in range(0 if has_cranks else 1, 2):
                    least = min(
                        least,
                        closest_approach(
                            point(points, i, k),
                            point(points, i, k + 1),
                            point(points, j, m),
                            point(points, j, m + 1),
                        ),
                    )
    return least


@device
def specific_force(
    arm: Vector, gravity: float, twist: FloatArray, acceleration: FloatArray
) -> Vector:
    """Return acceleration less gravity [m/s2] of a point at `arm` from the reference point."""
    omega = (twist[3], twist[4], twist[5])
    alpha = (acceleration[3], acceleration[4], acceleration[5])
    linear = (acceleration[0], acceleration[1], acceleration[2] + gravity)
    return add(linear, add(cross(alpha, arm), cross(omega, cross(omega, arm))))


@device
def wrench_of(
    body: FloatArray,
    matrix: Matrix,
    gravity: float,
    twist: FloatArray,
    acceleration: FloatArray,
) -> tuple[Vector, Vector]:
    """Return force and moment about the reference point that move a body; base axes.

    Args:
        body: `(5,)` mass [kg], height of the centre [m] and principal moments [kg m2].
        matrix: rotation platform to base.
        gravity: [m/s2].
        twist: `(6,)`.
        acceleration: `(6,)`.
    """
    omega = (twist[3], twist[4], twist[5])
    alpha = (acceleration[3], acceleration[4], acceleration[5])
    center = scale(body[1], (matrix[2], matrix[5], matrix[8]))
    force = scale(body[0], specific_force(center, gravity, twist, acceleration))
    moment_about_center = add(
        turned_tensor_times(body, matrix, alpha),
        cross(omega, turned_tensor_times(body, matrix, omega)),
    )
    return force, add(moment_about_center, cross(center, force))


@device
def turned_tensor_times(body: FloatArray, matrix: Matrix, vector: Vector) -> Vector:
    """Return the body's tensor of inertia in base axes times a vector."""
    inside = rotate_back(matrix, vector)
    return rotate(matrix, (body[2] * inside[0], body[3] * inside[1], body[4] * inside[2]))


@device
def fill_angles(
    points: FloatArray, home_points: FloatArray, turn: Matrix, has_cranks: bool, need: FloatArray
) -> None:
    """Enlarge the largest angles of the legs from their directions at home in `need`."""
    for i in range(6):
        direction = subtract(point(points, i, 2), point(points, i, 1))
        home_direction = subtract(point(home_points, i, 2), point(home_points, i, 1))
        direction, home_direction = (
            scale(1.0 / norm(direction), direction),
            scale(1.0 / norm(home_direction), home_direction),
        )
        need[PLATFORM_ANGLE] = max(
            need[PLATFORM_ANGLE], angle_between(rotate_back(turn, direction), home_direction)
        )
        if not has_cranks:
            need[BASE_ANGLE] = max(need[BASE_ANGLE], angle_between(direction, home_direction))


@compiled
def evaluate(
    rows: FloatArray,
    has_cranks: bool,
    heights: FloatArray,
    bodies: FloatArray,
    tip_masses: FloatArray,
    crank_moments: FloatArray,
    arms: FloatArray,
    offsets: FloatArray,
    twists: FloatArray,
    accelerations: FloatArray,
    gravity: float,
    out: FloatArray,
) -> None:
    """Fill the needs `(m, NEED_COUNT)` of candidates.

    Args:
        rows: `(m, 6, k)` constants of the legs.
        has_cranks: whether the actuators are cranks.
        heights: `(m,)` of home [m]; a candidate without one needs everything.
        bodies: `(m, 5)` mass [kg], height of the centre [m] and moments [kg m2] of the load.
        tip_masses: `(m,)` of each leg, as a point at its platform joint [kg].
        crank_moments: `(m,)` mass times distance from the axis [kg m] of each crank and of the part
            of its rod that it carries; zero for straight legs.
        arms: `(m,)` length [m] by which moments are divided for the condition number.
        offsets: `(k, 7)` poses relative to home; home comes first.
        twists: `(k, 6)` that are needed there.
        accelerations: `(k, 6)` that are needed there.
        gravity: [m/s2].
        out: overwritten.
    """
    jacobian, inverse = np.empty((6, 6)), np.empty((6, 6))
    scaled, coordinates = np.empty((6, 6)), np.empty(6)
    points, home_points = np.empty((6, 3, 3)), np.empty((6, 3, 3))
    for m in range(rows.shape[0]):
        need, body = out[m], bodies[m]
        need[:] = 0.0
        need[SHORTEST], need[LONGEST], need[CLEARANCE] = inf, -inf, inf
        home_sign = 0.0
        for k in range(offsets.shape[0]):
            position = (offsets[k, 0], offsets[k, 1], offsets[k, 2] + heights[m])
            quaternion = (offsets[k, 3], offsets[k, 4], offsets[k, 5], offsets[k, 6])
            turn = rotation(quaternion[0], quaternion[1], quaternion[2], quaternion[3])
            reached = place_legs(
                rows[m], has_cranks, position, quaternion, jacobian, coordinates, points
            )
            sign = scaled_inverse(jacobian, arms[m], scaled, inverse) if reached else 0.0
            home_sign = sign if k == 0 else home_sign
            if sign == 0.0 or sign != home_sign:
                need[LOST] += 1.0 / offsets.shape[0]
                continue
            for i in range(6):
                need[SHORTEST] = min(need[SHORTEST], coordinates[i])
                need[LONGEST] = max(need[LONGEST], coordinates[i])
            need[CONDITION] = max(
                need[CONDITION], largest_singular_value(scaled) * largest_singular_value(inverse)
            )
            need[CLEARANCE] = min(need[CLEARANCE], clearance(points, has_cranks))
            if k == 0:
                home_points[:] = points
            fill_angles(points, home_points, turn, has_cranks, need)
            force, moment = wrench_of(body, turn, gravity, twists[k], accelerations[k])
            for i in range(6):
                arm = subtract(point(points, i, 2), position)
                tip_acceleration = specific_force(arm, gravity, twists[k], accelerations[k])
                tip_force = scale(tip_masses[m], tip_acceleration)
                force, moment = add(force, tip_force), add(moment, cross(arm, tip_force))
            level_moment = gravity * crank_moments[m]  # of a crank at angle zero, which is level
            for i in range(6):
                effort, speed = level_moment * cos(coordinates[i]), 0.0
                for j in range(3):
                    effort += inverse[j, i] * force[j] + inverse[3 + j, i] * moment[j] / arms[m]
                    speed += scaled[i, j] * twists[k, j]
                    speed += scaled[i, 3 + j] * twists[k, 3 + j] * arms[m]
                need[FORCE] = max(need[FORCE], abs(effort))
                need[SPEED] = max(need[SPEED], abs(speed))
