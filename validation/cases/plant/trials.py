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
from typing import NamedTuple, Self

import numpy as np

from twin.analysis.platform import Platform
from twin.basics.arrays import FloatArray
from twin.kernels.plant import columns as column
from twin.kernels.plant.actuation import actuate
from twin.kernels.plant.columns import FORCE_MODE, VELOCITY_MODE
from twin.machine.hardware.drive import DirectDrive, GearDrive, ScrewDrive
from twin.plant.drives import motor_substeps
from twin.validation.case import Entry, Measure
from twin.validation.measures.sampling import largest, rms
from twin.validation.published import MACHINE_NAMES, typed_numbers

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
    """The parameters of one drive, referred to its leg: m and N (length), rad and N m (crank)."""

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
    delay: float
    """[s] from command to effort"""
    current_lag: float
    """[s] time constant of the current loop"""
    speed: float
    """speed limit [m/s] or [rad/s]; infinite for no limit"""
    limits: tuple[float, float]
    """coordinates of the limit switches [m] or [rad]"""
    end_stops: tuple[float, float] | None
    """coordinates of the end stops [m] or [rad]; None for no stops"""
    full_scale_code: float
    """largest code of the analogue command, 2^(bits - 1), at full scale; zero for exact commands"""
    resolution: float
    """one count of the encoder [m] or [rad]; zero for an exact encoder"""
    counts_per_turn: int
    """counts of the encoder over one turn"""

    def friction_at(self, speed: FloatArray) -> FloatArray:
        """Return the friction at speeds above zero [m/s] or [rad/s]: Coulomb, Stribeck, viscous."""
        stribeck = np.exp(-((speed / self.stribeck_speed) ** 2))
        dry_friction = self.friction + (self.breakaway - self.friction) * stribeck
        return np.asarray(dry_friction + self.viscous * speed)

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
        travel_per_turn = drive.scale_period or 0.0
    else:
        assert isinstance(drive, ScrewDrive | GearDrive)
        gear = drive.ratio if isinstance(drive, GearDrive) else 2.0 * pi / drive.lead
        motor = (
            drive.armature_inertia * gear**2,
            drive.friction_torque * gear,
            drive.viscous_torque * gear**2,
            drive.brake_torque * gear,
        )
        travel_per_turn = 2.0 * pi / gear
    typed = typed_numbers(machine.name) if machine.name in MACHINE_NAMES else {}
    if sheet := typed.get("drive_at_leg"):
        motor = sheet["inertia"], sheet["friction"], sheet["viscous"], sheet["brake"]
    inertia, friction, viscous, brake = motor
    peak = drive.peak or actuator.effort or inf
    low, high, margin = actuator.minimum, actuator.maximum, drive.overtravel
    encoder_counts = leg.encoder.counts if leg.encoder else 0
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
        delay=drive.delay,
        current_lag=drive.current_lag,
        speed=actuator.speed or inf,
        limits=(low, high),
        end_stops=None if margin is None else (low - margin, high + margin),
        full_scale_code=2.0 ** (drive.analogue_bits - 1) if drive.analogue_bits else 0.0,
        resolution=travel_per_turn / encoder_counts if encoder_counts else 0.0,
        counts_per_turn=encoder_counts,
    )


class BenchRecord(NamedTuple):
    """The record of a drive bench: signals at the start of each step and at the end."""

    time: FloatArray
    """`(k + 1,)` [s]"""
    leg: FloatArray
    """`(k + 1,)` coordinate [m] or [rad]"""
    rate: FloatArray
    """`(k + 1,)` [m/s] or [rad/s]"""
    force: FloatArray
    """`(k,)` mean force of the drive on the leg over each step [N] or [N m]"""
    states: FloatArray
    """`(k + 1, STATES)` state of the drive, columns as in `twin.kernels.plant.columns`"""

    def state(self, column: int) -> FloatArray:
        """Return one column of the drive's states `(k + 1,)`."""
        return self.states[:, column]


