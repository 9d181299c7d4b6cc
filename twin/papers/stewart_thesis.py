"""Reproduction of the Stewart thesis: velocity steps, frequency response, drives.

Reference: Albayrak, thesis, METU 2005.

`LoopModel`: position loop of one actuator around one mass, as an exactly sampled linear system.

The drive works at steps h, the position loop at periods T = N h. In every step, with the setpoint
of speed w as it was `delay` ago, the effort e, its mean f over the step, and the commanded effort c
as it was `inner_delay` ago,

    c = Kp (w - v) + I,   I += Kp / Ti (w - v) h,
    f = c + (1 - exp(-h / lag)) lag / h (e - c),   e = c + exp(-h / lag) (e - c),
    v += h (f - b v) / m,   x += h v + h^2 (f - b v) / (2 m).

This is z+ = A z + B w; over a period A_T = A^N, B_T = (1 + A + ... + A^(N-1)) B. With P = C (z -
A_T)^-1 B_T from the setpoint of speed to position, the position loop R = K + K_I T / (z - 1) and
velocity feedforward D, the position per reference is

    G = P (R + D) / (1 + P R),   z = exp(i omega T).

`modelled_response`: response of a controlled machine from one `LoopModel` per actuator mode.

Equal loops at all actuators see the mobility W = J M^-1 J^T (accelerations of the coordinates per
force, `(n, n)`, gravity's change left out). In its eigenvectors V, W = V diag(1 / m_k) V^T, they
fall apart into n loops around the masses m_k, each a `LoopModel` G_k. A reference along d is
followed by

    c = V diag(G_k) V^T d,

so that every actuator depends on the whole machine: its mass in pitch differs from that in heave.

`velocity_step_response`, `motor_response`: velocity steps in closed form around one equivalent
mass, and as the motors' encoders measure them.

The closed form is that of

    m v' = Kp (1 + 1/(Ti s)) (v_d - v) - w

with a weight w that the integral does not yet balance at the step. For a setpoint v_d from rest,

    v / v_d = [ (Kp - w / v_d) s + Kp / Ti ] / ( m s^2 + Kp s + Kp / Ti ):

second order with a zero. The weight acts like a smaller gain in the numerator. Where the integral
carries it (w = 0), the loop has two integrators and the integral of the error over time is zero:
the response must overshoot.

`explanations`: effects of the real machine that may explain the measured response of the thesis.

The thesis moved its platform with sines in pitch, up to 300 Hz, and divided measured by desired
displacement of one actuator: a peak of 7 dB about 150 Hz, -3 dB about 220 Hz, 4 dB at 70 Hz. Here
each effect is put into the linear loop by itself. A lag or delay that no data sheet gives is set
for the height of the peak; its frequency, the bandwidth and the value at 70 Hz are predictions.

Reference:
    Albayrak, thesis, METU 2005, section 4.3.2.3 and figure 4.30.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from twin.analysis.frequency.response import (
    AXES,
    MOVING_RATE_FRACTION,
    FrequencyResponse,
    Path,
    axis_path,
    exact_response,
    response_figures,
)
from twin.analysis.platform import Platform
from twin.analysis.tuning.steps import VelocityStep, VelocityStudy, heave_direction, leg_speeds
from twin.basics import canonical
from twin.basics.arrays import FloatArray, positive
from twin.control.controller import DEFAULT_PERIOD
from twin.control.gains import suitable_position_loop, suitable_velocity_loop
from twin.control.observer.kalman_observer import lumped_mass
from twin.errors import InputError
from twin.kernels.plant import columns as column
from twin.model.machine_base import ZERO_VECTOR, Model, changed
from twin.model.machine_model import MachineModel, as_model
from twin.plant.drives import mobility
from twin.plant.plant import Plant

MOBILITY_TOLERANCE = 1e-9
"""Fraction of the largest mobility below which a mode of the actuators is an internal force."""

MIN_POLE_DISTANCE = 1e-7
"""Smallest distance of two poles per natural frequency. Closer ones are moved apart by as much,
which changes the response by its square."""

RESPONSE_FREQUENCIES = np.concatenate([np.arange(1.0, 60.0), np.arange(60.0, 400.0, 2.0)])
"""[Hz] Frequencies at which loops are compared."""

PURE_DELAY = 2e-3
"""[s] Pure delay that the thesis measured, section 4.3.2.1."""


@dataclass(frozen=True)
class LoopModel:
    """One actuator with its share of the machine, SI units. Cannot be changed.

    The period is a multiple of the step.
    """

    mass: float
    """[kg] that the motor moves, its own reflected inertia included"""
    velocity_gain: float = 20e3
    """[N s/m] gain Kp of the velocity loop"""
    velocity_time: float = 3e-3
    """[s] integral time Ti of the velocity loop"""
    position_gain: float = 5.0
    """[1/s] gain K of the position loop"""
    position_integral: float = 10.0
    """[1/s2] integral gain K_I of the position loop"""
    current_lag: float = 0.0
    """[s] from commanded to actual effort, inside the velocity loop"""
    inner_delay: float = 0.0
    """[s] pure delay from commanded to actual effort, inside the velocity loop"""
    delay: float = 0.0
    """[s] pure delay of the speed setpoint, outside the velocity loop"""
    friction: float = 0.0
    """[N s/m] viscous"""
    feedforward: Literal["exact", "difference", "none"] = "exact"
    """feedforward of velocity: the reference's own rate, its difference over a period, or none"""
    period: float = 1e-3
    """[s] of the position loop"""
    step: float = 1e-4
    """[s] of the drive"""

    def __post_init__(self) -> None:
        """Check that the steps fill the period; raises InputError."""
        steps = self.period / self.step
        if not (steps > 0.5 and abs(steps - round(steps)) < 1e-6):
            raise InputError("step", f"must divide the period of {self.period:g} s")

    def changed(self, **values: Any) -> LoopModel:
        """Return the loop with other values."""
        return replace(self, **values)

    def sampled(self) -> tuple[FloatArray, FloatArray]:
        """Return A_T `(s, s)` and B_T `(s,)`; the first state is the position."""
        step_matrix, by_setpoint = self._step_matrices()
        transition = np.eye(len(step_matrix))
        input_sum = np.zeros_like(by_setpoint)
        for _ in range(round(self.period / self.step)):
            input_sum += transition @ by_setpoint
            transition = step_matrix @ transition
        return transition, input_sum

    def response(self, hertz: FloatArray) -> FrequencyResponse:
        """Return the position per reference at frequencies `(k,)` [Hz] below 1 / (2 period)."""
        transition, input_sum = self.sampled()
        s = 2j * np.pi * hertz
        z = np.exp(s * self.period)
        matrices = z[:, None, None] * np.eye(len(transition)) - transition
        to_position = np.linalg.solve(matrices, input_sum[None, :, None])[:, 0, 0]
        loop = self.position_gain + self.position_integral * self.period / (z - 1.0)
        forward = {
            "exact": s,
            "difference": (1.0 - 1.0 / z) / self.period,
            "none": np.zeros_like(z),
        }[self.feedforward]
        return exact_response(hertz, to_position * (loop + forward) / (1.0 + to_position * loop))

    @property
    def stable(self) -> bool:
        """Whether the closed loop is asymptotically stable."""
        transition, input_sum = self.sampled()
        size = len(transition)
        closed_loop = np.zeros((size + 1, size + 1))
        closed_loop[:size, :size] = transition
        closed_loop[:size, 0] -= self.position_gain * input_sum
        closed_loop[:size, size] = input_sum
        closed_loop[size, 0] = -self.position_integral * self.period
        closed_loop[size, size] = 1.0
        # Without an integral gain its eigenvalue is 1.
        closed_block = closed_loop if self.position_integral > 0.0 else closed_loop[:size, :size]
        return bool(np.abs(np.linalg.eigvals(closed_block)).max() < 1.0)

    def _step_matrices(self) -> tuple[FloatArray, FloatArray]:
        """Return A `(s, s)`, B `(s,)` of a step: position, speed, integral, effort, two queues."""
        delay_steps, inner_delay_steps = self.delay / self.step, self.inner_delay / self.step
        setpoints, efforts = (
            int(np.ceil(steps - 1e-9)) for steps in (delay_steps, inner_delay_steps)
        )
        x, v, integral, effort = range(4)
        first_setpoint, first_effort = 4, 4 + setpoints
        size = 4 + setpoints + efforts
        # Rows of what is formed within the step: by the states, then by the setpoint.
        states = np.eye(size + 1)
        new_setpoint = states[size]
        setpoint = _delayed_row(
            [new_setpoint, *states[first_setpoint : first_setpoint + setpoints]], delay_steps
        )
        error = setpoint - states[v]
        commanded_effort = self.velocity_gain * error + states[integral]
        acting_effort = _delayed_row(
            [commanded_effort, *states[first_effort : first_effort + efforts]], inner_delay_steps
        )
        remaining, mean_left = 0.0, 0.0
        if self.current_lag > 0.0:
            steps = self.step / self.current_lag
            remaining, mean_left = float(np.exp(-steps)), float(-np.expm1(-steps) / steps)
        effort_error = states[effort] - acting_effort
        new_effort, mean = (
            acting_effort + remaining * effort_error,
            acting_effort + mean_left * effort_error,
        )
        acceleration = (mean - self.friction * states[v]) / self.mass
        state_rows = states[:size].copy()
        state_rows[x] += self.step * states[v] + 0.5 * self.step**2 * acceleration
        state_rows[v] += self.step * acceleration
        state_rows[integral] += self.velocity_gain / self.velocity_time * self.step * error
        state_rows[effort] = new_effort
        for first_slot, n_slots, newest in (
            (first_setpoint, setpoints, new_setpoint),
            (first_effort, efforts, commanded_effort),
        ):
            for k in range(n_slots):
                state_rows[first_slot + k] = states[first_slot + k - 1] if k else newest
        return state_rows[:, :-1], state_rows[:, -1]


