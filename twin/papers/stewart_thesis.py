"""Reproduction of the Stewart thesis: velocity steps, frequency response, drives.

Reference: Albayrak, thesis, METU 2005.

Position loop of one actuator around one mass as an exact sampled linear system.

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

Response of a controlled machine from its modes: one loop model per mode of the actuators.

Equal loops at all actuators see the mobility W = J M^-1 J^T (accelerations of the coordinates per
force, `(n, n)`, gravity's change left out). In its eigenvectors V, W = V diag(1 / m_k) V^T, they
fall apart into n loops around the masses m_k, each a `LoopModel` G_k. A reference along d is
followed by

    c = V diag(G_k) V^T d,

so that every actuator depends on the whole machine: its mass in pitch differs from that in heave.

Velocity steps: in closed form around one equivalent mass, and as the motors' encoders see them.

The closed form is that of

    m v' = Kp (1 + 1/(Ti s)) (v_d - v) - w

with a weight w that the integral does not carry yet at the step. For a setpoint v_d from rest,

    v / v_d = [ (Kp - w / v_d) s + Kp / Ti ] / ( m s^2 + Kp s + Kp / Ti ):

second order with a zero. The weight acts like a smaller gain in the numerator. Where the integral
carries it (w = 0), the loop has two integrators and the integral of the error over time is zero:
the response must overshoot.

Effects of the real machine that may explain the measured response of the Stewart thesis.

The thesis moved its platform with sines in pitch, up to 300 Hz, and divided measured by desired
displacement of one actuator: a peak of 7 dB about 150 Hz, -3 dB about 220 Hz, 4 dB at 70 Hz. Here
each effect is put into the linear loop by itself. A lag or delay that no data sheet gives is set
for the height of the peak; its frequency, the bandwidth and the value at 70 Hz are predictions.

Reference:
    Albayrak, thesis, METU 2005, section 4.3.2.3 and figure 4.30.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from twin.analysis.frequency.estimate import AXES, MOVING_RATE_FRACTION, Path, axis_path
from twin.analysis.frequency.response import FrequencyResponse, exact_response, response_figures
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
"""Fraction of the largest mobility below which actuators only push against each other."""

MIN_POLE_DISTANCE = 1e-7
"""Smallest distance of two poles per natural frequency. Closer ones are moved apart by as much,
which changes the response by its square."""

DEFAULT_STUDY = VelocityStudy(carried=True)

RESPONSE_FREQUENCIES = np.concatenate([np.arange(1.0, 60.0), np.arange(60.0, 400.0, 2.0)])
"""[Hz] Frequencies at which loops are compared."""

PURE_DELAY = 2e-3
"""[s] Pure delay that the thesis measured, section 4.3.2.1."""

UNSTABLE_DISTANCE = 100.0
"""Distance of a loop that has no response."""


@dataclass(frozen=True)
class LoopModel:
    """One actuator with its share of the machine, SI units. Cannot be changed.

    The period is a multiple of the step.
    """

    mass: float
    """[kg] that the motor moves, its own reflected inertia included"""
    velocity_gain: float = 20e3
    """[N s/m]"""
    velocity_time: float = 3e-3
    """[s]"""
    position_gain: float = 5.0
    """[1/s]"""
    position_integral: float = 10.0
    """[1/s2]"""
    current_lag: float = 0.0
    """[s] from commanded to actual effort, inside the velocity loop"""
    inner_delay: float = 0.0
    """[s] the same as a pure delay"""
    delay: float = 0.0
    """[s] of the setpoint of speed, outside the velocity loop"""
    friction: float = 0.0
    """[N s/m] viscous"""
    feedforward: Literal["exact", "difference", "none"] = "exact"
    """feedforward of velocity: the reference's own rate, its difference over a period, or none"""
    period: float = 1e-3
    """[s] of the position loop"""
    step: float = 1e-4
    """[s] of the drive"""

    def changed(self, **values: Any) -> LoopModel:
        """Return the loop with other values."""
        return replace(self, **values)

    def sampled(self) -> tuple[FloatArray, FloatArray]:
        """Return A_T `(s, s)` and B_T `(s,)`; the first state is the position."""
        one, by_setpoint = self._step_matrices()
        many = np.eye(len(one))
        total = np.zeros_like(by_setpoint)
        for _ in range(round(self.period / self.step)):
            total += many @ by_setpoint
            many = one @ many
        return many, total

    def response(self, hertz: FloatArray) -> FrequencyResponse:
        """Return the position per reference at frequencies `(k,)` [Hz] that the period resolves."""
        many, total = self.sampled()
        s = 2j * np.pi * hertz
        z = np.exp(s * self.period)
        matrices = z[:, None, None] * np.eye(len(many)) - many
        plant = np.linalg.solve(matrices, np.broadcast_to(total[:, None], (len(z), len(total), 1)))
        to_position = plant[:, 0, 0]
        loop = self.position_gain + self.position_integral * self.period / (z - 1.0)
        forward = {
            "exact": s,
            "difference": (1.0 - 1.0 / z) / self.period,
            "none": np.zeros_like(z),
        }[self.feedforward]
        return exact_response(hertz, to_position * (loop + forward) / (1.0 + to_position * loop))

    @property
    def stable(self) -> bool:
        """Whether the closed loop comes to rest."""
        many, total = self.sampled()
        size = len(many)
        closed = np.zeros((size + 1, size + 1))
        closed[:size, :size] = many
        closed[:size, 0] -= self.position_gain * total
        closed[:size, size] = total
        closed[size, 0] = -self.position_integral * self.period
        closed[size, size] = 1.0
        # Without an integral gain its state stays at 1.
        kept = closed if self.position_integral > 0.0 else closed[:size, :size]
        return bool(np.abs(np.linalg.eigvals(kept)).max() < 1.0)

    def _step_matrices(self) -> tuple[FloatArray, FloatArray]:
        """Return A `(s, s)`, B `(s,)` of a step: position, speed, integral, effort, two queues."""
        late, later = self.delay / self.step, self.inner_delay / self.step
        setpoints, efforts = int(np.ceil(late - 1e-9)), int(np.ceil(later - 1e-9))
        x, v, integral, effort = range(4)
        first_setpoint, first_effort = 4, 4 + setpoints
        size = 4 + setpoints + efforts
        eye = np.eye(size)
        # Rows of what is formed within the step: by the states, then by the setpoint.
        setpoint = _late(eye, setpoints, first_setpoint, late, fresh=np.zeros(size), by_fresh=1.0)
        error = setpoint - np.append(eye[v], 0.0)
        commanded = self.velocity_gain * error + np.append(eye[integral], 0.0)
        acting = _late(
            eye, efforts, first_effort, later, fresh=commanded[:-1], by_fresh=commanded[-1]
        )
        left, mean_left = 0.0, 0.0
        if self.current_lag > 0.0:
            steps = self.step / self.current_lag
            left, mean_left = float(np.exp(-steps)), float(-np.expm1(-steps) / steps)
        behind = np.append(eye[effort], 0.0) - acting
        new_effort, mean = acting + left * behind, acting + mean_left * behind
        acceleration = (mean - self.friction * np.append(eye[v], 0.0)) / self.mass
        rows = np.hstack([eye, np.zeros((size, 1))])
        rows[x] += self.step * np.append(eye[v], 0.0) + 0.5 * self.step**2 * acceleration
        rows[v] += self.step * acceleration
        rows[integral] += self.velocity_gain / self.velocity_time * self.step * error
        rows[effort] = new_effort
        for first, count, newest in (
            (first_setpoint, setpoints, np.append(np.zeros(size), 1.0)),
            (first_effort, efforts, commanded),
        ):
            for k in range(count):
                rows[first + k] = newest if k == 0 else np.append(eye[first + k - 1], 0.0)
        return rows[:, :-1], rows[:, -1]


