"""Forward kinematics: actuator coordinates to pose, by Newton with continuation.

The Newton step solves J delta = q* - q(pose) for a small twist and turns the pose by it. Steps
that do not reduce the largest residual are halved. When Newton from the guess fails or would
leave the assembly branch (the Jacobian's determinant changes sign), the coordinates are moved from
those of the guess to the given ones in smaller and smaller pieces, each solved from the last.

Constraints on the platform's motion are further rows, and with more rows than unknowns the step is
the least-squares one: coordinates that fit together leave no residual.
"""

from __future__ import annotations

from math import inf, sqrt
from typing import NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray
from twin.kernels.jit import compiled, device, replaceable
from twin.kernels.kinematics.inverse import inverse_kinematics
from twin.kernels.kinematics.jacobian import fill_row
from twin.kernels.legs.dispatch import (
    actuation,
    constraint_count,
    fill_constraints,
    smallest_scale,
)
from twin.kernels.legs.interface import Legs
from twin.kernels.linear_algebra import solve_general
from twin.kernels.platform_state import resting_state
from twin.kernels.quaternions import turned
from twin.kernels.vectors import cross

CONVERGED = 2e-15
"""Residual relative to the longest leg at which Newton can gain nothing more in float64."""

ACCEPTED = 2e-13
"""Relative residual accepted when rounding stops the descent."""

LARGEST_TURN = 0.5
"""Largest turn [rad] of one Newton step; the linearisation means nothing beyond."""

SINGULAR = 1e-14
"""Ratio of the Jacobian's pivots below which a Newton step is rounding error."""

NEWTON_STEPS = 25
SMALLEST_PIECE = 1.0 / 512.0


class Work(NamedTuple):
    """Arrays that one solution overwrites; n legs, c constraints."""

    right: FloatArray
    """`(n + c,)`"""
    matrix: FloatArray
    """`(n + c, 6)`"""
    rows: FloatArray
    """`(c, 8)`"""
    normal: FloatArray
    """`(6, 6)`"""
    step: FloatArray
    """`(6,)`"""
    trial: FloatArray
    """`(7,)`"""
    last: FloatArray
    """`(7,)`"""
    start: FloatArray
    """`(n,)`"""
    target: FloatArray
    """`(n,)`"""


@compiled
def make_work(count: int, constraints: int) -> Work:
    """Return the work arrays of a machine with so many legs and constraints."""
    size = count + constraints
    return Work(
        np.empty(size),
        np.empty((size, 6)),
        np.empty((constraints, 8)),
        np.empty((6, 6)),
        np.empty(6),
        np.empty(7),
        np.empty(7),
        np.empty(count),
        np.empty(count),
    )


@replaceable
def larger(error: float, largest: float) -> float:
    """Return the larger of two residuals; NaN counts as infinite, it must not pass as solved."""
    if not error <= largest:
        return error if error > largest else inf
    return largest


@device
def residual(
    legs: Legs,
    pose: FloatArray,
    coordinates: FloatArray,
    right: FloatArray,
    matrix: FloatArray,
    rows: FloatArray,
) -> float:
    """Fill `right` with q* - q(pose) and `matrix` with J; return the largest residual.

    Constraints follow after the legs; `rows` (constraints, 8) is overwritten. Arrays one by one:
    the whole `Work` in their place takes a third more time.
    """
    at = resting_state(pose)
    largest = 0.0
    count = legs.rows.shape[0]
    for i in range(count):
        arm, w, coordinate = actuation(legs, i, at.position, at.matrix)
        fill_row(matrix, i, w, cross(arm, w))
        right[i] = coordinates[i] - coordinate
        largest = larger(abs(right[i]), largest)
    fill_constraints(legs, at, rows)
    for i in range(constraint_count(legs)):
        for k in range(6):
            matrix[count + i, k] = rows[i, k]
        right[count + i] = -rows[i, 7]
        largest = larger(abs(rows[i, 7]), largest)
    return largest


@device
def newton_step(
    matrix: FloatArray, right: FloatArray, step: FloatArray, normal: FloatArray
) -> float:
    """Fill `step` (6,) with the solution of `matrix step = right`, by least squares if need be.

    Returns the same as `solve_general`; without the sign where there is no determinant.
    """
    size = matrix.shape[0]
    system = matrix if size == 6 else normal
    for i in range(6):
        if size == 6:
            step[i] = right[i]
            continue
        step[i] = 0.0
        for k in range(size):
            step[i] += matrix[k, i] * right[k]
        for j in range(6):
            normal[i, j] = 0.0
            for k in range(size):
                normal[i, j] += matrix[k, i] * matrix[k, j]
    return solve_general(system, step, 6)