def _delayed_row(rows: list[FloatArray], steps: float) -> FloatArray:
    """Return the row of a signal `steps` ago, from its rows now, 1, 2, ... steps ago."""
    count = len(rows) - 1
    if count == 0:
        return rows[0]
    fraction_newer = count - steps
    return (1.0 - fraction_newer) * rows[count] + fraction_newer * rows[count - 1]


class ActuatorModes(NamedTuple):
    """Masses m_k and modes V of the mobility W (see above) that equal loops see, lightest first."""

    masses: FloatArray
    """`(n,)` [kg] or [kg m2], motors included; infinite where actuators push against each other"""
    shapes: FloatArray
    """`(n, n)` one mode per column, of unit length"""


def actuator_modes(platform: MachineModel) -> ActuatorModes:
    """Return the modes that equal loops at all actuators move at home, motors rigidly coupled.

    Raises:
        InputError: not a machine.
    """
    rates, shapes = np.linalg.eigh(mobility(as_model(platform)))
    rates, shapes = rates[::-1], canonical.modes(rates, shapes)[:, ::-1]
    masses = np.full(len(rates), np.inf)
    is_movable = rates > MOBILITY_TOLERANCE * rates[0]
    masses[is_movable] = 1.0 / rates[is_movable]
    drives = platform.parameters.drives
    motor = np.mean([0.0 if drive is None else drive.reflected().inertia for drive in drives])
    return ActuatorModes(masses + motor, shapes)


