"""Transmissibility of a machine on springs, measured: its base shaken by a sweep, in any engine.

The base's acceleration a is held over each step h; the motion x of the platform relative to the
base gives

    T = 1 - omega^2 x / a,    a lagging by half a step: (1 - exp(-i omega h)) / (i omega h).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from twin.analysis.frequency.estimate import record_response
from twin.analysis.frequency.linear.compliance import (
    held,
    hold_lag,
    holding_forces,
    released,
    sweep_between,
)
from twin.analysis.frequency.linear.response import transmissibility
from twin.analysis.frequency.response import ComplexArray
from twin.basics.arrays import FloatArray, as_floats, not_negative, one_of, positive
from twin.control.linear.linearise import linearise
from twin.engines import make_engine
from twin.model.engine import State
from twin.model.machine_model import MachineModel

DIRECTIONS = ("x", "y", "z")


class MeasuredTransmissibility(NamedTuple):
    """Transmissibility from a base that is shaken along one axis to the platform."""

    axis: str
    frequency: FloatArray
    """`(k,)` [Hz]"""
    measured: ComplexArray
    """`(k,)` motion of the platform per motion of the base along the axis"""
    linear: ComplexArray
    """`(k,)` of the linearised machine"""


def measure_transmissibility(
    platform: MachineModel,
    axis: str,
    *,
    low: float,
    high: float,
    length: float,
    acceleration: float,
    decay: float,
    timestep: float,
    holding: Any = (0.0, 0.0),
    engine: str = "mujoco",
) -> MeasuredTransmissibility:
    """Return the transmissibility at rest along one base axis, from a swept base acceleration.

    Args:
        platform: the machine.
        axis: "x", "y" or "z".
        low: lowest frequency [Hz].
        high: highest frequency [Hz].
        length: of the sweep [s].
        acceleration: amplitude of the base's [m/s2].
        decay: [s] after the sweep until nothing moves.
        timestep: of the engine [s].
        holding: stiffness and damping of springs at all actuators [N/m, N s/m].
        engine: name of the engine.

    Raises:
        InputError: an argument that cannot be used.
        MissingDependencyError: the engine's library is not installed.
        SimulationStoppedError: the engine left the range of valid states.
    """
    column = DIRECTIONS.index(one_of(axis, "axis", DIRECTIONS))
    size, step = positive(acceleration, "acceleration"), positive(timestep, "timestep")
    stiffness, damping = as_floats(holding, "holding", 2)
    model = held(linearise(platform), float(stiffness), float(damping))
    sweep = sweep_between(low, high, length)
    steps = round((positive(length, "length") + not_negative(decay, "decay")) / step)
    simulator = make_engine(engine, platform, step)
    hold = holding_forces(platform, model.rest, float(stiffness), float(damping))
    along = size * np.eye(3)[column]

    def forces(time: float, state: State) -> FloatArray:
        simulator.shake(along * sweep(np.array([time]))[0])
        return hold(time, state)

    try:
        run = released(platform, model.rest, steps * step, forces=forces, engine=simulator)
    finally:
        simulator.close()
    away = run.pose[:, column] - model.rest.pose[column]
    response = record_response(size * sweep(run.time), away, step, low=low, high=high)
    omega = 2.0 * np.pi * response.frequency
    measured = 1.0 - omega**2 * response.gain / hold_lag(response.frequency, step)
    exact = transmissibility(model, response.frequency)[:, column, column]
    return MeasuredTransmissibility(axis, response.frequency, measured, exact)