class DriveBench:
    """One drive on a leg, run with the time step [s] of an engine and gains of a velocity loop.

    At the start the motor turns with a `speed`. The leg is a free mass, moved exactly under forces
    that are constant over a step, or is held still.

    Attributes:
        drive: constants `(1, CONSTANTS)`, columns as in `twin.kernels.plant.columns`.
        states: state of the drive `(1, STATES)` at present, columns likewise.
    """

    def __init__(
        self,
        drive: FloatArray,
        step: float,
        *,
        gain: float = 0.0,
        integral_gain: float = 0.0,
        speed: float = 0.0,
    ) -> None:
        self.drive, self.step, self._substeps = drive, step, motor_substeps(drive, step)
        self.states = np.zeros((1, column.STATE_COUNT))
        self.states[0, column.SPEED] = speed
        self._gains = np.array([[gain, integral_gain]])
        self._out = np.zeros(1)

    def set_column(self, column: int, value: float) -> None:
        """Set one column of the state."""
        self.states[0, column] = value

    def moving(self, rate: float) -> Self:
        """Return the bench with a leg that has moved at a constant rate until now."""
        self.states[0, [column.LEG_RATE, column.EARLIER_LEG_RATE]] = rate
        return self

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
            self._substeps,
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
            mass: mass of a free leg; default: the leg is held still.
            load: a further force on the free leg, or one of its rate.
            brake: 1 to hold.
            mode: mode of the command, `VELOCITY_MODE` or 0.
            leg: coordinate of the leg at the start.
            rate: rate of the leg at the start.
        """
        steps = round(duration / self.step)
        legs, forces = np.empty((steps + 1, 2)), np.empty(steps)
        states = np.empty((steps + 1, column.STATE_COUNT))
        self.moving(rate)
        legs[0], states[0] = (leg, rate), self.states[0]
        for k in range(steps):
            position, leg_rate = legs[k]
            effort_command = command(k * self.step) if callable(command) else command
            forces[k] = self.force(effort_command, position, leg_rate, mode=mode, brake=brake)
            # A free leg moves with constant acceleration over the step; a held leg stays.
            acceleration = 0.0
            if mass is not None:
                acceleration = (forces[k] + (load(leg_rate) if callable(load) else load)) / mass
            legs[k + 1, 0] = position + self.step * (leg_rate + 0.5 * self.step * acceleration) * (
                mass is not None
            )
            legs[k + 1, 1] = leg_rate + self.step * acceleration
            states[k + 1] = self.states[0]
        # Columns of `legs` are position and rate.
        return BenchRecord(
            np.arange(steps + 1.0) * self.step, legs[:, 0], legs[:, 1], forces, states
        )


def isolated_drive(
    drive: FloatArray, *columns: int, without_leg: bool = False, kept_columns: tuple[int, ...] = ()
) -> FloatArray:
    """Return the constants `(1, CONSTANTS)` of a drive without limits and electronics.

    Args:
        drive: `(CONSTANTS,)`.
        columns: further constants that are set to zero.
        without_leg: whether its motor never reaches the leg.
        kept_columns: limits and electronics that stay.
    """
    constants = drive[None].copy()
    constants[0, [*columns, column.LAG_FACTOR, column.MEAN_LAG_FACTOR]] = 0.0
    constants[0, [column.SPEED_RESOLUTION, column.EFFORT_RESOLUTION]] = 0.0
    constants[0, [column.PEAK_EFFORT, column.CONTINUOUS_EFFORT, column.MAX_SPEED]] = np.inf
    constants[0, [column.LOWER_SWITCH, column.LOWER_STOP]] = -np.inf
    constants[0, [column.UPPER_SWITCH, column.UPPER_STOP]] = np.inf
    if without_leg:
        constants[0, column.HALF_BACKLASH] = UNLOADED_BACKLASH
    constants[0, list(kept_columns)] = drive[list(kept_columns)]
    return constants


def effort_of(
    row: FloatArray,
    command: float,
    coordinate: float = 0.0,
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
        coordinate: coordinate of the leg.
        rate: rate of the leg.
        mode: `FORCE_MODE` or `VELOCITY_MODE`.
        gain: gain of the velocity loop.
        feedforward: force added to the velocity loop's.
    """
    bench = DriveBench(row, ENGINE_STEP, gain=gain)
    bench.force(command, coordinate, rate, mode=mode, feedforward=feedforward)
    return float(bench.states[0, column.EFFORT])


