"""Trials of a drive's mechanics on a test bench, each beside a closed form or an exact solution.

What is expected follows from `DriveNumbers` alone, never from the constants that the bench runs.
"""

from __future__ import annotations

from math import pi, sin
from typing import NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray
from twin.kernels.plant import columns as column
from twin.kernels.plant.columns import VELOCITY
from twin.validation.cases.plant.bench import BenchRecord, DriveBench
from twin.validation.cases.plant.data_sheet import DriveNumbers
from twin.validation.measures.metrics import largest

STEPS = (4e-4, 2e-4, 1e-4)
"""[s] of the engine, for the order of convergence."""

STEP = 1e-4
"""[s] of the engine elsewhere."""

FREQUENCY = 20.0
"""[Hz] at which a free leg is shaken."""

LOOP = 2e-3
"""[s] Lag of the velocity loop that measures friction."""

OPEN = 1e3
"""[m, rad] Play in which a motor never meets its leg."""


PRESSED = 1e-5
"""[m, rad] by which a leg presses its transmission against a still motor."""

UNLOADED_STEP = 1e-6
"""[s] of the engine for a motor that is accelerated alone."""


def isolated(
    drive: FloatArray, *columns: int, free: bool = False, kept: tuple[int, ...] = ()
) -> FloatArray:
    """Return a drive `(1, CONSTANTS)` without limits, electronics and what the columns say.

    Args:
        drive: `(CONSTANTS,)`.
        columns: constants to set to zero.
        free: whether its motor never meets the leg.
        kept: constants to keep in spite of all.
    """
    row = drive[None].copy()
    row[0, list(columns)] = 0.0
    row[0, [column.PEAK, column.CONTINUOUS, column.FASTEST]] = np.inf
    row[0, [column.LOWER, column.LOWER_STOP]] = -np.inf
    row[0, [column.UPPER, column.UPPER_STOP]] = np.inf
    row[0, [column.LAG, column.LAG_MEAN, column.SPEED_DIGIT, column.EFFORT_DIGIT]] = 0.0
    if free:
        row[0, column.HALF_PLAY] = OPEN
    row[0, list(kept)] = drive[list(kept)]
    return row


def motor_inertia(drive: FloatArray, numbers: DriveNumbers) -> float:
    """Return the inertia [kg] or [kg m2] of a sliding motor, from its change of speed by effort."""
    row, speed = isolated(drive, free=True), 40.0 * numbers.stribeck
    effort = 0.1 * speed * numbers.inertia / UNLOADED_STEP
    after = []
    for push in (effort, -effort):
        bench = DriveBench(row, UNLOADED_STEP)
        bench.put(column.SPEED, speed)
        bench.force(push, 0.0, 0.0)
        after.append(bench.states[0, column.SPEED])
    return float(2.0 * effort * UNLOADED_STEP / (after[0] - after[1]))


def transmission_error(drive: FloatArray, numbers: DriveNumbers) -> float:
    """Return the largest relative error of forces between a still motor and a moving leg.

    A leg that presses a transmission by x, and more at a rate v, feels k (x + v h / 2) + c v on the
    mean over a step h; inside the play it feels nothing.
    """
    row = isolated(drive)
    row[0, column.INERTIA] = 1e9 * numbers.inertia
    rate = 0.5 * PRESSED * numbers.stiffness / numbers.damping
    expected = numbers.stiffness * (PRESSED + 0.5 * STEP * rate) + numbers.damping * rate
    errors = []
    for side in (-1.0, 1.0):
        leg = -side * (0.5 * numbers.play + PRESSED)
        found = DriveBench(row, STEP).force(0.0, leg, -side * rate)
        errors.append(side * found / expected - 1.0)
        if numbers.play:
            inside = DriveBench(row, STEP).force(0.0, side * 0.49 * numbers.play, 0.0)
            errors.append(inside / expected)
    return largest(errors)


class Coupling(NamedTuple):
    """A free leg shaken by its motor, against the exact motion of two masses on a spring."""

    imbalance: float
    """change of momentum against impulse, per impulse that was exchanged"""
    error: float
    """largest of the leg's rate at the end, per largest rate, with the finest step"""
    orders: FloatArray
    """of convergence from step to step"""


def coupling(drive: FloatArray, numbers: DriveNumbers, mass: float) -> Coupling:
    """Return the exchange of momentum between motor and leg over a period and a half."""
    row = isolated(drive, column.FRICTION, column.BREAKAWAY, column.VISCOUS, column.HALF_PLAY)
    duration = round(1.5 / FREQUENCY / STEPS[0]) * STEPS[0]
    inertia, stiffness, damping = numbers.inertia, numbers.stiffness, numbers.damping
    effort = (inertia + mass) * 2.0 * pi * FREQUENCY * 0.01
    exact, largest = _two_masses(inertia, mass, stiffness, damping, effort, duration)
    errors, imbalance = [], 0.0
    for step in STEPS:
        push, record = _shaken(row, effort, mass, step, duration)
        momentum = inertia * record.state(column.SPEED)[-1] + mass * record.rate[-1]
        exchanged = step * float(np.abs(record.force).sum() + np.abs(push).sum())
        imbalance = max(imbalance, abs(momentum - step * float(push.sum())) / exchanged)
        errors.append(abs(record.rate[-1] - exact) / largest)
    return Coupling(imbalance, errors[-1], np.log2(np.divide(errors[:-1], errors[1:])))


