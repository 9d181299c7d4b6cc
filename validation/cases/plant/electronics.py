"""Electronics of a machine's drives: delay, current loop, converter, velocity loop, heating."""

from __future__ import annotations

from collections.abc import Iterator
from math import exp, inf, isfinite, log
from typing import NamedTuple

import numpy as np

from twin.analysis.platform import Platform
from twin.basics.arrays import FloatArray, as_floats
from twin.control.cascade import Cascade
from twin.engines import make_engine
from twin.kernels.plant import columns as column
from twin.kernels.plant.columns import FORCE, VELOCITY
from twin.model.engine import State
from twin.plant.drives import drive_constants
from twin.plant.plant import Plant
from twin.plant.signals import Command
from twin.validation.cases.plant.bench import DriveBench
from twin.validation.cases.plant.data_sheet import DriveNumbers
from twin.validation.cases.plant.trials import STEP, isolated
from twin.validation.measures.equilibrium import rest
from twin.validation.results import Entry, Measure

ENGINE_STEPS = (2.5e-4, 5e-4)
"""[s] for the response of electronics without delay."""

HEATING_STEP = 5e-4
"""[s] of the engine while a motor heats."""

BLOCKED = 1e9
"""[N, N m] Friction of a motor that nothing moves."""

FEEDFORWARD_SHARE = 0.1
"""Feedforward that begins and ends, per peak effort."""

StepResponses = dict[float, tuple[FloatArray, FloatArray, FloatArray]]
"""Step of the engine [s] -> times [s], changes of effort, and those of the closed form."""


def response_to_step(machine: Platform, numbers: DriveNumbers) -> tuple[Measure, StepResponses]:
    """Return the response of the first motor to a step of force, with several time steps."""
    leg = machine.parameters.legs[0].drive
    assert leg is not None
    state = _state_at_rest(machine)
    error, jump = 0.0, 0.1 * numbers.peak if isfinite(numbers.peak) else 80.0
    runs: StepResponses = {}
    for step in (leg.delay / 4.0, leg.delay / 8.0) if leg.delay else ENGINE_STEPS:
        plant = Plant(machine)
        plant.prepare(step)
        plant.start(state, Cascade(machine).loop_gains)
        before = plant.efforts[0]
        plant.command(Command(np.full(machine.n_actuators, before + jump), "force"))
        steps = round((leg.delay + 5.0 * leg.current_lag) / step) + 4
        time, effort = as_floats(np.arange(1, steps + 1) * step, "time"), np.empty(steps)
        for k in range(steps):
            plant.forces(state)
            effort[k] = plant.efforts[0]
        late = np.maximum(time - leg.delay, 0.0)
        target = before + jump
        if numbers.codes:
            digit = numbers.peak / numbers.codes
            target = digit * float(numbers.nearest_code(np.array(target), numbers.peak))
        rise = 1.0 - np.exp(-late / leg.current_lag) if leg.current_lag else 1.0 * (late > 0.0)
        expected = before + (target - before) * rise
        error = max(error, float(np.abs(effort - expected).max() / jump))
        runs[step] = (time, effort - before, expected - before)
    measure = Measure(
        "effort after a step of command, through delay and current loop, against its closed form",
        error,
        1e-9,
        "closed form at the ends of steps; rounding",
    )
    return measure, runs


def impulse_measure(drive: FloatArray, numbers: DriveNumbers, lag: float) -> Iterator[Entry]:
    """Yield the error of the impulse that a current loop of `lag` [s] gives from rest."""
    if not lag:
        return
    effort, steps = 1.0, round(max(10.0, 3.0 * lag / STEP))
    kept = (column.LAG, column.LAG_MEAN)
    lossless = (column.FRICTION, column.BREAKAWAY, column.VISCOUS)
    record = DriveBench(isolated(drive, *lossless, free=True, kept=kept), STEP).run(
        steps * STEP, effort
    )
    found = numbers.inertia * record.state(column.SPEED)[-1] or STEP * record.force.sum()
    duration = steps * STEP
    expected = effort * (duration - lag * (1.0 - exp(-duration / lag)))
    yield Measure(
        "impulse of a motor while its current rises, error of the closed form",
        abs(found / expected - 1.0),
        1e-12,
        "u (t - T (1 - exp(-t / T))): the motor is given the mean of every step; rounding",
    )


def converter_measures(drive: FloatArray, numbers: DriveNumbers) -> Iterator[Entry]:
    """Yield the largest error of the converter's output over its range and beyond, in codes."""
    if not numbers.codes:
        return
    random = np.random.default_rng(4614)
    for name, mode, full, gain, kept in (
        ("force", FORCE, numbers.peak, 0.0, (column.PEAK, column.EFFORT_DIGIT)),
        ("speed", VELOCITY, numbers.speed, 1.0, (column.FASTEST, column.SPEED_DIGIT)),
    ):
        if not isfinite(full):
            continue
        # Free of friction and leg: the motor's effort is the command, or the gain times it.
        row = isolated(drive, column.INERTIA, column.VISCOUS, column.DAMPING, kept=kept)
        commands = random.uniform(-1.2 * full, 1.2 * full, 200)
        given = []
        for command in commands:
            bench = DriveBench(row, STEP, gain=gain)
            bench.force(command, 0.0, 0.0, mode=mode)
            given.append(bench.states[0, column.EFFORT])
        codes = np.array(given) * numbers.codes / full
        yield Measure(
            f"commanded {name} through the converter against the nearest code, in codes",
            np.abs(codes - numbers.nearest_code(commands, full)).max(),
            1e-6,
            f"steps of full range / {numbers.codes:.0f}, from {-numbers.codes:.0f} to "
            f"{numbers.codes - 1:.0f}; rounding. A floor in place of the nearest code is off by 1",
        )


