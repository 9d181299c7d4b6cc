"""Electronics of a machine's drives: delay, current loop, converter, integral, thermal limit."""

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
from twin.kernels.plant.columns import VELOCITY
from twin.model.engine import State
from twin.plant.drives import drive_constants
from twin.plant.plant import Plant
from twin.plant.signals import Command
from twin.validation.cases.plant.bench import DriveBench
from twin.validation.cases.plant.data_sheet import DriveNumbers
from twin.validation.cases.plant.trials import ENGINE_STEP, effort_of, isolated
from twin.validation.measures.equilibrium import rest
from twin.validation.measures.metrics import largest
from twin.validation.results import Entry, Measure

ENGINE_STEPS = (2.5e-4, 5e-4)
"""[s] Time steps of the engine for drives without delay."""

HEATING_STEP = 5e-4
"""[s] Time step of the engine while a motor heats."""

BLOCKING_FRICTION = 1e9
"""[N, N m] Friction of a motor that is blocked."""

FEEDFORWARD_SHARE = 0.1
"""Feedforward that begins and ends, per peak effort."""

INTEGRAL_SHARE = 0.016
"""Growth of the integral in one step of the wind-up test, per peak effort."""

StepResponses = dict[float, tuple[FloatArray, FloatArray, FloatArray]]
"""Time step of the engine [s] -> times [s], changes of effort, and those of the closed form."""


def response_to_step(machine: Platform, numbers: DriveNumbers) -> tuple[Measure, StepResponses]:
    """Return the response of the first motor to a step of the commanded force, and its error."""
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
        since = np.maximum(time - leg.delay, 0.0)
        target = before + jump
        if numbers.full_scale_code:
            digit = numbers.peak / numbers.full_scale_code
            target = digit * float(numbers.nearest_code(np.array(target), numbers.peak))
        rise = 1.0 - np.exp(-since / leg.current_lag) if leg.current_lag else 1.0 * (since > 0.0)
        expected = before + (target - before) * rise
        error = max(error, largest(effort - expected) / jump)
        runs[step] = (time, effort - before, expected - before)
    measure = Measure(
        "effort after a step of the commanded force, against delay and first-order lag, per step",
        error,
        1e-9,
        "the closed form holds exactly at the ends of steps; rounding",
    )
    return measure, runs


def impulse_measure(drive: FloatArray, numbers: DriveNumbers, lag: float) -> Iterator[Entry]:
    """Yield the error of the impulse that a current loop of `lag` [s] gives from rest."""
    if not lag:
        return
    duration = ENGINE_STEP * round(max(10.0, 3.0 * lag / ENGINE_STEP))
    kept = (column.LAG, column.LAG_MEAN)
    losses = (column.FRICTION, column.BREAKAWAY, column.VISCOUS)
    row = isolated(drive, *losses, free=True, kept=kept)
    record = DriveBench(row, ENGINE_STEP).run(duration, 1.0)
    found = numbers.inertia * record.state(column.SPEED)[-1] or ENGINE_STEP * record.force.sum()
    expected = duration - lag * (1.0 - exp(-duration / lag))
    yield Measure(
        "impulse of a motor while its current rises, against the closed form: relative error",
        abs(found / expected - 1.0),
        1e-12,
        "u (t - T (1 - exp(-t / T))) for effort u and lag T: each step applies its mean effort; "
        "rounding",
    )


def converter_measures(drive: FloatArray, numbers: DriveNumbers) -> Iterator[Entry]:
    """Yield the largest error of the converter's output within its range and beyond, in codes."""
    code = numbers.full_scale_code
    if not code:
        return
    random = np.random.default_rng(4614)
    # Without friction and leg the motor's effort is the command, or the gain of one times it.
    for name, full_range, kept, effort in (
        ("force", numbers.peak, (column.PEAK, column.EFFORT_DIGIT), effort_of),
        (
            "feedforward",
            numbers.peak,
            (column.PEAK, column.EFFORT_DIGIT),
            lambda row, force: effort_of(row, 0.0, mode=VELOCITY, feedforward=force),
        ),
        (
            "speed",
            numbers.speed,
            (column.FASTEST, column.SPEED_DIGIT),
            lambda row, speed: effort_of(row, speed, mode=VELOCITY, gain=1.0),
        ),
    ):
        if not isfinite(full_range):
            continue
        row = isolated(drive, column.INERTIA, column.VISCOUS, column.DAMPING, kept=kept)
        commands = random.uniform(-1.2 * full_range, 1.2 * full_range, 200)
        efforts = [effort(row, command) for command in commands]
        codes = np.array(efforts) * code / full_range
        yield Measure(
            f"{name} command through the converter against the nearest code, in codes",
            largest(codes - numbers.nearest_code(commands, full_range)),
            1e-6,
            f"codes of full range / {code:.0f} from {-code:.0f} to {code - 1:.0f}; rounding. "
            "Rounding down in place of to the nearest code would leave up to 1",
        )


