"""Integrating any formulation over a grid of times: Runge-Kutta 4 or Dormand-Prince 5(4).

Reference: Hairer, Norsett, Wanner, Solving Ordinary Differential Equations I, sections II.1, II.4.
"""

from __future__ import annotations

from math import isfinite, sqrt

import numpy as np

from twin.kernels.dynamics.state import normalise_quaternion
from twin.kernels.integrators.dormand_prince import (
    COLLAPSED,
    DONE,
    FULL,
    GROW,
    SAFETY,
    SHRINK,
    SINGULAR,
    A,
)
from twin.kernels.integrators.dormand_prince import ERROR as ERROR_WEIGHTS
from twin.kernels.jit import compiled, device
from twin.kernels.quaternions import quaternion_rate
from twin.papers.formulations.kernels.actuator import actuator, keep_root
from twin.papers.formulations.kernels.configuration import configuration
from twin.papers.formulations.kernels.extended_to_actuator import extended_to_actuator
from twin.papers.formulations.kernels.extended_to_task import extended_to_task
from twin.papers.formulations.kernels.measures import record
from twin.papers.formulations.kernels.task import task
from twin.papers.formulations.model import ROOT

CONFIGURATION, ACTUATOR, TASK, EXTENDED_TO_TASK, EXTENDED_TO_ACTUATOR = range(5)
SMALLEST_STEP = 1e-7
"""Step relative to the span at which the state cannot be followed any further: steps shrink with
the time that is left to a singular pose, so that the next hundred would gain nothing."""
LARGEST_COUNT = 1_000_000
"""Steps of one integration, rejected ones included."""


@device
def derivative(kind, model, y, track, forces, dy, work):
    """Fill `dy` at the state `y` of a formulation; False where it is singular."""
    if kind in (TASK, EXTENDED_TO_TASK):
        for k in range(3):
            dy[k] = y[7 + k]
        dy[3], dy[4], dy[5], dy[6] = quaternion_rate(y[3], y[4], y[5], y[6], y[10], y[11], y[12])
        if kind == TASK:
            return task(model, y, forces, dy[7:], work)
        return extended_to_task(model, y, forces, dy[7:], work)
    half = y.shape[0] // 2
    for k in range(half):
        dy[k] = y[half + k]
    if kind == CONFIGURATION:
        return configuration(model, y, forces, dy[half:], work)
    if kind == ACTUATOR:
        return actuator(model, y, track, forces, dy[half:], work)
    return extended_to_actuator(model, y, track[0], forces, dy[half:], work)


@device
def accept(kind, y, trial, track, work):
    """Take over a new state, and the root that was found for it as the next one to start from."""
    for j in range(y.shape[0]):
        y[j] = trial[j]
    if kind in (TASK, EXTENDED_TO_TASK):
        normalise_quaternion(y)
    elif kind == ACTUATOR:
        keep_root(track, work)
    elif kind == EXTENDED_TO_ACTUATOR:
        for k in range(7):
            track[0, k] = work.scratch[ROOT, k]


@device
def runge_kutta_stages(kind, model, y, track, forces, step, trial, rates, work):
    """Fill `trial` with the state after a step of order four; False where it is singular."""
    regular = True
    for stage in range(3):
        factor = step if stage == 2 else 0.5 * step
        for j in range(y.shape[0]):
            trial[j] = y[j] + factor * rates[stage, j]
        regular &= derivative(kind, model, trial, track, forces, rates[stage + 1], work)
    total = 0.0
    for j in range(y.shape[0]):
        middle = rates[1, j] + rates[2, j]
        trial[j] = y[j] + step / 6.0 * (rates[0, j] + 2.0 * middle + rates[3, j])
        total += trial[j]
    if not (regular and isfinite(total)):
        return False
    return derivative(kind, model, trial, track, forces, rates[6], work)


@device
def dormand_prince_stages(kind, model, y, track, forces, step, trial, rates, work):
    """Fill `trial` with the state after a step of order five; False where it is singular."""
    for stage in range(6):
        for j in range(y.shape[0]):
            total = 0.0
            for s in range(stage + 1):
                total += A[stage, s] * rates[s, j]
            trial[j] = y[j] + step * total
        if not derivative(kind, model, trial, track, forces, rates[stage + 1], work):
            return False
    return True


@device
def error_norm(y, trial, rates, step, relative, absolute):
    """Return the estimated error of a step relative to its tolerance; at most 1 is accepted."""
    error = 0.0
    for j in range(y.shape[0]):
        total = 0.0
        for s in range(7):
            total += ERROR_WEIGHTS[s] * rates[s, j]
        scale = absolute + relative * max(abs(y[j]), abs(trial[j]))
        error += (step * total / scale) ** 2
    return sqrt(error / y.shape[0])


@compiled
def march(kind, model, y, track, forces, grid, relative, absolute, work, records, clock):
    """Advance `y` in place over `grid` (k,) [s] and fill `records` (k, RECORD_SIZE).

    Without tolerances each interval of the grid is one step of Runge-Kutta 4. `track` is the root
    to start from, overwritten. `clock` (2,) becomes the time reached and the last step tried.

    Returns:
        Reason and number of times reached; when it stopped before the end, the next record is
        that of the last state.
    """
    adaptive = relative > 0.0
    size = y.shape[0]
    trial, rates = np.empty(size), np.empty((7, size))
    extended = kind in (EXTENDED_TO_TASK, EXTENDED_TO_ACTUATOR)
    time, span, tried = grid[0], grid[-1] - grid[0], 0
    step, reason = min(1e-3, span), DONE
    for index in range(grid.shape[0]):
        while time < grid[index]:
            last = not adaptive or time + 1.000001 * step >= grid[index]
            length = grid[index] - time if last else step
            tried += 1
            if adaptive:
                regular = dormand_prince_stages(
                    kind, model, y, track, forces, length, trial, rates, work
                )
                usable = regular
                error = error_norm(y, trial, rates, length, relative, absolute) if regular else 2.0
            else:
                regular = runge_kutta_stages(
                    kind, model, y, track, forces, length, trial, rates, work
                )
                usable, error = regular, 0.0
            if regular and error <= 1.0:
                time = grid[index] if last else time + length
                accept(kind, y, trial, track, work)
                for j in range(size):
                    rates[0, j] = rates[6, j]
                factor = GROW if error == 0.0 else min(GROW, SAFETY * error**-0.2)
                wanted = length * max(SHRINK, factor)
                step = max(step, wanted) if last else wanted
            elif adaptive:
                usable = usable and isfinite(error)
                step = length * (max(SHRINK, SAFETY * error**-0.2) if usable else SHRINK)
            clock[0], clock[1] = time, length
            if not regular and (not adaptive or step < SMALLEST_STEP * span):
                reason = SINGULAR
            elif step < SMALLEST_STEP * span:
                reason = COLLAPSED
            elif tried > LARGEST_COUNT:
                reason = FULL
            if reason != DONE:
                break
        if not derivative(kind, model, y, track, forces, rates[0], work) and reason == DONE:
            reason = SINGULAR
        record(model, work, extended, records[index])
        if reason != DONE:
            return reason, index
    return DONE, grid.shape[0]
