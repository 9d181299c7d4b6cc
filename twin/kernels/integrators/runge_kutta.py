"""Classical Runge-Kutta of order four with a fixed step.

Reference: Hairer, Norsett, Wanner, Solving Ordinary Differential Equations I, section II.1.
"""

from __future__ import annotations

from math import isfinite

import numpy as np

from twin.kernels.dynamics.state import derivative, normalise
from twin.kernels.dynamics.work import make_work
from twin.kernels.jit import compiled, device


@device
def stage(body, legs, y, forces, slope, time, wrench, base, factor, rates, k, work):
    """Fill `rates[k]` with the derivative at `base + factor * rates[k - 1]`; False if singular."""
    for j in range(y.shape[0]):
        y[j] = base[j] + factor * rates[k - 1, j]
    return derivative(body, legs, y, forces, slope, time, wrench, rates[k], work)


@device
def runge_kutta_move(body, legs, y, forces, slope, time, step, wrench, trial, rates, work):
    """Advance `y` (m,) in place by one step under `forces + t * slope`; False where it cannot.

    Args:
        body: platform constants.
        legs: leg constants.
        y: state; unchanged when the step fails.
        forces: `(n,)` at t = 0.
        slope: `(n,)` their rate.
        time: start of the step [s].
        step: [s].
        wrench: `(6,)` constant.
        trial: `(m,)`, overwritten.
        rates: `(4, m)`; row 0 is the derivative at `y`.
        work: from `make_work`, overwritten.
    """
    half, stop = time + 0.5 * step, time + step
    regular = stage(body, legs, trial, forces, slope, half, wrench, y, 0.5 * step, rates, 1, work)
    regular &= stage(body, legs, trial, forces, slope, half, wrench, y, 0.5 * step, rates, 2, work)
    regular &= stage(body, legs, trial, forces, slope, stop, wrench, y, step, rates, 3, work)
    total = 0.0
    for j in range(y.shape[0]):
        middle = rates[1, j] + rates[2, j]
        trial[j] = y[j] + step / 6.0 * (rates[0, j] + 2.0 * middle + rates[3, j])
        total += trial[j]
    if not (regular and isfinite(total)):
        return False
    for j in range(y.shape[0]):
        y[j] = trial[j]
    normalise(legs, y)
    return True


@device
def runge_kutta_step(body, legs, y, forces, slope, time, step, wrench, trial, rates, work):
    """Do `runge_kutta_move`; `rates[0]` is the derivative at the new `y` afterwards."""
    if not runge_kutta_move(body, legs, y, forces, slope, time, step, wrench, trial, rates, work):
        return False
    return derivative(body, legs, y, forces, slope, time + step, wrench, rates[0], work)


@compiled
def runge_kutta(body, legs, y, forces, slope, wrench, step, times, states, rates):
    """Advance `y` (m,) in place by `len(times)` steps under `forces + t * slope`.

    After each step k, `times[k]` is the time since the start and `states[k]` (m,) the state.
    `rates[0]` (m,) is the derivative at the start, `rates[k + 1]` the one after step k. Returns
    the number of steps done; fewer than asked for when a state was singular or not finite.
    """
    size = y.shape[0]
    trial, slopes, work = np.empty(size), np.empty((4, size)), make_work(legs)
    if not derivative(body, legs, y, forces, slope, 0.0, wrench, slopes[0], work):
        return 0
    for j in range(y.shape[0]):
        rates[0, j] = slopes[0, j]
    for count in range(times.shape[0]):
        if not runge_kutta_step(
            body, legs, y, forces, slope, count * step, step, wrench, trial, slopes, work
        ):
            return count
        times[count] = (count + 1) * step
        for j in range(y.shape[0]):
            states[count, j] = y[j]
            rates[count + 1, j] = slopes[0, j]
    return times.shape[0]
