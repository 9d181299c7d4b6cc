"""Limits of an actuator: friction and brake at rest, limit switches, and end stops."""

from __future__ import annotations

from collections.abc import Iterator
from math import asin, exp, isfinite, pi, sqrt

import numpy as np

from twin.basics.arrays import FloatArray
from twin.kernels.plant import columns as column
from twin.kernels.plant import reading
from twin.kernels.plant.columns import FORCE, VELOCITY
from twin.kernels.plant.reading import read_actuators
from twin.validation.cases.plant.bench import DriveBench
from twin.validation.cases.plant.data_sheet import DriveNumbers
from twin.validation.cases.plant.trials import STEP, isolated
from twin.validation.results import Entry, Measure

BISECTIONS = 45
"""Halvings of the interval in which a motor begins to slide."""

IMPACT_DAMPING = 0.3
"""Damping ratio of the leg on its end stop; sets the mass of the leg that is thrown at it."""

IMPACT_STEPS = 2000
"""Steps of the engine while the leg touches the stop."""

IMPACT_ERROR = 1e-3
"""Largest relative error of an impact."""

INSIDE = 1e-6
"""[m, rad] from a limit at which its switch is still free, or pressed."""


def slip_measures(drive: FloatArray, numbers: DriveNumbers) -> Iterator[Entry]:
    """Yield the error of the effort at which a resting motor slides: brake open, brake closed."""
    if numbers.friction == 0.0:
        return
    cases = [("open", 0.0, numbers.breakaway)]
    if numbers.brake:
        cases.append(("closed", 1.0, numbers.breakaway + numbers.brake))
    for name, closed, expected in cases:
        low, high = 0.0, 3.0 * expected
        for _ in range(BISECTIONS):
            middle = 0.5 * (low + high)
            bench = DriveBench(isolated(drive, free=True), STEP)
            bench.put(column.HOLDING, closed)
            bench.put(column.CLOSING, closed)
            bench.force(middle, 0.0, 0.0, brake=closed)
            if bench.states[0, column.SPEED] > 0.0:
                high = middle
            else:
                low = middle
        yield Measure(
            f"effort at which a motor begins to slide, brake {name}: relative error",
            abs(middle / expected - 1.0),
            1e-12,
            "friction at rest" + (" and what the brake holds" if closed else "")
            + "; an interval halved 45 times is 3 / 2^45 of it, 9e-14",
        )  # fmt: skip


def brake_measures(drive: FloatArray, numbers: DriveNumbers) -> Iterator[Entry]:
    """Yield errors of the times after which a commanded brake holds, and lets go."""
    engaging, releasing = numbers.brake_times
    if not numbers.brake or not engaging or not releasing:
        return
    bench = DriveBench(isolated(drive, free=True), STEP)
    # Slides slowly enough to stop within a fifth of the time that the brake takes to engage.
    effort = numbers.breakaway + 0.05 * numbers.brake
    closing = bench.run(1.2 * engaging, effort, brake=1.0)
    opening = bench.run(1.2 * releasing, effort)
    fastest = int(np.argmax(closing.state(column.SPEED)))
    moves = np.flatnonzero(opening.state(column.SPEED))
    found = closing.time[fastest], opening.time[moves[0]] if len(moves) else np.inf
    for name, time, expected in zip(("holds", "lets go"), found, numbers.brake_times, strict=True):
        yield Measure(
            f"time from the command until the brake {name}, error",
            abs(time - expected),
            2.0 * STEP,
            f"{1e3 * expected:g} ms; the brake changes at the ends of steps, and rounding of so "
            "many sums may add one",
            unit="s",
        )


