"""Compliance, transmissibility and modes of a machine on springs, calculated and measured.

The calculated ones are those of the linearised machine. The measured ones come from a run of any
engine without a controller.

Compliance: a wrench sweeps over the frequencies. Actuators give the forces of rest plus those of
holding springs,

    forces = forces at rest - k (coordinates - coordinates at rest) - c rates,

none for machines whose struts are springs themselves. The linear model gets the same springs; the
wrench, held over each step h of the engine, lags by half a step:
(1 - exp(-i omega h)) / (i omega h).

Transmissibility: the base shakes in a sweep. Its acceleration a is held over each step h; the
motion x of the platform relative to the base gives the transmissibility, with a lag of half a step
on a,

    T = 1 - omega^2 x / (a lag),    lag = (1 - exp(-i omega h)) / (i omega h).

Modes: frequencies and damping ratios of a motion that dies away, from its samples.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from twin.analysis.frequency.estimate import AXES, record_response
from twin.analysis.frequency.measured import SWEEP_MARGIN
from twin.analysis.frequency.response import FrequencyResponse
from twin.basics.arrays import (
    ComplexArray,
    FloatArray,
    as_floats,
    not_negative,
    one_of,
    positive,
    quaternion_product,
)
from twin.charts.panels import Axes, Line, panels_figure
from twin.control.active_damping.closed_loop import Law, closed_loop, damping_ratios
from twin.control.linear.linearise import linearise
from twin.control.linear.machine import LinearMachine, OperatingPoint, StateSpace
from twin.engines import make_engine
from twin.errors import InputError, brief
from twin.model.engine import State
from twin.model.machine_model import MachineModel
from twin.simulation.simulate import simulate
from twin.simulation.trajectory import Trajectory

ENGINE_TIMESTEP = 1e-4
"""[s] Time step of the engine."""

DECAY_TIME_CONSTANTS = 9.0
"""Time constants of the slowest mode after the sweep: a ten-thousandth is left."""

MAX_DECAY_TIME = 20.0
"""[s] Longest time that is simulated after the sweep."""

FORCE_DIRECTIONS = ("x", "y", "z")


class LinearModes(NamedTuple):
    """Poles of a linearised machine, alone or in a loop, slowest first."""

    poles: ComplexArray
    """`(s,)` [1/s], one of each complex pair"""
    frequencies: FloatArray
    """`(s,)` [Hz]: |s| / 2 pi"""
    damping_ratios: FloatArray
    """`(s,)` damping ratios: one for real poles, negative for unstable ones"""

    @property
    def swinging(self) -> LinearModes:
        """The modes that oscillate."""
        is_oscillating = self.poles.imag > 1e-9 * np.abs(self.poles)
        return LinearModes(
            self.poles[is_oscillating],
            self.frequencies[is_oscillating],
            self.damping_ratios[is_oscillating],
        )


def frequency_response(
    linear: LinearMachine | StateSpace,
    input: str | Sequence[str],
    output: str | Sequence[str],
    frequencies: Any,
    *,
    law: Law | None = None,
) -> ComplexArray:
    """Return the complex response `(k, outputs, inputs)` at frequencies `(k,)` [Hz].

    Args:
        linear: a linearised machine; or a state space, whose input and output must then be empty.
        input: name or names, see `LinearMachine`.
        output: name or names.
        frequencies: from zero on.
        law: a local law that acts meanwhile. A sampled one holds inputs over its period:
            the response is that of frequencies far below its rate.

    Raises:
        InputError: no such input or output, or frequencies that cannot be used.
    """
    inputs, outputs = _names(input), _names(output)
    if isinstance(linear, StateSpace):
        if inputs or outputs or law is not None:
            raise InputError("input, output, law", "must be empty with a state space")
        return linear.response(frequencies)
    if not isinstance(linear, LinearMachine):
        raise InputError("linear", f"must be what linearise returns, not {brief(linear)}")
    if law is None:
        return linear.system(inputs, outputs).response(frequencies)
    loop = closed_loop(linear, law, inputs, outputs)
    return np.asarray(loop.response(frequencies)[:, :, linear.platform.n_actuators :])


def transmissibility(
    linear: LinearMachine, frequencies: Any, *, law: Law | None = None
) -> ComplexArray:
    """Return how the platform follows a shaken base, `(k, 6, 3)`: 1 is as one body.

    Motion of the platform (three translations of the reference point [1], three rotations [rad/m])
    per translation of the base along x, y, z; of machines on pillars `(k, 6, 1)`, along z.

    Raises:
        InputError: no linearised machine, or frequencies that cannot be used.
    """
    shaken = "base_acceleration" if linear.platform.dof == 6 else "base_heave_acceleration"
    return frequency_response(linear, shaken, "absolute_acceleration", frequencies, law=law)


def compliance(linear: LinearMachine, frequencies: Any, *, law: Law | None = None) -> ComplexArray:
    """Return the displacement per wrench `(k, 6, 6)`: [m/N], [m/(N m)]; [rad/N], [rad/(N m)].

    Raises:
        InputError: no linearised machine, or frequencies that cannot be used.
    """
    return frequency_response(linear, "wrench", "displacement", frequencies, law=law)


def linear_modes(linear: LinearMachine, *, law: Law | None = None) -> LinearModes:
    """Return frequencies and damping of a linearised machine, with a local law or without.

    Raises:
        InputError: no linearised machine.
    """
    if not isinstance(linear, LinearMachine):
        raise InputError("linear", f"must be what linearise returns, not {brief(linear)}")
    system = linear.system("forces", "rates") if law is None else closed_loop(linear, law)
    poles = system.rates
    poles = poles[(poles.imag >= 0.0) & (np.abs(poles) < 1e9)]
    poles = poles[np.argsort(np.abs(poles))]
    return LinearModes(poles, np.abs(poles) / (2.0 * np.pi), damping_ratios(poles))


def _names(names: str | Sequence[str]) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) and names else tuple(names)


def decay_poles(values: Any, period: Any, order: int) -> ComplexArray:
    """Return the poles `(order,)` [1/s] whose exponentials make up samples `(k,)`, largest first.

    Matrix pencil: the shift of the signal's Hankel matrix, on its `order` strongest directions.
    Sorted by the amplitude that each has in the samples.

    Args:
        values: of one quantity that decays to zero.
        period: between samples [s].
        order: how many exponentials, a swinging one counts twice.

    Raises:
        InputError: too few samples for the order, not finite, or all zero.

    Reference:
        Hua and Sarkar, Matrix pencil method, IEEE TASSP 38 (1990).
    """
    samples, step = as_floats(values, "values"), positive(period, "period")
    if type(order) is not int or order < 1 or samples.ndim != 1 or len(samples) < 4 * order:
        raise InputError("order", "must be a whole number, with four samples or more for each")
    size = float(np.abs(samples).max())
    if size == 0.0:
        raise InputError("values", "must not all be zero")
    n_columns = min(len(samples) // 2, 8 * order)
    hankel = np.lib.stride_tricks.sliding_window_view(samples / size, n_columns)
    right_vectors = np.linalg.svd(hankel, full_matrices=False)[2][:order].T
    roots = np.linalg.eigvals(np.linalg.lstsq(right_vectors[:-1], right_vectors[1:], rcond=None)[0])
    powers = roots.astype(complex)[None] ** np.arange(len(samples))[:, None]
    amplitudes = np.abs(np.linalg.lstsq(powers, samples / size, rcond=None)[0])
    roots = roots[np.argsort(-amplitudes)].astype(complex)
    return np.asarray(np.log(np.where(roots == 0.0, 1e-300, roots)) / step)


def slowest_shape(linear: LinearMachine) -> tuple[FloatArray, FloatArray]:
    """Return the slowest undamped mode: displacement `(6,)`, and the row that picks it out.

    With actuators locked where springs are in series with them. The row `(6,)` times the shape is
    one, and times the shapes of the other modes zero.

    Raises:
        InputError: not a machine of six degrees of freedom.
    """
    locked = linear.locked() if linear.platform.n_deflections else linear
    if locked.size != 6:
        raise InputError("linear", "must have six degrees of freedom")
    from scipy.linalg import eigh

    stiffness = 0.5 * (locked.stiffness + locked.stiffness.T)
    shape = eigh(stiffness, locked.mass)[1][:, 0]
    displacement = locked.free @ shape
    return displacement, np.asarray(locked.mass @ shape @ np.linalg.inv(locked.free))


def response_figure(
    frequencies: Any, responses: Mapping[str, ComplexArray], unit: str, title: str = ""
) -> Any:
    """Return a plotly figure of magnitude and phase over frequency, one curve per response.

    Args:
        frequencies: `(k,)` [Hz], above zero.
        responses: name to complex values `(k,)`.
        unit: of the magnitude.
        title: of the figure.

    Raises:
        InputError: no responses, or other lengths.
        MissingDependencyError: plotly is not installed.
    """
    grid = as_floats(frequencies, "frequencies")
    if not responses or any(np.shape(response) != grid.shape for response in responses.values()):
        raise InputError("responses", "must be one or more, as long as the frequencies")
    magnitudes, phases = [], []
    for name, response in responses.items():
        values = np.asarray(response)
        magnitudes.append(Line(name, grid, np.abs(values)))
        phases.append(Line(name, grid, np.degrees(np.unwrap(np.angle(values)))))
    panels = [Axes(f"magnitude [{unit}]", magnitudes, log_y=True), Axes("phase [deg]", phases)]
    return panels_figure(panels, "frequency [Hz]", log_x=True, title=title)


def swinging(gains: FloatArray, poles: ComplexArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return gain, frequency [Hz] and damping ratio of all oscillating poles, flattened."""
    is_oscillating = (poles.imag > 1e-6 * np.abs(poles)) & (np.abs(poles) < 1e8)
    rows = np.broadcast_to(gains[:, None], poles.shape)[is_oscillating]
    oscillating_poles = poles[is_oscillating]
    return (
        rows,
        np.abs(oscillating_poles) / (2.0 * np.pi),
        -oscillating_poles.real / np.abs(oscillating_poles),
    )


