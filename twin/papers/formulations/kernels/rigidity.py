"""Loop closure without the platform: twelve constraints on the six tips, and the platform's pose.

The tips belong to a rigid body.

Three tips a, b, c keep the sides of their triangle; each of the other three keeps its position
relative to two sides and their vector product:

    (|t_b - t_a|^2 - L^2) / (2 L) = 0                                     three sides
    t_m - t_a - alpha e_1 - beta e_2 - gamma e_1 x e_2 = 0                three vectors
    e_1 = t_b - t_a,   e_2 = t_c - t_a

All are lengths. They are independent wherever the triangle is one, for platform joints in a plane
(gamma = 0) and out of it; distances alone are not: in a plane they lose the directions across it.

Reference: extended-configuration-space paper, section 3.1, which takes nine distances and three
constraints of parallel planes.
"""

from __future__ import annotations

from math import sqrt

from twin.basics.arrays import FloatArray
from twin.kernels.jit import device
from twin.kernels.legs.interface import PLATFORM_JOINT
from twin.kernels.vectors import (
    Matrix,
    Quaternion,
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
from twin.papers.formulations.kernels.arrays import (
    CONSTRAINT,
    CONSTRAINT_BIAS,
    TIP,
    TIP_BIAS,
    TIP_RATE,
    Model,
    Work,
)


@device
def carried_position(
    coefficients: FloatArray,
    m: int,
    first: Vector,
    second: Vector,
    along: Vector,
    across: Vector,
) -> tuple[Vector, Vector]:
    """Return the change of the position of attached tip m at small changes of the two sides."""
    by_first = add(
        scale(coefficients[m, 0], along), scale(coefficients[m, 2], cross(along, second))
    )
    by_second = add(
        scale(coefficients[m, 1], across), scale(coefficients[m, 2], cross(first, across))
    )
    return by_first, by_second


@device
def attached_change(
    coefficients: FloatArray,
    m: int,
    first: Vector,
    second: Vector,
    changes: tuple[Vector, Vector, Vector, Vector],
) -> Vector:
    """Return the change of the vector constraint m at small changes of the tips a, b, c and m."""
    start = changes[0]
    by_first, by_second = carried_position(
        coefficients, m, first, second, subtract(changes[1], start), subtract(changes[2], start)
    )
    return subtract(subtract(subtract(changes[3], start), by_first), by_second)


@device
def fill_closure(model: Model, work: Work) -> None:
    """Fill the constraints and their Jacobian, columns of `closure`, from tips and tip columns."""
    closure = work.closure
    for index in range(12):
        for j in range(18):
            closure[index, j] = 0.0
    corners = model.triangle
    for k in range(3):
        near, far, length = corners[k], corners[(k + 1) % 3], model.edges[k]
        side = subtract(row(work.legs, far, TIP), row(work.legs, near, TIP))
        closure[k, CONSTRAINT] = (dot(side, side) / length - length) * 0.5
        for j in range(3):
            closure[k, 3 * near + j] = -dot(side, row(work.tip_columns[near], j, 0)) / length
            closure[k, 3 * far + j] = dot(side, row(work.tip_columns[far], j, 0)) / length
    start = row(work.legs, corners[0], TIP)
    first = subtract(row(work.legs, corners[1], TIP), start)
    second = subtract(row(work.legs, corners[2], TIP), start)
    for m in range(3):
        other = model.attached[m]
        alpha, beta, gamma = row(model.coefficients, m, 0)
        position = add(
            add(scale(alpha, first), scale(beta, second)), scale(gamma, cross(first, second))
        )
        line = 3 + 3 * m
        for k, value in enumerate(subtract(subtract(row(work.legs, other, TIP), start), position)):
            closure[line + k, CONSTRAINT] = value
        for j in range(3):
            a, b = row(work.tip_columns[corners[0]], j, 0), row(work.tip_columns[corners[1]], j, 0)
            c, d = row(work.tip_columns[corners[2]], j, 0), row(work.tip_columns[other], j, 0)
            at_start = carried_position(model.coefficients, m, first, second, a, a)
            by_first = carried_position(model.coefficients, m, first, second, b, a)[0]
            by_second = carried_position(model.coefficients, m, first, second, a, c)[1]
            carried = subtract(add(at_start[0], at_start[1]), a)
            for k in range(3):
                closure[line + k, 3 * corners[0] + j] = carried[k]
                closure[line + k, 3 * corners[1] + j] = -by_first[k]
                closure[line + k, 3 * corners[2] + j] = -by_second[k]
                closure[line + k, 3 * other + j] = d[k]


@device
def fill_closure_bias(model: Model, work: Work) -> None:
    """Fill dJ/dt times the joint rates, a column of `closure`, from tip rates and tip bias."""
    corners, closure = model.triangle, work.closure
    for k in range(3):
        near, far = corners[k], corners[(k + 1) % 3]
        side = subtract(row(work.legs, far, TIP), row(work.legs, near, TIP))
        rate = subtract(row(work.legs, far, TIP_RATE), row(work.legs, near, TIP_RATE))
        known = subtract(row(work.legs, far, TIP_BIAS), row(work.legs, near, TIP_BIAS))
        closure[k, CONSTRAINT_BIAS] = (dot(rate, rate) + dot(side, known)) / model.edges[k]
    a, b, c = corners[0], corners[1], corners[2]
    start, rate = row(work.legs, a, TIP), row(work.legs, a, TIP_RATE)
    first, second = subtract(row(work.legs, b, TIP), start), subtract(row(work.legs, c, TIP), start)
    turning = cross(
        subtract(row(work.legs, b, TIP_RATE), rate), subtract(row(work.legs, c, TIP_RATE), rate)
    )
    for m in range(3):
        changes = (
            row(work.legs, a, TIP_BIAS),
            row(work.legs, b, TIP_BIAS),
            row(work.legs, c, TIP_BIAS),
            row(work.legs, model.attached[m], TIP_BIAS),
        )
        known = attached_change(model.coefficients, m, first, second, changes)
        known = subtract(known, scale(2.0 * model.coefficients[m, 2], turning))
        for k in range(3):
            closure[3 + 3 * m + k, CONSTRAINT_BIAS] = known[k]


@device
def triangle_axes(a: Vector, b: Vector, c: Vector) -> tuple[Vector, Vector, Vector]:
    """Return the axes of a triangle: along a side, in its plane, across it."""
    side = subtract(b, a)
    x = scale(1.0 / norm(side), side)
    normal = cross(x, subtract(c, a))
    z = scale(1.0 / norm(normal), normal)
    return x, cross(z, x), z


@device
def quaternion_from_axes(r: Matrix) -> Quaternion:
    """Return the unit quaternion of a rotation matrix; the largest entry is computed first."""
    trace = r[0] + r[4] + r[8]
    if trace > 0.0:
        w = 0.5 * sqrt(1.0 + trace)
        return w, (r[7] - r[5]) / (4.0 * w), (r[2] - r[6]) / (4.0 * w), (r[3] - r[1]) / (4.0 * w)
    x = 0.5 * sqrt(max(0.0, 1.0 + r[0] - r[4] - r[8]))
    y = 0.5 * sqrt(max(0.0, 1.0 - r[0] + r[4] - r[8]))
    z = 0.5 * sqrt(max(0.0, 1.0 - r[0] - r[4] + r[8]))
    w = 0.5 * sqrt(max(0.0, 1.0 + trace))
    if x >= y and x >= z:
        return (r[7] - r[5]) / (4.0 * x), x, (r[1] + r[3]) / (4.0 * x), (r[2] + r[6]) / (4.0 * x)
    if y >= z:
        return (r[2] - r[6]) / (4.0 * y), (r[1] + r[3]) / (4.0 * y), y, (r[5] + r[7]) / (4.0 * y)
    return (r[3] - r[1]) / (4.0 * z), (r[2] + r[6]) / (4.0 * z), (r[5] + r[7]) / (4.0 * z), z


@device
def pose_from_tips(model: Model, work: Work) -> None:
    """Fill `pose` with that of the triangle of tips."""
    legs, corners = model.legs.rows, model.triangle
    now = triangle_axes(
        row(work.legs, corners[0], TIP),
        row(work.legs, corners[1], TIP),
        row(work.legs, corners[2], TIP),
    )
    own = triangle_axes(
        row(legs, corners[0], PLATFORM_JOINT),
        row(legs, corners[1], PLATFORM_JOINT),
        row(legs, corners[2], PLATFORM_JOINT),
    )
    matrix = (
        now[0][0] * own[0][0] + now[1][0] * own[1][0] + now[2][0] * own[2][0],
        now[0][0] * own[0][1] + now[1][0] * own[1][1] + now[2][0] * own[2][1],
        now[0][0] * own[0][2] + now[1][0] * own[1][2] + now[2][0] * own[2][2],
        now[0][1] * own[0][0] + now[1][1] * own[1][0] + now[2][1] * own[2][0],
        now[0][1] * own[0][1] + now[1][1] * own[1][1] + now[2][1] * own[2][1],
        now[0][1] * own[0][2] + now[1][1] * own[1][2] + now[2][1] * own[2][2],
        now[0][2] * own[0][0] + now[1][2] * own[1][0] + now[2][2] * own[2][0],
        now[0][2] * own[0][1] + now[1][2] * own[1][1] + now[2][2] * own[2][1],
        now[0][2] * own[0][2] + now[1][2] * own[1][2] + now[2][2] * own[2][2],
    )
    state = work.platform
    state[3], state[4], state[5], state[6] = quaternion_from_axes(matrix)
    corner = rotate(matrix, row(legs, corners[0], PLATFORM_JOINT))
    position = subtract(row(work.legs, corners[0], TIP), corner)
    state[0], state[1], state[2] = position
