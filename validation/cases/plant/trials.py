"""Mechanics of a drive on a test bench: inertia, transmission, friction and backlash.

Every expected value follows from `DriveNumbers`, the parameters of a machine's drives at the leg,
never from the constants that the bench runs. `DriveNumbers` come from the machine's file or the
motor's data sheet, and nothing that computes them calls the code of the drives. A wrong gear ratio
or a wrong entry in the constants of a drive therefore changes what the test bench measures, but not
what is expected of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import inf, pi, sin
from typing import NamedTuple

import numpy as np

from twin.analysis.platform import Platform
from twin.basics.arrays import FloatArray, as_floats
from twin.kernels.plant import columns as column
from twin.kernels.plant.actuation import actuate
from twin.kernels.plant.columns import FORCE_MODE, VELOCITY_MODE
from twin.machine.hardware.drive import DirectDrive, GearDrive, ScrewDrive
from twin.plant.drives import motor_parts
from twin.validation.measures.sampling import largest
from twin.validation.published.machines import MACHINE_NAMES, typed_numbers
from twin.validation.results import Entry, Measure

ENGINE_STEP = 1e-4
"""[s] Time step of the engine."""

CONVERGENCE_STEPS = (4e-4, 2e-4, 1e-4)
"""[s] Time steps of the engine from which the order of convergence is taken."""

UNLOADED_STEP = 1e-6
"""[s] Time step of the engine for a motor without a leg."""

EXCITATION_FREQUENCY = 20.0
"""[Hz] Frequency of the motor's effort that excites a free leg."""

VELOCITY_LOOP_TIME = 2e-3
"""[s] Time constant of the velocity loop that measures friction."""

UNLOADED_BACKLASH = 1e3
"""[m, rad] Half backlash in which a motor never reaches its leg."""

SPRING_COMPRESSION = 1e-5
"""[m, rad] Compression of the transmission by a leg, behind a motor at rest."""


class DriveNumbers(NamedTuple):
    """The parameters of one drive at its leg, in m and N (leg length) or rad and N m (crank)."""

    inertia: float
    """motor inertia [kg] or [kg m2]"""
    friction: float
    """Coulomb friction while the motor moves [N] or [N m]"""
    breakaway: float
    """friction at rest [N] or [N m]"""
    stribeck_speed: float
    """speed [m/s] or [rad/s] over which friction falls from breakaway to Coulomb friction"""
    viscous: float
    """viscous damping [N s/m] or [N m s/rad]"""
    backlash: float
    """whole width of the backlash [m] or [rad]"""
    stiffness: float
    """stiffness [N/m] or [N m/rad] of the transmission, and of the end stops"""
    damping: float
    """damping [N s/m] or [N m s/rad] of the transmission, and of the end stops"""
    brake: float
    """holding force [N] or torque [N m] of the closed brake without friction"""
    brake_times: tuple[float, float]
    """times [s] to engage and to release the brake"""
    peak: float
    """peak effort [N] or [N m]; infinite for no limit"""
    continuous: float
    """continuous effort [N] or [N m]; infinite for no limit"""
    thermal_time: float | None
    """thermal time constant of the motor [s]"""
    speed: float
    """speed limit [m/s] or [rad/s]; infinite for no limit"""
    limits: tuple[float, float]
    """coordinates of the limit switches [m] or [rad]"""
    end_stops: tuple[float, float] | None
    """coordinates of the end stops [m] or [rad]; None for no stops"""
    full_scale_code: float
    """code of the full range of the analogue command, 2^(bits - 1); zero for exact commands"""
    resolution: float
    """one count of the encoder [m] or [rad]; zero for an exact encoder"""
    counts_per_turn: int
    """counts of the encoder over one turn"""

    def friction_at(self, speed: FloatArray) -> FloatArray:
        """Return the friction at speeds above zero: Coulomb, Stribeck and viscous friction."""
        stribeck = np.exp(-((speed / self.stribeck_speed) ** 2))
        level = self.friction + (self.breakaway - self.friction) * stribeck
        return np.asarray(level + self.viscous * speed)

    def nearest_code(self, command: FloatArray, full_range: float) -> FloatArray:
        """Return the converter's code nearest to a command, from minus full scale to one below."""
        code = np.rint(command * self.full_scale_code / full_range)
        return np.asarray(np.clip(code, -self.full_scale_code, self.full_scale_code - 1.0))