def path_mass(platform: MachineModel, path: Path) -> float:
    """Return the mass per actuator [kg] of a motion along a path, motors included.

    d^T W^-1 d / d^T d: what equal loops see if it is a mode, as it nearly is for machines with
    symmetry.

    Raises:
        InputError: not a machine.
    """
    modes = actuator_modes(platform)
    shares = (modes.shapes.T @ path.rates) ** 2
    is_moved = shares > MOBILITY_TOLERANCE * shares.max()
    return float(shares[is_moved] @ modes.masses[is_moved] / shares[is_moved].sum())


def machine_loop(platform: MachineModel, mass: float, *, step: float = 1e-4) -> LoopModel:
    """Return the loop that the machine's own cascade closes around a mass [kg].

    Raises:
        InputError: not a machine.
    """
    gain, time = suitable_velocity_loop(as_model(platform), DEFAULT_PERIOD)
    position, integral = suitable_position_loop(platform, DEFAULT_PERIOD)
    drives = [leg.drive for leg in platform.parameters.legs if leg.drive is not None]
    return LoopModel(
        mass,
        float(gain.mean()),
        float(time.mean()),
        position,
        integral,
        current_lag=max((drive.current_lag for drive in drives), default=0.0),
        delay=max((drive.delay for drive in drives), default=0.0),
        friction=max((drive.reflected().viscous for drive in drives), default=0.0),
        period=DEFAULT_PERIOD,
        step=step,
    )


