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
from twin.model.integrate import static_deflection
from twin.model.machine_model import MachineModel, as_model
from twin.plant.drives import equivalent_inertia, mobility
from twin.rotations import displaced

DISPLACEMENT_STEP = 1e-4
"""Displacement of the platform for central differences, relative to its characteristic length."""

FRICTION_SMOOTHING_SPEED = 5e-4
"""Speed over which modelled friction changes its sign, in strokes per second."""

BACKLASH_SMOOTHING_FORCE = 0.1
"""Force within which a model's backlash changes its side, relative to the largest holding force.
"""

MIN_LAG = 0.7e-3
"""[s] Engineering choice: smallest loop lag. With the mass that the thesis' machine moves without
motors, it gives the thesis' velocity gain of 20 N per mm/s."""

INTEGRAL_TIME_FACTOR = 2.0
"""Engineering choice: integral time over the slowest time constant; it gives a damping ratio of
0.7."""

STIFFNESS_MARGIN = 2.0
"""Engineering choice: stiffness of the velocity loops over the negative stiffness of gravity."""

LOOP_SEPARATION = 4.0
"""Engineering choice: ratio of the slowest velocity loop's bandwidth to that of the position
loop."""

POSITION_LAG_FACTOR = 20.0
"""Engineering choice: smallest time constant of the position loop, relative to the sum of lags."""

RELATIVE_FREQUENCIES = np.geomspace(0.05, 100.0, 4000)
"""Frequencies at which the loops are examined, in units of 1 / lag."""

MIN_DAMPING = 0.25
"""Engineering choice: smallest damping ratio of the velocity loop in the heaviest mode."""

TORQUE_LOOP_SEPARATION = 8.0
"""Engineering choice: ratio of the bandwidth of the heaviest mode's velocity loop to the position
loop's."""


@lru_cache(maxsize=32)
def falling_stiffness(platform: MachineModel) -> float:
    """Return the largest negative stiffness of gravity at home [N/m, N m/rad].

    At rest the actuators give G(q). Held by constant forces, a machine with D = dG/dq leaves home
    along each eigenvector of D with a negative eigenvalue, as a pendulum that stands upside down.
    The result is minus the smallest eigenvalue of the symmetric part of D at home, zero where none
    is negative. D is by central differences over all motions that the legs allow.
    """
    steps = DISPLACEMENT_STEP * np.diag(np.repeat([platform.joint_radius, 1.0], 3))
    poses = platform.constrain(displaced(np.tile(platform.home, (12, 1)), [*steps, *-steps])).pose
    zero_twists, k = np.zeros((12, 6)), platform.n_deflections
    deflection = static_deflection(platform, poses, zero_twists, zero_twists) if k else None
    forces = platform.inverse_dynamics(poses, zero_twists, zero_twists, deflection=deflection)
    coordinates = platform.inverse_kinematics(poses)
    if deflection is not None:
        coordinates = coordinates - deflection[:, :k]
    coordinate_changes, force_changes = (
        end_values[:6] - end_values[6:] for end_values in (coordinates, forces)
    )
    stiffness = np.linalg.pinv(coordinate_changes, rcond=1e-6) @ force_changes
    return max(0.0, -float(np.linalg.eigvalsh(0.5 * (stiffness + stiffness.T))[0]))


class DriveModel(NamedTuple):
    """Drives as the actuators' coordinates see them, `(n,)` each: SI units, cranks in rad, N m."""

    inertia: FloatArray
    friction: FloatArray
    """Coulomb friction while sliding [N, N m]"""
    breakaway: FloatArray
    """breakaway friction at rest [N, N m]"""
    stribeck_speed: FloatArray
    viscous: FloatArray
    half_backlash: FloatArray
    compliance: FloatArray
    """compliance of the transmission; zero where there is none"""
    peak_effort: FloatArray
    """effort for a short time, infinite where unknown"""
    friction_smoothing_speed: FloatArray
    """speed [m/s, rad/s] over which the modelled friction changes its sign"""
    backlash_smoothing_force: FloatArray
    """force [N, N m] over which the modelled backlash changes its side"""
    resolution: FloatArray
    """one count of the encoder; zero where readings are exact"""
    delay: float
    """[s] pure delay from a command to its effect"""
    lag: float
    """[s] time constant of the current loop"""

    def friction_force(self, rates: FloatArray) -> FloatArray:
        """Return the friction `(..., n)` that a motor overcomes at `rates` `(..., n)`.

        Coulomb with Stribeck's rise towards rest, its sign smoothed, and viscous.
        """
        breakaway_excess = (self.breakaway - self.friction) * np.exp(
            -((rates / self.stribeck_speed) ** 2)
        )
        direction = np.tanh(rates / self.friction_smoothing_speed)
        return (self.friction + breakaway_excess) * direction + self.viscous * rates

    def wind_up(self, forces: FloatArray) -> FloatArray:
        """Return the wind-up `(..., n)` [m, rad]: motor less leg coordinate under `forces`."""
        return np.asarray(
            self.half_backlash * np.tanh(forces / self.backlash_smoothing_force)
            + self.compliance * forces
        )

    @property
    def lead(self) -> float:
        """Delay and lag [s] until half of a command acts."""
        return self.delay + self.lag


