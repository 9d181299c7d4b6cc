"""Limits of an actuator: breakaway friction, brake, limit switches, speed and end stops."""

from __future__ import annotations

from collections.abc import Iterator
from math import asin, exp, isfinite, pi, sqrt

import numpy as np

from twin.basics.arrays import FloatArray
from twin.kernels.plant import columns as column
from twin.kernels.plant import reading
from twin.kernels.plant.columns import VELOCITY_MODE
from twin.kernels.plant.reading import read_actuators
from twin.validation.cases.plant.trials import (
    ENGINE_STEP,
    DriveBench,
    DriveNumbers,
    effort_of,
    isolated,
)
from twin.validation.measures.sampling import largest
from twin.validation.results import Entry, Measure

BISECTION_STEPS = 45
"""Number of bisections for the breakaway effort."""

IMPACT_DAMPING = 0.3
"""Damping ratio of the leg on its end stop, from which the leg's mass in the test follows."""

IMPACT_STEPS = 2000
"""Number of engine steps during the contact of leg and end stop."""

IMPACT_TOLERANCE = 1e-3
"""Largest relative error of an impact."""

SWITCH_DISTANCE = 1e-6
"""[m, rad] Distance from a limit, to both sides, at which its switch is read."""


def breakaway_measures(drive: FloatArray, numbers: DriveNumbers) -> Iterator[Entry]:
    """Yield errors of the breakaway effort in both directions, with the brake open and closed."""
    if numbers.friction == 0.0:
        return
    cases = [("open", 0.0, numbers.breakaway)]
    if numbers.brake:
        cases.append(("closed", 1.0, numbers.breakaway + numbers.brake))
    for name, brake, expected in cases:
        efforts = [_breakaway(drive, brake, limit * expected) for limit in (-3.0, 3.0)]
        yield Measure(
            f"breakaway effort, brake {name}: relative error",
            largest(np.divide(efforts, [-expected, expected]) - 1.0),
            1e-12,
            "breakaway friction" + (" and brake torque" if brake else "")
            + "; 45 bisections leave 3 / 2^45 = 9e-14",
        )  # fmt: skip


def _breakaway(drive: FloatArray, brake: float, limit: float) -> float:
    """Return the smallest effort between zero and `limit` that moves a motor at rest."""
    # The effort between the last two bounds is found by bisection.
    holding_effort, moving_effort = 0.0, limit
    for _ in range(BISECTION_STEPS):
        middle = 0.5 * (holding_effort + moving_effort)
        bench = DriveBench(isolated(drive, free=True), ENGINE_STEP)
        bench.put(column.HOLDING, brake)
        bench.put(column.CLOSING, brake)
        bench.force(middle, 0.0, 0.0, brake=brake)
        if bench.states[0, column.SPEED]:
            moving_effort = middle
        else:
            holding_effort = middle
    return middle


def brake_measures(drive: FloatArray, numbers: DriveNumbers) -> Iterator[Entry]:
    """Yield errors of the times that a commanded brake takes to engage and to release."""
    engage_time, release_time = numbers.brake_times
    if not numbers.brake or not engage_time or not release_time:
        return
    bench = DriveBench(isolated(drive, free=True), ENGINE_STEP)
    # The motor is slow enough to stop within a fifth of the time that the brake takes to engage.
    effort = numbers.breakaway + 0.05 * numbers.brake
    closing_record = bench.run(1.2 * engage_time, effort, brake=1.0)
    opening_record = bench.run(1.2 * release_time, effort)
    fastest_index = int(np.argmax(closing_record.state(column.SPEED)))
    moving_samples = np.flatnonzero(opening_record.state(column.SPEED))
    measured_times = (
        closing_record.time[fastest_index],
        opening_record.time[moving_samples[0]] if len(moving_samples) else np.inf,
    )
    for name, time, expected in zip(
        ("engage", "release"), measured_times, numbers.brake_times, strict=True
    ):
        yield Measure(
            f"time to {name} the brake, error",
            abs(time - expected),
            2.0 * ENGINE_STEP,
            f"expected {1e3 * expected:g} ms; the brake changes at the end of a step, and rounding "
            "in the sum of all steps may add one",
            unit="s",
        )


def switch_measures(drive: FloatArray, numbers: DriveNumbers) -> Iterator[Entry]:
    """Yield errors of the effort at and off the limit switches, of their reading, and at speed."""
    gain, speed = 2.0, 0.1
    kept_columns = (column.LOWER, column.UPPER, column.FASTEST)
    constants = isolated(drive, column.INERTIA, column.VISCOUS, kept=kept_columns)
    minimum, maximum = numbers.limits
    errors, misread = [], 0
    for position, at_minimum, at_maximum in (
        (minimum - SWITCH_DISTANCE, True, False),
        (minimum + SWITCH_DISTANCE, False, False),
        (maximum - SWITCH_DISTANCE, False, False),
        (maximum + SWITCH_DISTANCE, False, True),
    ):
        for command in (-speed, speed):
            blocked = (at_minimum and command < 0.0) or (at_maximum and command > 0.0)
            effort = effort_of(constants, command, position, mode=VELOCITY_MODE, gain=gain)
            errors.append(effort / (gain * speed) - (0.0 if blocked else np.sign(command)))
        for force in (-1.0, 1.0):
            for rate in (-speed, 0.0, speed):
                expected = force
                if at_minimum:
                    expected = max(force, -gain * rate)
                if at_maximum:
                    expected = min(force, -gain * rate)
                errors.append(effort_of(constants, force, position, rate, gain=gain) - expected)
        leg = 0.5 * (minimum + maximum) if numbers.inertia else position
        misread += _misread_switches(drive, position, leg, (at_minimum, at_maximum))
    yield Measure(
        "motor effort just inside and outside the limit switches, against the permitted effort",
        largest(errors),
        1e-12,
        "Stewart thesis, 4.3.2: a pressed switch permits every command away from it, no speed "
        "towards it, and towards it no force beyond the one that brakes the motor; rounding",
    )
    yield Measure(
        "limit switches misread just inside and outside the limits",
        misread,
        0.0,
        "a switch is pressed from its limit outwards; it is read 1e-6 m or rad to both sides",
    )
    if isfinite(numbers.speed):
        yield _speed_limit(constants, numbers, gain)


