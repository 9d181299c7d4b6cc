"""The free fall of the 6-RSS manipulator by the five formulations: figure 17 with numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from time import perf_counter

import numpy as np

from twin.analysis.platform import Platform
from twin.basics.arrays import FloatArray
from twin.errors import IntegrationError
from twin.model.solution import Solution
from twin.papers.formulations import (
    Formulation,
    FormulationRun,
    formulation_names,
    simulate_formulation,
)
from twin.validation.cases.formulations.runs import ROUNDINGS
from twin.validation.measures.comparison import log_curve
from twin.validation.measures.metrics import largest
from twin.validation.published.papers import EXTENDED
from twin.validation.results import Measure, Panel, Plot, Statement

Runs = Mapping[str, FormulationRun]
Stops = Mapping[str, IntegrationError]

FALL_TIME = 0.6
"""[s] section 6."""

OUTPUT_STEP = 0.01
"""[s] between the times at which errors are measured."""

PRINTED_RUN_TIME = 0.546
"""[s] section 6, C++."""

FASTEST = "extended_to_task"
"""Formulation that the paper times."""

TIMED = 5
"""Runs of which the fastest counts."""

ENDING = {"actuator", "extended_to_actuator"}
"""Formulations whose coordinates end where crank and rod come in line."""


def formulated(
    platform: Platform, start: FloatArray
) -> tuple[dict[str, FormulationRun], dict[str, IntegrationError]]:
    """Return the fall by each formulation as far as it goes, and the errors of those that stop."""
    runs, stops = {}, {}
    for name in formulation_names():
        try:
            runs[name] = simulate_formulation(platform, name, FALL_TIME, OUTPUT_STEP, pose=start)
        except IntegrationError as error:
            runs[name], stops[name] = error.data["run"], error
    return runs, stops


def run_time(platform: Platform, start: FloatArray) -> float:
    """Return seconds that the paper's formulation takes for the fall, the best of some runs."""
    formulation = Formulation(platform, FASTEST)
    best = np.inf
    for _ in range(TIMED):
        begin = perf_counter()
        formulation.integrate(FALL_TIME, OUTPUT_STEP, pose=start)
        best = min(best, perf_counter() - begin)
    return float(best)


def formulation_measures(
    fall: Solution, runs: Runs, stops: Stops, seconds: float
) -> Iterator[Measure]:
    """Yield agreement with the reference, errors of the loop closure, energy and run time."""
    yield Measure(
        "formulations that pass the singular pose and should stop, or the other way round",
        len(ENDING ^ set(stops)),
        0.0,
        "the two actuator spaces have to stop, the three others have to pass",
    )
    for name, run in runs.items():
        title = name.replace("_", "-")
        yield Measure(
            f"{title}: pose at {run.time[-1]:g} s against the reference",
            largest(run.pose[-1] - fall(float(run.time[-1]))[0]),
            1e-9,
            "tolerances of 1e-12 and 1e-13 per step, summed up",
            unit="m, 1",
        )
        least, allowed = run.resolution.max(axis=0), ROUNDINGS[name]
        for k, (error, unit) in enumerate(((run.e1, "m"), (run.e2, "m/s"), (run.e3, "m/s2"))):
            yield Measure(
                f"{title}: e{k + 1}",
                error.max(),
                allowed[k] * float(least[k]),
                f"{allowed[k]:g} roundings of the terms that cancel, {least[k]:.1e}",
                unit=unit,
            )
        yield Measure(
            f"{title}: energy error",
            largest(run.energy_error),
            1e-7,
            "the order printed for actuator spaces in table 7, of the other machine",
            unit="%",
        )
    yield Measure(
        "extended-to-task: times faster than real time",
        FALL_TIME / seconds,
        1.0,
        "at least: the paper's subject is simulation in real time",
        at_least=True,
    )


def error_plot(runs: Runs) -> Plot:
    """Return figure 17 for all formulations."""
    panels = (
        Panel(
            label,
            *(
                log_curve(name.replace("_", "-"), run.time[1:], np.abs(getattr(run, field))[1:])
                for name, run in runs.items()
            ),
            log_y=True,
        )
        for label, field in (
            ("e1 [m]", "e1"),
            ("e2 [m/s]", "e2"),
            ("e3 [m/s2]", "e3"),
            ("energy error [%]", "energy_error"),
        )
    )
    return Plot("Errors of the formulations in the free fall", "time [s]", *panels)


def fall_statements(runs: Runs, stops: Stops, seconds: float) -> tuple[Statement, ...]:
    """Return the statements about computing time and figure 17."""
    took = f"{1e3 * seconds:.2g} ms for {FALL_TIME:g} s"
    task, stop = runs[FASTEST], stops["extended_to_actuator"].data["time"]
    errors = ", ".join(f"{error.max():.1e}" for error in (task.e1, task.e2, task.e3))
    return (
        EXTENDED["fall_run_time"].judged(
            f"{took}, by the same formulation.",
            0.5 * PRINTED_RUN_TIME < seconds < 1.5 * PRINTED_RUN_TIME,
            "another computer, and compiled equations in place of symbolic expressions; execution "
            "times published beside the code are 0.06 to 0.13 s",
        ),
        EXTENDED["fall_real_time"].judged(f"{took}.", seconds < FALL_TIME),
        EXTENDED["loop_errors"].not_given(
            f"Extended-to-task: e1, e2, e3 {errors}, energy {largest(task.energy_error):.1e} "
            f"percent. Extended-to-actuator has no fall of {FALL_TIME:g} s from the program's "
            f"height: crank and rod are in line after {stop:.4f} s.",
            "curves without numbers, and no pose at the start",
        ),
    )
