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
def take_platform(work: Work, right: FloatArray) -> None:
    """Fill the reduced mass matrix and `right` with the platform's part where B is 1 there."""
    for j in range(6):
        right[j] = -work.platform[BODY_BIAS + j]
        for k in range(6):
            work.reduced[j, k] = work.body_mass[j, k]


@device
def reduce_platform(work: Work, right: FloatArray) -> None:
    """Fill the reduced mass matrix and `right` with the platform's part, by `mapping`."""
    for j in range(6):
        right[j] = 0.0
        for k in range(6):
            work.reduced[j, k] = 0.0
    for k in range(6):
        load = -work.platform[BODY_BIAS + k]
        add_row(work.body_mass, k, 0, load, work.mapping, work.reduced, right)


@device
def add_legs(work: Work, forces: FloatArray, mapping: FloatArray, right: FloatArray) -> None:
    """Add the legs to the reduced mass matrix B^T M B and to `right` = B^T (Q - h - M beta).

    The columns of `mapping` (18, 7) are B and beta of the joint coordinates; forces of actuators.
    """
    for i in range(LEGS):
        for k in range(3):
            load = (forces[i] if k == 2 else 0.0) - work.legs[i, BIAS + k]
            add_row(work.leg_mass[i], k, 3 * i, load, mapping, work.reduced, right)


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
    moved = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    for b in range(block.shape[0]):
        entry, line = block[k, b], mapping[start + b]
        if entry == 0.0:
            continue
        load -= entry * line[6]
        moved = (
            moved[0] + entry * line[0],
            moved[1] + entry * line[1],
            moved[2] + entry * line[2],
            moved[3] + entry * line[3],
            moved[4] + entry * line[4],
            moved[5] + entry * line[5],
        )
    for j in range(6):
        factor = mapping[start + k, j]
        if factor == 0.0:
            continue
        right[j] += factor * load
        for column in range(j, 6):
            matrix[column, j] += factor * moved[column]


@device
def expand_platform(work: Work, accelerations: FloatArray) -> None:
    """Fill the platform's accelerations from the reduced ones: B y'' + beta."""
    for index in range(6):
        total = work.mapping[index, 6]
        for k in range(6):
            total += work.mapping[index, k] * accelerations[k]
        work.platform[ACCELERATION + index] = total


@device
def expand_legs(work: Work, mapping: FloatArray, accelerations: FloatArray) -> None:
    """Fill the joints' accelerations from the reduced ones: B y'' + beta."""
    for index in range(18):
        total = mapping[index, 6]
        for k in range(6):
            total += mapping[index, k] * accelerations[k]
        work.legs[index // 3, SECOND_RATE + index % 3] = total