def drive_numbers(machine: Platform) -> DriveNumbers:
    """Return the parameters of a machine's first drive; all drives of a machine are alike.

    The motor's inertia, friction and brake come from the typed data sheet, where there is one.
    """
    leg = machine.parameters.legs[0]
    drive, actuator = leg.drive, leg.actuator
    if isinstance(drive, DirectDrive):
        motor = (drive.moving_mass, drive.friction, drive.viscous, drive.brake)
        travel = drive.scale_period or 0.0
    else:
        assert isinstance(drive, ScrewDrive | GearDrive)
        gear = drive.ratio if isinstance(drive, GearDrive) else 2.0 * pi / drive.lead
        motor = (
            drive.armature_inertia * gear**2,
            drive.friction_torque * gear,
            drive.viscous_torque * gear**2,
            drive.brake_torque * gear,
        )
        travel = 2.0 * pi / gear
    typed = typed_numbers(machine.name) if machine.name in MACHINE_NAMES else {}
    if sheet := typed.get("drive_at_leg"):
        motor = sheet["inertia"], sheet["friction"], sheet["viscous"], sheet["brake"]
    inertia, friction, viscous, brake = motor
    peak = drive.peak or actuator.effort or inf
    low, high = actuator.minimum, actuator.maximum
    overtravel = drive.overtravel
    counts = leg.encoder.counts if leg.encoder else 0
    return DriveNumbers(
        inertia=inertia,
        friction=friction,
        breakaway=friction * drive.breakaway,
        stribeck_speed=drive.stribeck_speed,
        viscous=viscous,
        backlash=drive.backlash,
        stiffness=drive.stiffness,
        damping=drive.damping,
        brake=brake,
        brake_times=(drive.brake_engage_time, drive.brake_release_time),
        peak=peak,
        continuous=actuator.continuous_effort or peak,
        thermal_time=drive.thermal_time,
        speed=actuator.speed or inf,
        limits=(low, high),
        end_stops=None if overtravel is None else (low - overtravel, high + overtravel),
        full_scale_code=2.0 ** (drive.analogue_bits - 1) if drive.analogue_bits else 0.0,
        resolution=travel / counts if counts else 0.0,
        counts_per_turn=counts,
    )


class BenchRecord(NamedTuple):
    """The record of a bench at the start of every step and at the end."""

    time: FloatArray
    """`(k + 1,)` [s]"""
    leg: FloatArray
    """`(k + 1,)` coordinate [m] or [rad]"""
    rate: FloatArray
    """`(k + 1,)` [m/s] or [rad/s]"""
    force: FloatArray
    """`(k,)` on the leg [N] or [N m]"""
    states: FloatArray
    """`(k + 1, STATES)` of the drive, columns as in `actuation`"""

    def state(self, place: int) -> FloatArray:
        """Return one column of the drive's states `(k + 1,)`."""
        return self.states[:, place]


