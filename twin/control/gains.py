"""Gains that fit a machine: those of its file, or derived from its masses and delays.

In torque mode the controller itself closes the loops through delay and transmission, and the delay
is inside the velocity loop. Above the frequencies at which the platform swings on the transmissions
a motor moves its own inertia alone; a stiff transmission takes the platform along further up, and
the loops may be as fast as that allows. Without transmissions the lightest mode of the legs
together is the fastest, the heaviest the slowest.
"""

from __future__ import annotations

from functools import lru_cache
from math import inf
from typing import NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, read_only
from twin.machine.hardware.drive import CascadeGains
from twin.model.machine_base import characteristic_length
from twin.model.machine_model import MachineModel, as_model
from twin.model.static_deflection import static_deflection
from twin.plant.drives import equivalent_inertia, mobility
from twin.rotations import displaced

DISPLACEMENT_STEP = 1e-4
"""Displacement of the platform for central differences, over its characteristic length."""

FRICTION_SMOOTHING_SPEED = 5e-4
"""Speed over which the friction of a model changes its sign, in strokes per second."""

BACKLASH_SMOOTHING_FORCE = 0.1
"""Force over which the backlash of a model changes its side, over the largest holding force."""

MIN_LAG = 0.7e-3
"""[s] Adopted: makes the thesis' 20 N per mm/s of what its machine moves without motors."""

INTEGRAL_TIME_FACTOR = 2.0
"""Adopted: integral time over the slowest time constant; it gives a damping ratio of 0.7."""

STIFFNESS_MARGIN = 2.0
"""Adopted: stiffness of the velocity loops over the stiffness that the weight takes away."""

LOOP_SEPARATION = 4.0
"""Adopted: ratio of the slowest velocity loop's bandwidth to that of the position loop."""

POSITION_LAG_FACTOR = 20.0
"""Adopted: time constant of the position loop over the sum of the lags, at least."""

RELATIVE_FREQUENCIES = np.geomspace(0.05, 100.0, 4000)
"""Frequencies at which the loops are examined, in units of 1 / lag."""

MIN_DAMPING = 0.25
"""Adopted: of the velocity loop in the heaviest mode."""

TORQUE_LOOP_SEPARATION = 8.0
"""Adopted: ratio of the bandwidth of the heaviest mode's velocity loop to the position loop's."""


@lru_cache(maxsize=32)
def falling_stiffness(platform: MachineModel) -> float:
    """Return how fast holding forces fall with a displacement, at worst [N/m, N m/rad].

    At rest the actuators give G(q). Held by constant forces, a machine with D = dG/dq leaves home
    along each eigenvector of D with a negative eigenvalue, as a pendulum that stands upside down.
    The result is minus the smallest eigenvalue of the symmetric part of D at home, zero where none
    is negative. D is by central differences over all motions that the legs allow.
    """
    length = characteristic_length(platform.platform_joints)
    steps = DISPLACEMENT_STEP * np.diag(np.repeat([length, 1.0], 3))
    poses = platform.constrain(displaced(np.tile(platform.home, (12, 1)), [*steps, *-steps])).pose
    rest, k = np.zeros((12, 6)), platform.n_deflections
    inside = static_deflection(platform, poses, rest, rest) if k else None
    forces = platform.inverse_dynamics(poses, rest, rest, deflection=inside)
    coordinates = platform.inverse_kinematics(poses)
    if inside is not None:
        coordinates = coordinates - inside[:, :k]
    changes, rises = (ends[:6] - ends[6:] for ends in (coordinates, forces))
    stiffness = np.linalg.pinv(changes, rcond=1e-6) @ rises
    return max(0.0, -float(np.linalg.eigvalsh(0.5 * (stiffness + stiffness.T))[0]))


class DriveModel(NamedTuple):
    """Drives as the actuators' coordinates see them, `(n,)` each: SI units, cranks in rad, N m."""

    inertia: FloatArray
    friction: FloatArray
    """while sliding"""
    breakaway: FloatArray
    """at rest"""
    stribeck_speed: FloatArray
    viscous: FloatArray
    half_backlash: FloatArray
    compliance: FloatArray
    """compliance of the transmission; zero where there is none"""
    largest: FloatArray
    """effort for a short time, infinite where unknown"""
    smoothing: FloatArray
    """speed over which friction changes its sign"""
    touching: FloatArray
    """force over which the backlash changes its side"""
    resolution: FloatArray
    """one count of the encoder; zero where readings are exact"""
    delay: float
    """[s]"""
    lag: float
    """[s]"""

    def friction_force(self, rates: FloatArray) -> FloatArray:
        """Return the friction `(..., n)` that a motor overcomes at `rates` `(..., n)`.

        Coulomb with Stribeck's rise towards rest, its sign smoothed, and viscous.
        """
        rise = (self.breakaway - self.friction) * np.exp(-((rates / self.stribeck_speed) ** 2))
        sign = np.tanh(rates / self.smoothing)
        return np.asarray((self.friction + rise) * sign + self.viscous * rates)

    def wound_up(self, forces: FloatArray) -> FloatArray:
        """Return the lead of motors over their legs `(..., n)` that they push with `forces`."""
        return np.asarray(
            self.half_backlash * np.tanh(forces / self.touching) + self.compliance * forces
        )

    @property
    def lead(self) -> float:
        """Delay and lag [s] until half of a command acts."""
        return self.delay + self.lag


