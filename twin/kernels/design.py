"""Needs of design candidates: coordinates, forces, speeds, angles, clearances, condition."""

from __future__ import annotations

from math import acos, cos, inf, sqrt
from typing import Any, NamedTuple

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
    rotate,
    rotate_back,
    rotation_at,
    row,
    scale,
    subtract,
    vector_at,
)


class Needs(NamedTuple):
    """What m candidates need, `(m,)` each, or one; `evaluate` fills an array with these columns."""

    shortest: Any
    """smallest coordinate [m, rad] of an actuator"""
    longest: Any
    """largest coordinate [m, rad]"""
    force: Any
    """largest force [N, N m] of an actuator"""
    speed: Any
    """largest speed [m/s, rad/s] of an actuator"""
    condition: Any
    """largest condition number of the Jacobian"""
    base_angle: Any
    """largest angle [rad] of a leg at its base joint from its direction at home"""
    platform_angle: Any
    """the same at its platform joint"""
    clearance: Any
    """smallest distance [m] of two legs"""
    stiffness: Any
    """smallest stiffness of the platform under a force, per stiffness of the actuators"""
    frequency: Any
    """smallest squared natural frequency [1/kg] per stiffness of the actuators"""
    lost: Any
    """fraction of poses that are out of reach or behind a singular pose"""


NEED_COUNT = len(Needs._fields)

SHORTEST, LONGEST, FORCE, SPEED, CONDITION, BASE_ANGLE, PLATFORM_ANGLE, CLEARANCE = range(8)
STIFFNESS, FREQUENCY, LOST = range(8, NEED_COUNT)
"""Columns of the needs."""

WITHOUT_POSES = np.array([inf, -inf, 0.0, 0.0, 0.0, 1.0, 1.0, inf, inf, inf, 0.0])
"""Needs of a candidate before its first pose; cosines in place of angles."""

POWER_STEPS = 16
"""Steps of a power iteration for a singular value, which is a few percent too small at worst."""

MIN_PIVOT = 1e-12
"""Pivot of a Jacobian, moments per arm, below which the pose counts as singular."""


