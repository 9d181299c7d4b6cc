"""Forward kinematics: leg lengths to pose, by Newton with continuation along the lengths.

The Newton step solves J delta = l* - l(pose) for a small twist and turns the pose by it. Steps
that do not reduce the largest residual are halved. When Newton from the guess fails or would
leave the assembly branch (the Jacobian's determinant changes sign), the lengths are moved from
those of the guess to the wanted ones in smaller and smaller pieces, each solved from the last.
"""

from __future__ import annotations

from math import inf, sqrt

import numpy as np

from twin.arrays import FloatArray
from twin.compiled.jit import compiled, device
from twin.compiled.linear import solve_general
from twin.compiled.quaternions import turned
from twin.compiled.vectors import rotation
from twin.errors import ForwardKinematicsError
from twin.kinematics.inverse import inverse_kinematics
from twin.kinematics.jacobian import fill_row
from twin.kinematics.legs import jacobian_row, leg_line

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


@device
def residual(legs, pose, lengths, right, matrix):
    """Fill `right` with l* - l(pose) and `matrix` with J; return the largest residual."""
    turn = rotation(pose[3], pose[4], pose[5], pose[6])
    position = (pose[0], pose[1], pose[2])
    largest = 0.0
    for i in range(legs.shape[0]):
        arm, direction, length = leg_line(legs, i, position, turn)
        fill_row(matrix, i, direction, jacobian_row(arm, direction))
        right[i] = lengths[i] - length
        error = abs(right[i])
        if not error <= largest:
            # A comparison with NaN is False: count it as infinite, it must not pass as solved.
            largest = error if error > largest else inf
    return largest


@device
def newton(legs, lengths, pose, trial, right, matrix):
    """Improve `pose` in place; return (converged, residual [m], iterations).

    A change of sign of the Jacobian's determinant on the way ends the search: the other side is
    another assembly branch.
    """
    size, branch = 0.0, 0.0
    for i in range(legs.shape[0]):
        size = max(size, lengths[i])
    error = residual(legs, pose, lengths, right, matrix)
    for iteration in range(NEWTON_STEPS):
        if error <= CONVERGED * size:
            return True, error, iteration
        regular = solve_general(matrix, right, 6)
        if iteration == 0:
            branch = regular
        if abs(regular) <= SINGULAR or regular * branch < 0.0:
            return False, error, iteration
        turn = sqrt(right[3] * right[3] + right[4] * right[4] + right[5] * right[5])
        factor = min(1.0, LARGEST_TURN / turn) if turn > 0.0 else 1.0
        step0, step1, step2 = right[0], right[1], right[2]
        step3, step4, step5 = right[3], right[4], right[5]
        smaller = False
        for _ in range(8):
            trial[0] = pose[0] + factor * step0
            trial[1] = pose[1] + factor * step1
            trial[2] = pose[2] + factor * step2
            trial[3], trial[4], trial[5], trial[6] = turned(
                pose[3], pose[4], pose[5], pose[6], factor * step3, factor * step4, factor * step5
            )
            now = residual(legs, trial, lengths, right, matrix)
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
def forward_kinematics(legs, lengths, guess, pose, work, matrix):
    """Fill `pose` (7,) with the pose of `lengths` (n,) on the branch of `guess` (7,).

    `work` is (5, 7) and `matrix` (6, 6); both are overwritten. Returns (converged, residual [m],
    iterations); when not converged, `pose` is the last one reached.
    """
    trial, right, start, target, last = work[0], work[1], work[2], work[3], work[4]
    for k in range(7):
        pose[k] = guess[k]
    converged, error, count = newton(legs, lengths, pose, trial, right, matrix)
    if converged:
        return True, error, count
    inverse_kinematics(legs, guess, start)
    for k in range(7):
        last[k] = guess[k]
    done, piece = 0.0, 0.25
    while done < 1.0:
        reach = min(1.0, done + piece)
        for i in range(legs.shape[0]):
            target[i] = start[i] + reach * (lengths[i] - start[i])
        for k in range(7):
            pose[k] = last[k]
        converged, error, steps = newton(legs, target, pose, trial, right, matrix)
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
                return False, residual(legs, pose, lengths, right, matrix), count
    return True, error, count


@compiled
def forward_kinematics_batch(legs, lengths, guesses, poses, reports):
    """Fill `poses` (batch, 7) and `reports` (batch, 2): residual [m] and iterations.

    Returns the index of the first set of lengths without a pose, or -1.
    """
    work, matrix = np.empty((5, 7)), np.empty((6, 6))
    failed = -1
    for k in range(lengths.shape[0]):
        converged, error, count = forward_kinematics(
            legs, lengths[k], guesses[k], poses[k], work, matrix
        )
        reports[k, 0] = error
        reports[k, 1] = count
        if not converged and failed < 0:
            failed = k
    return failed


def unreachable(
    index: int, lengths: FloatArray, pose: FloatArray, report: FloatArray
) -> ForwardKinematicsError:
    """Return the error of lengths without a pose: entry `index` of a batch and its report."""
    data = {
        "index": index,
        "residual": float(report[0]),
        "iterations": int(report[1]),
        "pose": pose.copy(),
        "lengths": lengths.copy(),
    }
    wanted = ", ".join(f"{length:.7g}" for length in lengths)
    return ForwardKinematicsError(
        f"no pose has the lengths {wanted} m (entry {index}): residual {report[0]:.3g} m after "
        f"{int(report[1])} iterations. They cannot be reached from the "
        "guess without passing a singular pose; change the lengths or the guess.",
        data,
    )
