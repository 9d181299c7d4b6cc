"""Loop closure without the platform: twelve constraints on the six tips, and the platform's pose.

The tips belong to a rigid body. Three tips a, b, c keep the sides of their triangle; each of the
other three keeps its position relative to two sides and their vector product:

    (|t_b - t_a|^2 - L^2) / (2 L) = 0                                     three sides
    t_m - t_a - alpha e_1 - beta e_2 - gamma e_1 x e_2 = 0                three vectors
    e_1 = t_b - t_a,   e_2 = t_c - t_a

All are lengths. They are independent wherever the triangle is one, for platform joints in a plane
(gamma = 0) and out of it; distances alone are not: in a plane they lose the directions across it.

Reference: extended-configuration-space paper, section 3.1, which takes nine distances and three
constraints of parallel planes.

Mapping the extended model to six reduced coordinates y: rates B y', accelerations B y'' + beta.

    (B^T M B) y'' + B^T (h + M beta) = Q

Reference: extended-configuration-space paper, sections 4.2 and 4.3, equations (22) to (25).
"""

from __future__ import annotations

from math import sqrt

from twin.basics.arrays import FloatArray
from twin.kernels.jit import device
from twin.kernels.legs.interface import PLATFORM_JOINT
from twin.kernels.linear_algebra import (
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
    CLOSURE_BIAS,
    CLOSURE_CONSTRAINT,
    LEG_ARM,
    LEG_ARM_BIAS,
    LEG_BIAS,
    LEG_COUNT,
    LEG_RATE,
    LEG_SECOND_RATE,
    LEG_TIP,
    LEG_TIP_BIAS,
    LEG_TIP_RATE,
    PLATFORM_ACCELERATION,
    PLATFORM_BODY_BIAS,
    PLATFORM_TWIST,
    Model,
    Work,
    joints_from_tip,
    part,
    put,
)

Vectors = tuple[Vector, Vector, Vector]


@device
def task_rates(model: Model, work: Work) -> None:
    """Fill the joint rates of the twist by the loop closure: T^-1 (v + omega x r)."""
    velocity, omega = part(work.platform, PLATFORM_TWIST), part(work.platform, PLATFORM_TWIST + 3)
    for i in range(LEG_COUNT):
        tip = add(velocity, cross(omega, row(work.legs, i, LEG_ARM)))
        put(work.legs, i, LEG_RATE, joints_from_tip(work.tip_inverses[i], tip))


@device
def fill_task_map(model: Model, work: Work) -> None:
    """Fill K and its bias: joint accelerations = K acceleration + bias."""
    for i in range(LEG_COUNT):
        arm = row(work.legs, i, LEG_ARM)
        for k in range(3):
            rate = row(work.tip_inverses[i], k, 0)
            put(work.task_map, 3 * i + k, 0, rate)
            put(work.task_map, 3 * i + k, 3, cross(arm, rate))
        bias_difference = subtract(row(work.legs, i, LEG_ARM_BIAS), row(work.legs, i, LEG_TIP_BIAS))
        bias = joints_from_tip(work.tip_inverses[i], bias_difference)
        for k in range(3):
            work.task_map[3 * i + k, 6] = bias[k]


@device
def take_platform(work: Work, right_side: FloatArray) -> None:
    """Fill the reduced mass matrix and `right_side` with the platform's part (B is unity there)."""
    for j in range(6):
        right_side[j] = -work.platform[PLATFORM_BODY_BIAS + j]
        for k in range(6):
            work.reduced[j, k] = work.body_mass[j, k]


@device
def reduce_platform(work: Work, right_side: FloatArray) -> None:
    """Fill the reduced mass matrix and `right_side` with the platform's part, by `mapping`."""
    for j in range(6):
        right_side[j] = 0.0
        for k in range(6):
            work.reduced[j, k] = 0.0
    for k in range(6):
        platform_load = -work.platform[PLATFORM_BODY_BIAS + k]
        add_row(work.body_mass, k, 0, platform_load, work.mapping, work.reduced, right_side)


@device
def add_legs(work: Work, forces: FloatArray, mapping: FloatArray, right_side: FloatArray) -> None:
    """Add the legs to the reduced mass matrix B^T M B and to `right_side` = B^T (Q - h - M beta).

    The columns of `mapping` (18, 7) are B and beta of the joint coordinates; forces of actuators.
    """
    for i in range(LEG_COUNT):
        for k in range(3):
            leg_load = (forces[i] if k == 2 else 0.0) - work.legs[i, LEG_BIAS + k]
            add_row(work.leg_mass[i], k, 3 * i, leg_load, mapping, work.reduced, right_side)


