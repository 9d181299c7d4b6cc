"""Integrators of a machine's equations of motion.

- Classical Runge-Kutta of order four with a fixed step.
- Adaptive Runge-Kutta of Dormand and Prince, order 5(4), with continuous output of order four.

Reference: Hairer, Norsett, Wanner, Solving Ordinary Differential Equations I, sections II.1
(Runge-Kutta), II.4 (step size control) and II.6 (dense output); coefficients from its table 5.2.
"""

from __future__ import annotations

from math import isfinite, sqrt
from typing import NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray
from twin.kernels.dynamics.assembly import Work, make_work
from twin.kernels.dynamics.forward import Load, derivative, driven_derivative, normalise
from twin.kernels.jit import compiled, device
from twin.kernels.kinematics import coordinates_and_rates
from twin.kernels.legs.interface import Legs
from twin.kernels.linear_algebra import copy

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
"""Times of the stages after the first one, as fractions of the step; the rows of `A` are the
weights of the rates before each."""

ERROR_WEIGHTS = np.array(
    [71 / 57600, 0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40]
)

DENSE_OUTPUT_WEIGHTS = np.array(
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

SMALLEST_STEP = 1e-13
"""Smallest step relative to the span; a smaller one ends the integration as collapsed."""


class Stages(NamedTuple):
    """Work arrays of a step."""

    trial: FloatArray
    """`(m,)` state at a stage"""
    rates: FloatArray
    """`(4, m)` derivatives at the stages; row 0 is that at the start"""
    work: Work
    """work arrays of the derivative"""


@device
def shift(y: FloatArray, factor: float, rate: FloatArray, trial: FloatArray) -> None:
    """Fill `trial` (m,) with y + factor * rate."""
    for j in range(y.shape[0]):
        trial[j] = y[j] + factor * rate[j]


@device
def combine(y: FloatArray, step: float, rates: FloatArray, trial: FloatArray) -> bool:
    """Fill `trial` (m,) with the state after `step` [s]; return False where it is not finite."""
    total = 0.0
    for j in range(y.shape[0]):
        midpoint_rates = rates[1, j] + rates[2, j]
        trial[j] = y[j] + step / 6.0 * (rates[0, j] + 2.0 * midpoint_rates + rates[3, j])
        total += trial[j]
    return isfinite(total)


@device
def runge_kutta_move(
    body: FloatArray,
    legs: Legs,
    y: FloatArray,
    load: Load,
    time: float,
    step: float,
    stages: Stages,
) -> bool:
    """Advance `y` (m,) in place by one step; return False where the step fails.

    Args:
        body: platform constants.
        legs: leg constants.
        y: state; unchanged when the step fails.
        load: forces on the machine.
        time: start of the step [s].
        step: [s].
        stages: overwritten but for `rates[0]`, where the caller has put the derivative at `y`.
    """
    trial, rates, work = stages
    half_time, end_time = time + 0.5 * step, time + step
    shift(y, 0.5 * step, rates[0], trial)
    regular = derivative(body, legs, trial, load, half_time, rates[1], work)
    shift(y, 0.5 * step, rates[1], trial)
    regular &= derivative(body, legs, trial, load, half_time, rates[2], work)
    shift(y, step, rates[2], trial)
    regular &= derivative(body, legs, trial, load, end_time, rates[3], work)
    if not (combine(y, step, rates, trial) and regular):
        return False
    copy(trial, y)
    normalise(legs, y)
    return True


@compiled
def runge_kutta(
    body: FloatArray,
    legs: Legs,
    y: FloatArray,
    load: tuple[FloatArray, FloatArray, FloatArray],
    step: float,
    times: FloatArray,
    states: FloatArray,
    rates: FloatArray,
) -> int:
    """Advance `y` (m,) in place by `len(times)` steps under a `load` with the entries of `Load`.

    After each step k, `times[k]` is the time since the start and `states[k]` (m,) the state.
    `rates[0]` (m,) is the derivative at the start, `rates[k + 1]` the one after step k. Returns
    the number of steps done; smaller than `len(times)` when a state was singular or not finite.
    """
    inputs = Load(*load)
    size = y.shape[0]
    stages = Stages(np.empty(size), np.empty((4, size)), make_work(legs))
    slopes, work = stages.rates, stages.work
    if not derivative(body, legs, y, inputs, 0.0, slopes[0], work):
        return 0
    copy(slopes[0], rates[0])
    for n_done in range(times.shape[0]):
        time = n_done * step
        if not runge_kutta_move(body, legs, y, inputs, time, step, stages):
            return n_done
        if not derivative(body, legs, y, inputs, time + step, slopes[0], work):
            return n_done
        times[n_done] = (n_done + 1) * step
        copy(y, states[n_done])
        copy(slopes[0], rates[n_done + 1])
    return times.shape[0]


END_REACHED, BUFFERS_FULL, SINGULAR_STATE, STEP_COLLAPSED = 0, 1, 2, 3
"""Why an integration returned: end reached, buffers full, singular state, step too small."""

SAFETY_FACTOR = 0.9
"""Factor on the step that the error estimate would allow."""

MIN_STEP_FACTOR = 0.2
"""Smallest ratio of an adaptive step to the previous one."""

MAX_STEP_FACTOR = 5.0
"""Largest ratio of an adaptive step to the previous one."""


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
            total += ERROR_WEIGHTS[s] * rates[s, j]
        scale = tolerances.absolute + tolerances.relative * max(abs(y[j]), abs(trial[j]))
        error += (step * total / scale) ** 2
    return sqrt(error / y.shape[0])


@device
def step_factor(error: float) -> float:
    """Return the factor for the next step from the error of an accepted one.

    It is at most `MAX_STEP_FACTOR`.
    """
    return MAX_STEP_FACTOR if error == 0.0 else min(MAX_STEP_FACTOR, SAFETY_FACTOR * error**-0.2)


@device
def shrink_factor(error: float, regular: bool) -> float:
    """Return the factor for the next try after a step that was not accepted."""
    is_usable = regular and isfinite(error)
    return max(MIN_STEP_FACTOR, SAFETY_FACTOR * error**-0.2) if is_usable else MIN_STEP_FACTOR


@device
def continuous_output(
    y: FloatArray, trial: FloatArray, rates: FloatArray, step: float, dense: FloatArray
) -> None:
    """Fill `dense` (5, m) with the coefficients of the polynomial over an accepted step."""
    for j in range(y.shape[0]):
        state_change = trial[j] - y[j]
        slope_residual = step * rates[0, j] - state_change
        total = 0.0
        for s in range(7):
            total += DENSE_OUTPUT_WEIGHTS[s] * rates[s, j]
        dense[0, j] = y[j]
        dense[1, j] = state_change
        dense[2, j] = slope_residual
        dense[3, j] = state_change - step * rates[6, j] - slope_residual
        dense[4, j] = step * total


@compiled
def dormand_prince(
    body: FloatArray,
    legs: Legs,
    y: FloatArray,
    load: tuple[FloatArray, FloatArray, FloatArray],
    time_and_step: FloatArray,
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
        time_and_step: `(2,)` time reached and next step to try, overwritten, so that a call can
            go on where the last one ran out of buffer.
        span: end [s].
        tolerances: entries of `Tolerances`.
        steps: filled.

    Returns:
        Reason and number of steps written.
    """
    inputs = Load(*load)
    times, states, dense = steps
    size = y.shape[0]
    trial, rates, work = np.empty(size), np.empty((7, size)), make_work(legs)
    time, step = time_and_step[0], time_and_step[1]
    if not derivative(body, legs, y, inputs, time, rates[0], work):
        return SINGULAR_STATE, 0
    n_steps, was_rejected = 0, False
    while time < span:
        if n_steps == times.shape[0]:
            time_and_step[0], time_and_step[1] = time, step
            return BUFFERS_FULL, n_steps
        # A step that would leave a millionth of itself goes to the end.
        is_last = time + 1.000001 * step >= span
        if is_last:
            step = span - time
        regular = True
        for stage in range(6):
            fill_stage(y, stage, step, rates, trial)
            stage_time = time + C[stage] * step
            if not derivative(body, legs, trial, inputs, stage_time, rates[stage + 1], work):
                regular = False
                break
        # A step through a singular state is not accepted: its error counts as above one.
        error = error_norm(y, trial, rates, step, Tolerances(*tolerances)) if regular else 2.0
        if error <= 1.0:
            time = span if is_last else time + step
            continuous_output(y, trial, rates, step, dense[n_steps])
            copy(trial, y)
            copy(rates[6], rates[0])
            normalise(legs, y)
            times[n_steps] = time
            copy(y, states[n_steps])
            n_steps += 1
            factor = step_factor(error)
            step *= min(1.0, factor) if was_rejected else max(MIN_STEP_FACTOR, factor)
            was_rejected = False
        else:
            step *= shrink_factor(error, regular)
            was_rejected = True
            if step < SMALLEST_STEP * span:
                time_and_step[0], time_and_step[1] = time, step
                return (STEP_COLLAPSED if regular else SINGULAR_STATE), n_steps
    time_and_step[0], time_and_step[1] = time, step
    return END_REACHED, n_steps


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
        step_start = times[i - 1] if i > 0 else start
        theta = (queries[q] - step_start) / (times[i] - step_start)
        remaining = 1.0 - theta
        for j in range(out.shape[1]):
            inner_polynomial = dense[i, 3, j] + remaining * dense[i, 4, j]
            inner_polynomial = dense[i, 1, j] + remaining * (
                dense[i, 2, j] + theta * inner_polynomial
            )
            out[q, j] = dense[i, 0, j] + theta * inner_polynomial
        normalise(legs, out[q])


@compiled
def fixed_step(
    body: FloatArray,
    legs: Legs,
    forces: FloatArray,
    wrench: FloatArray,
    step: float,
    y: FloatArray,
    lengths: FloatArray,
    rates: FloatArray,
) -> bool:
    """Advance `y` (m,) by one Runge-Kutta step of order four; return False where it fails.

    Args:
        body: platform constants.
        legs: leg constants.
        forces: `(n,)` of the actuators [N, N m].
        wrench: `(6,)` on the platform, base axes.
        step: [s].
        y: state, overwritten.
        lengths: `(n,)` coordinates of the actuators after the step, overwritten.
        rates: `(n,)` of the actuators, overwritten.
    """
    size = y.shape[0]
    load = Load(forces, np.zeros(forces.shape[0]), wrench)
    stages = Stages(np.empty(size), np.empty((4, size)), make_work(legs))
    succeeded = derivative(body, legs, y, load, 0.0, stages.rates[0], stages.work)
    succeeded = succeeded and runge_kutta_move(body, legs, y, load, 0.0, step, stages)
    return coordinates_and_rates(legs, y[:7], y[7:13], lengths, rates) and succeeded


@compiled
def adaptive_step(
    body: FloatArray,
    legs: Legs,
    forces: FloatArray,
    wrench: FloatArray,
    step: float,
    y: FloatArray,
    lengths: FloatArray,
    rates: FloatArray,
    tolerances: tuple[float, float],
    buffers: Steps,
) -> bool:
    """Advance `y` (m,) by `step` [s] as `fixed_step` does, with Dormand-Prince to `tolerances`."""
    load = (forces, np.zeros(forces.shape[0]), wrench)
    time_and_step = np.array([0.0, step])
    reason, _ = dormand_prince(body, legs, y, load, time_and_step, step, tolerances, buffers)
    is_finite = coordinates_and_rates(legs, y[:7], y[7:13], lengths, rates)
    return is_finite and reason == END_REACHED


@device
def driven_step(
    body: FloatArray,
    legs: Legs,
    inertia: FloatArray,
    y: FloatArray,
    forces: FloatArray,
    wrench: FloatArray,
    step: float,
    stages: Stages,
) -> bool:
    """Advance `y` (13 + 2k,) in place by `step` [s]; return False, and leave it, where it fails."""
    trial, rates, work = stages
    regular = True
    for k in range(4):
        if k == 0:
            copy(y, trial)
        else:
            shift(y, step if k == 3 else 0.5 * step, rates[k - 1], trial)
        regular &= driven_derivative(body, legs, inertia, trial, forces, wrench, rates[k], work)
    if not (combine(y, step, rates, trial) and regular):
        return False
    copy(trial, y)
    normalise(legs, y)
    return True