def motor_inertia(drive: FloatArray, numbers: DriveNumbers) -> float:
    """Return the inertia [kg] or [kg m2] of a moving motor, from its acceleration both ways."""
    constants, speed = isolated_drive(drive, without_leg=True), 40.0 * numbers.stribeck_speed
    effort = 0.1 * speed * numbers.inertia / UNLOADED_STEP
    speeds = []
    for motor_effort in (effort, -effort):
        bench = DriveBench(constants, UNLOADED_STEP, speed=speed)
        bench.force(motor_effort, 0.0, 0.0)
        speeds.append(bench.states[0, column.SPEED])
    return float(2.0 * effort * UNLOADED_STEP / (speeds[0] - speeds[1]))


def transmission_error(drive: FloatArray, numbers: DriveNumbers) -> float:
    """Return the largest relative error of the transmission's force between motor and leg.

    The motor is at rest. A leg that compresses the transmission by x, and further at a rate v,
    feels the mean force k (x + v h / 2) + c v over a step h. Inside the backlash there is no force,
    nor where the leg leaves a flank so fast that damping would pull.
    """
    constants = isolated_drive(drive)
    constants[0, column.INERTIA] = 1e9 * numbers.inertia
    rate = 0.5 * SPRING_COMPRESSION * numbers.stiffness / numbers.damping
    expected = (
        numbers.stiffness * (SPRING_COMPRESSION + 0.5 * ENGINE_STEP * rate) + numbers.damping * rate
    )
    errors = []
    for side in (-1.0, 1.0):
        leg_coordinate = -side * (0.5 * numbers.backlash + SPRING_COMPRESSION)
        bench = DriveBench(constants, ENGINE_STEP).moving(-side * rate)
        force = bench.force(0.0, leg_coordinate, -side * rate)
        errors.append(side * force / expected - 1.0)
        if numbers.backlash:
            gap_position = 0.49 * side * numbers.backlash
            for position, leg_rate in ((gap_position, 0.0), (leg_coordinate, 4.0 * side * rate)):
                bench = DriveBench(constants, ENGINE_STEP).moving(leg_rate)
                errors.append(bench.force(0.0, position, leg_rate) / expected)
    return largest(errors)


def coupling_measures(drive: FloatArray, numbers: DriveNumbers, mass: float) -> Iterator[Entry]:
    """Yield errors of a free leg that its motor excites, against two masses on a spring.

    They are those after one and a half periods of the excitation.
    """
    constants = isolated_drive(
        drive, column.FRICTION, column.BREAKAWAY, column.VISCOUS, column.HALF_BACKLASH
    )
    duration = round(1.5 / EXCITATION_FREQUENCY / CONVERGENCE_STEPS[0]) * CONVERGENCE_STEPS[0]
    inertia, stiffness, damping = numbers.inertia, numbers.stiffness, numbers.damping
    effort = (inertia + mass) * 2.0 * pi * EXCITATION_FREQUENCY * 0.01
    exact_rates = _two_masses(inertia, mass, stiffness, damping, effort, duration)
    errors, momentum_error = [], 0.0
    for step in CONVERGENCE_STEPS:
        efforts, record = _excited_motor(constants, effort, mass, step, duration)
        momentum = inertia * record.state(column.SPEED)[-1] + mass * record.rate[-1]
        impulses = step * float(np.abs(record.force).sum() + np.abs(efforts).sum())
        momentum_error = max(momentum_error, abs(momentum - step * float(efforts.sum())) / impulses)
        rates = record.rate[:: round(CONVERGENCE_STEPS[0] / step)]
        errors.append(rms(rates - exact_rates) / largest(exact_rates))
    yield Measure(
        "change of momentum of motor and leg less the motor's impulse, per sum of impulses",
        momentum_error,
        1e-13,
        "the leg receives the mean of the force on the motor; rounding of a thousand sums",
    )
    yield Measure(
        "order of convergence to the exact motion of two masses on a spring",
        np.log2(errors[-2] / errors[-1]),
        1.9,
        "second order: spring and damper see motor and leg in the middle of a step",
        at_least=True,
        at_bound=True,
    )
    yield Measure(
        f"rate of a leg excited at {EXCITATION_FREQUENCY:g} Hz, steps of {1e3 * ENGINE_STEP:g} ms: "
        "error per largest rate",
        errors[-1],
        1e-4,
        "second order: a step of 0.1 ms is 1.3e-2 of a radian at 20 Hz, and the square of it 2e-4",
    )


