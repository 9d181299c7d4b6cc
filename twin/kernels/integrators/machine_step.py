"""One step of a machine under forces that are held, with what its actuators measure after it."""

from __future__ import annotations

import numpy as np

from twin.basics.arrays import FloatArray
from twin.kernels.dynamics.state import Load, derivative
from twin.kernels.dynamics.work import make_work
from twin.kernels.integrators.dormand_prince import DONE, Steps, dormand_prince
from twin.kernels.integrators.runge_kutta import Stages, runge_kutta_move
from twin.kernels.jit import compiled
from twin.kernels.kinematics.inverse import coordinates_and_rates
from twin.kernels.legs.interface import Legs


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
        rates: `(n,)` theirs, overwritten.
    """
    size = y.shape[0]
    load = Load(forces, np.zeros(forces.shape[0]), wrench)
    stages = Stages(np.empty(size), np.empty((4, size)), make_work(legs))
    done = derivative(body, legs, y, load, 0.0, stages.rates[0], stages.work)
    done = done and runge_kutta_move(body, legs, y, load, 0.0, step, stages)
    coordinates_and_rates(legs, y[:7], y[7:13], lengths, rates)
    return done


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
    clock = np.array([0.0, step])
    reason, _ = dormand_prince(body, legs, y, load, clock, step, tolerances, buffers)
    coordinates_and_rates(legs, y[:7], y[7:13], lengths, rates)
    return reason == DONE
