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

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from twin.analysis.frequency.measured import SWEEP_MARGIN, small_displacements
from twin.analysis.frequency.response import AXES, FrequencyResponse, burst_response
from twin.basics.arrays import (
    ComplexArray,
    FloatArray,
    as_floats,
    not_negative,
    one_of,
    positive,
)
from twin.control.active_damping.closed_loop import Law, closed_loop, damping_ratios
from twin.control.linear.lqr import linearise
from twin.control.linear.machine import LinearMachine, OperatingPoint
from twin.engines import make_engine
from twin.errors import InputError, brief
from twin.model.engine import State
from twin.model.machine_model import MachineModel
from twin.simulation.simulate import Trajectory, simulate


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
    linear: LinearMachine,
    input: str | Sequence[str],
    output: str | Sequence[str],
    frequencies: Any,
    *,
    law: Law | None = None,
) -> ComplexArray:
    """Return the complex response `(k, outputs, inputs)` at frequencies `(k,)` [Hz].

    Args:
        linear: a linearised machine.
        input: name or names, see `LinearMachine`.
        output: name or names.
        frequencies: from zero on.
        law: a local law that acts meanwhile. A sampled one holds inputs over its period:
            the response is that of frequencies far below its rate.

    Raises:
        InputError: no linearised machine, no such input or output, or frequencies that cannot be
            used.
    """
    _check_linear(linear)
    inputs, outputs = (
        (names,) if isinstance(names, str) else tuple(names) for names in (input, output)
    )
    if law is None:
        return linear.system(inputs, outputs).response(frequencies)
    loop = closed_loop(linear, law, inputs, outputs)
    return loop.response(frequencies)[:, :, linear.platform.n_actuators :]


def _check_linear(linear: Any) -> None:
    if not isinstance(linear, LinearMachine):
        raise InputError("linear", f"must be what linearise returns, not {brief(linear)}")


def transmissibility(
    linear: LinearMachine, frequencies: Any, *, law: Law | None = None
) -> ComplexArray:
    """Return how the platform follows a shaken base, `(k, 6, 3)`: 1 is as one body.

    Motion of the platform (three translations of the reference point [1], three rotations [rad/m])
    per translation of the base along x, y, z; of machines on pillars `(k, 6, 1)`, along z.

    Raises:
        InputError: no linearised machine, or frequencies that cannot be used.
    """
    base_input = "base_acceleration" if linear.platform.dof == 6 else "base_heave_acceleration"
    return frequency_response(linear, base_input, "absolute_acceleration", frequencies, law=law)


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
    _check_linear(linear)
    system = linear.system("forces", "rates") if law is None else closed_loop(linear, law)
    poles = system.rates
    poles = poles[(poles.imag >= 0.0) & (np.abs(poles) < 1e9)]
    poles = poles[np.argsort(np.abs(poles))]
    return LinearModes(poles, np.abs(poles) / (2.0 * np.pi), damping_ratios(poles))


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
    displacement = locked.displacement_map @ shape
    return displacement, locked.mass @ shape @ np.linalg.inv(locked.displacement_map)


class SweepSettings(NamedTuple):
    """Settings of a measurement with a swept wrench or base acceleration, from rest."""

    low: float
    """lowest frequency [Hz]"""
    high: float
    """highest frequency [Hz]"""
    length: float
    """length of the sweep [s]"""
    decay: float
    """time [s] after the sweep until nothing moves"""
    timestep: float = 1e-4
    """time step of the engine [s]"""
    holding: tuple[float, float] = (0.0, 0.0)
    """stiffness and damping of springs at all actuators [N/m, N s/m]"""

    @property
    def duration(self) -> float:
        """Duration [s] of the run, in whole steps."""
        time = positive(self.length, "length") + not_negative(self.decay, "decay")
        return round(time / positive(self.timestep, "timestep")) * self.timestep

    def wave(self, time: Any) -> FloatArray:
        """Return a logarithmic sweep of amplitude 1 at times `(k,)` [s]; 0 after `length`.

        It begins below `low` and ends above `high`, so that the record holds all between.

        Raises:
            InputError: frequencies not above zero.
        """
        begin_frequency = positive(self.low, "low") / SWEEP_MARGIN
        end_frequency = positive(self.high, "high") * SWEEP_MARGIN
        growth_rate = np.log(end_frequency / begin_frequency) / self.length
        swept_time = np.minimum(time, self.length)
        phase = 2.0 * np.pi * begin_frequency * np.expm1(growth_rate * swept_time) / growth_rate
        return np.where(np.asarray(time) < self.length, np.sin(phase), 0.0)


class SweptResponse(NamedTuple):
    """Response along one axis, measured with a sweep, and what the linear model gives for it."""

    axis: str
    """name of the base axis"""
    frequency: FloatArray
    """frequencies `(k,)` [Hz]"""
    measured: ComplexArray
    """`(k,)` measured response"""
    linear: ComplexArray
    """`(k,)` response of the linearised machine; a compliance with the lag of the held wrench"""