def windup_measure(drive: FloatArray, numbers: DriveNumbers) -> Iterator[Entry]:
    """Yield what a blocked motor gives after its speed command turns round."""
    if not isfinite(numbers.peak):
        return
    row = isolated(drive, kept=(column.PEAK,))
    row[0, [column.FRICTION, column.BREAKAWAY]] = BLOCKED
    grown = 0.016 * numbers.peak
    bench = DriveBench(row, STEP, gain=0.25 * numbers.peak, rate=grown / STEP)
    bench.run(200 * STEP, 1.0, mode=VELOCITY)
    bench.run(STEP, -1.0, mode=VELOCITY)
    effort = bench.states[0, column.EFFORT] / numbers.peak
    yield Measure(
        "effort of a blocked motor once its speed command is reversed, off half its peak, per peak",
        abs(effort - 0.5),
        0.016,
        "the loop's gain gives 1/4 of the peak, so its integral ends within one step, 0.016, of "
        "3/4; an integral that winds up gives the whole peak",
    )


def handover_measure(machine: Platform, numbers: DriveNumbers) -> Measure:
    """Return the largest change of effort where one command follows another on resting motors."""
    state, n = _state_at_rest(machine), machine.n_actuators
    leg = machine.parameters.legs[0].drive
    assert leg is not None
    plant, gains = Plant(machine), Cascade(machine).loop_gains
    plant.prepare(STEP)
    plant.start(state, gains)
    still, push = np.zeros(n), np.full(n, FEEDFORWARD_SHARE * numbers.peak)
    digit = numbers.peak / numbers.codes if numbers.codes else 1e-9 * numbers.peak
    settled = round((leg.delay + 20.0 * leg.current_lag) / STEP) + 2
    jumps = []
    for number in range(4):
        before = plant.efforts
        if number == 0:
            plant.hand_over(gains)
        plant.command(
            (
                Command(still, feedforward=push),
                Command(still),
                Command(before, "force"),
                Command(still, feedforward=push),
            )[number]
        )
        for _ in range(settled):
            plant.forces(state)
        jumps.append(np.abs(plant.efforts - before).max() / digit)
    return Measure(
        "change of effort where feedforward begins, ends, or follows a force, in the converter's "
        "codes",
        max(jumps),
        1.0,
        "the integral takes over exactly; each command is rounded to half a code",
    )


class FoldBack(NamedTuple):
    """A motor commanded to its peak without a break."""

    time: FloatArray
    """[s]"""
    effort: FloatArray
    """[N] or [N m]"""
    after: float
    """[s] until it falls back to continuous effort"""
    expected: float
    """-T ln(1 - (continuous / peak)^2)"""


def fold_back(machine: Platform, numbers: DriveNumbers) -> FoldBack | None:
    """Return for how long a blocked motor gives its peak; None where it does not heat."""
    if numbers.thermal_time is None or not numbers.continuous < numbers.peak:
        return None
    drive = drive_constants(machine, HEATING_STEP)[0]
    row = isolated(drive, kept=(column.PEAK, column.CONTINUOUS))
    row[0, [column.FRICTION, column.BREAKAWAY]] = BLOCKED
    expected = -numbers.thermal_time * log(1.0 - (numbers.continuous / numbers.peak) ** 2)
    record = DriveBench(row, HEATING_STEP).run(1.5 * expected, 2.0 * numbers.peak)
    effort = record.state(column.EFFORT)[1:]
    below = np.flatnonzero(effort < numbers.peak)
    after = float(record.time[below[0]]) if len(below) else inf
    return FoldBack(record.time[1:] - HEATING_STEP, effort, after, expected)


def fold_back_measures(heated: FoldBack, numbers: DriveNumbers) -> Iterator[Entry]:
    """Yield errors of the time for which a motor gives its peak, and of what it gives later."""
    yield Measure(
        "time until the motor falls back to continuous effort, error of the closed form",
        abs(heated.after - heated.expected),
        2.0 * HEATING_STEP,
        f"-T ln(1 - (continuous / peak)^2) = {heated.expected:.4g} s; two steps",
        unit="s",
    )
    efforts = heated.effort[[0, -1]] / [numbers.peak, numbers.continuous]
    yield Measure(
        "effort before and after the motor falls back, against peak and continuous effort",
        np.abs(efforts - 1.0).max(),
        1e-9,
        "both are limits: rounding",
    )


def _state_at_rest(machine: Platform) -> State:
    engine = make_engine("analytic", machine, STEP)
    state = engine.reset(deflection=rest(machine).deflection)
    engine.close()
    return state