def switch_measures(drive: FloatArray, numbers: DriveNumbers) -> Iterator[Entry]:
    """Yield the largest deviation of commands, and of the switches, near and at the limits."""
    gain, speed = 2.0, 0.1
    kept = (column.LOWER, column.UPPER, column.FASTEST)
    row = isolated(drive, column.INERTIA, column.VISCOUS, kept=kept)
    low, high, fastest = *numbers.limits, numbers.speed
    deviations, wrong = [], 0.0
    for at, lower, upper in (
        (low - INSIDE, True, False),
        (low + INSIDE, False, False),
        (high - INSIDE, False, False),
        (high + INSIDE, False, True),
    ):
        for command in (-speed, speed):
            blocked = (lower and command < 0.0) or (upper and command > 0.0)
            bench = DriveBench(row, STEP, gain=gain)
            bench.force(command, at, 0.0, mode=VELOCITY)
            expected = 0.0 if blocked else gain * command
            deviations.append((bench.states[0, column.EFFORT] - expected) / (gain * speed))
        for force in (-1.0, 1.0):
            for rate in (-speed, 0.0, speed):
                bench = DriveBench(row, STEP, gain=gain)
                bench.force(force, at, rate, mode=FORCE)
                expected = force
                if lower:
                    expected = max(force, -gain * rate)
                if upper:
                    expected = min(force, -gain * rate)
                deviations.append(bench.states[0, column.EFFORT] - expected)
        wrong += _wrong_switches(drive, at, (float(lower), float(upper)))
    yield Measure(
        "speeds and forces given just inside and outside the limit switches, against what passes",
        np.abs(deviations).max(),
        1e-12,
        "Stewart thesis, 4.3.2: away from a pressed switch all, towards it no speed, and no "
        "force beyond what brakes the motor; rounding",
    )
    yield Measure(
        "limit switches read wrongly just inside and outside the limits",
        wrong,
        0.0,
        "pressed from the limit outwards; tried 1e-6 m or rad to both sides",
    )
    if isfinite(fastest):
        found = []
        for rate in (-1.01 * fastest, 1.01 * fastest):
            for force in (-1.0, 1.0):
                bench = DriveBench(row, STEP, gain=gain)
                bench.force(force, 0.5 * (low + high), rate, mode=FORCE)
                expected = 0.0 if force * rate > 0.0 else force
                found.append(bench.states[0, column.EFFORT] - expected)
        yield Measure(
            "forces given above the largest speed, against what slows the motor",
            np.abs(found).max(),
            1e-12,
            "a force against the motion passes, one along it does not; rounding",
        )


def impact_of_leg(wave: float, ratio: float, speed: float) -> tuple[float, float, float]:
    """Return depth [m], duration [s] and speed of rebound [m/s] of a leg that strikes a stop.

    A mass m strikes a spring k with a damper c that push and never pull; w = sqrt(k / m) and the
    damping ratio z = c / (2 m w) = sin(a) is below one. It leaves when the force has fallen to
    zero, after (pi - 2 a) / (w cos(a)).

    Args:
        wave: w [rad/s].
        ratio: z.
        speed: of the leg where it meets the stop [m/s] or [rad/s].
    """
    angle, rest = asin(ratio), sqrt(1.0 - ratio**2)
    return (
        speed / wave * exp(-ratio * (0.5 * pi - angle) / rest),
        (pi - 2.0 * angle) / (wave * rest),
        speed * exp(-ratio * (pi - 2.0 * angle) / rest),
    )


def impact_measures(drive: FloatArray, numbers: DriveNumbers) -> Iterator[Entry]:
    """Yield the largest errors of impacts on both end stops: depth, duration, rebound."""
    if numbers.stops is None:
        return
    mass = (numbers.damping / (2.0 * IMPACT_DAMPING)) ** 2 / numbers.stiffness
    wave = sqrt(numbers.stiffness / mass)
    speed = 0.1 * wave * (numbers.stops[1] - numbers.limits[1])
    expected = impact_of_leg(wave, IMPACT_DAMPING, speed)
    step = expected[1] / IMPACT_STEPS
    kept = (column.LOWER_STOP, column.UPPER_STOP)
    row = isolated(drive, column.INERTIA, column.VISCOUS, kept=kept)
    errors = np.empty((2, 3))
    for error, stop, out in zip(errors, numbers.stops, (-1.0, 1.0), strict=True):
        record = DriveBench(row, step).run(
            1.1 * expected[1], mass=mass, leg=stop - out * speed * step, rate=out * speed
        )
        inside = out * (record.leg - stop)
        touching = step * np.count_nonzero(record.force)
        found = np.array([inside.max(), touching, -out * record.rate[-1]])
        error[:] = found / expected - 1.0
    names = ("depth", "duration", "speed of rebound")
    for name, worst in zip(names, np.abs(errors).max(axis=0), strict=True):
        yield Measure(
            f"{name} of a leg's impact on an end stop, relative error",
            worst,
            IMPACT_ERROR,
            "first order: damping uses the rate at the start of a step h, one of "
            f"{IMPACT_STEPS} in the impact; z w h = 4e-4",
        )


def _wrong_switches(drive: FloatArray, at: float, pressed: tuple[float, float]) -> int:
    """Return how many of the two switches are not read as `pressed` for a motor `at` a place."""
    states, found = np.zeros((1, column.STATES)), np.empty((reading.ROWS, 1))
    states[0, column.POSITION] = at
    place, exact = np.array([at]), np.zeros(1)
    read_actuators(drive[None], states, exact, np.zeros(1), 0.0, place, np.zeros(1), found)
    return int((found[[reading.AT_MINIMUM, reading.AT_MAXIMUM], 0] != pressed).sum())