class DriveBench:
    """One drive with `step` [s] of an engine and the gains of its velocity loop.

    The leg is a free mass, moved exactly under forces that are constant over a step, or is held
    still.

    Attributes:
        drive: constants `(1, CONSTANTS)`.
        states: `(1, STATES)`.
    """

    def __init__(
        self, drive: FloatArray, step: float, *, gain: float = 0.0, rate: float = 0.0
    ) -> None:
        self.drive, self.step, self._parts = drive, step, motor_parts(drive, step)
        self.states = np.zeros((1, column.STATE_COUNT))
        self._gains = np.array([[gain, rate]])
        self._out = np.zeros(1)

    def put(self, place: int, value: float) -> None:
        """Set one column of the state."""
        self.states[0, place] = value

    def force(
        self,
        command: float,
        leg: float,
        rate: float,
        *,
        mode: int = 0,
        feedforward: float = 0.0,
        brake: float = 0.0,
    ) -> float:
        """Return the force of one step on a leg at a coordinate and rate."""
        commands, feedforwards, brakes, legs, rates = (
            np.array([value]) for value in (command, feedforward, brake, leg, rate)
        )
        actuate(
            self.drive,
            self.states,
            self._gains,
            commands,
            feedforwards,
            brakes,
            legs,
            rates,
            mode,
            self.step,
            self._parts,
            self._out,
        )
        return float(self._out[0])

    def run(
        self,
        duration: float,
        command: float | Callable[[float], float] = 0.0,
        *,
        mass: float | None = None,
        load: float | Callable[[float], float] = 0.0,
        brake: float = 0.0,
        mode: int = 0,
        leg: float = 0.0,
        rate: float = 0.0,
    ) -> BenchRecord:
        """Return the record of a run.

        Args:
            duration: [s].
            command: force or speed, or one of the time.
            mass: of a free leg; default: the leg is held still.
            load: a further force on the free leg, or one of its rate.
            brake: 1 to hold.
            mode: of the command, `VELOCITY_MODE` or 0.
            leg: coordinate of the leg at the start.
            rate: of the leg at the start.
        """
        steps = round(duration / self.step)
        legs, forces = np.empty((steps + 1, 2)), np.empty(steps)
        states = np.empty((steps + 1, column.STATE_COUNT))
        legs[0], states[0] = (leg, rate), self.states[0]
        for k in range(steps):
            at, speed = legs[k]
            value = command(k * self.step) if callable(command) else command
            forces[k] = self.force(value, at, speed, mode=mode, brake=brake)
            pull = 0.0
            if mass is not None:
                pull = (forces[k] + (load(speed) if callable(load) else load)) / mass
            legs[k + 1, 0] = at + self.step * (speed + 0.5 * self.step * pull) * (mass is not None)
            legs[k + 1, 1] = speed + self.step * pull
            states[k + 1] = self.states[0]
        time = as_floats(np.arange(steps + 1) * self.step, "time")
        return BenchRecord(time, legs[:, 0], legs[:, 1], forces, states)


def isolated(
    drive: FloatArray, *columns: int, free: bool = False, kept: tuple[int, ...] = ()
) -> FloatArray:
    """Return the constants `(1, CONSTANTS)` of a drive without limits and electronics.

    Args:
        drive: `(CONSTANTS,)`.
        columns: further constants that are set to zero.
        free: whether its motor never reaches the leg.
        kept: limits and electronics that stay.
    """
    row = drive[None].copy()
    row[0, list(columns)] = 0.0
    row[0, [column.PEAK, column.CONTINUOUS, column.FASTEST]] = np.inf
    row[0, [column.LOWER, column.LOWER_STOP]] = -np.inf
    row[0, [column.UPPER, column.UPPER_STOP]] = np.inf
    row[0, [column.LAG, column.LAG_MEAN, column.SPEED_DIGIT, column.EFFORT_DIGIT]] = 0.0
    if free:
        row[0, column.HALF_BACKLASH] = UNLOADED_BACKLASH
    row[0, list(kept)] = drive[list(kept)]
    return row


def effort_of(
    row: FloatArray,
    command: float,
    at: float = 0.0,
    rate: float = 0.0,
    *,
    mode: int = FORCE_MODE,
    gain: float = 0.0,
    feedforward: float = 0.0,
) -> float:
    """Return the motor effort [N] or [N m] after one step of a drive `(1, CONSTANTS)`.

    Args:
        row: constants of the drive.
        command: force or speed.
        at: coordinate of the leg.
        rate: rate of the leg.
        mode: `FORCE_MODE` or `VELOCITY_MODE`.
        gain: gain of the velocity loop.
        feedforward: force added to the velocity loop's.
    """
    bench = DriveBench(row, ENGINE_STEP, gain=gain)
    bench.force(command, at, rate, mode=mode, feedforward=feedforward)
    return float(bench.states[0, column.EFFORT])