def _speed_limit(row: FloatArray, numbers: DriveNumbers, gain: float) -> Measure:
    """Return the error of the motor effort at commands beyond the speed limit."""
    mid_position, speed_limit = 0.5 * sum(numbers.limits), numbers.speed
    errors = []
    for sign in (-1.0, 1.0):
        effort = effort_of(
            row, 1.2 * sign * speed_limit, mid_position, mode=VELOCITY_MODE, gain=gain
        )
        errors.append(effort / (gain * sign * speed_limit) - 1.0)
        for force in (-1.0, 1.0):
            expected = 0.0 if force * sign > 0.0 else force
            rate = 1.01 * sign * speed_limit
            errors.append(effort_of(row, force, mid_position, rate, gain=gain) - expected)
    return Measure(
        "motor effort at commands beyond the speed limit, against the permitted effort",
        largest(errors),
        1e-12,
        "a commanded speed is cut to the limit; above the limit a force that slows the motor is "
        "permitted, one that accelerates it is not; rounding",
    )


def impact_of_leg(omega: float, ratio: float, speed: float) -> tuple[float, float, float]:
    """Return penetration [m], contact time [s] and rebound speed [m/s] of a leg's impact on a stop.

    A mass m meets a spring k with a damper c, which push and never pull. With w = sqrt(k / m) and
    the damping ratio z = c / (2 m w) = sin(a) below one, the contact force falls to zero after
    (pi - 2 a) / (w cos(a)).

    Args:
        omega: w [rad/s].
        ratio: z.
        speed: approach speed of the leg [m/s] or [rad/s].
    """
    angle, cosine = asin(ratio), sqrt(1.0 - ratio**2)
    return (
        speed / omega * exp(-ratio * (0.5 * pi - angle) / cosine),
        (pi - 2.0 * angle) / (omega * cosine),
        speed * exp(-ratio * (pi - 2.0 * angle) / cosine),
    )


def impact_measures(drive: FloatArray, numbers: DriveNumbers) -> Iterator[Entry]:
    """Yield the largest errors of impacts on both end stops."""
    if numbers.end_stops is None:
        return
    mass = (numbers.damping / (2.0 * IMPACT_DAMPING)) ** 2 / numbers.stiffness
    omega = sqrt(numbers.stiffness / mass)
    speed = 0.1 * omega * (numbers.end_stops[1] - numbers.limits[1])
    expected = impact_of_leg(omega, IMPACT_DAMPING, speed)
    step = expected[1] / IMPACT_STEPS
    kept_columns = (column.LOWER_STOP, column.UPPER_STOP)
    constants = isolated(drive, column.INERTIA, column.VISCOUS, kept=kept_columns)
    errors = np.empty((2, 3))
    for error, stop, outward in zip(errors, numbers.end_stops, (-1.0, 1.0), strict=True):
        record = DriveBench(constants, step).run(
            1.1 * expected[1], mass=mass, leg=stop - outward * speed * step, rate=outward * speed
        )
        penetration = outward * (record.leg - stop)
        contact_time = step * np.count_nonzero(record.force)
        measured = np.array([penetration.max(), contact_time, -outward * record.rate[-1]])
        error[:] = measured / expected - 1.0
    names = ("penetration", "contact time", "rebound speed")
    for name, largest_error in zip(names, np.abs(errors).max(axis=0), strict=True):
        yield Measure(
            f"impact of a leg on its end stops, {name}: relative error",
            largest_error,
            IMPACT_TOLERANCE,
            "first order: the damping force uses the rate at the start of a step h, one of "
            f"{IMPACT_STEPS} in the impact; z w h = 4e-4",
        )


def _misread_switches(
    drive: FloatArray, motor: float, leg: float, pressed: tuple[bool, bool]
) -> int:
    """Return how many of the two switches, which sit on the motor, are not read as `pressed`."""
    states, sample, zero = (
        np.zeros((1, column.STATE_COUNT)),
        np.empty((reading.ROW_COUNT, 1)),
        np.zeros(1),
    )
    states[0, column.POSITION] = motor
    read_actuators(drive[None], states, zero, zero.copy(), 0.0, np.array([leg]), zero, sample)
    return int((sample[[reading.AT_MINIMUM_ROW, reading.AT_MAXIMUM_ROW], 0] != pressed).sum())