@device
def newton(
    legs: Legs, coordinates: FloatArray, pose: FloatArray, work: Work
) -> tuple[bool, float, int]:
    """Improve `pose` in place; return (converged, residual, iterations).

    A change of sign of the Jacobian's determinant on the way ends the search: the other side is
    another assembly branch.
    """
    right, matrix, rows = work.right, work.matrix, work.rows
    trial, step = work.trial, work.step
    size, branch = smallest_scale(legs), 0.0
    for i in range(legs.rows.shape[0]):
        size = max(size, abs(coordinates[i]))
    error = residual(legs, pose, coordinates, right, matrix, rows)
    for iteration in range(NEWTON_STEPS):
        if error <= CONVERGED * size:
            return True, error, iteration
        regular = newton_step(matrix, right, step, work.normal)
        if iteration == 0:
            branch = regular
        if not (abs(regular) > SINGULAR and regular * branch > 0.0):
            return False, error, iteration
        turn = sqrt(step[3] * step[3] + step[4] * step[4] + step[5] * step[5])
        factor = min(1.0, LARGEST_TURN / turn) if turn > 0.0 else 1.0
        smaller = False
        for _ in range(8):
            for k in range(3):
                trial[k] = pose[k] + factor * step[k]
            trial[3], trial[4], trial[5], trial[6] = turned(
                pose[3],
                pose[4],
                pose[5],
                pose[6],
                factor * step[3],
                factor * step[4],
                factor * step[5],
            )
            now = residual(legs, trial, coordinates, right, matrix, rows)
            if now < error:
                smaller = True
                break
            if error <= ACCEPTED * size:
                return True, error, iteration
            factor *= 0.5
        if not smaller:
            return False, error, iteration
        for k in range(7):
            pose[k] = trial[k]
        error = now
    return error <= ACCEPTED * size, error, NEWTON_STEPS


@device
def forward_kinematics(
    legs: Legs, coordinates: FloatArray, guess: FloatArray, pose: FloatArray, work: Work
) -> tuple[bool, float, int]:
    """Fill `pose` (7,) with the pose of `coordinates` (n,) on the branch of `guess` (7,).

    `work` comes from `make_work` and is overwritten. Returns (converged, residual, iterations);
    when not converged, `pose` is the last one reached.
    """
    start, target, last = work.start, work.target, work.last
    for k in range(7):
        pose[k] = guess[k]
    converged, error, count = newton(legs, coordinates, pose, work)
    if converged:
        return True, error, count
    inverse_kinematics(legs, guess, start)
    for k in range(7):
        last[k] = guess[k]
    done, piece = 0.0, 0.25
    while done < 1.0:
        reach = min(1.0, done + piece)
        for i in range(legs.rows.shape[0]):
            target[i] = start[i] + reach * (coordinates[i] - start[i])
        for k in range(7):
            pose[k] = last[k]
        converged, error, steps = newton(legs, target, pose, work)
        count += steps
        if converged:
            done = reach
            piece = min(2.0 * piece, 0.25)
            for k in range(7):
                last[k] = pose[k]
        else:
            piece *= 0.5
            if piece < SMALLEST_PIECE:
                for k in range(7):
                    pose[k] = last[k]
                error = residual(legs, pose, coordinates, work.right, work.matrix, work.rows)
                return False, error, count
    return True, error, count


@compiled
def forward_kinematics_batch(
    legs: Legs,
    coordinates: FloatArray,
    guesses: FloatArray,
    found: FloatArray,
) -> int:
    """Fill `found` (batch, 9): pose, residual and iterations.

    Returns the index of the first set of coordinates without a pose, or -1.
    """
    work = make_work(legs.rows.shape[0], constraint_count(legs))
    failed = -1
    for k in range(coordinates.shape[0]):
        converged, error, count = forward_kinematics(
            legs, coordinates[k], guesses[k], found[k, :7], work
        )
        found[k, 7] = error
        found[k, 8] = count
        if not converged and failed < 0:
            failed = k
    return failed