@device
def closest_approach(p: Vector, p_end: Vector, q: Vector, q_end: Vector) -> float:
    """Return the square of the smallest distance [m2] of two segments.

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
    nearest = add(offset, subtract(scale(s, u), scale(t, v)))
    return dot(nearest, nearest)


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
        if not abs(matrix[pivot, j]) > MIN_PIVOT:
            return 0.0
        if pivot != j:
            sign = -sign
            for k in range(6):
                matrix[j, k], matrix[pivot, k] = matrix[pivot, k], matrix[j, k]
                inverse[j, k], inverse[pivot, k] = inverse[pivot, k], inverse[j, k]
        sign = sign if matrix[j, j] > 0.0 else -sign
        factor = 1.0 / matrix[j, j]
        for k in range(6):
            inverse[j, k] *= factor
        for k in range(j + 1, 6):
            matrix[j, k] *= factor
        for i in range(6):
            if i != j:
                factor = matrix[i, j]
                for k in range(6):
                    inverse[i, k] -= factor * inverse[j, k]
                for k in range(j + 1, 6):
                    matrix[i, k] -= factor * matrix[j, k]
    return sign


@device
def scaled_inverse(
    jacobian: FloatArray, arm: float, scaled: FloatArray, inverse: FloatArray, square: FloatArray
) -> float:
    """Fill the Jacobian with moments divided by `arm` [m], and its inverse; return its sign.

    `jacobian` (n, 6) is destroyed. Of more than six legs the inverse (6, n) is that of least
    squares, and the sign is 1; `square` (6, 6) is overwritten.
    """
    count = jacobian.shape[0]
    for i in range(count):
        for j in range(6):
            jacobian[i, j] /= arm if j > 2 else 1.0
            scaled[i, j] = jacobian[i, j]
    if count == 6:
        return inverted(jacobian, inverse)
    for j in range(6):
        for k in range(6):
            jacobian[j, k] = 0.0
            for i in range(count):
                jacobian[j, k] += scaled[i, j] * scaled[i, k]
    sign = inverted(jacobian, square)
    for i in range(count):
        for j in range(6):
            inverse[j, i] = 0.0
            for k in range(6):
                inverse[j, i] += square[j, k] * scaled[i, k]
    return sign


class ConditionMemory(NamedTuple):
    """Jacobians of k poses and memory for their condition numbers.

    The last axis is that of the poses: the same numbers of all of them are side by side, as vector
    registers take them.
    """

    jacobians: FloatArray
    """`(n, 6, k)` with scaled moments"""
    inverses: FloatArray
    """`(6, n, k)`"""
    vectors: FloatArray
    """`(2, n, k)`"""
    values: FloatArray
    """`(3, k)`"""


@allocating
def make_condition_memory(n: int, k: int) -> ConditionMemory:
    """Return memory for k poses of n legs."""
    return ConditionMemory(
        np.empty((n, 6, k)), np.empty((6, n, k)), np.empty((2, n, k)), np.empty((3, k))
    )


@device
def largest_condition(memory: ConditionMemory, count: int) -> float:
    """Return the largest condition number of the first `count` Jacobians."""
    values, largest = memory.values, 0.0
    fill_singular_values(memory.jacobians, count, memory.vectors, values[2], values[0])
    fill_singular_values(memory.inverses, count, memory.vectors, values[2], values[1])
    for k in range(count):
        largest = max(largest, values[0, k] * values[1, k])
    return largest


@device
def fill_singular_values(
    matrices: FloatArray, count: int, vectors: FloatArray, image: FloatArray, values: FloatArray
) -> None:
    """Fill the largest singular values of the first `count` matrices by power iteration.

    Args:
        matrices: `(r, c, k)`, one after the other along the last axis.
        count: number of matrices.
        vectors: `(2, c, k)` memory.
        image: `(k,)` memory.
        values: `(k,)`, overwritten.
    """
    for j in range(matrices.shape[1]):
        for k in range(count):
            vectors[0, j, k] = 1.0 + 0.1 * j
    for step in range(POWER_STEPS):
        now, new = step % 2, 1 - step % 2
        for j in range(matrices.shape[1]):
            for k in range(count):
                vectors[new, j, k] = 0.0
        for i in range(matrices.shape[0]):
            for k in range(count):
                image[k] = 0.0
            for j in range(matrices.shape[1]):
                for k in range(count):
                    image[k] += matrices[i, j, k] * vectors[now, j, k]
            for j in range(matrices.shape[1]):
                for k in range(count):
                    vectors[new, j, k] += matrices[i, j, k] * image[k]
        for k in range(count):
            values[k] = 0.0
        for j in range(matrices.shape[1]):
            for k in range(count):
                values[k] += vectors[new, j, k] * vectors[new, j, k]
        for k in range(count):
            values[k] = sqrt(values[k])
        for j in range(matrices.shape[1]):
            for k in range(count):
                vectors[new, j, k] /= values[k]
    for k in range(count):
        values[k] = sqrt(values[k])


@device
def cosine_between(first: Vector, second: Vector) -> float:
    """Return the cosine of the angle between two vectors."""
    return dot(first, second) / sqrt(dot(first, first) * dot(second, second))


@allocating
def place_legs(
    rows: FloatArray,
    has_cranks: bool,
    position: Vector,
    matrix: Matrix,
    jacobian: FloatArray,
    coordinates: FloatArray,
    points: FloatArray,
) -> bool:
    """Fill Jacobian (n, 6), coordinates (n,) and points (n, 3, 3) of the legs at a pose.

    The points of a leg are its base joint, its elbow, and its platform joint; a straight leg has
    the base joint twice. Returns False where a leg does not reach.
    """
    reached = True
    for i in range(rows.shape[0]):
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
    return row(points[i], j, 0)


@device
def clearance(points: FloatArray, has_cranks: bool) -> float:
    """Return the smallest distance [m] of the axes of two legs."""
    least = inf
    for i in range(points.shape[0]):
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
    return sqrt(least)


@device
def specific_force(
    arm: Vector, gravity: float, twist: FloatArray, acceleration: FloatArray
) -> Vector:
    """Return acceleration less gravity [m/s2] of a point at `arm` from the reference point."""
    omega, alpha = vector_at(twist, 3), vector_at(acceleration, 3)
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
    omega, alpha = vector_at(twist, 3), vector_at(acceleration, 3)
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
def fill_cosines(
    points: FloatArray, home_points: FloatArray, turn: Matrix, has_cranks: bool, need: FloatArray
) -> None:
    """Reduce the cosines in `need` to those of the legs' angles from their directions at home."""
    for i in range(points.shape[0]):
        direction = subtract(point(points, i, 2), point(points, i, 1))
        home_direction = subtract(point(home_points, i, 2), point(home_points, i, 1))
        need[PLATFORM_ANGLE] = min(
            need[PLATFORM_ANGLE], cosine_between(rotate_back(turn, direction), home_direction)
        )
        if not has_cranks:
            need[BASE_ANGLE] = min(need[BASE_ANGLE], cosine_between(direction, home_direction))