def modelled_response(
    platform: MachineModel, path: Path, loop: LoopModel, frequency: FloatArray
) -> tuple[FrequencyResponse, dict[int, FrequencyResponse]]:
    """Return responses of the platform and of its moving actuators to a reference along a path.

    Args:
        platform: the machine.
        path: of the reference.
        loop: of every actuator; its mass is replaced by that of each mode.
        frequency: `(k,)` [Hz].

    Raises:
        InputError: not a machine.
    """
    modes = actuator_modes(platform)
    modal_rates = modes.shapes.T @ path.rates
    modal_response = np.zeros((len(frequency), len(modal_rates)), dtype=complex)
    for mass, shape, modal_rate in zip(modes.masses, modes.shapes.T, modal_rates, strict=True):
        if np.isfinite(mass) and abs(modal_rate) > MOBILITY_TOLERANCE * np.abs(modal_rates).max():
            gain = loop.changed(mass=mass).response(frequency).gain
            modal_response += modal_rate * np.outer(gain, shape)
    inverse_jacobian = np.linalg.pinv(platform.jacobian(platform.home))
    displaced = modal_response @ inverse_jacobian.T
    path_response = (
        displaced[:, AXES.index(path.name)]
        if path.name in AXES
        else displaced @ path.twist / float(path.twist @ path.twist)
    )
    largest_rate = np.abs(path.rates).max()
    return exact_response(frequency, path_response), {
        k + 1: exact_response(frequency, modal_response[:, k] / path.rates[k])
        for k in map(int, np.flatnonzero(np.abs(path.rates) > MOVING_RATE_FRACTION * largest_rate))
    }


class HeaveLeg(NamedTuple):
    """Share of one actuator in the vertical motion of the platform at home."""

    mass: float
    """[kg], for cranks [kg m2]"""
    weight: float
    """[N] or [N m] that holds the platform at rest"""


def heave_leg(platform: MachineModel) -> HeaveLeg:
    """Return the share of mass and weight of one actuator in heave at home, without its drive.

    The mass is that of the vertical motion over the sum of the actuators' squared rates; the thesis
    estimates it as the rod and a sixth of the platform.

    Raises:
        InputError: not a machine, or one that cannot rise.
    """
    direction = heave_direction(platform)
    # Speed of the platform per speed of the actuator that moves most.
    speed = 1.0 / float(np.abs(platform.jacobian(platform.home)[:, 2]).max())
    mass = float(platform.mass_matrix(platform.home)[2, 2]) * speed**2
    forces = platform.inverse_dynamics(platform.home, ZERO_VECTOR, ZERO_VECTOR)
    return HeaveLeg(
        mass / float(direction @ direction),
        float(forces @ direction) / float(direction @ direction),
    )


def velocity_step_response(
    time: FloatArray,
    mass: float,
    gain: float,
    integral_time: float,
    *,
    weight: float = 0.0,
    size: float = 0.02,
) -> FloatArray:
    """Return the velocity per step `(k,)` at times `(k,)` [s] after the step.

    Args:
        time: `(k,)` [s].
        mass: [kg].
        gain: of the velocity loop [N s/m].
        integral_time: [s].
        weight: [N] that the integral does not carry at the step.
        size: of the step [m/s].
    """
    natural = np.sqrt(gain / integral_time / mass)
    damping = 0.5 * gain / mass
    root_difference = np.sqrt(complex(damping**2 - natural**2))
    if abs(root_difference) < MIN_POLE_DISTANCE * natural:
        root_difference = complex(MIN_POLE_DISTANCE * natural)
    poles = np.array([-damping + root_difference, -damping - root_difference])
    numerator = np.array([gain - weight / size, gain / integral_time]) / mass
    # Partial fractions of numerator / (s (s - p1) (s - p2)); the one of the pole 0 is 1.
    residues = (numerator[0] * poles + numerator[1]) / (poles * (poles - poles[::-1]))
    return np.asarray(1.0 + (np.exp(time[:, None] * poles) @ residues).real)


class MotorResponse(NamedTuple):
    """Speeds per step after a velocity step, all actuators together."""

    time: FloatArray
    """`(k,)` [s] after the step"""
    motor: FloatArray
    """`(k,)` of the motors, exact; infinite where the machine had to be stopped"""
    leg: FloatArray
    """`(k,)` of the legs behind the transmission"""