def measure_compliance(
    platform: MachineModel,
    axis: str,
    settings: SweepSettings,
    *,
    wrench: float,
    engine: str = "analytic",
) -> SweptResponse:
    """Return the compliance [m/N], [rad/(N m)] at rest along one base axis, from a swept wrench.

    Args:
        platform: the machine.
        axis: along or about which the wrench acts.
        settings: of the sweep and of the springs that hold the actuators.
        wrench: amplitude [N] or [N m].
        engine: name.

    Raises:
        InputError: an argument that cannot be used.
        SimulationStoppedError: the engine left the range of valid states.
    """
    column = AXES.index(one_of(axis, "axis", AXES))
    amplitude = positive(wrench, "wrench") * np.eye(6)[column]
    model, control = _on_springs(platform, *settings.holding)
    run = _free_motion(
        platform,
        model.point,
        settings.duration,
        forces=control,
        wrench=lambda time, state: settings.wave(time) * amplitude,
        engine=engine,
        timestep=settings.timestep,
    )
    response = _along(run, model.point, column, wrench, settings)
    analytic = compliance(model, response.frequency)[:, column, column]
    lag = hold_lag(response.frequency, settings.timestep)
    return SweptResponse(axis, response.frequency, response.gain, analytic * lag)


def measure_transmissibility(
    platform: MachineModel,
    axis: str,
    settings: SweepSettings,
    *,
    acceleration: float,
    engine: str = "mujoco",
) -> SweptResponse:
    """Return the transmissibility at rest along one base axis, from a swept base acceleration.

    Args:
        platform: the machine.
        axis: "x", "y" or "z"; "z" of machines with three degrees of freedom.
        settings: of the sweep and of the springs that hold the actuators.
        acceleration: amplitude of the base acceleration [m/s2].
        engine: name of the engine.

    Raises:
        InputError: an argument that cannot be used.
        MissingDependencyError: the engine's library is not installed.
        SimulationStoppedError: the engine left the range of valid states.
    """
    column = AXES.index(one_of(axis, "axis", AXES[:3]))
    amplitude = positive(acceleration, "acceleration") * np.eye(3)[column]
    model, control = _on_springs(platform, *settings.holding)
    # With three degrees of freedom, only the response to heave of the base is modelled.
    base_axes = AXES[:3] if model.platform.dof == 6 else AXES[2:3]
    base_column = base_axes.index(one_of(axis, "axis", base_axes))
    duration = settings.duration
    simulator = make_engine(engine, platform, settings.timestep)

    def forces(time: float, state: State) -> FloatArray:
        simulator.shake(settings.wave(time) * amplitude)
        return control(time, state)

    try:
        run = _free_motion(platform, model.point, duration, forces=forces, engine=simulator)
    finally:
        simulator.close()
    response = _along(run, model.point, column, acceleration, settings)
    omega = 2.0 * np.pi * response.frequency
    lag = hold_lag(response.frequency, settings.timestep)
    analytic = transmissibility(model, response.frequency)[:, column, base_column]
    return SweptResponse(axis, response.frequency, 1.0 - omega**2 * response.gain / lag, analytic)


def _free_motion(
    platform: MachineModel, rest_point: OperatingPoint, duration: float, **options: Any
) -> Trajectory:
    """Return the motion over a duration [s] from rest; `options` are those of `simulate`."""
    k = platform.n_deflections
    initial_deflection = np.concatenate([rest_point.deflection[:k], np.zeros(k)]) if k else None
    return simulate(
        platform,
        duration,
        pose=rest_point.pose,
        deflection=initial_deflection,
        progress=False,
        **options,
    )


def _along(
    run: Trajectory,
    rest_point: OperatingPoint,
    column: int,
    amplitude: float,
    settings: SweepSettings,
) -> FrequencyResponse:
    """Return the displacement from rest along or about one base axis, per swept input."""
    return burst_response(
        amplitude * settings.wave(run.time),
        small_displacements(run, rest_point.pose)[:, column],
        settings.timestep,
        low=settings.low,
        high=settings.high,
    )


def hold_lag(frequency: FloatArray, step: float) -> ComplexArray:
    """Return the response `(k,)` of a zero-order hold with steps [s] at frequencies [Hz]."""
    delay = 2j * np.pi * frequency * step
    return np.asarray(-np.expm1(-delay) / delay)


def _on_springs(
    platform: MachineModel, stiffness: float, damping: float
) -> tuple[LinearMachine, Callable[[float, State], FloatArray]]:
    """Return a machine with springs [N/m] and dampers [N s/m] at all actuators.

    Returns:
        The linearised machine, and a function (time, state) -> forces `(n,)`: those of rest,
        springs and dampers.

    Raises:
        InputError: below zero.
    """
    linear, k = linearise(platform), platform.n_deflections
    # Matrix of springs of stiffness one at all actuators.
    unit_stiffness = linear.force_input @ linear.force_input.T
    model = replace(
        linear,
        stiffness=linear.stiffness + not_negative(stiffness, "stiffness") * unit_stiffness,
        damping=linear.damping + not_negative(damping, "damping") * unit_stiffness,
    )
    rest_point = model.point
    coordinates = platform.inverse_kinematics(rest_point.pose) - (
        rest_point.deflection[:k] if k else 0.0
    )

    def forces(time: float, state: State) -> FloatArray:
        deviation, rates = state.lengths - coordinates, state.rates
        if k:
            deviation, rates = deviation - state.deflection[:k], rates - state.deflection[k:]
        return rest_point.forces - stiffness * deviation - damping * rates

    return model, forces
