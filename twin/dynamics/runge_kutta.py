"""Classical Runge-Kutta of order four with a fixed step.

Reference: Hairer, Norsett, Wanner, Solving Ordinary Differential Equations I, section II.1.
"""

from __future__ import annotations

import numpy as np

from twin.compiled.jit import compiled
from twin.dynamics.state import STATE_SIZE, derivative, normalise


@compiled
def runge_kutta(body, legs, y, forces, slope, wrench, step, times, states, rates):
    """Advance `y` (13,) in place by `len(times)` steps under `forces + t * slope`.

    After each step k, `times[k]` is the time since the start, `states[k]` (13,) the state and
    `rates[k]` (13,) its derivative. Returns the number of steps done; fewer than asked for when a
    state was singular or not finite.
    """
    size = legs.shape[0]
    k1, k2, k3, k4 = (
        np.empty(STATE_SIZE),
        np.empty(STATE_SIZE),
        np.empty(STATE_SIZE),
        np.empty(STATE_SIZE),
    )
    trial, force = np.empty(STATE_SIZE), np.empty(size)
    matrix, bias, jacobian = np.empty((6, 6)), np.empty(6), np.empty((size, 6))
    if not derivative(body, legs, y, forces, slope, 0.0, wrench, k1, force, matrix, bias, jacobian):
        return 0
    for count in range(times.shape[0]):
        start = count * step
        for k in range(STATE_SIZE):
            trial[k] = y[k] + 0.5 * step * k1[k]
        middle = start + 0.5 * step
        regular = derivative(
            body, legs, trial, forces, slope, middle, wrench, k2, force, matrix, bias, jacobian
        )
        for k in range(STATE_SIZE):
            trial[k] = y[k] + 0.5 * step * k2[k]
        regular &= derivative(
            body, legs, trial, forces, slope, middle, wrench, k3, force, matrix, bias, jacobian
        )
        for k in range(STATE_SIZE):
            trial[k] = y[k] + step * k3[k]
        stop = start + step
        regular &= derivative(
            body, legs, trial, forces, slope, stop, wrench, k4, force, matrix, bias, jacobian
        )
        total = 0.0
        for k in range(STATE_SIZE):
            trial[k] = y[k] + step / 6.0 * (k1[k] + 2.0 * (k2[k] + k3[k]) + k4[k])
            total += trial[k]
        if not (regular and np.isfinite(total)):
            return count
        for k in range(STATE_SIZE):
            y[k] = trial[k]
        normalise(y)
        regular = derivative(
            body, legs, y, forces, slope, stop, wrench, k1, force, matrix, bias, jacobian
        )
        if not regular:
            return count
        times[count] = stop
        for k in range(STATE_SIZE):
            states[count, k] = y[k]
            rates[count, k] = k1[k]
    return times.shape[0]
