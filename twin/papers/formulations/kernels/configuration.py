"""Configuration-space formulation: 18 joint coordinates, 12 rigidity constraints, multipliers.

y = (q, q'). With f = Q - h,

    lambda = -A^-1 (J' q' + J M^-1 f),   A = J M^-1 J^T,   q'' = M^-1 (f + J^T lambda).

Reference: extended-configuration-space paper, section 3.1, equations (5) to (10).
"""

from __future__ import annotations

from twin.basics.arrays import FloatArray
from twin.kernels.jit import device
from twin.kernels.linear_algebra import factor_positive, solve_lower, solve_positive, solve_upper
from twin.papers.formulations.kernels.arrays import (
    CONSTRAINT_BIAS,
    JOINT,
    MULTIPLIERS,
    RATE,
    SECOND_RATE,
    Model,
    Work,
)
from twin.papers.formulations.kernels.extended import place_legs
from twin.papers.formulations.kernels.joint_space import (
    carry_acceleration,
    move_joints,
)
from twin.papers.formulations.kernels.legs.dispatch import leg_regular
from twin.papers.formulations.kernels.rigidity import (
    fill_closure,
    fill_closure_bias,
    pose_from_tips,
)


@device
def configuration(
    model: Model, y: FloatArray, forces: FloatArray, accelerations: FloatArray, work: Work
) -> bool:
    """Fill `accelerations` (18,) of the joints at `y` (36,); False where they do not exist."""
    regular = True
    for leg in range(6):
        for a in range(3):
            work.legs[leg, JOINT + a] = y[3 * leg + a]
            work.legs[leg, RATE + a] = y[18 + 3 * leg + a]
    place_legs(model, work)
    for i in range(6):
        regular &= leg_regular(model.legs, work, i)
    pose_from_tips(model, work)
    move_joints(model, work)
    fill_closure(model, work)
    fill_closure_bias(model, work)
    for leg in range(6):
        for a in range(3):
            load = forces[leg] if a == 2 else 0.0
            accelerations[3 * leg + a] = load - work.mass[3 * leg + a, 18]
    regular &= factor_positive(work.mass, 18)
    solve_lower(work.mass, accelerations, 18)
    regular &= add_multipliers(work, accelerations)
    solve_upper(work.mass, accelerations, 18)
    for leg in range(6):
        for a in range(3):
            work.legs[leg, SECOND_RATE + a] = accelerations[3 * leg + a]
    carry_acceleration(model, work)
    return regular


@device
def add_multipliers(work: Work, loads: FloatArray) -> bool:
    """Add L^-1 J^T lambda to `loads` = L^-1 f, where M = L L^T; False where A is singular."""
    right = work.scratch[MULTIPLIERS]
    for a in range(12):
        row = work.columns[a]
        for j in range(18):
            row[j] = work.closure[a, j]
        solve_lower(work.mass, row, 18)
        total = work.closure[a, CONSTRAINT_BIAS]
        for j in range(18):
            total += row[j] * loads[j]
        right[a] = -total
        for b in range(a + 1):
            entry = 0.0
            for j in range(18):
                entry += row[j] * work.columns[b, j]
            work.square[a, b] = entry
    regular = solve_positive(work.square, right, 12)
    for a in range(12):
        for j in range(18):
            loads[j] += work.columns[a, j] * right[a]
    return regular