def encoder_noise(platform: MachineModel) -> FloatArray:
    """Return the standard deviations `(n,)` [m, rad] of encoders' readings beside rounding."""
    legs = as_model(platform).parameters.legs
    counts = np.array([0.0 if leg.encoder is None else leg.encoder.noise for leg in legs])
    return counts * drive_model(platform).resolution


def drive_model(platform: MachineModel) -> DriveModel:
    """Return the drives of a machine's parameters; without drives the ideal ones.

    Raises:
        InputError: not a machine.
    """
    legs, limits = as_model(platform).parameters.legs, platform.limits
    drive_rows = []
    for leg in legs:
        effort_limit = inf if leg.actuator.effort is None or not limits else leg.actuator.effort
        if leg.drive is None:
            # A Stribeck speed of 1, because it is a divisor.
            drive_rows.append((0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, effort_limit, 0.0))
            continue
        reflected_drive = leg.drive.reflected()
        travel_per_turn = leg.drive.travel_per_turn
        drive_rows.append(
            (
                reflected_drive.inertia,
                reflected_drive.friction,
                reflected_drive.friction * leg.drive.breakaway,
                reflected_drive.stribeck_speed,
                reflected_drive.viscous,
                0.5 * reflected_drive.backlash,
                1.0 / reflected_drive.stiffness if reflected_drive.stiffness > 0.0 else 0.0,
                reflected_drive.peak
                if limits and reflected_drive.peak is not None
                else effort_limit,
                0.0
                if leg.encoder is None or travel_per_turn is None
                else leg.encoder.resolution(travel_per_turn),
            )
        )
    # Each row has the fields up to the peak effort in their order, then the resolution.
    *from_drives, resolution = (np.array(column) for column in zip(*drive_rows, strict=True))
    drives = [leg.drive for leg in legs if leg.drive is not None]
    return DriveModel._make(
        (
            *from_drives,
            FRICTION_SMOOTHING_SPEED * platform.stroke,
            np.full(len(legs), BACKLASH_SMOOTHING_FORCE * _largest_holding_force(platform)),
            resolution,
            max((drive.delay for drive in drives), default=0.0),
            max((drive.current_lag for drive in drives), default=0.0),
        )
    )


def _largest_holding_force(platform: MachineModel) -> float:
    """Return the largest holding force at home [N, N m]; 1 without gravity."""
    zero_twist = np.zeros(6)
    forces = platform.inverse_dynamics(platform.home, zero_twist, zero_twist)
    return float(np.abs(forces).max()) or 1.0


def loop_lag(platform: MachineModel, period: float) -> float:
    """Return the sum of small lags [s] around the velocity loops: current, delay, a quarter period.

    The drives close these loops at the engine's step, which is shorter than the control period.
    """
    drives = platform.parameters.drives
    lags = [0.0 if drive is None else drive.current_lag + drive.delay for drive in drives]
    return max(MIN_LAG, max(lags) + 0.25 * period)


class Burden(NamedTuple):
    """Mass that a velocity loop moves [kg] or [kg m2], from the easiest to the hardest motion."""

    lightest: float
    common: float
    """mass [kg, kg m2] that an actuator accelerates when all actuators give the same force"""
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
    moved_masses, s, largest_crossing = burden(platform), 1j * RELATIVE_FREQUENCIES / lag, 0.0
    load_masses = _modal_masses(platform)[:, None]
    for motor, stiffness, damping in _couplings(platform):
        spring = damping * s + stiffness
        speed = (load_masses * s * s + spring) / (
            s * (motor * load_masses * s * s + (motor + load_masses) * spring)
        )
        loop = speed * np.exp(-s * lag)
        crossing = (loop.imag[:, 1:] * loop.imag[:, :-1] <= 0.0) & (loop.real[:, 1:] < 0.0)
        largest_crossing = max(
            largest_crossing, float(-loop.real[:, 1:][crossing].min(initial=0.0))
        )
    if not largest_crossing:
        return moved_masses.lightest
    return max(moved_masses.lightest, 2.0 * lag / (np.pi * largest_crossing))