class MotorStep(VelocityStep):
    """A velocity step at which the motors' speeds are recorded in every step of the engine."""

    name: ClassVar[str] = "velocity step at the motors"

    plant: Plant

    def signals(self) -> dict[str, FloatArray]:
        """Return the motors' speeds `(n,)`."""
        return {"motor_speed": self.plant.states[:, column.SPEED]}


def motor_response(platform: MachineModel, gain: float, integral_time: float) -> MotorResponse:
    """Return the response of a machine with drives to a velocity step upwards, weight carried.

    Args:
        platform: the machine, every leg with a drive that has inertia.
        gain: of the velocity loop [N s/m] or [N m s/rad].
        integral_time: [s].

    Raises:
        InputError: an argument that cannot be used, or motors without inertia.
    """
    legs = as_model(platform).parameters.legs
    if not all(leg.drive is not None and leg.drive.reflected().inertia > 0.0 for leg in legs):
        raise InputError("platform", "must have drives whose motors have inertia")
    study = VelocityStudy(carried=True)
    direction, size = heave_direction(platform), study.step_size(platform)
    controller = MotorStep(
        platform,
        size * direction,
        carried=study.carried,
        velocity_gain=gain,
        velocity_time=integral_time,
    )
    # The command is constant: the period changes nothing but the times of the records.
    controller.period = study.timestep
    controller.plant = Plant(platform)
    run = study.simulated(platform, controller, study.duration, controller.plant)
    time, no_motion = study.no_response()
    if run is None or len(run) != len(time):
        return MotorResponse(time, no_motion, no_motion)
    path_rates = direction / float(direction @ direction) / size
    motors = run.signals["motor_speed"] @ path_rates
    held_values = np.full(max(0, len(time) - len(motors)), motors[-1])
    return MotorResponse(
        time, np.append(motors, held_values)[: len(time)], leg_speeds(platform, run) @ path_rates
    )


def with_armature(platform: Model, fraction: float) -> Model:
    """Return a machine on screws whose armatures have `fraction` of their inertia.

    Raises:
        InputError: not above zero, or legs that differ or are not driven by screws.
    """
    armature_fraction = positive(fraction, "fraction")
    parameter_values = as_model(platform).parameters.model_dump()
    leg = parameter_values.get("leg")
    drive = leg.get("drive") if isinstance(leg, dict) else None
    if not isinstance(drive, dict) or drive.get("kind") != "screw":
        raise InputError("platform", "must have equal legs driven by screws")
    drive["armature_inertia"] *= armature_fraction
    return changed(platform, parameter_values)


MIN_LAG = 1e-5
"""[s] Shortest lag of the current that is tried."""

MAX_LAG = 5e-3
"""[s] Longest lag of the current that is tried."""


UNSTABLE_EXCESS = 100.0
"""[dB] Excess of the peak assigned to an unstable loop, which has no response."""


class Points(NamedTuple):
    """Points read from the thesis' figure, or from a computed response in the same way."""

    peak: float
    """[dB] height of the response's peak"""
    peak_frequency: float
    """[Hz] frequency of the peak"""
    at_70: float
    """[dB] at 70 Hz"""
    bandwidth: float
    """[Hz] frequency at which the response falls below -3 dB"""


PRINTED_POINTS = Points(7.0, 150.0, 4.0, 220.0)
"""Points of the figure in the thesis."""


class Candidate(NamedTuple):
    """A loop with one candidate explanation of the measured response."""

    name: str
    loop: LoopModel
    points: Points


def points_of(response: FrequencyResponse) -> Points:
    """Return the thesis' points of a response.

    Raises:
        InputError: points that do not reach from below to above 70 Hz.
    """
    figures = response_figures(response)
    trusted = response.trusted
    top = int(trusted.magnitude.argmax())
    peak, peak_frequency = figures.peak, figures.peak_frequency
    if 0 < top < len(trusted.frequency) - 1:
        # The top of the parabola through three points.
        peak_samples = slice(top - 1, top + 2)
        shift = trusted.frequency[peak_samples] - peak_frequency
        a, b, c = np.polyfit(shift, trusted.magnitude[peak_samples], 2)
        if a < 0.0:
            peak, peak_frequency = float(c - 0.25 * b * b / a), float(peak_frequency - 0.5 * b / a)
    return Points(peak, peak_frequency, float(trusted.magnitude_at(70.0)), figures.bandwidth)