class MeasuredCompliance(NamedTuple):
    """Compliance along one axis, measured with a swept wrench, and that of the linear model."""

    axis: str
    response: FrequencyResponse
    """displacement along the axis per wrench [m/N] or [rad/(N m)]"""
    linear: ComplexArray
    """the linearised machine at the same frequencies"""

    @property
    def errors(self) -> FloatArray:
        """Relative differences `(k,)` to the linear model."""
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
    timestep: float = ENGINE_TIMESTEP,
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
    operating_point = model.point
    if decay is None:
        slowest = -float(linear_modes(model).poles.real.max())
        decay = (
            min(DECAY_TIME_CONSTANTS / slowest, MAX_DECAY_TIME) if slowest > 0.0 else MAX_DECAY_TIME
        )
    steps = round((positive(length, "length") + not_negative(decay, "decay")) / step)
    simulation = released(
        platform,
        operating_point,
        steps * step,
        forces=holding_forces(platform, operating_point, stiffness, damping),
        wrench=lambda time, state: size * sweep(np.array([time]))[0] * direction,
        engine=engine,
        fidelity=fidelity,
        timestep=step,
    )
    conjugate = operating_point.pose[3:] * np.array([1.0, -1.0, -1.0, -1.0])
    relative_rotation = quaternion_product(
        simulation.pose[:, 3:], np.tile(conjugate, (len(simulation), 1))
    )
    displacement_along = np.hstack(
        [simulation.pose[:, :3] - operating_point.pose[:3], 2.0 * relative_rotation[:, 1:]]
    )[:, column]
    response = record_response(
        size * sweep(simulation.time), displacement_along, step, low=low, high=high
    )
    analytic = compliance(model, response.frequency)[:, column, column]
    return MeasuredCompliance(axis, response, analytic * hold_lag(response.frequency, step))


