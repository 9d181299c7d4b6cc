"""Mapping the extended model to six reduced coordinates y: rates B y', accelerations B y'' + beta.

    (B^T M B) y'' + B^T (h + M beta) = Q

Reference: extended-configuration-space paper, sections 4.2 and 4.3, equations (22) to (25).
"""

from __future__ import annotations

from twin.basics.arrays import FloatArray
from twin.kernels.jit import device
from twin.kernels.vectors import add, cross, row, subtract
from twin.papers.formulations.kernels.arrays import (
    ACCELERATION,
    ARM,
    ARM_BIAS,
    BIAS,
    BODY_BIAS,
    LEGS,
    RATE,
    SECOND_RATE,
    TIP_BIAS,
    TWIST,
    Model,
    Work,
)
from twin.papers.formulations.kernels.entries import joints_from_tip, part, put


@device
def task_rates(model: Model, work: Work) -> None:
    """Fill the joint rates of the twist by the loop closure: T^-1 (v + omega x r)."""
    velocity, omega = part(work.platform, TWIST), part(work.platform, TWIST + 3)
    for i in range(LEGS):
        tip = add(velocity, cross(omega, row(work.legs, i, ARM)))
        put(work.legs, i, RATE, joints_from_tip(work.tip_inverses[i], tip))


@device
def fill_task_map(model: Model, work: Work) -> None:
    """Fill K and its bias: joint accelerations = K acceleration + bias."""
    for i in range(LEGS):
        arm = row(work.legs, i, ARM)
        for k in range(3):
            rate = row(work.tip_inverses[i], k, 0)
            put(work.task_map, 3 * i + k, 0, rate)
            put(work.task_map, 3 * i + k, 3, cross(arm, rate))
        known = subtract(row(work.legs, i, ARM_BIAS), row(work.legs, i, TIP_BIAS))
        bias = joints_from_tip(work.tip_inverses[i], known)
        for k in range(3):
            work.task_map[3 * i + k, 6] = bias[k]


@device
def reduce_extended(work: Work, forces: FloatArray, right: FloatArray) -> None:
    """Fill the reduced mass matrix B^T M B and `right` = B^T (Q - h - M beta); forces of actuators.

    The columns of `mapping` (24, 7) are B and beta, the platform's six rows first.
    """
    for j in range(6):
        right[j] = 0.0
        for k in range(6):
            work.reduced[j, k] = 0.0
    for k in range(6):
        total = -work.platform[BODY_BIAS + k]
        add_row(work.body_mass, k, 0, total, work.mapping, work.reduced, right)
    for i in range(6):
        start = 6 + 3 * i
        for k in range(3):
            total = (forces[i] if k == 2 else 0.0) - work.legs[i, BIAS + k]
            add_row(
                work.leg_mass[i],
                k,
                start,
                total,
                work.mapping,
                work.reduced,
                right,
            )


@device
def add_row(
    block: FloatArray,
    k: int,
    start: int,
    load: float,
    mapping: FloatArray,
    matrix: FloatArray,
    right: FloatArray,
) -> None:
    """Add row k of a block of the mass matrix, row `start + k` of the extended equations.

    The block belongs to the extended coordinates from `start` on; `load` is Q - h.
    """
    index = start + k
    for b in range(block.shape[0]):
        load -= block[k, b] * mapping[start + b, 6]
    for column in range(6):
        moved = 0.0
        for b in range(block.shape[0]):
            moved += block[k, b] * mapping[start + b, column]
        for j in range(column + 1):
            matrix[column, j] += mapping[index, j] * moved
        right[column] += mapping[index, column] * load


@device
def expand(work: Work, accelerations: FloatArray) -> None:
    """Fill the accelerations of platform and joints from the reduced ones: B y'' + beta."""
    for index in range(24):
        total = work.mapping[index, 6]
        for k in range(6):
            total += work.mapping[index, k] * accelerations[k]
        if index < 6:
            work.platform[ACCELERATION + index] = total
        else:
            work.legs[index // 3 - 2, SECOND_RATE + index % 3] = total
