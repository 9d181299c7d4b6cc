"""Response of a machine's electronics to a command: delay, current loop, converter."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from twin.analysis.platform import Platform
from twin.basics.arrays import FloatArray, as_floats
from twin.control.cascade import Cascade
from twin.engines import make_engine
from twin.kernels.plant import columns as column
from twin.plant.drives import drive_constants
from twin.plant.plant import Plant
from twin.plant.signals import Command
from twin.validation.cases.plant.bench import DriveBench
from twin.validation.cases.plant.figures import response_plot
from twin.validation.cases.plant.trials import STEP
from twin.validation.measures.equilibrium import rest
from twin.validation.results import Entry, Measure, Plot

ENGINE_STEPS = (2.5e-4, 5e-4)
"""[s] for the response of electronics without delay."""

ROUNDING = "closed form at the ends of steps; rounding"


def response_of_electronics(machine: Platform) -> tuple[Measure, Plot]:
    """Return the response of the first motor to a step of force, with several time steps."""
    leg = machine.parameters.legs[0].drive
    assert leg is not None
    engine = make_engine("analytic", machine, STEP)
    state = engine.reset(deflection=rest(machine).deflection)
    engine.close()
    error = 0.0
    runs: dict[float, tuple[FloatArray, FloatArray, FloatArray]] = {}
    for step in (leg.delay / 4.0, leg.delay / 8.0) if leg.delay else ENGINE_STEPS:
        plant = Plant(machine)
        plant.prepare(step)
        plant.start(state, Cascade(machine).loop_gains)
        before = plant.states[0, column.EFFORT]
        jump = 0.1 * (leg.reflected().peak or 800.0)
        plant.command(Command(np.full(machine.n_actuators, before + jump), "force"))
        steps = round((leg.delay + 5.0 * leg.current_lag) / step) + 4
        time, effort = as_floats(np.arange(1, steps + 1) * step, "time"), np.empty(steps)
        for k in range(steps):
            plant.forces(state)
            effort[k] = plant.states[0, column.EFFORT]
        late = np.maximum(time - leg.delay, 0.0)
        target = _digitised(machine, step, before + jump)
        rise = 1.0 - np.exp(-late / leg.current_lag) if leg.current_lag else 1.0 * (late > 0.0)
        expected = before + (target - before) * rise
        error = max(error, float(np.abs(effort - expected).max() / jump))
        runs[step] = (time, effort - before, expected - before)
    measure = Measure(
        "effort after a step of command, through delay and current loop, against its closed form",
        error,
        1e-9,
        ROUNDING,
    )
    return measure, response_plot(runs, leg, machine.force_unit)


def _digitised(machine: Platform, step: float, effort: float) -> float:
    digit = drive_constants(machine, step)[0, column.EFFORT_DIGIT]
    return effort if digit == 0.0 else float(digit * np.round(effort / digit))


def converter_measures(drive: FloatArray) -> Iterator[Entry]:
    """Yield the converter's errors over its range of commands."""
    digit, peak = drive[column.EFFORT_DIGIT], drive[column.PEAK]
    if digit == 0.0:
        return
    row = drive[None].copy()
    row[0, [column.INERTIA, column.VISCOUS, column.LAG, column.LAG_MEAN]] = 0.0
    row[0, [column.LOWER, column.LOWER_STOP]] = -np.inf
    row[0, [column.UPPER, column.UPPER_STOP]] = np.inf
    row[0, [column.FRICTION, column.CONTINUOUS]] = 0.0, np.inf
    commands = np.random.default_rng(4614).uniform(-peak, peak - digit, 200)
    given = [DriveBench(row, STEP).force(value, 0.0, 0.0) for value in commands]
    off = np.abs(np.array(given) - commands).max() / digit
    whole = np.abs(np.array(given) / digit - np.round(np.array(given) / digit)).max()
    bits = round(np.log2(2.0 * peak / digit))
    yield Measure(
        "command against what the converter gives, in its digits",
        off,
        0.5 + 1e-9,
        f"nearest of {2**bits} codes",
        at_bound=True,
    )
    yield Measure("codes off whole numbers", whole, 1e-9, "a converter has no others; rounding")
    top = DriveBench(row, STEP).force(2.0 * peak, 0.0, 0.0) / digit
    yield Measure(
        "command beyond the range against the highest code",
        abs(float(top) - (2 ** (bits - 1) - 1)),
        1e-9,
        "codes end one below the full range",
    )