@lru_cache(maxsize=32)
def _locked_mobility(platform: MachineModel) -> FloatArray | None:
    """Return accelerations per force `(n, n)` at home where stiff springs in series do not yield.

    None where there are no such springs, or where legs between actuator and spring swing slower on
    them than the fastest velocity loop of the symmetrical optimum, 1 / (sqrt(8) T), reacts: the
    loops then move these parts of the legs alone, and the platform swings on the springs.
    """
    if not platform.n_deflections:
        return None
    lightest_mass = 1.0 / float(np.linalg.eigvalsh(mobility(platform))[-1])
    if platform.leg_springs.stiffness.max() < lightest_mass / (8.0 * MIN_LAG**2):
        return None
    jacobian = platform.jacobian(platform.home)
    return jacobian @ np.linalg.solve(platform.mass_matrix(platform.home), jacobian.T)


def _modal_masses(platform: MachineModel) -> FloatArray:
    """Return the modal masses `(dof,)` [kg, kg m2] behind transmissions or stiff springs."""
    locked = _locked_mobility(platform)
    response = mobility(platform) if locked is None else locked
    return np.asarray(1.0 / np.linalg.eigvalsh(response)[-platform.dof :])


def _couplings(platform: MachineModel) -> set[tuple[float, float, float]]:
    """Return inertia, stiffness and damping of each kind of motor on its transmission.

    Empty unless all legs have a motor with inertia on a transmission. Legs before stiff springs in
    series count as motors, and the springs as their transmissions.
    """
    if _locked_mobility(platform) is not None:
        springs, motor_mass = platform.leg_springs, burden(platform).lightest
        return {
            (motor_mass, *coupling)
            for coupling in zip(springs.stiffness, springs.damping, strict=True)
        }
    drives = platform.parameters.drives
    reflected_drives = [drive.reflected() for drive in drives if drive is not None]
    distinct_couplings = {
        (drive.inertia, drive.stiffness, drive.damping) for drive in reflected_drives
    }
    if len(reflected_drives) == len(drives) and all(m * k > 0.0 for m, k, _ in distinct_couplings):
        return distinct_couplings
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
    load_masses = _modal_masses(platform)[:, None]
    time, largest_speed = np.linspace(0.0, step, 65), 0.0
    for motor, stiffness, damping in couplings:
        reduced_mass = motor * load_masses / (motor + load_masses)
        decay = 0.5 * damping / reduced_mass
        # The small offset avoids a division by zero at critical damping.
        root = np.sqrt(decay**2 - stiffness / reduced_mass + 0j) + 1e-9 / step
        oscillation = (np.exp((root - decay) * time) - np.exp(-(root + decay) * time)) / (
            2.0 * root
        )
        speed = (time + load_masses / motor * oscillation.real) / (motor + load_masses)
        largest_speed = max(largest_speed, float(speed.max()))
    return largest_speed


@lru_cache(maxsize=32)
def burden(platform: MachineModel) -> Burden:
    """Return the masses that the velocity loops move at home, motors included.

    A motor moves faster than its transmission lets the leg follow: the lightest is then the motor.
    Stiff springs in series take the platform along, all but in the easiest motion.
    """
    motors = drive_model(platform).inertia.tolist()
    response = np.linalg.eigvalsh(mobility(platform))[-platform.dof :]
    lightest = min(motors) or 1.0 / float(response[-1])
    heaviest = float(_modal_masses(platform)[0]) + max(motors)
    common_mass = equivalent_inertia(platform, _locked_mobility(platform))
    return Burden(lightest, float(common_mass.max()), heaviest)


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
    lag, moved_masses = loop_lag(platform, period), burden(platform)
    gain = min(moved_masses.common / (2.0 * lag), limiting_mass(platform, lag) / lag)
    time = INTEGRAL_TIME_FACTOR * moved_masses.heaviest / gain
    required_stiffness = STIFFNESS_MARGIN * falling_stiffness(platform)
    # The symmetrical optimum has the integral time 4 T for the sum T of small lags.
    time = max(
        4.0 * lag, min(time, gain / required_stiffness) if required_stiffness > 0.0 else time
    )
    n = platform.n_actuators
    return read_only(np.full(n, gain)), read_only(np.full(n, time))


def suitable_velocity_loop(platform: MachineModel, period: float) -> tuple[FloatArray, FloatArray]:
    """Return the gains and times of the velocity loops in the machine's file, or derived ones."""
    configured, n = platform.parameters.control, platform.n_actuators
    gain = (
        None if configured is None else configured.velocity_gain or configured.crank_velocity_gain
    )
    if configured is None or gain is None:
        return derived_velocity_loop(platform, period)
    return read_only(np.full(n, gain)), read_only(np.full(n, configured.velocity_time))