def drive_model(platform: MachineModel) -> DriveModel:
    """Return the drives of a machine's parameters; without drives the ideal ones.

    Raises:
        InputError: not a machine.
    """
    legs, limits = as_model(platform).parameters.legs, platform.limits
    stroke = platform.maximum_coordinates - platform.minimum_coordinates
    rows = []
    for leg in legs:
        most = inf if leg.actuator.effort is None or not limits else leg.actuator.effort
        if leg.drive is None:
            rows.append((0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, most, 0.0))
            continue
        reflected = leg.drive.reflected()
        turn = leg.drive.turn
        rows.append(
            (
                reflected.inertia,
                reflected.friction,
                reflected.friction * leg.drive.breakaway,
                reflected.stribeck_speed,
                reflected.viscous,
                0.5 * reflected.backlash,
                1.0 / reflected.stiffness if reflected.stiffness > 0.0 else 0.0,
                reflected.peak if limits and reflected.peak is not None else most,
                0.0 if leg.encoder is None or turn is None else leg.encoder.resolution(turn),
            )
        )
    inertia, friction, breakaway, speed, viscous, half_backlash, yielding, largest, counts = (
        np.array(column) for column in zip(*rows, strict=True)
    )
    drives = [leg.drive for leg in legs if leg.drive is not None]
    return DriveModel(
        inertia,
        friction,
        breakaway,
        speed,
        viscous,
        half_backlash,
        yielding,
        largest,
        FRICTION_SMOOTHING_SPEED * stroke,
        np.full(len(legs), BACKLASH_SMOOTHING_FORCE * _holding(platform)),
        counts,
        max((drive.delay for drive in drives), default=0.0),
        max((drive.current_lag for drive in drives), default=0.0),
    )


def _holding(platform: MachineModel) -> float:
    """Return the largest force that holds the machine at home; without gravity, one unit."""
    rest = np.zeros(6)
    forces = platform.inverse_dynamics(platform.home, rest, rest)
    return float(np.abs(forces).max()) or 1.0


def configured_gains(platform: MachineModel) -> CascadeGains | None:
    """Return the gains of the machine's parameters, None if it has none."""
    return platform.parameters.control


def loop_lag(platform: MachineModel, period: float) -> float:
    """Return the sum of small lags [s] around the velocity loops: current, delay, a quarter period.

    The drives close these loops at the engine's step, which is shorter than the control period.
    """
    drives = [leg.drive for leg in platform.parameters.legs]
    lags = [0.0 if drive is None else drive.current_lag + drive.delay for drive in drives]
    return max(MIN_LAG, max(lags) + 0.25 * period)


class Burden(NamedTuple):
    """Mass that a velocity loop moves [kg] or [kg m2], from the easiest to the hardest motion."""

    lightest: float
    common: float
    """mass when all actuators give the same force"""
    heaviest: float


@lru_cache(maxsize=64)
def limiting_mass(platform: MachineModel, lag: float) -> float:
    """Return the mass [kg] or [kg m2] that decides how fast the velocity loops may be.

    Motor m and load M of a mode of the mechanism are coupled by the transmission's stiffness k and
    damping c. The speed of the motor per force is

        P(s) = (M s^2 + c s + k) / (s (m M s^2 + (m + M) (c s + k))).

    Behind a dead time T a gain K becomes unstable where K P exp(-s T) passes -1; one mass alone
    does at pi m / (2 T). The mass returned has the lowest limit of all drives and modes: near the
    motor's own behind a soft transmission, that of motor and load behind a stiff one. It is never
    less than `Burden.lightest`.

    Args:
        platform: the machine.
        lag: T, sum of the small lags [s].
    """
    moved, s, steepest = burden(platform), 1j * RELATIVE_FREQUENCIES / lag, 0.0
    load = _loads(platform)[:, None]
    for motor, stiffness, damping in _couplings(platform):
        spring = damping * s + stiffness
        speed = (load * s * s + spring) / (s * (motor * load * s * s + (motor + load) * spring))
        loop = speed * np.exp(-s * lag)
        crossing = (loop.imag[:, 1:] * loop.imag[:, :-1] <= 0.0) & (loop.real[:, 1:] < 0.0)
        steepest = max(steepest, float(-loop.real[:, 1:][crossing].min(initial=0.0)))
    return max(moved.lightest, 2.0 * lag / (np.pi * steepest)) if steepest else moved.lightest