def _late(
    eye: FloatArray,
    count: int,
    first: int,
    steps: float,
    *,
    fresh: FloatArray,
    by_fresh: float,
) -> FloatArray:
    """Return the row `(size + 1,)` of a signal `steps` ago, between entries of its queue."""
    now = np.append(fresh, by_fresh)
    if count == 0:
        return now
    older = np.append(eye[first + count - 1], 0.0)
    newer = np.append(eye[first + count - 2], 0.0) if count > 1 else now
    share = count - steps
    return np.asarray((1.0 - share) * older + share * newer)


class ActuatorModes(NamedTuple):
    """Masses that equal loops at all actuators see, lightest first."""

    masses: FloatArray
    """`(n,)` [kg] or [kg m2], motors included; infinite where actuators push against each other"""
    shapes: FloatArray
    """`(n, n)` columns of unit length"""


def actuator_modes(platform: MachineModel) -> ActuatorModes:
    """Return the modes that equal loops at all actuators move at home, motors rigidly coupled.

    Raises:
        InputError: not a machine.
    """
    rates, shapes = np.linalg.eigh(mobility(as_model(platform)))
    rates, shapes = rates[::-1], canonical.modes(rates, shapes)[:, ::-1]
    masses = np.full(len(rates), np.inf)
    free = rates > MOBILITY_TOLERANCE * rates[0]
    masses[free] = 1.0 / rates[free]
    drives = [leg.drive for leg in platform.parameters.legs]
    motor = np.mean([0.0 if drive is None else drive.reflected().inertia for drive in drives])
    return ActuatorModes(masses + motor, shapes)


