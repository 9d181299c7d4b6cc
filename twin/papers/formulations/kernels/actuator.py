"""Actuator-space formulation: the joint-space model mapped to the leg lengths.

y = (lengths, length rates). The twelve angles phi are the root of the rigidity constraints,
followed by Newton from the last ones only; B = -J_phi^-1 J_lengths in the angles and 1 in the
lengths.

Reference: extended-configuration-space paper, section 3.2, equations (11) to (13).
"""

from __future__ import annotations

from math import inf

from twin.basics.arrays import FloatArray
from twin.kernels.jit import device
from twin.kernels.linear_algebra import factor_general, solve_factored, solve_positive
from twin.papers.formulations.kernels.arrays import (
    CONSTRAINT,
    CONSTRAINT_BIAS,
    JOINT,
    RATE,
    Model,
    Work,
)
from twin.papers.formulations.kernels.extended import place_legs
from twin.papers.formulations.kernels.extended_to_actuator import SMALLEST_PIVOT
from twin.papers.formulations.kernels.joint_space import (
    expand_joint_space,
    move_joints,
    reduce_joint_space,
)
from twin.papers.formulations.kernels.rigidity import (
    fill_closure,
    fill_closure_bias,
    pose_from_tips,
)

NEWTON_STEPS = 20
CONVERGED = 1e-15
"""Residual [m] below which Newton stops; the paper's accuracy goal."""
ACCEPTED = 1e-14
"""Residual [m] accepted as rounding after a step from below `NEARLY`, which Newton squares."""
NEARLY = 1e-8
CLOSE = 1e-10
"""Residual [m] from which on the factors of the last step are as good as new ones."""


@device
def actuator(
    model: Model,
    y: FloatArray,
    track: FloatArray,
    forces: FloatArray,
    accelerations: FloatArray,
    work: Work,
) -> bool:
    """Fill `accelerations` (6,) of the lengths at `y` (12,); False at a singular pose.

    `track` (18, 7) are the last joint coordinates and, from column 1 on, how they change with the
    lengths: the first step of Newton from there.
    """
    for leg in range(6):
        for a in range(2):
            joint = track[3 * leg + a, 0]
            for i in range(6):
                joint += track[3 * leg + a, 1 + i] * (y[i] - track[3 * i + 2, 0])
            work.legs[leg, JOINT + a] = joint
        work.legs[leg, JOINT + 2] = y[leg]
    if not track_angles(model, work):
        return False
    fill_angle_matrix(work)
    if not abs(factor_general(work.square, work.pivots, 12)) > SMALLEST_PIVOT:
        return False
    fill_length_map(work, y)
    pose_from_tips(model, work)
    move_joints(model, work)
    fill_closure_bias(model, work)
    fill_length_bias(work)
    reduce_joint_space(work, forces, work.mapping, accelerations)
    regular = solve_positive(work.reduced, accelerations, 6)
    expand_joint_space(model, work, work.mapping, accelerations)
    return regular


@device
def fill_angle_matrix(work: Work) -> None:
    """Fill `square` with the constraint Jacobian: columns of J that belong to the angles."""
    for row in range(12):
        for leg in range(6):
            for a in range(2):
                work.square[row, 2 * leg + a] = work.closure[row, 3 * leg + a]


@device
def track_angles(model: Model, work: Work) -> bool:
    """Move the angles onto the rigidity constraints by Newton; False when it does not converge.

    A change of sign of the determinant on the way would be another assembly branch.
    """
    step, branch, last = work.columns[0], 0.0, inf
    for iteration in range(NEWTON_STEPS):
        place_legs(model, work)
        fill_closure(model, work)
        error = 0.0
        for a in range(12):
            step[a] = -work.closure[a, CONSTRAINT]
            error = max(error, abs(step[a]))
        if error <= CONVERGED or (error <= ACCEPTED and last <= NEARLY):
            return True
        if not error < 2.0 * last:
            return False
        if iteration == 0 or error > CLOSE:
            fill_angle_matrix(work)
            regular = factor_general(work.square, work.pivots, 12)
            if iteration == 0:
                branch = regular
            if not (abs(regular) > SMALLEST_PIVOT and regular * branch > 0.0):
                return False
        solve_factored(work.square, work.pivots, step, 12)
        for leg in range(6):
            for a in range(2):
                work.legs[leg, JOINT + a] += step[2 * leg + a]
        last = error
    return False


@device
def fill_length_map(work: Work, y: FloatArray) -> None:
    """Fill B and the joint rates from the factored constraint Jacobian."""
    for leg in range(6):
        work.legs[leg, RATE], work.legs[leg, RATE + 1] = 0.0, 0.0
        work.legs[leg, RATE + 2] = y[6 + leg]
    for i in range(6):
        column = work.columns[i]
        for row in range(12):
            column[row] = -work.closure[row, 3 * i + 2]
        solve_factored(work.square, work.pivots, column, 12)
        for leg in range(6):
            for a in range(2):
                change = column[2 * leg + a]
                work.mapping[3 * leg + a, i] = change
                work.legs[leg, RATE + a] += change * y[6 + i]
            work.mapping[3 * leg + 2, i] = 1.0 if leg == i else 0.0


@device
def fill_length_bias(work: Work) -> None:
    """Fill beta from the factored constraint Jacobian: -J_phi^-1 J' q' in the angles."""
    column = work.columns[0]
    for row in range(12):
        column[row] = -work.closure[row, CONSTRAINT_BIAS]
    solve_factored(work.square, work.pivots, column, 12)
    for leg in range(6):
        work.mapping[3 * leg, 6] = column[2 * leg]
        work.mapping[3 * leg + 1, 6] = column[2 * leg + 1]
        work.mapping[3 * leg + 2, 6] = 0.0


@device
def keep_root(track: FloatArray, work: Work) -> None:
    """Store the root of the last evaluation in `track`, to start from."""
    for leg in range(6):
        for a in range(3):
            track[3 * leg + a, 0] = work.legs[leg, JOINT + a]
            for i in range(6):
                track[3 * leg + a, 1 + i] = work.mapping[3 * leg + a, i]
