"""Adaptive Runge-Kutta of Dormand and Prince, order 5(4), with continuous output of order four.

Reference: Hairer, Norsett, Wanner, Solving Ordinary Differential Equations I, sections II.4 (step
size control) and II.6 (dense output); coefficients from its table 5.2.
"""

from __future__ import annotations

from math import isfinite, sqrt
from typing import NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray
from twin.kernels.dynamics.state import Load, derivative, normalise
from twin.kernels.dynamics.work import make_work
from twin.kernels.jit import compiled, device
from twin.kernels.legs.interface import Legs
from twin.kernels.linear_algebra import copy

DONE, FULL, SINGULAR, COLLAPSED = 0, 1, 2, 3
"""Why an integration returned: end reached, buffers full, singular state, step too small."""

A = np.array(
    [
        [1 / 5, 0, 0, 0, 0, 0],
        [3 / 40, 9 / 40, 0, 0, 0, 0],
        [44 / 45, -56 / 15, 32 / 9, 0, 0, 0],
        [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729, 0, 0],
        [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656, 0],
        [35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84],
    ]
)
C = np.array([1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0, 1.0])
ERROR = np.array([71 / 57600, 0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40])
DENSE = np.array(
    [
        -12715105075 / 11282082432,
        0,
        87487479700 / 32700410799,
        -10690763975 / 1880347072,
        701980252875 / 199316789632,
        -1453857185 / 822651844,
        69997945 / 29380423,
    ]
)
SAFETY, SHRINK, GROW = 0.9, 0.2, 5.0
SMALLEST_STEP = 1e-13
"""Step relative to the span at which the state cannot be followed any further."""


class Tolerances(NamedTuple):
    """Largest error of a step: `absolute + relative * |y|`."""

    relative: float
    absolute: float


Steps = tuple[FloatArray, FloatArray, FloatArray]
"""Buffers that an integration fills: `(capacity,)` end of each step [s], `(capacity, m)` state
there, `(capacity, 5, m)` coefficients of the continuous output."""


@device
def fill_stage(
    y: FloatArray, stage: int, step: float, rates: FloatArray, trial: FloatArray
) -> None:
    """Fill `trial` (m,) with the state at a stage, 0 to 5; the last is the state after `step`.

    `rates` (7, m) holds the derivatives at `y` and at the stages before.
    """
    for j in range(y.shape[0]):
        total = 0.0
        for s in range(stage + 1):
            total += A[stage, s] * rates[s, j]
        trial[j] = y[j] + step * total


@device
def error_norm(
    y: FloatArray, trial: FloatArray, rates: FloatArray, step: float, tolerances: Tolerances
) -> float:
    """Return the estimated error of a step relative to its tolerance; at most 1 is accepted."""
    error = 0.0
    for j in range(y.shape[0]):
        total = 0.0
        for s in range(7):
            total += ERROR[s] * rates[s, j]
        scale = tolerances.absolute + tolerances.relative * max(abs(y[j]), abs(trial[j]))
        error += (step * total / scale) ** 2
    return sqrt(error / y.shape[0])


@device
def step_factor(error: float) -> float:
    """Return the factor for the next step, at most `GROW`, from the error of an accepted one."""
    return GROW if error == 0.0 else min(GROW, SAFETY * error**-0.2)


@device
def shrink_factor(error: float, regular: bool) -> float:
    """Return the factor for the next try after a step that was not accepted."""
    usable = regular and isfinite(error)
    return max(SHRINK, SAFETY * error**-0.2) if usable else SHRINK


@device
def continuous_output(
    y: FloatArray, trial: FloatArray, rates: FloatArray, step: float, dense: FloatArray
) -> None:
    """Fill `dense` (5, m) with the coefficients of the polynomial over an accepted step."""
    for j in range(y.shape[0]):
        change = trial[j] - y[j]
        left = step * rates[0, j] - change
        total = 0.0
        for s in range(7):
            total += DENSE[s] * rates[s, j]
        dense[0, j] = y[j]
        dense[1, j] = change
        dense[2, j] = left
        dense[3, j] = change - step * rates[6, j] - left
        dense[4, j] = step * total


@compiled
def dormand_prince(
    body: FloatArray,
    legs: Legs,
    y: FloatArray,
    load: tuple[FloatArray, FloatArray, FloatArray],
    clock: FloatArray,
    span: float,
    tolerances: tuple[float, float],
    steps: Steps,
) -> tuple[int, int]:
    """Advance `y` (m,) in place to `span` [s].

    Args:
        body: platform constants.
        legs: leg constants.
        y: state, overwritten.
        load: entries of a `Load`.
        clock: `(2,)` time reached and next step to try, both overwritten, so that a call can go on
            where the last one ran out of buffer.
        span: end [s].
        tolerances: entries of `Tolerances`.
        steps: filled.

    Returns:
        Reason and number of steps written.
    """
    forces, allowed = Load(load[0], load[1], load[2]), Tolerances(tolerances[0], tolerances[1])
    times, states, dense = steps
    size = y.shape[0]
    trial, rates, work = np.empty(size), np.empty((7, size)), make_work(legs)
    time, step = clock[0], clock[1]
    if not derivative(body, legs, y, forces, time, rates[0], work):
        return SINGULAR, 0
    count, rejected = 0, False
    while time < span:
        if count == times.shape[0]:
            clock[0], clock[1] = time, step
            return FULL, count
        last = time + 1.000001 * step >= span
        if last:
            step = span - time
        regular = True
        for stage in range(6):
            fill_stage(y, stage, step, rates, trial)
            at = time + C[stage] * step
            if not derivative(body, legs, trial, forces, at, rates[stage + 1], work):
                regular = False
                break
        error = error_norm(y, trial, rates, step, allowed) if regular else 2.0
        if error <= 1.0:
            time = span if last else time + step
            continuous_output(y, trial, rates, step, dense[count])
            for j in range(y.shape[0]):
                y[j] = trial[j]
                rates[0, j] = rates[6, j]
            normalise(legs, y)
            times[count] = time
            copy(y, states[count])
            count += 1
            factor = step_factor(error)
            step *= min(1.0, factor) if rejected else max(SHRINK, factor)
            rejected = False
        else:
            step *= shrink_factor(error, regular)
            rejected = True
            if step < SMALLEST_STEP * span:
                clock[0], clock[1] = time, step
                return (COLLAPSED if regular else SINGULAR), count
    clock[0], clock[1] = time, step
    return DONE, count


@compiled
def evaluate(
    legs: Legs,
    queries: FloatArray,
    times: FloatArray,
    start: float,
    dense: FloatArray,
    out: FloatArray,
) -> None:
    """Fill `out` (count, m) with the continuous output at sorted `queries` (count,)."""
    i = 0
    for q in range(queries.shape[0]):
        while i < times.shape[0] - 1 and queries[q] > times[i]:
            i += 1
        left = times[i - 1] if i > 0 else start
        theta = (queries[q] - left) / (times[i] - left)
        rest = 1.0 - theta
        for j in range(out.shape[1]):
            inner = dense[i, 3, j] + rest * dense[i, 4, j]
            inner = dense[i, 1, j] + rest * (dense[i, 2, j] + theta * inner)
            out[q, j] = dense[i, 0, j] + theta * inner
        normalise(legs, out[q])
