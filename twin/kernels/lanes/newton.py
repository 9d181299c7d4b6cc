"""Newton's method of forward kinematics in lanes: from the guesses, with whole steps only."""

from __future__ import annotations

from math import inf, sqrt
from typing import Any

import numpy as np

from twin.basics.arrays import FloatArray
from twin.kernels.jit import allocating, device, replacing
from twin.kernels.kinematics.forward import (
    ACCEPTED,
    CONVERGED,
    LARGEST_TURN,
    NEWTON_STEPS,
    SINGULAR,
    Work,
    larger,
    newton_step,
    residual,
)
from twin.kernels.lanes.groups import Width
from twin.kernels.legs.dispatch import constraint_count, smallest_scale
from twin.kernels.legs.interface import Legs
from twin.kernels.numbers.arrays import as_lanes
from twin.kernels.numbers.lanes import Lanes, where_larger
from twin.kernels.quaternions import turned


@allocating
def newton_work(legs: Legs, width: Width) -> Work:
    """Return the work arrays of forward kinematics in lanes."""
    n, count, w = legs.rows.shape[0], constraint_count(legs), len(width)
    return Work(
        as_lanes(np.empty((n + count, w)), width),
        as_lanes(np.empty((n + count, 6, w)), width),
        as_lanes(np.empty((count, 8, w)), width),
        as_lanes(np.empty((6, 6, w)), width),
        as_lanes(np.empty((6, w)), width),
        as_lanes(np.empty((7, w)), width),
        as_lanes(np.empty((7, w)), width),
        as_lanes(np.empty((n, w)), width),
        as_lanes(np.empty((n, w)), width),
    )


@replacing(larger, lambda error, _: isinstance(error, Lanes))
def lanes_larger(error: Any, largest: Any) -> Any:
    """Return the larger of two residuals lane by lane; NaN counts as infinite."""
    known = where_larger(inf, error, error, inf)
    return where_larger(known, largest, known, largest)


@device
def newton_in_lanes(
    legs: Legs, coordinates: FloatArray, pose: FloatArray, work: Work
) -> tuple[bool, float, float]:
    """Improve `pose` in place, as `newton` does; return (converged, residuals, iterations).

    A lane that has converged keeps its pose. Where a lane would need a shorter step, is singular
    or leaves its assembly branch, none has converged.
    """
    right, matrix, rows = work.right, work.matrix, work.rows
    trial, step = work.trial, work.step
    size = max(smallest_scale(legs), abs(coordinates[0]))
    for i in range(1, legs.rows.shape[0]):
        size = max(size, abs(coordinates[i]))
    error = residual(legs, pose, coordinates, right, matrix, rows)
    goes_on = 1.0 + 0.0 * size
    branch, count = goes_on, 0.0 * size
    for iteration in range(NEWTON_STEPS):
        goes_on = where_larger(error, CONVERGED * size, goes_on, 0.0)
        if goes_on <= 0.0:
            break
        count += goes_on
        regular = newton_step(matrix, right, step, work.normal)
        if iteration == 0:
            branch = regular
        regular = where_larger(regular * branch, 0.0, abs(regular), 0.0)
        if not where_larger(goes_on, 0.0, regular, 1.0) > SINGULAR:
            return False, error, count
        turn = sqrt(step[3] * step[3] + step[4] * step[4] + step[5] * step[5])
        factor = LARGEST_TURN / max(LARGEST_TURN, turn)
        for k in range(3):
            trial[k] = pose[k] + factor * step[k]
        trial[3], trial[4], trial[5], trial[6] = turned(
            pose[3], pose[4], pose[5], pose[6], factor * step[3], factor * step[4], factor * step[5]
        )
        now = residual(legs, trial, coordinates, right, matrix, rows)
        goes_on = where_larger(error, now, goes_on, 0.0)
        for k in range(7):
            pose[k] = where_larger(goes_on, 0.0, trial[k], pose[k])
        error = where_larger(goes_on, 0.0, now, error)
    return error <= ACCEPTED * size, error, count
