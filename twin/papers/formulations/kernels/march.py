"""Integrating any formulation over a grid of times by Dormand-Prince 5(4).

Reference: Hairer, Norsett, Wanner, Solving Ordinary Differential Equations I, section II.4.

The configuration-space formulation has 18 joint coordinates, 12 rigidity constraints, multipliers.
Its state is y = (q, q'). With f = Q - h,

    lambda = -A^-1 (J' q' + J M^-1 f),   A = J M^-1 J^T,   q'' = M^-1 (f + J^T lambda).

Reference: extended-configuration-space paper, section 3.1, equations (5) to (10).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray
from twin.kernels.dynamics.forward import fill_pose_rate, normalise_quaternion
from twin.kernels.integrators import (
    BUFFERS_FULL,
    END_REACHED,
    MIN_STEP_FACTOR,
    SINGULAR_STATE,
    STEP_COLLAPSED,
    Tolerances,
    error_norm,
    fill_stage,
    shrink_factor,
    step_factor,
)
from twin.kernels.jit import compiled, device
from twin.kernels.linear_algebra import factor_positive, solve_lower, solve_positive, solve_upper
from twin.papers.formulations.kernels.arrays import (
    CLOSURE_BIAS,
    LEG_JOINT,
    LEG_RATE,
    LEG_SECOND_RATE,
    SCRATCH_MULTIPLIERS,
    SCRATCH_ROOT,
    Model,
    Work,
)
from twin.papers.formulations.kernels.legs.dispatch import leg_regular
from twin.papers.formulations.kernels.measures import record
from twin.papers.formulations.kernels.rigidity import (
    fill_closure,
    fill_closure_bias,
    pose_from_tips,
)
from twin.papers.formulations.kernels.spaces import (
    actuator,
    carry_acceleration,
    extended_to_actuator,
    extended_to_task,
    keep_root,
    move_joints,
    place_legs,
    task,
)

SMALLEST_STEP = 1e-7
"""Smallest step as a fraction of the duration; a smaller one ends the integration. Before a
singular pose, steps shrink with the time left: a hundred more would hardly come nearer to it."""

MAX_STEPS = 1_000_000
"""Largest number of steps of an integration, rejected ones included; beyond it the reason is
`BUFFERS_FULL`."""


@device
def configuration(
    model: Model, y: FloatArray, forces: FloatArray, accelerations: FloatArray, work: Work
) -> bool:
    """Fill `accelerations` (18,) of the joints at `y` (36,); False where they do not exist."""
    regular = True
    for leg in range(6):
        for a in range(3):
            work.legs[leg, LEG_JOINT + a] = y[3 * leg + a]
            work.legs[leg, LEG_RATE + a] = y[18 + 3 * leg + a]
    place_legs(model, work)
    for i in range(6):
        regular &= leg_regular(model.legs, work, i)
    pose_from_tips(model, work)
    move_joints(model, work)
    fill_closure(model, work)
    fill_closure_bias(model, work)
    for leg in range(6):
        for a in range(3):
            actuator_force = forces[leg] if a == 2 else 0.0
            accelerations[3 * leg + a] = actuator_force - work.mass[3 * leg + a, 18]
    regular &= factor_positive(work.mass, 18)
    solve_lower(work.mass, accelerations, 18)
    regular &= add_multipliers(work, accelerations)
    solve_upper(work.mass, accelerations, 18)
    for leg in range(6):
        for a in range(3):
            work.legs[leg, LEG_SECOND_RATE + a] = accelerations[3 * leg + a]
    carry_acceleration(model, work)
    return regular


@device
def add_multipliers(work: Work, loads: FloatArray) -> bool:
    """Add L^-1 J^T lambda to `loads` = L^-1 f, where M = L L^T; False where A is singular."""
    right_side = work.scratch[SCRATCH_MULTIPLIERS]
    for a in range(12):
        row = work.columns[a]
        for j in range(18):
            row[j] = work.closure[a, j]
        solve_lower(work.mass, row, 18)
        closure_error = work.closure[a, CLOSURE_BIAS]
        for j in range(18):
            closure_error += row[j] * loads[j]
        right_side[a] = -closure_error
        for b in range(a + 1):
            product = 0.0
            for j in range(18):
                product += row[j] * work.columns[b, j]
            work.square[a, b] = product
    regular = solve_positive(work.square, right_side, 12)
    for a in range(12):
        for j in range(18):
            loads[j] += work.columns[a, j] * right_side[a]
    return regular


CONFIGURATION_SPACE, ACTUATOR_SPACE, TASK_SPACE, EXTENDED_TO_TASK, EXTENDED_TO_ACTUATOR = range(5)
"""Codes of the formulations."""


class Equations(NamedTuple):
    """Equations of motion of one formulation under constant forces."""

    kind: int
    model: Model
    forces: FloatArray
    """`(6,)` of the actuators [N] or [N m]"""
    track: FloatArray
    """`(18, 7)` root that tracking starts from, overwritten"""
    work: Work


@device
def derivative(equations: Equations, y: FloatArray, dy: FloatArray) -> bool:
    """Fill `dy` at the state `y` of a formulation; return False where it is singular."""
    kind, model, forces, track, work = equations
    if kind in (TASK_SPACE, EXTENDED_TO_TASK):
        fill_pose_rate(y, dy)
        if kind == TASK_SPACE:
            return task(model, y, forces, dy[7:], work)
        return extended_to_task(model, y, forces, dy[7:], work)
    half_size = y.shape[0] // 2
    for k in range(half_size):
        dy[k] = y[half_size + k]
    if kind == CONFIGURATION_SPACE:
        return configuration(model, y, forces, dy[half_size:], work)
    if kind == ACTUATOR_SPACE:
        return actuator(model, y, track, forces, dy[half_size:], work)
    return extended_to_actuator(model, y, track[0], forces, dy[half_size:], work)


@device
def accept(equations: Equations, y: FloatArray, trial: FloatArray) -> None:
    """Copy a new state to `y`, and its root to `track`."""
    kind, track, work = equations.kind, equations.track, equations.work
    for j in range(y.shape[0]):
        y[j] = trial[j]
    if kind in (TASK_SPACE, EXTENDED_TO_TASK):
        normalise_quaternion(y, 3)
    elif kind == ACTUATOR_SPACE:
        keep_root(track, work)
    elif kind == EXTENDED_TO_ACTUATOR:
        for k in range(7):
            track[0, k] = work.scratch[SCRATCH_ROOT, k]


@device
def dormand_prince_step(
    equations: Equations, y: FloatArray, step: float, trial: FloatArray, rates: FloatArray
) -> bool:
    """Fill `trial` with the state after a step of order five; return False where it is singular."""
    for stage in range(6):
        fill_stage(y, stage, step, rates, trial)
        if not derivative(equations, trial, rates[stage + 1]):
            return False
    return True


@compiled
def march(
    equations: Equations,
    y: FloatArray,
    grid: FloatArray,
    tolerances: Tolerances,
    records: FloatArray,
    time_and_step: FloatArray,
) -> tuple[int, int]:
    """Advance `y` in place over `grid` (k,) [s] and fill `records` (k, RECORD_SIZE).

    `time_and_step` (2,) becomes the time reached and the last step tried.

    Returns:
        Reason and number of times reached; when it stopped before the end, the next record is
        that of the last state.
    """
    kind, model, work = equations.kind, equations.model, equations.work
    size = y.shape[0]
    trial, rates = np.empty(size), np.empty((7, size))
    extended = kind in (EXTENDED_TO_TASK, EXTENDED_TO_ACTUATOR)
    time, duration, n_tried = grid[0], grid[-1] - grid[0], 0
    step, reason = min(1e-3, duration), END_REACHED
    for index in range(grid.shape[0]):
        while time < grid[index]:
            is_last = time + 1.000001 * step >= grid[index]
            step_length = grid[index] - time if is_last else step
            n_tried += 1
            regular = dormand_prince_step(equations, y, step_length, trial, rates)
            error = error_norm(y, trial, rates, step_length, tolerances) if regular else 2.0
            if regular and error <= 1.0:
                time = grid[index] if is_last else time + step_length
                accept(equations, y, trial)
                for j in range(size):
                    rates[0, j] = rates[6, j]
                next_step = step_length * max(MIN_STEP_FACTOR, step_factor(error))
                step = max(step, next_step) if is_last else next_step
            else:
                step = step_length * shrink_factor(error, regular)
            time_and_step[0], time_and_step[1] = time, step_length
            if step < SMALLEST_STEP * duration:
                reason = STEP_COLLAPSED if regular else SINGULAR_STATE
            elif n_tried > MAX_STEPS:
                reason = BUFFERS_FULL
            if reason != END_REACHED:
                break
        if not derivative(equations, y, rates[0]) and reason == END_REACHED:
            reason = SINGULAR_STATE
        record(model, work, extended, records[index])
        if reason != END_REACHED:
            return reason, index
    return END_REACHED, grid.shape[0]