@device
def add_row(
    block: FloatArray,
    k: int,
    start: int,
    load: float,
    mapping: FloatArray,
    matrix: FloatArray,
    right_side: FloatArray,
) -> None:
    """Add row k of a block of the mass matrix, row `start + k` of the extended equations.

    The block belongs to the extended coordinates from `start` on; `load` is Q - h.
    """
    mapped_row = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    for b in range(block.shape[0]):
        block_entry, mapping_row = block[k, b], mapping[start + b]
        if block_entry == 0.0:
            continue
        load -= block_entry * mapping_row[6]
        mapped_row = (
            mapped_row[0] + block_entry * mapping_row[0],
            mapped_row[1] + block_entry * mapping_row[1],
            mapped_row[2] + block_entry * mapping_row[2],
            mapped_row[3] + block_entry * mapping_row[3],
            mapped_row[4] + block_entry * mapping_row[4],
            mapped_row[5] + block_entry * mapping_row[5],
        )
    for j in range(6):
        factor = mapping[start + k, j]
        if factor == 0.0:
            continue
        right_side[j] += factor * load
        for column in range(j, 6):
            matrix[column, j] += factor * mapped_row[column]


@device
def expand_platform(work: Work, accelerations: FloatArray) -> None:
    """Fill the platform's accelerations from the reduced ones: B y'' + beta."""
    for index in range(6):
        total = work.mapping[index, 6]
        for k in range(6):
            total += work.mapping[index, k] * accelerations[k]
        work.platform[PLATFORM_ACCELERATION + index] = total