@device
def fill_angles(need: FloatArray) -> None:
    """Replace the smallest cosines in `need` by the angles."""
    for column in (BASE_ANGLE, PLATFORM_ANGLE):
        need[column] = acos(min(max(need[column], -1.0), 1.0))


@device
def differ(first: FloatArray, second: FloatArray) -> bool:
    """Return whether two arrays `(k,)` differ in any entry."""
    result = False
    for j in range(len(first)):
        result = result or first[j] != second[j]
    return result


@device
def load_wrench(
    body: FloatArray,
    tip_mass: float,
    points: FloatArray,
    position: Vector,
    matrix: Matrix,
    gravity: float,
    twist: FloatArray,
    acceleration: FloatArray,
) -> tuple[Vector, Vector]:
    """Return what `wrench_of` does, with a mass [kg] at each of the platform joints."""
    force, moment = wrench_of(body, matrix, gravity, twist, acceleration)
    for i in range(points.shape[0]):
        arm = subtract(point(points, i, 2), position)
        tip_force = scale(tip_mass, specific_force(arm, gravity, twist, acceleration))
        force, moment = add(force, tip_force), add(moment, cross(arm, tip_force))
    return force, moment


@allocating
def lowest_mode(
    inverse: FloatArray,
    arm: float,
    body: FloatArray,
    tip_mass: float,
    points: FloatArray,
    position: Vector,
    matrix: Matrix,
) -> float:
    """Return the smallest squared natural frequency per stiffness of the actuators [1/kg].

    Power iteration on compliance times mass; the frequency is slightly too large at worst.
    """
    motion, still, efforts = np.ones(6), np.zeros(6), np.empty(points.shape[0])
    value = 0.0
    for _ in range(POWER_STEPS):
        force, moment = load_wrench(body, tip_mass, points, position, matrix, 0.0, still, motion)
        wrench = force + moment
        energy, work, square = 0.0, 0.0, 0.0
        for j in range(6):
            energy += wrench[j] * motion[j]
        for i in range(len(efforts)):
            efforts[i] = effort_of(inverse, arm, i, force, moment)
        for j in range(6):
            motion[j] = 0.0
            for i in range(len(efforts)):
                motion[j] += inverse[j, i] * efforts[i] / (arm if j > 2 else 1.0)
            work += wrench[j] * motion[j]
            square += motion[j] * motion[j]
        value = energy / work
        for j in range(6):
            motion[j] /= sqrt(square)
    return value


@allocating
def fill_spring_needs(inverse: FloatArray, arm: float, load: Any, need: FloatArray) -> None:
    """Reduce stiffness and frequency in `need` to those of a pose, for arguments of `load_wrench`.

    The stiffness is the squared frequency of a unit mass in the joints' centre.
    """
    unit = np.array([1.0, 0.0, 0.0, 0.0, 0.0])
    need[STIFFNESS] = min(need[STIFFNESS], lowest_mode(inverse, arm, unit, 0.0, *load[2:]))
    need[FREQUENCY] = min(need[FREQUENCY], lowest_mode(inverse, arm, *load))


@device
def effort_of(inverse: FloatArray, arm: float, i: int, force: Vector, moment: Vector) -> float:
    """Return the force of actuator i against a wrench, for the inverse with scaled moments."""
    effort = 0.0
    for j in range(3):
        effort += inverse[j, i] * force[j] + inverse[3 + j, i] * moment[j] / arm
    return effort