def velocity_loop_measures(drive: FloatArray, numbers: DriveNumbers) -> Iterator[Entry]:
    """Yield errors of the integral of a blocked motor's velocity loop: its growth, and its end."""
    if not isfinite(numbers.peak):
        return
    row = isolated(drive, kept=(column.PEAK,))
    row[0, [column.FRICTION, column.BREAKAWAY]] = BLOCKING_FRICTION
    gain, rate = 0.25 * numbers.peak, INTEGRAL_SHARE * numbers.peak / ENGINE_STEP
    growths, wound_up = [], []
    for speed in (-1.0, 1.0):
        bench = DriveBench(row, ENGINE_STEP, gain=gain, rate=rate)
        record = bench.run(200 * ENGINE_STEP, speed, mode=VELOCITY)
        efforts = speed * record.state(column.EFFORT)[1:12] / numbers.peak
        growths.append(efforts - 0.25 - INTEGRAL_SHARE * np.arange(11.0))
        bench.run(ENGINE_STEP, -speed, mode=VELOCITY)
        wound_up.append(speed * bench.states[0, column.EFFORT] / numbers.peak - 0.5)
    yield Measure(
        "effort of a blocked motor's velocity loop over ten steps, against gain and integral, per "
        "peak",
        largest(growths),
        1e-12,
        "a gain of 1/4 of the peak, and 0.016 of it more in each step; rounding",
    )
    yield Measure(
        "effort of a blocked motor after its speed command reverses, less half its peak, per peak",
        largest(wound_up),
        INTEGRAL_SHARE,
        "the gain gives 1/4 of the peak, so the integral stops within one step, 0.016, of 3/4; an "
        "integral that winds up gives the whole peak",
    )


def handover_measure(machine: Platform, numbers: DriveNumbers) -> Measure:
    """Return the largest change of effort from one command to the next, with motors at rest."""
    state, n = _state_at_rest(machine), machine.n_actuators
    leg = machine.parameters.legs[0].drive
    assert leg is not None
    plant, gains = Plant(machine), Cascade(machine).loop_gains
    plant.prepare(ENGINE_STEP)
    plant.start(state, gains)
    still, push = np.zeros(n), np.full(n, FEEDFORWARD_SHARE * numbers.peak)
    digit = numbers.peak / (numbers.full_scale_code or 1e9)
    settled = round((leg.delay + 20.0 * leg.current_lag) / ENGINE_STEP) + 2
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
        jumps.append(largest(plant.efforts - before) / digit)
    return Measure(
        "change of effort where feedforward begins, ends or follows a force, in converter codes",
        max(jumps),
        1.0,
        "the integral makes up for the feedforward exactly; each command is rounded by half a code",
    )


class FoldBack(NamedTuple):
    """The effort of a motor that is commanded to its peak in alternating directions."""

    time: FloatArray
    """`(k,)` [s]"""
    effort: FloatArray
    """`(k,)` magnitude [N] or [N m]"""
    time_to_limit: float
    """time [s] until the thermal limit reduces peak to continuous effort"""
    expected_time: float
    """the same in closed form, -T ln(1 - (continuous / peak)^2)"""


def fold_back(machine: Platform, numbers: DriveNumbers) -> FoldBack | None:
    """Return the effort of a blocked motor that heats; None where a drive has no thermal limit."""
    if numbers.thermal_time is None or not numbers.continuous < numbers.peak:
        return None
    drive = drive_constants(machine, HEATING_STEP)[0]
    row = isolated(drive, kept=(column.PEAK, column.CONTINUOUS))
    row[0, [column.FRICTION, column.BREAKAWAY]] = BLOCKING_FRICTION
    expected = -numbers.thermal_time * log(1.0 - (numbers.continuous / numbers.peak) ** 2)
    record = DriveBench(row, HEATING_STEP).run(
        1.5 * expected, lambda time: numbers.peak * (2.0 if time % 0.2 < 0.1 else -2.0)
    )
    effort = np.abs(record.state(column.EFFORT)[1:])
    below = np.flatnonzero(effort < numbers.peak)
    time_to_limit = float(record.time[below[0]]) if len(below) else inf
    return FoldBack(record.time[1:] - HEATING_STEP, effort, time_to_limit, expected)


def fold_back_measures(heated: FoldBack, numbers: DriveNumbers) -> Iterator[Entry]:
    """Yield errors of the time until the thermal limit, and of the efforts before and after it."""
    yield Measure(
        "time until the thermal limit reduces peak to continuous effort, against the closed form",
        abs(heated.time_to_limit - heated.expected_time),
        2.0 * HEATING_STEP,
        f"-T ln(1 - (continuous / peak)^2) = {heated.expected_time:.4g} s; two steps",
        unit="s",
    )
    efforts = heated.effort[[0, -1]] / [numbers.peak, numbers.continuous]
    yield Measure(
        "effort before and after the thermal limit, against peak and continuous effort",
        largest(efforts - 1.0),
        1e-9,
        "the drive limits the command to each exactly; rounding",
    )


def _state_at_rest(machine: Platform) -> State:
    engine = make_engine("analytic", machine, ENGINE_STEP)
    state = engine.reset(deflection=rest(machine).deflection)
    engine.close()
    return state
