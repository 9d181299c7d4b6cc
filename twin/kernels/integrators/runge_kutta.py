"""Classical Runge-Kutta of order four with a fixed step.

Reference: Hairer, Norsett, Wanner, Solving Ordinary Differential Equations I, section II.1.
"""

from __future__ import annotations

from math import isfinite
from typing import NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray
from twin.kernels.dynamics.state import Load, derivative, normalise
from twin.kernels.dynamics.work import Work, make_work
from twin.kernels.jit import compiled, device
from twin.kernels.legs.interface import Legs
from twin.kernels.linear_algebra import copy


class Stages(NamedTuple):
    """Work arrays of a step."""

    trial: FloatArray
    """`(m,)` state at a stage"""
    rates: FloatArray
    """`(4, m)` derivatives at the stages; row 0 is that at the start"""
    work: Work
    """of the derivative"""


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
        middle = rates[1, j] + rates[2, j]
        trial[j] = y[j] + step / 6.0 * (rates[0, j] + 2.0 * middle + rates[3, j])
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
        stages: overwritten; `rates[0]` is the derivative at `y`.
    """
    trial, rates, work = stages
    half, stop = time + 0.5 * step, time + step
    shift(y, 0.5 * step, rates[0], trial)
    regular = derivative(body, legs, trial, load, half, rates[1], work)
    shift(y, 0.5 * step, rates[1], trial)
    regular &= derivative(body, legs, trial, load, half, rates[2], work)
    shift(y, step, rates[2], trial)
    regular &= derivative(body, legs, trial, load, stop, rates[3], work)
    if not (combine(y, step, rates, trial) and regular):
        return False
    for j in range(y.shape[0]):
        y[j] = trial[j]
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
    forces = Load(load[0], load[1], load[2])
    size = y.shape[0]
    stages = Stages(np.empty(size), np.empty((4, size)), make_work(legs))
    slopes, work = stages.rates, stages.work
    if not derivative(body, legs, y, forces, 0.0, slopes[0], work):
        return 0
    copy(slopes[0], rates[0])
    for count in range(times.shape[0]):
        time = count * step
        if not runge_kutta_move(body, legs, y, forces, time, step, stages):
            return count
        if not derivative(body, legs, y, forces, time + step, slopes[0], work):
            return count
        times[count] = (count + 1) * step
        copy(y, states[count])
        copy(slopes[0], rates[count + 1])
    return times.shape[0]