def motor_inertia(drive: FloatArray, numbers: DriveNumbers) -> float:
    """Return the inertia [kg] or [kg m2] of a moving motor, from its acceleration both ways."""
    row, speed = isolated(drive, free=True), 40.0 * numbers.stribeck_speed
    effort = 0.1 * speed * numbers.inertia / UNLOADED_STEP
    after = []
    for push in (effort, -effort):
        bench = DriveBench(row, UNLOADED_STEP)
        bench.put(column.SPEED, speed)
        bench.force(push, 0.0, 0.0)
        after.append(bench.states[0, column.SPEED])
    return float(2.0 * effort * UNLOADED_STEP / (after[0] - after[1]))


def transmission_error(drive: FloatArray, numbers: DriveNumbers) -> float:
    """Return the largest relative error of the transmission's force between motor and leg.

    The motor is at rest. A leg that compresses the transmission by x, and further at a rate v,
    feels the mean force k (x + v h / 2) + c v over a step h. Inside the backlash there is no force,
    nor where the leg leaves a flank so fast that damping would pull.
    """
    row = isolated(drive)
    row[0, column.INERTIA] = 1e9 * numbers.inertia
    rate = 0.5 * SPRING_COMPRESSION * numbers.stiffness / numbers.damping
    expected = (
        numbers.stiffness * (SPRING_COMPRESSION + 0.5 * ENGINE_STEP * rate) + numbers.damping * rate
    )
    errors = []
    for side in (-1.0, 1.0):
        leg = -side * (0.5 * numbers.backlash + SPRING_COMPRESSION)
        found = DriveBench(row, ENGINE_STEP).force(0.0, leg, -side * rate)
        errors.append(side * found / expected - 1.0)
        if numbers.backlash:
            inside = 0.49 * side * numbers.backlash
            for at, speed in ((inside, 0.0), (leg, 4.0 * side * rate)):
                errors.append(DriveBench(row, ENGINE_STEP).force(0.0, at, speed) / expected)
    return largest(errors)


class Coupling(NamedTuple):
    """A free leg excited by its motor, compared with two masses on a spring and a damper."""

    momentum_error: float
    """change of momentum less the motor's impulse, per sum of all impulses"""
    rate_error: float
    """error of the leg's final rate with the finest step, per largest rate"""
    orders: FloatArray
    """orders of convergence from one step to the next"""


def coupling(drive: FloatArray, numbers: DriveNumbers, mass: float) -> Coupling:
    """Return the errors of motor and leg after one and a half periods of the excitation."""
    row = isolated(drive, column.FRICTION, column.BREAKAWAY, column.VISCOUS, column.HALF_BACKLASH)
    duration = round(1.5 / EXCITATION_FREQUENCY / CONVERGENCE_STEPS[0]) * CONVERGENCE_STEPS[0]
    inertia, stiffness, damping = numbers.inertia, numbers.stiffness, numbers.damping
    effort = (inertia + mass) * 2.0 * pi * EXCITATION_FREQUENCY * 0.01
    exact_rate, largest_rate = _two_masses(inertia, mass, stiffness, damping, effort, duration)
    errors, momentum_error = [], 0.0
    for step in CONVERGENCE_STEPS:
        efforts, record = _excited(row, effort, mass, step, duration)
        momentum = inertia * record.state(column.SPEED)[-1] + mass * record.rate[-1]
        impulses = step * float(np.abs(record.force).sum() + np.abs(efforts).sum())
        error = abs(momentum - step * float(efforts.sum())) / impulses
        momentum_error = max(momentum_error, error)
        errors.append(abs(record.rate[-1] - exact_rate) / largest_rate)
    return Coupling(momentum_error, errors[-1], np.log2(np.divide(errors[:-1], errors[1:])))


def _excited(
    row: FloatArray, effort: float, mass: float, step: float, duration: float
) -> tuple[FloatArray, BenchRecord]:
    """Return the motor's efforts `(k,)`, each of the middle of its step, and the record."""
    middles = (np.arange(round(duration / step)) + 0.5) * step
    efforts = np.asarray(effort * np.sin(2.0 * pi * EXCITATION_FREQUENCY * middles))
    record = DriveBench(row, step).run(
        duration, lambda time: float(efforts[round(time / step)]), mass=mass
    )
    return efforts, record