def _shaken(
    row: FloatArray, effort: float, mass: float, step: float, duration: float
) -> tuple[FloatArray, BenchRecord]:
    """Return the motor's efforts, those of the middles of steps, and what happens."""
    middles = (np.arange(round(duration / step)) + 0.5) * step
    push = np.asarray(effort * np.sin(2.0 * pi * FREQUENCY * middles))
    record = DriveBench(row, step).run(
        duration, lambda time: float(push[round(time / step)]), mass=mass
    )
    return push, record


def _two_masses(
    inertia: float, mass: float, stiffness: float, damping: float, effort: float, duration: float
) -> tuple[float, float]:
    """Return the leg's rate at the end and its largest, from the matrix exponential."""
    from scipy.linalg import expm

    wave = 2.0 * pi * FREQUENCY
    # States: motor, speed, leg, rate; sine and cosine of the effort.
    system = np.zeros((6, 6))
    system[0, 1] = system[2, 3] = 1.0
    pull = np.array([stiffness, damping, -stiffness, -damping])
    system[1, :4], system[3, :4] = -pull / inertia, pull / mass
    system[1, 4] = effort / inertia
    system[4, 5], system[5, 4] = wave, -wave
    start = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 1.0])
    part = expm(system * (duration / 200))
    rates = [start]
    for _ in range(200):
        rates.append(part @ rates[-1])
    found = np.array(rates)[:, 3]
    return float(found[-1]), largest(found)


class FrictionCurve(NamedTuple):
    """The effort of a motor that slides at constant speeds."""

    speeds: FloatArray
    """[m/s] or [rad/s]"""
    found: FloatArray
    """effort [N] or [N m], when it no longer changes"""
    law: FloatArray
    """by the parameters"""


def friction_curve(drive: FloatArray, numbers: DriveNumbers) -> FrictionCurve:
    """Return friction as a velocity loop finds it, from creeping to forty Stribeck speeds."""
    row = isolated(drive, free=True)
    speeds = numbers.stribeck * np.array([0.2, 0.5, 1.0, 1.5, 2.0, 3.0, 10.0, 40.0])
    # Above the slope by which friction falls, or no speed on it would be steady.
    slope = (numbers.breakaway - numbers.friction) / numbers.stribeck
    gain = numbers.inertia / LOOP + 2.0 * slope
    found = []
    for speed in speeds:
        bench = DriveBench(row, STEP, gain=gain, rate=gain / (4.0 * LOOP))
        bench.put(column.SPEED, speed)
        record = bench.run(0.15, float(speed), mode=VELOCITY)
        found.append(record.state(column.EFFORT)[-1])
    return FrictionCurve(speeds, np.array(found), numbers.friction_at(speeds))


def stopping(drive: FloatArray, numbers: DriveNumbers) -> tuple[float, float]:
    """Return the distance to rest from a hundred Stribeck speeds, found and by quadrature."""
    from scipy.integrate import quad

    row, speed = isolated(drive, free=True), 100.0 * numbers.stribeck
    bench = DriveBench(row, STEP)
    bench.put(column.SPEED, speed)
    longest = numbers.inertia * speed / numbers.friction
    record = bench.run(np.ceil(longest / STEP + 2.0) * STEP)
    expected = quad(
        lambda at: numbers.inertia * at / float(numbers.friction_at(np.array(at))),
        0.0,
        speed,
        points=[numbers.stribeck, 3.0 * numbers.stribeck],
    )[0]
    return float(record.state(column.POSITION)[-1]), float(expected)


class Hysteresis(NamedTuple):
    """A leg with drag behind a motor that swings slowly."""

    motor: FloatArray
    """[m] or [rad]"""
    leg: FloatArray
    """[m] or [rad]"""
    width: float
    """between the two ways, at the middle"""
    expected: float
    """the play and twice what the drag presses the transmission by"""
    inside: float
    """largest force where the motor touches neither flank, per drag"""


def hysteresis(drive: FloatArray, numbers: DriveNumbers, mass: float) -> Hysteresis:
    """Return the loop of motor and leg over a swing of twenty times the play."""
    row = isolated(drive, column.FRICTION, column.BREAKAWAY, column.VISCOUS)
    play, stiffness = numbers.play, numbers.stiffness
    swing, wave, heavy, step = 10.0 * play, pi, 1e6 * mass, 2.5e-4
    row[0, column.INERTIA] = heavy
    drag = 100.0 * mass
    bench = DriveBench(row, step)
    bench.put(column.SPEED, swing * wave)
    record = bench.run(
        4.0,
        lambda time: -heavy * swing * wave**2 * sin(wave * time),
        mass=mass,
        load=lambda rate: -drag * rate,
        leg=-0.5 * play,
        rate=swing * wave,
    )
    motor = record.state(column.POSITION)
    lag, crossing = record.leg - motor, np.diff(np.sign(motor))
    down, up = (np.flatnonzero(crossing == sign)[-1] for sign in (-2.0, 2.0))
    middle = 0.5 * (lag[1:] + lag[:-1])
    inside = np.abs(middle) < 0.49 * play
    largest = np.abs(record.force[inside]).max(initial=0.0) / (drag * swing * wave)
    expected = play + 2.0 * drag * swing * wave / stiffness
    return Hysteresis(motor, record.leg, float(lag[down] - lag[up]), expected, float(largest))