def _excited_motor(
    row: FloatArray, effort: float, mass: float, step: float, duration: float
) -> tuple[FloatArray, BenchRecord]:
    """Return the motor's efforts `(k,)`, each of the middle of its step, and the record."""
    midpoints = (np.arange(round(duration / step)) + 0.5) * step
    efforts = np.asarray(effort * np.sin(2.0 * pi * EXCITATION_FREQUENCY * midpoints))
    record = DriveBench(row, step).run(
        duration, lambda time: float(efforts[round(time / step)]), mass=mass
    )
    return efforts, record


def _two_masses(
    inertia: float, mass: float, stiffness: float, damping: float, effort: float, duration: float
) -> FloatArray:
    """Return the leg's rate after each of the coarsest steps, from the matrix exponential."""
    from scipy.linalg import expm

    omega = 2.0 * pi * EXCITATION_FREQUENCY
    # The states are motor, speed, leg, rate, and sine and cosine of the effort.
    system = np.zeros((6, 6))
    system[0, 1] = system[2, 3] = 1.0
    coupling_row = np.array([stiffness, damping, -stiffness, -damping])
    system[1, :4], system[3, :4] = -coupling_row / inertia, coupling_row / mass
    system[1, 4] = effort / inertia
    system[4, 5], system[5, 4] = omega, -omega
    states = [np.array([0.0, 0.0, 0.0, 0.0, 0.0, 1.0])]
    transition = expm(system * CONVERGENCE_STEPS[0])
    for _ in range(round(duration / CONVERGENCE_STEPS[0])):
        states.append(transition @ states[-1])
    # Entry 3 of the state is the leg's rate.
    return np.array(states)[:, 3]


def friction_error(drive: FloatArray, numbers: DriveNumbers) -> float:
    """Return the largest relative error of the friction that a velocity loop overcomes.

    The motor turns at 0.2 to 40 Stribeck speeds, in alternating directions.
    """
    constants = isolated_drive(drive, without_leg=True)
    speeds = numbers.stribeck_speed * np.array([0.2, 0.5, 1.0, 1.5, 2.0, 3.0, 10.0, 40.0])
    # A gain below the slope of falling friction would leave no steady speed there.
    slope = (numbers.breakaway - numbers.friction) / numbers.stribeck_speed
    gain = numbers.inertia / VELOCITY_LOOP_TIME + 2.0 * slope
    efforts = []
    integral_gain = gain / (4.0 * VELOCITY_LOOP_TIME)
    for speed in (speeds * np.tile([1.0, -1.0], 4)).tolist():
        bench = DriveBench(
            constants, ENGINE_STEP, gain=gain, integral_gain=integral_gain, speed=speed
        )
        record = bench.run(0.15, speed, mode=VELOCITY_MODE)
        efforts.append(record.state(column.EFFORT)[-1] * np.sign(speed))
    return largest(np.array(efforts) / numbers.friction_at(speeds) - 1.0)


