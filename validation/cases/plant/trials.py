"""Mechanics of a drive on a test bench: inertia, transmission, friction and backlash.

Every expected value follows from `DriveNumbers`, never from the constants that the bench runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import pi, sin
from typing import NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray
from twin.kernels.plant import columns as column
from twin.kernels.plant.columns import FORCE, VELOCITY
from twin.validation.cases.plant.bench import BenchRecord, DriveBench
from twin.validation.cases.plant.data_sheet import DriveNumbers
from twin.validation.measures.metrics import largest
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

COMPRESSION = 1e-5
"""[m, rad] Compression of the transmission by a leg, behind a motor at rest."""


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
        row[0, column.HALF_PLAY] = UNLOADED_BACKLASH
    row[0, list(kept)] = drive[list(kept)]
    return row


def effort_of(
    row: FloatArray,
    command: float,
    at: float = 0.0,
    rate: float = 0.0,
    *,
    mode: int = FORCE,
    gain: float = 0.0,
    feedforward: float = 0.0,
) -> float:
    """Return the motor effort [N] or [N m] after one step of a drive `(1, CONSTANTS)`.

    Args:
        row: constants of the drive.
        command: force or speed.
        at: coordinate of the leg.
        rate: rate of the leg.
        mode: `FORCE` or `VELOCITY`.
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
    rate = 0.5 * COMPRESSION * numbers.stiffness / numbers.damping
    expected = numbers.stiffness * (COMPRESSION + 0.5 * ENGINE_STEP * rate) + numbers.damping * rate
    errors = []
    for side in (-1.0, 1.0):
        leg = -side * (0.5 * numbers.backlash + COMPRESSION)
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
    row = isolated(drive, column.FRICTION, column.BREAKAWAY, column.VISCOUS, column.HALF_PLAY)
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
        record = bench.run(0.15, velocity, mode=VELOCITY)
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
    """[m] or [rad]"""
    leg: FloatArray
    """[m] or [rad]"""
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
