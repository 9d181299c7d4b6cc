"""Extended-to-actuator-space formulation: the pose is tracked, six equations of the actuators.

y = (actuator coordinates, rates): lengths of UPS legs, crank angles of RSS legs. The root of the
loop closure is followed by Newton from the last pose only; with the actuators' rows J of K, the
extended rates are B = (J^-1, K J^-1).

Reference: extended-configuration-space paper, section 4.3, equation (25).
"""

from __future__ import annotations

from twin.basics.arrays import FloatArray
from twin.kernels.jit import device
from twin.kernels.kinematics.forward import newton
from twin.kernels.linear_algebra import factor_general, solve_factored, solve_positive
from twin.papers.formulations.kernels.arrays import POSE, ROOT, TWIST, Model, Work
from twin.papers.formulations.kernels.extended import (
    joints_from_pose,
    move_legs,
    move_platform,
    place_legs,
)
from twin.papers.formulations.kernels.reduction import (
    add_legs,
    expand_legs,
    expand_platform,
    fill_task_map,
    reduce_platform,
    task_rates,
)

SMALLEST_PIVOT = 1e-6
"""Pivot ratio of the matrix to be inverted below which the pose counts as singular: accelerations
have lost six digits there."""


@device
def extended_to_actuator(
    model: Model,
    y: FloatArray,
    track: FloatArray,
    forces: FloatArray,
    accelerations: FloatArray,
    work: Work,
) -> bool:
    """Fill `accelerations` (6,) of the actuators at `y` (12,); False at a singular pose.

    `track` (7,) is the last pose; the scratch row ROOT becomes the pose of `y`.
    """
    for k in range(7):
        work.platform[POSE + k] = track[k]
    converged = newton(model.legs, y[:6], work.platform, work.tracking)[0]
    for k in range(7):
        work.scratch[ROOT, k] = work.platform[POSE + k]
    regular = joints_from_pose(model, work)
    place_legs(model, work)
    for k in range(6):
        work.platform[TWIST + k] = 0.0
    move_platform(model, work)
    fill_task_map(model, work)
    if not (converged and regular and invert_actuator_rows(work)):
        return False
    for j in range(6):
        for k in range(6):
            work.platform[TWIST + j] += work.columns[k, j] * y[6 + k]
    move_platform(model, work)
    task_rates(model, work)
    move_legs(model, work)
    fill_task_map(model, work)
    fill_actuator_map(work)
    reduce_platform(work, accelerations)
    add_legs(work, forces, work.mapping[6:], accelerations)
    regular &= solve_positive(work.reduced, accelerations, 6)
    expand_platform(work, accelerations)
    expand_legs(work, work.mapping[6:], accelerations)
    return regular


@device
def invert_actuator_rows(work: Work) -> bool:
    """Fill the first rows of `columns` with those of J^-T; False at a singular pose."""
    for i in range(6):
        for k in range(6):
            work.square[i, k] = work.task_map[3 * i + 2, k]
            work.columns[k, i] = 1.0 if i == k else 0.0
    ratio = factor_general(work.square, work.pivots, 6)
    for k in range(6):
        solve_factored(work.square, work.pivots, work.columns[k], 6)
    return abs(ratio) > SMALLEST_PIVOT


@device
def fill_actuator_map(work: Work) -> None:
    """Fill B and its bias from K and the columns of J^-1 in `columns`."""
    for j in range(6):
        work.mapping[j, 6] = 0.0
        for k in range(6):
            work.mapping[j, k] = work.columns[k, j]
            work.mapping[j, 6] -= work.columns[k, j] * work.task_map[3 * k + 2, 6]
    for index in range(18):
        bias = work.task_map[index, 6]
        for j in range(6):
            bias += work.task_map[index, j] * work.mapping[j, 6]
        work.mapping[6 + index, 6] = bias
        for k in range(6):
            total = 0.0
            for j in range(6):
                total += work.task_map[index, j] * work.columns[k, j]
            work.mapping[6 + index, k] = total
