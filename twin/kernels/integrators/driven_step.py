"""A Runge-Kutta step of a machine with the inertia of its motors, under forces that it holds."""

from __future__ import annotations

from twin.basics.arrays import FloatArray
from twin.kernels.dynamics.motors import driven_derivative
from twin.kernels.dynamics.state import normalise
from twin.kernels.integrators.runge_kutta import Stages, combine, shift
from twin.kernels.jit import device
from twin.kernels.legs.interface import Legs
from twin.kernels.linear_algebra import copy


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