@device
def speed_of(scaled: FloatArray, arm: float, i: int, twist: FloatArray) -> float:
    """Return the speed of actuator i for the Jacobian with scaled moments."""
    speed = 0.0
    for j in range(3):
        speed += scaled[i, j] * twist[j] + scaled[i, 3 + j] * twist[3 + j] * arm
    return speed


@compiled
def evaluate(
    has_cranks: bool,
    has_springs: bool,
    offsets: FloatArray,
    twists: FloatArray,
    accelerations: FloatArray,
    gravity: float,
    rows: FloatArray,
    heights: FloatArray,
    bodies: FloatArray,
    tip_masses: FloatArray,
    crank_moments: FloatArray,
    arms: FloatArray,
    out: FloatArray,
) -> None:
    """Fill the needs `(m, NEED_COUNT)` of candidates.

    Args:
        has_cranks: whether the actuators are cranks.
        has_springs: whether stiffness and frequency are wanted; infinite otherwise.
        offsets: `(k, 7)` poses relative to home; home comes first, equal ones follow one another.
        twists: `(k, 6)` that are needed there.
        accelerations: `(k, 6)` that are needed there.
        gravity: [m/s2].
        rows: `(m, n, c)` constants of the legs.
        heights: `(m,)` of home [m]; any number for a candidate without home, whose needs are void.
        bodies: `(m, 5)` mass [kg], height of the centre [m] and moments [kg m2] of the load.
        tip_masses: `(m,)` of each leg, as a point at its platform joint [kg].
        crank_moments: `(m,)` mass times distance from the axis [kg m] of each crank and of the part
            of its rod that it carries; zero for straight legs. A crank at angle zero is level.
        arms: `(m,)` length [m] by which moments are divided for the condition number.
        out: overwritten.
    """
    count, task_count = rows.shape[1], offsets.shape[0]
    jacobian, inverse = np.empty((count, 6)), np.empty((6, count))
    scaled, square, coordinates = np.empty((count, 6)), np.empty((6, 6)), np.empty(count)
    points, home_points = np.empty((count, 3, 3)), np.empty((count, 3, 3))
    memory = make_condition_memory(count, task_count)
    for m in range(rows.shape[0]):
        need, body = out[m], bodies[m]
        need[:] = WITHOUT_POSES
        home_sign, sign, pose_count = 0.0, 0.0, 0
        for k in range(task_count):
            position = (offsets[k, 0], offsets[k, 1], offsets[k, 2] + heights[m])
            turn = rotation_at(offsets[k], 3)
            is_new_pose = k == 0 or differ(offsets[k], offsets[k - 1])
            if is_new_pose:
                reached = place_legs(
                    rows[m], has_cranks, position, turn, jacobian, coordinates, points
                )
                inverses = (scaled, inverse, square)
                sign = scaled_inverse(jacobian, arms[m], *inverses) if reached else 0.0
            if k == 0:
                home_sign = sign
                home_points[:] = points
            if sign == 0.0 or sign != home_sign:
                need[LOST] += 1.0 / task_count
                continue
            load = (body, tip_masses[m], points, position, turn)
            if is_new_pose:
                memory.jacobians[:, :, pose_count] = scaled
                memory.inverses[:, :, pose_count] = inverse
                pose_count += 1
                need[CLEARANCE] = min(need[CLEARANCE], clearance(points, has_cranks))
                fill_cosines(points, home_points, turn, has_cranks, need)
                need[SHORTEST] = min(need[SHORTEST], coordinates.min())
                need[LONGEST] = max(need[LONGEST], coordinates.max())
                if has_springs:
                    fill_spring_needs(inverse, arms[m], load, need)
            force, moment = load_wrench(*load, gravity, twists[k], accelerations[k])
            for i in range(count):
                effort = effort_of(inverse, arms[m], i, force, moment)
                effort += gravity * crank_moments[m] * cos(coordinates[i])
                need[FORCE] = max(need[FORCE], abs(effort))
                need[SPEED] = max(need[SPEED], abs(speed_of(scaled, arms[m], i, twists[k])))
        need[CONDITION] = largest_condition(memory, pose_count)
        fill_angles(need)