def released(
    platform: MachineModel, rest: OperatingPoint, duration: float, **options: Any
) -> Trajectory:
    """Return the motion over a duration [s] from rest; `options` are those of `simulate`."""
    k = platform.n_deflections
    initial_deflection = np.concatenate([rest.deflection[:k], np.zeros(k)]) if k else None
    return simulate(
        platform, duration, pose=rest.pose, deflection=initial_deflection, progress=False, **options
    )


def hold_lag(frequency: FloatArray, step: float) -> ComplexArray:
    """Return the response `(k,)` of a zero-order hold with steps [s] at frequencies [Hz]."""
    delay = 2j * np.pi * frequency * step
    return np.asarray(-np.expm1(-delay) / delay)


def sweep_between(low: float, high: float, length: float) -> Callable[[FloatArray], FloatArray]:
    """Return a function of time [s]: a logarithmic sweep of amplitude 1, 0 after `length`.

    It begins below `low` and ends above `high` [Hz], so that the record holds all between.

    Raises:
        InputError: not above zero.
    """
    begin_frequency, end_frequency = (
        positive(low, "low") / SWEEP_MARGIN,
        positive(high, "high") * SWEEP_MARGIN,
    )
    sweep_time = positive(length, "length")
    growth_rate = np.log(end_frequency / begin_frequency) / sweep_time

    def at(time: FloatArray) -> FloatArray:
        swept_time = np.minimum(time, sweep_time)
        wave = np.sin(
            2.0 * np.pi * begin_frequency * np.expm1(growth_rate * swept_time) / growth_rate
        )
        return np.where(time < sweep_time, wave, 0.0)

    return at