def _two_masses(
    inertia: float, mass: float, stiffness: float, damping: float, effort: float, duration: float
) -> tuple[float, float]:
    """Return the leg's final and largest rate from the matrix exponential."""
    from scipy.linalg import expm

    omega = 2.0 * pi * EXCITATION_FREQUENCY
    # The states are motor, speed, leg, rate, and sine and cosine of the effort.
    system = np.zeros((6, 6))
    system[0, 1] = system[2, 3] = 1.0
    force = np.array([stiffness, damping, -stiffness, -damping])
    system[1, :4], system[3, :4] = -force / inertia, force / mass
    system[1, 4] = effort / inertia
    system[4, 5], system[5, 4] = omega, -omega
    states = [np.array([0.0, 0.0, 0.0, 0.0, 0.0, 1.0])]
    transition = expm(system * (duration / 200))
    for _ in range(200):
        states.append(transition @ states[-1])
    rates = np.array(states)[:, 3]
    return float(rates[-1]), largest(rates)


class FrictionCurve(NamedTuple):
    """The efforts of a motor at constant speeds, which alternate in direction."""

    speeds: FloatArray
    """magnitudes [m/s] or [rad/s]"""
    efforts: FloatArray
    """settled efforts along the motion [N] or [N m]"""
    law: FloatArray
    """efforts by the friction law"""


def friction_curve(drive: FloatArray, numbers: DriveNumbers) -> FrictionCurve:
    """Return the friction that a velocity loop overcomes, at 0.2 to 40 Stribeck speeds."""
    row = isolated(drive, free=True)
    speeds = numbers.stribeck_speed * np.array([0.2, 0.5, 1.0, 1.5, 2.0, 3.0, 10.0, 40.0])
    # A gain below the slope of falling friction would leave no steady speed there.
    slope = (numbers.breakaway - numbers.friction) / numbers.stribeck_speed
    gain = numbers.inertia / VELOCITY_LOOP_TIME + 2.0 * slope
    efforts = []
    for index, speed in enumerate(speeds):
        velocity = float(-speed if index % 2 else speed)
        bench = DriveBench(row, ENGINE_STEP, gain=gain, rate=gain / (4.0 * VELOCITY_LOOP_TIME))
        bench.put(column.SPEED, velocity)
        record = bench.run(0.15, velocity, mode=VELOCITY_MODE)
        efforts.append(record.state(column.EFFORT)[-1] * np.sign(velocity))
    return FrictionCurve(speeds, np.array(efforts), numbers.friction_at(speeds))


def stopping(drive: FloatArray, numbers: DriveNumbers) -> tuple[float, float]:
    """Return the stopping distance from 100 Stribeck speeds, on the bench and by quadrature."""
    from scipy.integrate import quad

    row, speed = isolated(drive, free=True), 100.0 * numbers.stribeck_speed
    bench = DriveBench(row, ENGINE_STEP)
    bench.put(column.SPEED, speed)
    longest = numbers.inertia * speed / numbers.friction
    record = bench.run(np.ceil(longest / ENGINE_STEP + 2.0) * ENGINE_STEP)
    expected = quad(
        lambda at: numbers.inertia * at / float(numbers.friction_at(np.array(at))),
        0.0,
        speed,
        points=[numbers.stribeck_speed, 3.0 * numbers.stribeck_speed],
    )[0]
    return float(record.state(column.POSITION)[-1]), float(expected)


class Hysteresis(NamedTuple):
    """The hysteresis loop of a leg with viscous drag behind a motor that swings slowly."""

    motor: FloatArray
    """coordinates of the motor [m] or [rad]"""
    leg: FloatArray
    """coordinates of the leg [m] or [rad]"""
    width: float
    """width of the loop in the middle of the swing"""
    expected: float
    """backlash, and twice the compression of the transmission by the drag"""
    inside: float
    """largest force inside the backlash, per drag"""


