"""Compliance of a machine on springs, measured: a swept wrench, any engine, no controller.

Actuators give the forces of rest plus those of holding springs,

    forces = forces at rest - k (coordinates - coordinates at rest) - c rates,

none for machines whose struts are springs themselves. The linear model gets the same springs; the
wrench, held over each step h of the engine, lags by half a step:
(1 - exp(-i omega h)) / (i omega h).

Transmissibility of a machine on springs, measured: its base shaken by a sweep, in any engine.

The base's acceleration a is held over each step h; the motion x of the platform relative to the
base gives the transmissibility, with a lag of half a step on a,

    T = 1 - omega^2 x / (a lag),    lag = (1 - exp(-i omega h)) / (i omega h).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from twin.analysis.frequency.estimate import record_response
from twin.analysis.frequency.excitation import AXES
from twin.analysis.frequency.linear.response import compliance, linear_modes, transmissibility
from twin.analysis.frequency.measured import BEYOND
from twin.analysis.frequency.response import FrequencyResponse
from twin.basics.arrays import ComplexArray, FloatArray, as_floats, not_negative, one_of, positive
from twin.basics.quaternions import quaternion_product
from twin.control.linear.linearise import linearise
from twin.control.linear.machine import LinearMachine, OperatingPoint
from twin.engines import make_engine
from twin.model.engine import State
from twin.model.machine_model import MachineModel
from twin.simulation.simulate import simulate
from twin.simulation.trajectory import Trajectory

TIMESTEP = 1e-4
"""[s] of the engine."""

DECAY = 9.0
"""Time constants of the slowest mode after the sweep: a ten-thousandth is left."""

LONGEST_DECAY = 20.0
"""[s] Longest time that is simulated after the sweep."""


class MeasuredCompliance(NamedTuple):
    """Compliance along one axis, measured with a swept wrench, beside the linear model."""

    axis: str
    response: FrequencyResponse
    """displacement along the axis per wrench [m/N] or [rad/(N m)]"""
    linear: ComplexArray
    """the linearised machine at the same frequencies"""

    @property
    def errors(self) -> FloatArray:
        """`(k,)` differences per magnitude of the linear model's."""
        return np.asarray(np.abs(self.response.gain / self.linear - 1.0))


def measure_compliance(
    platform: MachineModel,
    axis: str,
    *,
    low: float,
    high: float,
    length: float,
    wrench: float,
    holding: Any = (0.0, 0.0),
    decay: float | None = None,
    engine: str = "analytic",
    fidelity: str = "accurate",
    timestep: float = TIMESTEP,
) -> MeasuredCompliance:
    """Return the compliance at rest along one base axis, from a swept force or moment.

    Args:
        platform: the machine.
        axis: along or about which the wrench acts.
        low: lowest frequency [Hz].
        high: highest frequency [Hz].
        length: of the sweep [s].
        wrench: amplitude [N] or [N m].
        holding: stiffness and damping of springs at all actuators [N/m, N s/m].
        decay: [s] after the sweep until nothing moves; default from the slowest mode.
        engine: name.
        fidelity: of the engine.
        timestep: of the engine [s].

    Raises:
        InputError: an argument that cannot be used.
        SimulationStoppedError: the engine left the range of valid states.
    """
    column = AXES.index(one_of(axis, "axis", AXES))
    size, step = positive(wrench, "wrench"), positive(timestep, "timestep")
    springs = as_floats(holding, "holding", 2)
    stiffness, damping = (not_negative(value, "holding") for value in springs)
    model = held(linearise(platform), stiffness, damping)
    sweep = sweep_between(low, high, length)
    direction = np.eye(6)[column]
    rest = model.point
    if decay is None:
        slowest = -float(linear_modes(model).poles.real.max())
        decay = min(DECAY / slowest, LONGEST_DECAY) if slowest > 0.0 else LONGEST_DECAY
    steps = round((positive(length, "length") + not_negative(decay, "decay")) / step)
    run = released(
        platform,
        rest,
        steps * step,
        forces=holding_forces(platform, rest, stiffness, damping),
        wrench=lambda time, state: size * sweep(np.array([time]))[0] * direction,
        engine=engine,
        fidelity=fidelity,
        timestep=step,
    )
    back = rest.pose[3:] * np.array([1.0, -1.0, -1.0, -1.0])
    turned = quaternion_product(run.pose[:, 3:], np.tile(back, (len(run), 1)))
    away = np.hstack([run.pose[:, :3] - rest.pose[:3], 2.0 * turned[:, 1:]])[:, column]
    response = record_response(size * sweep(run.time), away, step, low=low, high=high)
    exact = compliance(model, response.frequency)[:, column, column]
    return MeasuredCompliance(axis, response, exact * hold_lag(response.frequency, step))