def holding_forces(
    platform: MachineModel, rest: OperatingPoint, stiffness: float, damping: float
) -> Callable[[float, State], FloatArray]:
    """Return a function (time, state) -> forces `(n,)`: those of rest, springs and dampers."""
    k = platform.n_deflections
    coordinates = platform.inverse_kinematics(rest.pose)
    coordinates = coordinates - (rest.deflection[:k] if k else 0.0)

    def forces(time: float, state: State) -> FloatArray:
        deviation, rates = state.lengths - coordinates, state.rates
        if k:
            deviation, rates = deviation - state.deflection[:k], rates - state.deflection[k:]
        return rest.forces - stiffness * deviation - damping * rates

    return forces


def held(linear: LinearMachine, stiffness: float, damping: float) -> LinearMachine:
    """Return a linearised machine with springs [N/m] and dampers [N s/m] at all actuators.

    Raises:
        InputError: below zero.
    """
    actuator_stiffness = linear.force_input @ linear.force_input.T
    return replace(
        linear,
        stiffness=linear.stiffness + not_negative(stiffness, "stiffness") * actuator_stiffness,
        damping=linear.damping + not_negative(damping, "damping") * actuator_stiffness,
    )


class MeasuredTransmissibility(NamedTuple):
    """Transmissibility from a base that is shaken along one axis to the platform."""

    axis: str
    frequency: FloatArray
    """frequencies `(k,)` [Hz]"""
    measured: ComplexArray
    """`(k,)` motion of the platform per motion of the base along the axis"""
    linear: ComplexArray
    """`(k,)` transmissibility of the linearised machine"""


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
    column = FORCE_DIRECTIONS.index(one_of(axis, "axis", FORCE_DIRECTIONS))
    size, step = positive(acceleration, "acceleration"), positive(timestep, "timestep")
    stiffness, damping = as_floats(holding, "holding", 2)
    model = held(linearise(platform), float(stiffness), float(damping))
    sweep = sweep_between(low, high, length)
    steps = round((positive(length, "length") + not_negative(decay, "decay")) / step)
    simulator = make_engine(engine, platform, step)
    control = holding_forces(platform, model.point, float(stiffness), float(damping))
    base_amplitude = size * np.eye(3)[column]

    def forces(time: float, state: State) -> FloatArray:
        simulator.shake(base_amplitude * sweep(np.array([time]))[0])
        return control(time, state)

    try:
        simulation = released(platform, model.point, steps * step, forces=forces, engine=simulator)
    finally:
        simulator.close()
    displacement_along = simulation.pose[:, column] - model.point.pose[column]
    response = record_response(
        size * sweep(simulation.time), displacement_along, step, low=low, high=high
    )
    omega = 2.0 * np.pi * response.frequency
    measured = 1.0 - omega**2 * response.gain / hold_lag(response.frequency, step)
    analytic = transmissibility(model, response.frequency)[:, column, column]
    return MeasuredTransmissibility(axis, response.frequency, measured, analytic)