@device
def expand_legs(work: Work, mapping: FloatArray, accelerations: FloatArray) -> None:
    """Fill the joints' accelerations from the reduced ones: B y'' + beta."""
    for index in range(18):
        total = mapping[index, 6]
        for k in range(6):
            total += mapping[index, k] * accelerations[k]
        work.legs[index // 3, LEG_SECOND_RATE + index % 3] = total


@device
def carried_position(
    coefficients: FloatArray,
    m: int,
    first_side: Vector,
    second_side: Vector,
    first_change: Vector,
    second_change: Vector,
) -> tuple[Vector, Vector]:
    """Return the change of the position of attached tip m at small changes of the two sides."""
    by_first = add(
        scale(coefficients[m, 0], first_change),
        scale(coefficients[m, 2], cross(first_change, second_side)),
    )
    by_second = add(
        scale(coefficients[m, 1], second_change),
        scale(coefficients[m, 2], cross(first_side, second_change)),
    )
    return by_first, by_second


@device
def attached_change(
    coefficients: FloatArray,
    m: int,
    first_side: Vector,
    second_side: Vector,
    changes: tuple[Vector, Vector, Vector, Vector],
) -> Vector:
    """Return the change of the vector constraint m at small changes of the tips a, b, c and m."""
    start = changes[0]
    by_first, by_second = carried_position(
        coefficients,
        m,
        first_side,
        second_side,
        subtract(changes[1], start),
        subtract(changes[2], start),
    )
    return subtract(subtract(subtract(changes[3], start), by_first), by_second)


@device
def corner_rows(array: FloatArray, model: Model, start: int) -> Vectors:
    """Return a vector from each row that belongs to a leg at the triangle, entries from `start`."""
    a, b, c = model.triangle
    return row(array, a, start), row(array, b, start), row(array, c, start)


@device
def fill_closure(model: Model, work: Work) -> None:
    """Fill the constraints and their Jacobian, columns of `closure`, from tips and tip columns."""
    closure = work.closure
    for index in range(12):
        for j in range(18):
            closure[index, j] = 0.0
    corners = model.triangle
    tips = corner_rows(work.legs, model, LEG_TIP)
    for k in range(3):
        edge_start, edge_end, edge_length = corners[k], corners[(k + 1) % 3], model.edges[k]
        edge_vector = subtract(tips[(k + 1) % 3], tips[k])
        closure[k, CLOSURE_CONSTRAINT] = (
            dot(edge_vector, edge_vector) / edge_length - edge_length
        ) * 0.5
        for j in range(3):
            closure[k, 3 * edge_start + j] = (
                -dot(edge_vector, row(work.tip_columns[edge_start], j, 0)) / edge_length
            )
            closure[k, 3 * edge_end + j] = (
                dot(edge_vector, row(work.tip_columns[edge_end], j, 0)) / edge_length
            )
    first_tip = tips[0]
    first_edge, second_edge = subtract(tips[1], first_tip), subtract(tips[2], first_tip)
    for m in range(3):
        attached_leg = model.attached[m]
        alpha, beta, gamma = row(model.coefficients, m, 0)
        position = add(
            add(scale(alpha, first_edge), scale(beta, second_edge)),
            scale(gamma, cross(first_edge, second_edge)),
        )
        line = 3 + 3 * m
        for k, value in enumerate(
            subtract(subtract(row(work.legs, attached_leg, LEG_TIP), first_tip), position)
        ):
            closure[line + k, CLOSURE_CONSTRAINT] = value
        for j in range(3):
            a, b = row(work.tip_columns[corners[0]], j, 0), row(work.tip_columns[corners[1]], j, 0)
            c, d = (
                row(work.tip_columns[corners[2]], j, 0),
                row(work.tip_columns[attached_leg], j, 0),
            )
            at_start = carried_position(model.coefficients, m, first_edge, second_edge, a, a)
            by_first = carried_position(model.coefficients, m, first_edge, second_edge, b, a)[0]
            by_second = carried_position(model.coefficients, m, first_edge, second_edge, a, c)[1]
            edge_sum = subtract(add(at_start[0], at_start[1]), a)
            for k in range(3):
                closure[line + k, 3 * corners[0] + j] = edge_sum[k]
                closure[line + k, 3 * corners[1] + j] = -by_first[k]
                closure[line + k, 3 * corners[2] + j] = -by_second[k]
                closure[line + k, 3 * attached_leg + j] = d[k]


@device
def fill_closure_bias(model: Model, work: Work) -> None:
    """Fill dJ/dt times the joint rates, a column of `closure`, from tip rates and tip bias."""
    closure = work.closure
    tips = corner_rows(work.legs, model, LEG_TIP)
    rates = corner_rows(work.legs, model, LEG_TIP_RATE)
    biases = corner_rows(work.legs, model, LEG_TIP_BIAS)
    for k in range(3):
        end = (k + 1) % 3
        edge_vector, rate = subtract(tips[end], tips[k]), subtract(rates[end], rates[k])
        edge_bias = subtract(biases[end], biases[k])
        closure[k, CLOSURE_BIAS] = (dot(rate, rate) + dot(edge_vector, edge_bias)) / model.edges[k]
    first_edge, second_edge = subtract(tips[1], tips[0]), subtract(tips[2], tips[0])
    edge_rate_product = cross(subtract(rates[1], rates[0]), subtract(rates[2], rates[0]))
    for m in range(3):
        changes = (*biases, row(work.legs, model.attached[m], LEG_TIP_BIAS))
        edge_bias = attached_change(model.coefficients, m, first_edge, second_edge, changes)
        edge_bias = subtract(edge_bias, scale(2.0 * model.coefficients[m, 2], edge_rate_product))
        for k in range(3):
            closure[3 + 3 * m + k, CLOSURE_BIAS] = edge_bias[k]


@device
def triangle_axes(corners: Vectors) -> Vectors:
    """Return the axes of a triangle: along a side, in its plane, across it."""
    first_side = subtract(corners[1], corners[0])
    x = scale(1.0 / norm(first_side), first_side)
    normal = cross(x, subtract(corners[2], corners[0]))
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
def carried_axis(axes: Vectors, home_axes: Vectors, j: int) -> Vector:
    """Return where the rotation that takes `home_axes` to `axes` takes the unit vector j."""
    first_two = add(scale(home_axes[0][j], axes[0]), scale(home_axes[1][j], axes[1]))
    return add(first_two, scale(home_axes[2][j], axes[2]))


@device
def pose_from_tips(model: Model, work: Work) -> None:
    """Fill `pose` with that of the triangle of tips."""
    tips = corner_rows(work.legs, model, LEG_TIP)
    joints = corner_rows(model.legs.rows, model, PLATFORM_JOINT)
    tip_axes, home_axes = triangle_axes(tips), triangle_axes(joints)
    x = carried_axis(tip_axes, home_axes, 0)
    y = carried_axis(tip_axes, home_axes, 1)
    z = carried_axis(tip_axes, home_axes, 2)
    matrix = (x[0], y[0], z[0], x[1], y[1], z[1], x[2], y[2], z[2])
    state = work.platform
    state[3], state[4], state[5], state[6] = quaternion_from_axes(matrix)
    state[0], state[1], state[2] = subtract(tips[0], rotate(matrix, joints[0]))