def released(
    platform: MachineModel, rest: OperatingPoint, duration: float, **options: Any
) -> Trajectory:
    """Return the motion over a duration [s] from rest; `options` are those of `simulate`."""
    k = platform.n_deflections
    start = np.concatenate([rest.deflection[:k], np.zeros(k)]) if k else None
    return simulate(platform, duration, pose=rest.pose, deflection=start, progress=False, **options)


def hold_lag(frequency: FloatArray, step: float) -> ComplexArray:
    """Return the response `(k,)` of a signal that is held over steps [s], at frequencies [Hz]."""
    late = 2j * np.pi * frequency * step
    return np.asarray(-np.expm1(-late) / late)


def sweep_between(low: float, high: float, length: float) -> Callable[[FloatArray], FloatArray]:
    """Return times `(k,)` [s] to a logarithmic sweep of amplitude one, zero after `length` [s].

    It begins below `low` and ends above `high` [Hz], so that the record holds all between.

    Raises:
        InputError: not above zero.
    """
    begin, end = positive(low, "low") / BEYOND, positive(high, "high") * BEYOND
    span = positive(length, "length")
    growth = np.log(end / begin) / span

    def at(time: FloatArray) -> FloatArray:
        inside = np.minimum(time, span)
        wave = np.sin(2.0 * np.pi * begin * np.expm1(growth * inside) / growth)
        return np.where(time < span, wave, 0.0)

    return at


def holding_forces(
    platform: MachineModel, rest: OperatingPoint, stiffness: float, damping: float
) -> Callable[[float, State], FloatArray]:
    """Return forces `(time, state) -> (n,)` of rest, with springs [N/m] and dampers [N s/m]."""
    k = platform.n_deflections
    coordinates = platform.inverse_kinematics(rest.pose)
    coordinates = coordinates - (rest.deflection[:k] if k else 0.0)

    def forces(time: float, state: State) -> FloatArray:
        away, rates = state.lengths - coordinates, state.rates
        if k:
            away, rates = away - state.deflection[:k], rates - state.deflection[k:]
        return rest.forces - stiffness * away - damping * rates

    return forces


def held(linear: LinearMachine, stiffness: float, damping: float) -> LinearMachine:
    """Return a linearised machine with springs [N/m] and dampers [N s/m] at all actuators.

    Raises:
        InputError: below zero.
    """
    across = linear.force_input @ linear.force_input.T
    return replace(
        linear,
        stiffness=linear.stiffness + not_negative(stiffness, "stiffness") * across,
        damping=linear.damping + not_negative(damping, "damping") * across,
    )


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
    hold = holding_forces(platform, model.point, float(stiffness), float(damping))
    along = size * np.eye(3)[column]

    def forces(time: float, state: State) -> FloatArray:
        simulator.shake(along * sweep(np.array([time]))[0])
        return hold(time, state)

    try:
        run = released(platform, model.point, steps * step, forces=forces, engine=simulator)
    finally:
        simulator.close()
    away = run.pose[:, column] - model.point.pose[column]
    response = record_response(size * sweep(run.time), away, step, low=low, high=high)
    omega = 2.0 * np.pi * response.frequency
    measured = 1.0 - omega**2 * response.gain / hold_lag(response.frequency, step)
    exact = transmissibility(model, response.frequency)[:, column, column]
    return MeasuredTransmissibility(axis, response.frequency, measured, exact)