@lru_cache(maxsize=32)
def _locked_mobility(platform: MachineModel) -> FloatArray | None:
    """Return accelerations per force `(n, n)` at home where stiff springs in series do not yield.

    None where there are no such springs, or where legs between actuator and spring swing slower on
    them than the fastest velocity loop of the symmetrical optimum, 1 / (sqrt(8) T), reacts: the
    loops then move these parts of the legs alone, and the platform swings on the springs.
    """
    if not platform.n_deflections:
        return None
    own = 1.0 / float(np.linalg.eigvalsh(mobility(platform))[-1])
    if platform.leg_springs.stiffness.max() < own / (8.0 * MIN_LAG**2):
        return None
    jacobian = platform.jacobian(platform.home)
    return np.asarray(jacobian @ np.linalg.solve(platform.mass_matrix(platform.home), jacobian.T))


def _loads(platform: MachineModel) -> FloatArray:
    """Return the masses `(dof,)` behind transmissions or stiff springs, one of each mode."""
    locked = _locked_mobility(platform)
    response = mobility(platform) if locked is None else locked
    return np.asarray(1.0 / np.linalg.eigvalsh(response)[-platform.dof :])


def _couplings(platform: MachineModel) -> set[tuple[float, float, float]]:
    """Return inertia, stiffness and damping of motors on transmissions; empty unless all are.

    Legs before stiff springs in series count as motors, and the springs as their transmissions.
    """
    if _locked_mobility(platform) is not None:
        springs, own = platform.leg_springs, burden(platform).lightest
        return {(own, *each) for each in zip(springs.stiffness, springs.damping, strict=True)}
    drives = [leg.drive for leg in platform.parameters.legs]
    reflected = [drive.reflected() for drive in drives if drive is not None]
    found = {(each.inertia, each.stiffness, each.damping) for each in reflected}
    if len(reflected) == len(drives) and all(m * k > 0.0 for m, k, _ in found):
        return found
    return set()


@lru_cache(maxsize=32)
def _speed_per_effort(platform: MachineModel, step: float) -> float:
    """Return the largest speed of a motor per effort within a step [s], from rest.

    Without a transmission it is step / m. With load M on stiffness k and damping c, motor and
    load fly off at t / (m + M), and swing against each other with the reduced mass m M / (m + M).
    """
    couplings = _couplings(platform)
    if not couplings:
        return step / burden(platform).lightest
    load = _loads(platform)[:, None]
    time, largest = np.linspace(0.0, step, 65), 0.0
    for motor, stiffness, damping in couplings:
        reduced = motor * load / (motor + load)
        decay = 0.5 * damping / reduced
        root = np.sqrt(decay**2 - stiffness / reduced + 0j) + 1e-9 / step
        swing = (np.exp((root - decay) * time) - np.exp(-(root + decay) * time)) / (2.0 * root)
        speed = (time + load / motor * swing.real) / (motor + load)
        largest = max(largest, float(speed.max()))
    return largest


@lru_cache(maxsize=32)
def burden(platform: MachineModel) -> Burden:
    """Return the masses that the velocity loops move at home, motors included.

    A motor moves faster than its transmission lets the leg follow: the lightest is then the motor.
    Stiff springs in series take the platform along, all but in the easiest motion.
    """
    drives = [leg.drive for leg in platform.parameters.legs]
    motors = [0.0 if drive is None else drive.reflected().inertia for drive in drives]
    response = np.linalg.eigvalsh(mobility(platform))[-platform.dof :]
    alone = min(motors)
    lightest = alone if alone > 0.0 else 1.0 / float(response[-1])
    heaviest = float(_loads(platform)[0]) + max(motors)
    together = equivalent_inertia(platform, _locked_mobility(platform))
    return Burden(lightest, float(together.max()), heaviest)


def derived_velocity_loop(platform: MachineModel, period: float) -> tuple[FloatArray, FloatArray]:
    """Return gains `(n,)` and integral times `(n,)` [s] that keep every motion of a machine damped.

    With the sum T of small lags: the symmetrical optimum m / (2 T), 4 T for what all actuators
    move together. Gains are less where the lightest motion would become unstable, and integrals
    are slow enough for the heaviest. They are fast enough for a machine that its own weight
    pushes away from home: the loops alone have the stiffness gain / time, `STIFFNESS_MARGIN` times
    what the weight takes away.

    Reference:
        Kessler, "Das symmetrische Optimum", Regelungstechnik 6, 1958.
    """
    lag, moved = loop_lag(platform, period), burden(platform)
    gain = min(moved.common / (2.0 * lag), limiting_mass(platform, lag) / lag)
    time, falling = (
        INTEGRAL_TIME_FACTOR * moved.heaviest / gain,
        STIFFNESS_MARGIN * falling_stiffness(platform),
    )
    time = max(4.0 * lag, min(time, gain / falling) if falling > 0.0 else time)
    n = platform.n_actuators
    return read_only(np.full(n, gain)), read_only(np.full(n, time))