def hysteresis(drive: FloatArray, numbers: DriveNumbers, mass: float) -> Hysteresis:
    """Return the loop of motor and leg for an amplitude of ten times the backlash at 0.5 Hz."""
    row = isolated(drive, column.FRICTION, column.BREAKAWAY, column.VISCOUS)
    backlash, stiffness = numbers.backlash, numbers.stiffness
    amplitude, omega, heavy, step = 10.0 * backlash, pi, 1e6 * mass, 2.5e-4
    row[0, column.INERTIA] = heavy
    damping, speed = 100.0 * mass, amplitude * omega
    bench = DriveBench(row, step)
    bench.put(column.SPEED, speed)
    record = bench.run(
        4.0,
        lambda time: -heavy * speed * omega * sin(omega * time),
        mass=mass,
        load=lambda rate: -damping * rate,
        leg=-0.5 * backlash,
        rate=speed,
    )
    motor = record.state(column.POSITION)
    lag, crossing = record.leg - motor, np.diff(np.sign(motor))
    down, up = (np.flatnonzero(crossing == sign)[-1] for sign in (-2.0, 2.0))
    middle = 0.5 * (lag[1:] + lag[:-1])
    inside = np.abs(middle) < 0.49 * backlash
    drag = damping * speed
    largest_force = float(np.abs(record.force[inside]).max(initial=0.0))
    expected = backlash + 2.0 * drag / stiffness
    width = float(lag[down] - lag[up])
    return Hysteresis(motor, record.leg, width, expected, largest_force / drag)


def transmission_measures(drive: FloatArray, numbers: DriveNumbers, mass: float) -> Iterator[Entry]:
    """Yield errors of the motor's inertia, the transmission, and their motion with a leg.

    Args:
        drive: `(CONSTANTS,)` of a motor with inertia.
        numbers: expected parameters.
        mass: [kg] or [kg m2] that the leg moves.
    """
    found = coupling(drive, numbers, mass)
    yield Measure(
        "motor inertia at the leg, from its acceleration: relative error",
        abs(motor_inertia(drive, numbers) / numbers.inertia - 1.0),
        1e-5,
        "viscous friction acts for 0.63 us on average, the mean over four motor steps within 1 us; "
        "damping / inertia is below 13 1/s, which leaves 8e-6",
    )
    yield Measure(
        "force of the transmission, compressed from both sides, released and inside the backlash: "
        "relative error",
        transmission_error(drive, numbers),
        1e-9,
        "rounding of coordinates leaves 1e-11 of a compression of 1e-5 m or rad",
    )
    yield Measure(
        "change of momentum of motor and leg less the motor's impulse, per sum of impulses",
        found.momentum_error,
        1e-13,
        "the leg receives the mean of the force on the motor; rounding of a thousand sums",
    )
    yield Measure(
        "order of convergence to the exact motion of two masses on a spring",
        found.orders[-1],
        0.9,
        "first order: the damping force uses the leg's rate at the start of a step",
        at_least=True,
        at_bound=True,
    )
    yield Measure(
        f"rate of a leg excited at {EXCITATION_FREQUENCY:g} Hz, steps of {1e3 * ENGINE_STEP:g} ms: "
        "error per largest rate",
        found.rate_error,
        1e-3,
        "first order: a step of 0.1 ms is 2e-3 of a period of 50 ms, half of it on average",
    )


def friction_measures(
    drive: FloatArray, numbers: DriveNumbers, curve: FrictionCurve
) -> Iterator[Entry]:
    """Yield errors of friction at constant speeds and of the stopping distance."""
    found, expected = stopping(drive, numbers)
    yield Measure(
        "motor effort at constant speeds against the friction law: relative error",
        largest(curve.efforts / curve.law - 1.0),
        1e-6,
        "what is left of the start-up transient after 0.15 s",
    )
    yield Measure(
        "stopping distance of a motor against quadrature: relative error",
        abs(found / expected - 1.0),
        1e-3,
        "the motor is at rest for the whole of the step in which it stops",
    )


def backlash_measures(loop: Hysteresis, unit: str) -> Iterator[Entry]:
    """Yield errors of a hysteresis loop; `unit` of its coordinates."""
    yield Measure(
        "width of the hysteresis loop against backlash and compression: relative error",
        abs(loop.width / loop.expected - 1.0),
        5e-3,
        f"expected {1e3 * loop.expected:.4g} m{unit}; samples are one step apart, and the leg's "
        "inertia adds to the drag",
    )
    yield Measure("force inside the backlash, per drag", loop.inside, 0.0, "no flank is in contact")