def candidate(name: str, loop: LoopModel) -> Candidate:
    """Return an explanation with its points."""
    return Candidate(name, loop, points_of(loop.response(RESPONSE_FREQUENCIES)))


def with_peak(loop: LoopModel, field: str, peak: float = PRINTED_POINTS.peak) -> LoopModel:
    """Return the loop whose lag or delay gives a peak of that height [dB].

    Args:
        loop: everything else.
        field: "current_lag" or "inner_delay".
        peak: [dB], more than the loop has without.

    Raises:
        InputError: no lag up to `MAX_LAG` gives that peak with a stable loop.
    """
    from scipy.optimize import brentq

    def excess(exponent: float) -> float:
        trial_loop = loop.changed(**{field: float(np.exp(exponent))})
        if not trial_loop.stable:
            return UNSTABLE_EXCESS
        return points_of(trial_loop.response(RESPONSE_FREQUENCIES)).peak - peak

    lower_log, upper_log = np.log(MIN_LAG), np.log(MAX_LAG)
    if not excess(lower_log) < 0.0 < excess(upper_log):
        raise InputError("peak", f"of {peak:g} dB is not that of any {field} up to {MAX_LAG:g} s")
    return loop.changed(**{field: float(np.exp(brentq(excess, lower_log, upper_log, xtol=1e-9)))})


def lagging_machine(platform: Platform, lag: float, delay: float = 0.0) -> Platform:
    """Return a machine whose drives add a lag and a delay [s] and nothing else.

    Raises:
        InputError: legs that already have drives, or that turn cranks.
    """
    parameter_values = platform.parameters.model_dump()
    if parameter_values["leg"].get("drive") is not None or platform.coordinate_unit != "m":
        raise InputError("platform", "must have prismatic legs with ideal drives")
    parameter_values["leg"]["drive"] = {
        "source": "adopted",
        "kind": "direct",
        "current_lag": lag,
        "delay": delay,
    }
    return changed(platform, parameter_values)


def explanations(platform: Platform, hardware: Platform) -> dict[str, Candidate]:
    """Return the candidate explanations of the thesis' response, each a loop with its effects.

    Keys: "pitch" and "lumped" (ideal drives around either mass), "current" (the adopted current
    loop), "lag", "lag, difference", "lag, viscous" and "lumped delay" (fitted to the peak).

    Args:
        platform: the machine with ideal drives.
        hardware: the same machine with its drives.

    Raises:
        InputError: a machine without the drives' data.
    """
    drive = hardware.parameters.legs[0].drive
    if drive is None:
        raise InputError("hardware", "must have drives, those of twin.load(name, 'hardware')")
    ideal = machine_loop(platform, path_mass(platform, axis_path(platform, "pitch")))
    lumped = ideal.changed(mass=float(lumped_mass(platform, drives=False)[0]))
    lagging = with_peak(ideal, "current_lag")
    delayed = with_peak(lumped, "inner_delay")
    differenced = with_peak(ideal.changed(feedforward="difference"), "current_lag")
    viscous = with_peak(ideal.changed(friction=drive.reflected().viscous), "current_lag")
    effects = {
        "lumped": (f"rod and a sixth of the platform, {lumped.mass:.1f} kg", lumped),
        "pitch": (f"machine in pitch, {ideal.mass:.1f} kg", ideal),
        "current": (
            f"pitch, current loop of {1e3 * drive.current_lag:g} ms",
            ideal.changed(current_lag=drive.current_lag),
        ),
        "lag": (
            f"pitch, lag of {1e3 * lagging.current_lag:.2f} ms in the velocity loop",
            lagging,
        ),
        "lag, difference": (
            f"pitch, feedforward by difference, lag of {1e3 * differenced.current_lag:.2f} ms",
            differenced,
        ),
        "lag, viscous": (
            f"pitch, viscous friction of the motor, lag of {1e3 * viscous.current_lag:.2f} ms",
            viscous,
        ),
        "lumped delay": (
            f"{lumped.mass:.1f} kg, delay of {1e3 * delayed.inner_delay:.2f} ms in the loop",
            delayed,
        ),
    }
    return {key: candidate(name, loop) for key, (name, loop) in effects.items()}