def path_mass(platform: MachineModel, path: Path) -> float:
    """Return the mass per actuator [kg] of a motion along a path, motors included.

    d^T W^-1 d / d^T d: what equal loops see if the way is a mode, as it nearly is for machines with
    symmetry.

    Raises:
        InputError: not a machine.
    """
    modes = actuator_modes(platform)
    shares = (modes.shapes.T @ path.rates) ** 2
    seen = shares > MOBILITY_TOLERANCE * shares.max()
    return float(shares[seen] @ modes.masses[seen] / shares[seen].sum())


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
    """Return responses of the platform and of its moving actuators to a reference along a way.

    Args:
        platform: the machine.
        path: of the reference.
        loop: of every actuator; its mass is replaced by that of each mode.
        frequency: `(k,)` [Hz].

    Raises:
        InputError: not a machine.
    """
    modes = actuator_modes(platform)
    parts = modes.shapes.T @ path.rates
    moved = np.zeros((len(frequency), len(parts)), dtype=complex)
    for mass, shape, part in zip(modes.masses, modes.shapes.T, parts, strict=True):
        if np.isfinite(mass) and abs(part) > MOBILITY_TOLERANCE * np.abs(parts).max():
            gain = loop.changed(mass=mass).response(frequency).gain
            moved += part * np.outer(gain, shape)
    back = np.linalg.pinv(platform.jacobian(platform.home))
    displaced = moved @ back.T
    along = (
        displaced[:, AXES.index(path.name)]
        if path.name in AXES
        else displaced @ path.twist / float(path.twist @ path.twist)
    )
    largest = np.abs(path.rates).max()
    return exact_response(frequency, along), {
        k + 1: exact_response(frequency, moved[:, k] / path.rates[k])
        for k in map(int, np.flatnonzero(np.abs(path.rates) > MOVING_RATE_FRACTION * largest))
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
    spread = np.sqrt(complex(damping**2 - natural**2))
    if abs(spread) < MIN_POLE_DISTANCE * natural:
        spread = complex(MIN_POLE_DISTANCE * natural)
    poles = np.array([-damping + spread, -damping - spread])
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


def motor_response(
    platform: MachineModel, gain: float, integral_time: float, study: VelocityStudy = DEFAULT_STUDY
) -> MotorResponse:
    """Return the response of a machine with drives to a velocity step upwards.

    Args:
        platform: the machine, every leg with a drive that has inertia.
        gain: of the velocity loop [N s/m] or [N m s/rad].
        integral_time: [s].
        study: the step and its simulation, default with the weight carried.

    Raises:
        InputError: an argument that cannot be used, or motors without inertia.
    """
    legs = as_model(platform).parameters.legs
    if not all(leg.drive is not None and leg.drive.reflected().inertia > 0.0 for leg in legs):
        raise InputError("platform", "must have drives whose motors have inertia")
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
    time, none = study.no_response()
    if run is None or len(run) != len(time):
        return MotorResponse(time, none, none)
    along = direction / float(direction @ direction) / size
    motors = run.signals["motor_speed"] @ along
    last = np.full(max(0, len(time) - len(motors)), motors[-1])
    return MotorResponse(
        time, np.append(motors, last)[: len(time)], leg_speeds(platform, run) @ along
    )


def with_armature(platform: Model, share: float) -> Model:
    """Return a machine on screws whose armatures have `share` of their inertia.

    Raises:
        InputError: a share not above zero, or legs that differ or are not driven by screws.
    """
    part = positive(share, "share")
    content = as_model(platform).parameters.model_dump()
    leg = content.get("leg")
    drive = leg.get("drive") if isinstance(leg, dict) else None
    if not isinstance(drive, dict) or drive.get("kind") != "screw":
        raise InputError("platform", "must have equal legs driven by screws")
    drive["armature_inertia"] *= part
    return changed(platform, content)


MIN_LAG = 1e-5
"""[s] Shortest lag of the current that is tried."""

MAX_LAG = 5e-3
"""[s] Longest lag of the current that is tried."""


class Points(NamedTuple):
    """Points read off the figure of the thesis, or off ours in the same way."""

    peak: float
    """[dB]"""
    peak_frequency: float
    """[Hz]"""
    at_70: float
    """[dB] at 70 Hz"""
    bandwidth: float
    """[Hz]"""


PRINTED_POINTS = Points(7.0, 150.0, 4.0, 220.0)
"""Points of the figure in the thesis."""

FIT_SCALES = Points(1.0, 10.0, 1.0, 10.0)
"""Deviations that weigh the same in a fit: what the thesis calls "about"."""


class Candidate(NamedTuple):
    """An explanation."""

    name: str
    loop: LoopModel
    points: Points

    @property
    def distance(self) -> float:
        """Root mean square of the differences to the thesis, in `FIT_SCALES`."""
        return float(np.sqrt(np.mean(_differences(self.points) ** 2)))


def points_of(response: FrequencyResponse) -> Points:
    """Return the thesis' points of a response.

    Raises:
        InputError: points that do not reach from below to above 70 Hz.
    """
    figures = response_figures(response)
    kept = response.trusted
    top = int(kept.magnitude.argmax())
    peak, place = figures.peak, figures.peak_frequency
    if 0 < top < len(kept.frequency) - 1:
        # The top of the parabola through three points.
        around = slice(top - 1, top + 2)
        shift = kept.frequency[around] - place
        a, b, c = np.polyfit(shift, kept.magnitude[around], 2)
        if a < 0.0:
            peak, place = float(c - 0.25 * b * b / a), float(place - 0.5 * b / a)
    return Points(peak, place, float(kept.magnitude_at(70.0)), figures.bandwidth)


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
        tried = loop.changed(**{field: float(np.exp(exponent))})
        return (
            points_of(tried.response(RESPONSE_FREQUENCIES)).peak - peak
            if tried.stable
            else UNSTABLE_DISTANCE
        )

    low, high = np.log(MIN_LAG), np.log(MAX_LAG)
    if not excess(low) < 0.0 < excess(high):
        raise InputError("peak", f"of {peak:g} dB is not that of any {field} up to {MAX_LAG:g} s")
    return loop.changed(**{field: float(np.exp(brentq(excess, low, high, xtol=1e-9)))})


def fitted(loop: LoopModel, free: Sequence[str]) -> LoopModel:
    """Return the stable loop nearest to the thesis' points, over the fields in `free`.

    Args:
        loop: everything else, and the fields' first values (above zero).
        free: names of fields.

    Raises:
        InputError: a field that starts at zero.
    """
    from scipy.optimize import least_squares

    first = np.array([getattr(loop, name) for name in free])
    if not (first > 0.0).all():
        raise InputError("free", "must start above zero")

    def loop_at(exponents: FloatArray) -> LoopModel:
        values = (first * np.exp(exponents)).tolist()
        return loop.changed(**dict(zip(free, values, strict=True)))

    def residuals(exponents: FloatArray) -> FloatArray:
        tried = loop_at(exponents)
        if not tried.stable:
            return np.full(4, UNSTABLE_DISTANCE)
        return _differences(points_of(tried.response(RESPONSE_FREQUENCIES)))

    found = least_squares(residuals, np.zeros(len(free)), diff_step=1e-3, bounds=(-2.5, 2.5))
    return loop_at(found.x)


def lagging_machine(platform: Platform, lag: float, delay: float = 0.0) -> Platform:
    """Return a machine whose drives add a lag and a delay [s] and nothing else.

    Raises:
        InputError: legs that already have drives, or that turn cranks.
    """
    content = platform.parameters.model_dump()
    if content["leg"].get("drive") is not None or platform.coordinate_unit != "m":
        raise InputError("platform", "must have prismatic legs with ideal drives")
    content["leg"]["drive"] = {
        "source": "adopted",
        "kind": "direct",
        "current_lag": lag,
        "delay": delay,
    }
    return changed(platform, content)


def explanations(platform: Platform, hardware: Platform) -> dict[str, Candidate]:
    """Return the effects one after the other, then what fits, for the Stewart machine, by keys.

    Args:
        platform: the machine with ideal drives.
        hardware: the same with its drives.

    Raises:
        InputError: a machine without the drives' data.
    """
    drive = hardware.parameters.legs[0].drive
    if drive is None:
        raise InputError("hardware", "must have drives, those of twin.load(name, 'hardware')")
    motor, heave = drive.reflected(), heave_leg(platform).mass
    ideal = machine_loop(platform, path_mass(platform, axis_path(platform, "pitch")))
    lumped = ideal.changed(mass=float(lumped_mass(platform, drives=False)[0]))
    slow, slow_lumped = (with_peak(loop, "current_lag") for loop in (ideal, lumped))
    late = with_peak(lumped, "inner_delay")
    by_difference = ideal.changed(feedforward="difference")
    differing = with_peak(by_difference, "current_lag")
    damped = with_peak(ideal.changed(friction=motor.viscous), "current_lag")
    heavy = ideal.mass + motor.inertia
    free = fitted(slow.changed(mass=20.0), ["mass", "current_lag"])
    effects = {
        "lumped": (f"rod and a sixth of the platform, {lumped.mass:.1f} kg", lumped),
        "heave": (f"machine in heave, {heave:.1f} kg", ideal.changed(mass=heave)),
        "pitch": (f"machine in pitch, {ideal.mass:.1f} kg", ideal),
        "difference": ("pitch, feedforward by difference", by_difference),
        "late": (
            f"pitch, {1e3 * PURE_DELAY:g} ms before the drive",
            ideal.changed(delay=PURE_DELAY),
        ),
        "viscous": (
            f"pitch, viscous friction of the motor, {motor.viscous:.0f} N s/m",
            ideal.changed(friction=motor.viscous),
        ),
        "current": (
            f"pitch, current loop of {1e3 * drive.current_lag:g} ms",
            ideal.changed(current_lag=drive.current_lag),
        ),
        "armature": (
            f"pitch with armature, {heavy:.0f} kg, gains as they are",
            ideal.changed(mass=heavy),
        ),
        "lag": (f"pitch, lag of {1e3 * slow.current_lag:.2f} ms in the velocity loop", slow),
        "lag, difference": (
            f"pitch, feedforward by difference, lag of {1e3 * differing.current_lag:.2f} ms",
            differing,
        ),
        "lag, viscous": (
            f"pitch, viscous friction of the motor, lag of {1e3 * damped.current_lag:.2f} ms",
            damped,
        ),
        "lumped lag": (
            f"{lumped.mass:.1f} kg, lag of {1e3 * slow_lumped.current_lag:.2f} ms in the loop",
            slow_lumped,
        ),
        "lumped delay": (
            f"{lumped.mass:.1f} kg, delay of {1e3 * late.inner_delay:.2f} ms in the loop",
            late,
        ),
        "free": (f"both fitted: {free.mass:.1f} kg, lag {1e3 * free.current_lag:.2f} ms", free),
    }
    return {key: candidate(name, loop) for key, (name, loop) in effects.items()}


def _differences(points: Points) -> FloatArray:
    found = np.array([value if isfinite(value) else RESPONSE_FREQUENCIES[-1] for value in points])
    return np.asarray((found - np.array(PRINTED_POINTS)) / np.array(FIT_SCALES))