def suitable_position_loop(platform: MachineModel, period: float) -> tuple[float, float]:
    """Return gain [1/s] and integral gain [1/s2] of the position loop."""
    configured = platform.parameters.control
    if configured is not None:
        return configured.position_gain, configured.position_integral
    slowest_bandwidth = (
        float(suitable_velocity_loop(platform, period)[0][0]) / burden(platform).heaviest
    )
    gain = min(
        1.0 / (POSITION_LAG_FACTOR * loop_lag(platform, period)),
        slowest_bandwidth / LOOP_SEPARATION,
    )
    return gain, gain**2 / 10.0


def spring_forces(platform: MachineModel, coordinates: FloatArray) -> FloatArray:
    """Return the forces `(..., n)` [N] of the springs in parallel with the actuators of struts.

    A strut stays at a length only under stiffness (length - rest length); zero in other legs.
    """
    if not platform.leg.has_axial_spring:
        return np.zeros_like(coordinates)
    springs = platform.leg_springs
    return springs.stiffness * (coordinates - springs.rest)


def unstable_velocity_loop(platform: MachineModel, gains: FloatArray, timestep: float) -> str:
    """Return why velocity loops of `gains` `(n, 2)` cannot work at the engine's step; else empty.

    The columns of `gains` are the gain, and the gain per integral time. A loop that corrects a
    speed by more than twice its error in one step is unstable; that of a motor with inertia, which
    knows its speed half a step ahead, by more than its error. So is a loop with an integral time T
    below the step h: with b the fraction of the error that a step corrects, the product of the
    poles is 1 - b + b h / T. Slower instabilities show in the motion, and the supervisor stops
    them.
    """
    if not (np.isfinite(gains).all() and (gains[:, 0] >= timestep * gains[:, 1]).all()):
        return (
            f"unstable gains: the velocity loop's integral time is shorter than one step of "
            f"{timestep:g} s; raise velocity_time"
        )
    correction = float(gains[:, 0].max()) * _speed_per_effort(platform, timestep)
    if correction <= (1.0 if _couplings(platform) else 2.0):
        return ""
    return (
        f"unstable gains: the velocity loop corrects {correction:.3g} times its error in one step "
        f"of {timestep:g} s; reduce velocity_gain"
    )


class TorqueLoops(NamedTuple):
    """Gains of loops in torque mode."""

    velocity_gain: FloatArray
    """`(n,)` gains of the drives' velocity loops [N s/m, N m s/rad]"""
    velocity_time: FloatArray
    """`(n,)` [s]"""
    position_gain: float
    """[1/s] gain of the position loop"""
    position_integral: float
    """[1/s2] integral gain of the position loop"""


def torque_loops(platform: MachineModel, period: float) -> TorqueLoops:
    """Return the gains in the file, but derived velocity loops where motors have inertia.

    Without gains in the file all are derived. The derived velocity gain is that of the symmetrical
    optimum for the smaller of `Burden.common` and `limiting_mass`; the integral time leaves the
    heaviest mode a damping ratio of at least `MIN_DAMPING`.
    """
    moved_masses = burden(platform)
    lag = loop_lag(platform, period)
    gain, integral = suitable_position_loop(platform, period)
    configured = platform.parameters.control
    if configured is not None and not drive_model(platform).inertia.any():
        return TorqueLoops(*suitable_velocity_loop(platform, period), gain, integral)
    stable_gain, time = derived_velocity_loop(platform, period)
    velocity_gain = np.minimum(stable_gain, limiting_mass(platform, lag) / (2.0 * lag))
    slowest_bandwidth = float(velocity_gain.min()) / moved_masses.heaviest
    # A PI loop around one mass has the damping ratio sqrt(bandwidth * integral time) / 2.
    time = np.maximum(time, 4.0 * MIN_DAMPING**2 / slowest_bandwidth)
    if configured is None:
        gain = min(gain, slowest_bandwidth / TORQUE_LOOP_SEPARATION)
        integral = gain**2 / 10.0
    return TorqueLoops(read_only(velocity_gain), read_only(time), gain, integral)


def total_to_motor_mass_ratio(platform: MachineModel) -> float:
    """Return the largest mass that a motor moves, itself included, over the lightest: its own.

    One where motors have no transmissions: they move with their legs.
    """
    drives = drive_model(platform)
    if not (drives.compliance.any() and drives.inertia.all()):
        return 1.0
    moved_masses = burden(platform)
    return moved_masses.heaviest / moved_masses.lightest