def stopping_distances(drive: FloatArray, numbers: DriveNumbers) -> tuple[float, float]:
    """Return the stopping distance from 100 Stribeck speeds, on the bench and by quadrature."""
    from scipy.integrate import quad

    constants, speed = isolated_drive(drive, without_leg=True), 100.0 * numbers.stribeck_speed
    bench = DriveBench(constants, ENGINE_STEP, speed=speed)
    # Coulomb friction alone stops the motor in this time; all other friction shortens it.
    coulomb_time = numbers.inertia * speed / numbers.friction
    record = bench.run(np.ceil(coulomb_time / ENGINE_STEP + 2.0) * ENGINE_STEP)
    expected = quad(
        lambda v: numbers.inertia * v / float(numbers.friction_at(np.array(v))),
        0.0,
        speed,
        points=[numbers.stribeck_speed, 3.0 * numbers.stribeck_speed],
    )[0]
    return float(record.state(column.POSITION)[-1]), float(expected)


def backlash_measures(
    drive: FloatArray, numbers: DriveNumbers, mass: float, unit: str
) -> Iterator[Entry]:
    """Yield errors of the hysteresis loop of a leg with viscous drag behind a slow motor.

    The motor swings at 0.5 Hz with an amplitude of ten times the backlash. `unit` is that of the
    leg's coordinate.
    """
    if not numbers.backlash:
        return
    constants = isolated_drive(drive, column.FRICTION, column.BREAKAWAY, column.VISCOUS)
    backlash = numbers.backlash
    # So heavy a motor swings harmonically, whatever the leg does to it.
    amplitude, omega, heavy_inertia, step = 10.0 * backlash, pi, 1e6 * mass, 2.5e-4
    constants[0, column.INERTIA] = heavy_inertia
    damping, speed = 100.0 * mass, amplitude * omega
    bench = DriveBench(constants, step, speed=speed)
    record = bench.run(
        4.0,
        lambda time: -heavy_inertia * speed * omega * sin(omega * time),
        mass=mass,
        load=lambda rate: -damping * rate,
        leg=-0.5 * backlash,
        rate=speed,
    )
    motor = record.state(column.POSITION)
    leg_lag, crossing = record.leg - motor, np.diff(np.sign(motor))
    downward, upward = (np.flatnonzero(crossing == sign)[-1] for sign in (-2.0, 2.0))
    in_gap = np.abs(0.5 * (leg_lag[1:] + leg_lag[:-1])) < 0.49 * backlash
    drag = damping * speed
    largest_force = np.abs(record.force[in_gap]).max(initial=0.0)
    expected = backlash + 2.0 * drag / numbers.stiffness
    yield Measure(
        "width of the hysteresis loop against backlash and compression: relative error",
        abs((leg_lag[downward] - leg_lag[upward]) / expected - 1.0),
        5e-3,
        f"expected {1e3 * expected:.4g} m{unit}; samples are one step apart, and the leg's "
        "inertia adds to the drag",
    )
    yield Measure(
        "force inside the backlash, per drag", largest_force / drag, 0.0, "no flank is in contact"
    )


def transmission_measures(drive: FloatArray, numbers: DriveNumbers, mass: float) -> Iterator[Entry]:
    """Yield errors of the motor's inertia, the transmission, and their motion with a leg.

    Args:
        drive: `(CONSTANTS,)`.
        numbers: expected parameters.
        mass: [kg] or [kg m2] that the leg moves.
    """
    if not numbers.inertia:
        return
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
    yield from coupling_measures(drive, numbers, mass)


def friction_measures(drive: FloatArray, numbers: DriveNumbers) -> Iterator[Entry]:
    """Yield errors of friction at constant speeds and of the stopping distance."""
    if not numbers.friction:
        return
    distance, expected_distance = stopping_distances(drive, numbers)
    yield Measure(
        "motor effort at constant speeds against the friction law: relative error",
        friction_error(drive, numbers),
        1e-6,
        "what is left of the start-up transient after 0.15 s",
    )
    yield Measure(
        "stopping distance of a motor against quadrature: relative error",
        abs(distance / expected_distance - 1.0),
        1e-3,
        "the motor is at rest for the whole of the step in which it stops",
    )
