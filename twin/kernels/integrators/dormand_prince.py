"""Adaptive Runge-Kutta of Dormand and Prince, order 5(4), with continuous output of order four.

Reference: Hairer, Norsett, Wanner, Solving Ordinary Differential Equations I, sections II.4 (step
size control) and II.6 (dense output); coefficients from its table 5.2.
"""

from __future__ import annotations

from math import isfinite, sqrt

import numpy as np

from twin.kernels.dynamics.state import derivative, normalise
from twin.kernels.dynamics.work import make_work
from twin.kernels.jit import compiled, device

DONE, FULL, SINGULAR, COLLAPSED = 0, 1, 2, 3
"""Why the integrator came back: end reached, buffers full, singular state, step too small."""

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


@device
def dormand_prince_stages(body, legs, y, forces, slope, time, step, wrench, trial, rates, work):
    """Fill `trial` (m,) with the state after `step` and `rates` (7, m) with all derivatives.

    Row 0 of `rates` is the derivative at `y`, row 6 the one at `trial`. `work` is overwritten.
    Returns False when a state on the way is singular.
    """
    for stage in range(6):
        for j in range(y.shape[0]):
            total = 0.0
            for s in range(stage + 1):
                total += A[stage, s] * rates[s, j]
            trial[j] = y[j] + step * total
        regular = derivative(
            body,
            legs,
            trial,
            forces,
            slope,
            time + C[stage] * step,
            wrench,
            rates[stage + 1],
            work,
        )
        if not regular:
            return False
    return True


@device
def error_norm(y, trial, rates, step, relative, absolute):
    """Return the estimated error of a step relative to its tolerance; at most 1 is accepted."""
    error = 0.0
    for j in range(y.shape[0]):
        total = 0.0
        for s in range(7):
            total += ERROR[s] * rates[s, j]
        scale = absolute + relative * max(abs(y[j]), abs(trial[j]))
        error += (step * total / scale) ** 2
    return sqrt(error / y.shape[0])


@device
def continuous_output(y, trial, rates, step, dense):
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
    body, legs, y, forces, slope, wrench, clock, span, relative, absolute, times, states, dense
):
    """Advance `y` (m,) in place to `span` [s] under `forces + t * slope`.

    Args:
        body: platform constants.
        legs: leg constants.
        y: state, overwritten.
        forces: `(n,)` at t = 0.
        slope: `(n,)` their rate.
        wrench: `(6,)` constant.
        clock: `(2,)` time reached and next step to try, both overwritten, so that a call can go on
            where the last one ran out of buffer.
        span: end [s].
        relative: relative tolerance.
        absolute: absolute tolerance.
        times: `(capacity,)` filled with the end time of each step.
        states: `(capacity, m)` filled with the state there.
        dense: `(capacity, 5, m)` filled with the coefficients of the continuous output.

    Returns:
        Reason and number of steps written.
    """
    size = y.shape[0]
    trial, rates, work = np.empty(size), np.empty((7, size)), make_work(legs)
    time, step = clock[0], clock[1]
    if not derivative(body, legs, y, forces, slope, time, wrench, rates[0], work):
        return SINGULAR, 0
    count, rejected = 0, False
    while time < span:
        if count == times.shape[0]:
            clock[0], clock[1] = time, step
            return FULL, count
        last = time + 1.000001 * step >= span
        if last:
            step = span - time
        regular = dormand_prince_stages(
            body, legs, y, forces, slope, time, step, wrench, trial, rates, work
        )
        error = error_norm(y, trial, rates, step, relative, absolute) if regular else 2.0
        if error <= 1.0:
            time = span if last else time + step
            continuous_output(y, trial, rates, step, dense[count])
            for j in range(y.shape[0]):
                y[j] = trial[j]
                rates[0, j] = rates[6, j]
            normalise(legs, y)
            times[count] = time
            for j in range(y.shape[0]):
                states[count, j] = y[j]
            count += 1
            factor = GROW if error == 0.0 else min(GROW, SAFETY * error**-0.2)
            step *= min(1.0, factor) if rejected else max(SHRINK, factor)
            rejected = False
        else:
            usable = regular and isfinite(error)
            step *= max(SHRINK, SAFETY * error**-0.2) if usable else SHRINK
            rejected = True
            if step < SMALLEST_STEP * span:
                clock[0], clock[1] = time, step
                return (COLLAPSED if regular else SINGULAR), count
    clock[0], clock[1] = time, step
    return DONE, count


@compiled
def evaluate(legs, queries, times, start, dense, out):
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
