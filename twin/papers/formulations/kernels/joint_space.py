"""The extended model with the platform carried by three tips: 18 joint coordinates are left.

The platform's frame is that of the triangle a, b, c of tips. On the loop closure its twist is the
rigid motion of the corners, (v, omega) = sum over corners of S_k t_k', so that

    M = blockdiag(legs) + B^T M_platform B,   h = h_legs + B^T (h_platform + M_platform beta).

Any other three tips give another M and h, and the same motion: they differ by constraint forces.

Reference: extended-configuration-space paper, section 3.1, equation (5).
"""

from __future__ import annotations

from twin.basics.arrays import FloatArray
from twin.kernels.jit import device
from twin.kernels.vectors import (
    Matrix,
    Vector,
    dot,
    rotate,
    rotate_back,
    rotation,
    row,
    subtract,
)
from twin.papers.formulations.kernels.arrays import (
    ACCELERATION,
    ARM_BIAS,
    BIAS,
    BODY_BIAS,
    CARRIER_BIAS,
    RATE,
    SECOND_RATE,
    TIP_BIAS,
    TWIST,
    Model,
    Work,
)
from twin.papers.formulations.kernels.extended import move_legs, move_platform
from twin.papers.formulations.kernels.reduction import add_row, expand_legs


@device
def carried(spread: FloatArray, matrix: Matrix, k: int, change: Vector) -> tuple[Vector, Vector]:
    """Return the part of the platform's twist that a change of corner k gives: S_k t_k'."""
    local = rotate_back(matrix, change)
    start = 3 * k
    linear = (
        dot(row(spread, 0, start), local),
        dot(row(spread, 1, start), local),
        dot(row(spread, 2, start), local),
    )
    angular = (
        dot(row(spread, 3, start), local),
        dot(row(spread, 4, start), local),
        dot(row(spread, 5, start), local),
    )
    return rotate(matrix, linear), rotate(matrix, angular)


@device
def move_joints(model: Model, work: Work) -> None:
    """Fill all that joints and their rates determine, with the joint-space M (18, 18) and h (18,).

    Needs `joints`, `joint_rates`, legs placed, and `pose`.
    """
    state = work.platform
    matrix = rotation(state[3], state[4], state[5], state[6])
    move_legs(model, work)
    for k in range(6):
        work.platform[TWIST + k] = 0.0
        work.platform[CARRIER_BIAS + k] = 0.0
    for k in range(3):
        leg = model.triangle[k]
        for j in range(3):
            linear, angular = carried(model.spread, matrix, k, row(work.tip_columns[leg], j, 0))
            for a in range(3):
                work.carrier_map[a, 3 * k + j] = linear[a]
                work.carrier_map[3 + a, 3 * k + j] = angular[a]
            for a in range(6):
                work.platform[TWIST + a] += (
                    work.carrier_map[a, 3 * k + j] * work.legs[leg, RATE + j]
                )
    move_platform(model, work)
    for k in range(3):
        leg = model.triangle[k]
        known = subtract(row(work.legs, leg, TIP_BIAS), row(work.legs, leg, ARM_BIAS))
        linear, angular = carried(model.spread, matrix, k, known)
        for a in range(3):
            work.platform[CARRIER_BIAS + a] += linear[a]
            work.platform[CARRIER_BIAS + 3 + a] += angular[a]
    fill_joint_space(model, work)


@device
def fill_joint_space(model: Model, work: Work) -> None:
    """Fill M and h of the joint coordinates from the blocks of the extended model."""
    mass = work.mass
    for leg in range(6):
        for a in range(3):
            index = 3 * leg + a
            for k in range(18):
                mass[index, k] = 0.0
            for b in range(3):
                mass[index, 3 * leg + b] = work.leg_mass[leg, a, b]
            mass[index, 18] = work.legs[leg, BIAS + a]
    carrier = work.carrier_map
    for a in range(6):
        load = work.platform[BODY_BIAS + a]
        for b in range(6):
            load += work.body_mass[a, b] * work.platform[CARRIER_BIAS + b]
        for corner in range(3):
            for j in range(3):
                column, index = 3 * corner + j, 3 * model.triangle[corner] + j
                mass[index, 18] += carrier[a, column] * load
                moved = 0.0
                for b in range(6):
                    moved += work.body_mass[a, b] * carrier[b, column]
                for other in range(3):
                    target = 3 * model.triangle[other]
                    for k in range(3):
                        mass[target + k, index] += carrier[a, 3 * other + k] * moved


@device
def reduce_joint_space(
    work: Work, forces: FloatArray, mapping: FloatArray, right: FloatArray
) -> None:
    """Fill the reduced mass matrix B^T M B and `right` = B^T (Q - h - M beta); forces of actuators.

    The columns of `mapping` (18, 7) are B and beta.
    """
    for j in range(6):
        right[j] = 0.0
        for k in range(6):
            work.reduced[j, k] = 0.0
    for leg in range(6):
        for a in range(3):
            load = (forces[leg] if a == 2 else 0.0) - work.mass[3 * leg + a, 18]
            add_row(work.mass, 3 * leg + a, 0, load, mapping, work.reduced, right)


@device
def expand_joint_space(
    model: Model, work: Work, mapping: FloatArray, accelerations: FloatArray
) -> None:
    """Fill the joints' accelerations B y'' + beta from the reduced ones, then the platform's."""
    expand_legs(work, mapping, accelerations)
    carry_acceleration(model, work)


@device
def carry_acceleration(model: Model, work: Work) -> None:
    """Fill the platform's acceleration from those of the triangle's legs."""
    for a in range(6):
        total = work.platform[CARRIER_BIAS + a]
        for corner in range(3):
            for j in range(3):
                change = work.legs[model.triangle[corner], SECOND_RATE + j]
                total += work.carrier_map[a, 3 * corner + j] * change
        work.platform[ACCELERATION + a] = total