def suitable_velocity_loop(platform: MachineModel, period: float) -> tuple[FloatArray, FloatArray]:
    """Return the gains and times of the velocity loops in the machine's file, or derived ones."""
    own, n = configured_gains(platform), platform.n_actuators
    gain = None if own is None else own.velocity_gain or own.crank_velocity_gain
    if own is None or gain is None:
        return derived_velocity_loop(platform, period)
    return read_only(np.full(n, gain)), read_only(np.full(n, own.velocity_time))


def suitable_position_loop(platform: MachineModel, period: float) -> tuple[float, float]:
    """Return gain [1/s] and integral gain [1/s2] of the position loop."""
    own = configured_gains(platform)
    if own is not None:
        return own.position_gain, own.position_integral
    slowest = float(suitable_velocity_loop(platform, period)[0][0]) / burden(platform).heaviest
    gain = min(1.0 / (POSITION_LAG_FACTOR * loop_lag(platform, period)), slowest / LOOP_SEPARATION)
    return gain, gain**2 / 10.0


def spring_forces(platform: MachineModel, coordinates: FloatArray) -> FloatArray:
    """Return the forces `(..., n)` [N] of the springs in parallel with the actuators of struts.

    A strut stays at a length only under stiffness (length - rest length); zero in other legs.
    """
    if not platform.leg.has_axial_spring:
        return np.zeros_like(coordinates)
    springs = platform.leg_springs
    return np.asarray(springs.stiffness * (coordinates - springs.rest))


def unstable_velocity_loop(platform: MachineModel, gains: FloatArray, timestep: float) -> str:
    """Return why velocity loops of `gains` `(n, 2)` cannot work at the engine's step; else empty.

    A speed that is corrected by more than twice its error in one step grows, whatever else there
    is; so it does with an integral time T below the step h: with b the share of the error that a
    step corrects, the product of the poles is 1 - b + b h / T. Slower instabilities show in the
    motion, and the supervisor sees them.
    """
    if not (np.isfinite(gains).all() and (gains[:, 0] >= timestep * gains[:, 1]).all()):
        return (
            f"unstable gains: the velocity loop's integral time is shorter than one step of "
            f"{timestep:g} s; raise velocity_time"
        )
    correction = float(gains[:, 0].max()) * _speed_per_effort(platform, timestep)
    if correction <= 2.0:
        return ""
    return (
        f"unstable gains: the velocity loop corrects {correction:.3g} times its error in one step "
        f"of {timestep:g} s; reduce velocity_gain"
    )


class TorqueLoops(NamedTuple):
    """Gains of loops in torque mode."""

    velocity_gain: FloatArray
    """`(n,)`"""
    velocity_time: FloatArray
    """`(n,)` [s]"""
    position_gain: float
    """[1/s]"""
    position_integral: float
    """[1/s2]"""


def torque_loops(platform: MachineModel, period: float) -> TorqueLoops:
    """Return the gains in the file where the motors have no inertia, else derived ones.

    The velocity gain is that of the symmetrical optimum for `limiting_mass`, its integral time at
    least what leaves the heaviest one `MIN_DAMPING`.
    """
    moved = burden(platform)
    lag = loop_lag(platform, period)
    gain, integral = suitable_position_loop(platform, period)
    own = configured_gains(platform)
    if own is not None and not drive_model(platform).inertia.any():
        return TorqueLoops(*suitable_velocity_loop(platform, period), gain, integral)
    default, time = derived_velocity_loop(platform, period)
    velocity = np.minimum(default, limiting_mass(platform, lag) / (2.0 * lag))
    slowest = float(velocity.min()) / moved.heaviest
    time = np.maximum(time, 4.0 * MIN_DAMPING**2 / slowest)
    if own is None:
        gain = min(gain, slowest / TORQUE_LOOP_SEPARATION)
        integral = gain**2 / 10.0
    return TorqueLoops(read_only(velocity), read_only(time), gain, integral)


def transmission_ratio(platform: MachineModel) -> float:
    """Return the ratio of the heaviest motion to the motor that swings on the legs.

    One where motors have no transmissions: they move with their legs.
    """
    drives = drive_model(platform)
    if not (drives.compliance.any() and drives.inertia.all()):
        return 1.0
    moved = burden(platform)
    return moved.heaviest / moved.lightest
