"""Five formulations of the dynamics."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from twin.analysis.platform import Platform
from twin.errors import IntegrationError
from twin.model.integrate import integrate
from twin.papers.formulations import Formulation, FormulationRun
from twin.validation.case import validation_case
from twin.validation.cases.formulations.matrices import (
    branch_statement,
    error_statements,
    error_table,
    leg_inertia_statement,
    modelling_statement,
    stop_statement,
    time_statements,
)
from twin.validation.cases.formulations.runs import (
    ERROR_ROUNDINGS,
    FALL_TIME,
    OUTPUT_STEP,
    PRINTED_RESULTS,
    PRINTED_STOP,
    box_plot,
    falls,
    run_times,
    time_table,
)
from twin.validation.measures.comparison import log_curve
from twin.validation.measures.sampling import largest, random_states
from twin.validation.results import CaseResult, Measure, Panel, Plot

AGREEMENT_TIME = 0.3
"""[s] Duration in which engines are compared."""

STATE_COUNT = 50
"""Number of random states at which the accelerations of the formulations are compared."""

LOOSE_TOLERANCE = 1e-7
"""Tolerance per step at which integrated constraints have the printed errors."""

STEP_TOLERANCES = (LOOSE_TOLERANCE, 1e-10)
"""Further tolerances per step that are compared with that of the other runs."""

ENERGY_GAIN = 100.0
"""Ratio by which the energy error has to be smaller than the printed one."""


@validation_case(
    machines=("srspm",),
    because="the paper's tables are about its benchmark machine, srspm",
    cost=1.5,
)
def check_formulations(platform: Platform) -> CaseResult:
    """Five formulations of the dynamics.

    The platform falls freely from home. The fall is computed by the configuration-space,
    actuator-space, task-space, extended-to-task-space and extended-to-actuator-space formulations.
    Accelerations and motion are compared with the reference, also at the singular pose in the plane
    of the base. Errors of the loop closure (e1 position, e2 velocity, e3 acceleration), energy and
    run time stand beside the paper's tables. All use Dormand-Prince 5(4) at 1e-13 per step.
    """
    runs, stops = falls(platform)
    by_tolerance = {value: falls(platform, value)[0] for value in STEP_TOLERANCES} | {1e-13: runs}
    times = run_times(platform)
    seconds = {name: float(np.median(values)) for name, values in times.items()}
    measures = [*_agreement(platform, runs), *_singular(platform, runs, stops)]
    for name, fall in runs.items():
        measures += _errors(name, fall)
    statements = (
        stop_statement(stops),
        branch_statement(platform, runs["configuration"]),
        *time_statements(seconds),
        *error_statements(runs, by_tolerance[LOOSE_TOLERANCE]),
        modelling_statement(platform),
        leg_inertia_statement(platform),
    )
    plots = (_plot(runs), box_plot(times))
    tables = (error_table(by_tolerance), time_table(times))
    return check_formulations.result(platform, measures, plots, statements, tables)


def _agreement(platform: Platform, runs: dict[str, FormulationRun]) -> Iterator[Measure]:
    states = random_states(platform, STATE_COUNT, seed=11)
    forces = platform.inverse_dynamics(states.pose, states.twist, states.acceleration)
    legs = platform.leg_coordinates(states.pose, states.twist, states.acceleration)
    joints = legs.accelerations
    reference = integrate(platform, AGREEMENT_TIME)
    index = round(AGREEMENT_TIME / OUTPUT_STEP)
    for name, fall in runs.items():
        formulation, largest_error = Formulation(platform, name), 0.0
        for k, pose in enumerate(states.pose):
            state = formulation.state_from(pose, states.twist[k])
            acceleration = formulation.derivative(state, forces[k], guess=pose)[-_dof(name) :]
            expected = {6: states.acceleration[k], 18: joints[k].reshape(18)}[_dof(name)]
            expected = joints[k, :, 2] if "actuator" in name else expected
            largest_error = max(
                largest_error, float(np.abs(acceleration - expected).max() / np.abs(expected).max())
            )
        title = PRINTED_RESULTS[name].title
        yield Measure(
            f"{title}: accelerations at {STATE_COUNT} random states",
            largest_error,
            1e-9,
            "two derivations of one equation; forces from inverse dynamics",
        )
        difference = largest(fall.pose[index] - reference.pose[-1])
        yield Measure(
            f"{title}: pose after {AGREEMENT_TIME:g} s against the reference",
            difference,
            1e-11,
            "the reference's tolerance of 1e-12 per step, summed up",
            unit="m, 1",
        )


def _dof(name: str) -> int:
    return 18 if name == "configuration" else 6


def _singular(
    platform: Platform, runs: dict[str, FormulationRun], stops: dict[str, IntegrationError]
) -> Iterator[Measure]:
    expected = {"actuator", "extended_to_actuator"}
    yield Measure(
        "formulations that pass the singular pose and should stop, or the other way round",
        len(expected ^ set(stops)),
        0.0,
        "the two actuator spaces have to stop, the three others have to pass",
    )
    for name, error in stops.items():
        data = error.data
        yield Measure(
            f"{PRINTED_RESULTS[name].title}: stop off the paper's last output at {PRINTED_STOP} s",
            abs(data["run"].time[-1] - PRINTED_STOP),
            1e-9,
            f"last time of the result in steps of {OUTPUT_STEP} s, as in the paper",
            unit="s",
        )
    for name, fall in runs.items():
        if name in stops:
            continue
        yield Measure(
            f"{PRINTED_RESULTS[name].title}: branch behind the singular pose, height at the end",
            fall.pose[-1, 2],
            0.0,
            "negative: it goes on through the base, as momentum has it; positive: it turns back",
            unit="m",
        )
        difference = largest(fall.pose[-1] - integrate(platform, FALL_TIME).pose[-1])
        yield Measure(
            f"{PRINTED_RESULTS[name].title}: pose after {FALL_TIME:g} s against the reference",
            difference,
            1e-9,
            "0.3 s before it agrees to 1e-12; passing the singular pose costs no digits",
            unit="m, 1",
        )


def _errors(name: str, fall: FormulationRun) -> Iterator[Measure]:
    printed = PRINTED_RESULTS[name]
    resolution = fall.resolution.max(axis=0)
    for k, (error, unit) in enumerate(((fall.e1, "m"), (fall.e2, "m/s"), (fall.e3, "m/s2"))):
        allowed_roundings = ERROR_ROUNDINGS[name][k]
        yield Measure(
            f"{printed.title}: e{k + 1}",
            error.max(),
            allowed_roundings * float(resolution[k]),
            f"{allowed_roundings:g} roundings of the terms that cancel, {resolution[k]:.1e}",
            unit=unit,
        )
    yield Measure(
        f"{printed.title}: energy error",
        largest(fall.energy_error),
        printed.energy / ENERGY_GAIN,
        f"a hundredth of the printed order {printed.energy:.0e}",
        unit="%",
    )


def _plot(runs: dict[str, FormulationRun]) -> Plot:
    panels = tuple(
        Panel(
            label,
            *(
                log_curve(
                    PRINTED_RESULTS[name].title, fall.time[1:], np.abs(getattr(fall, field))[1:]
                )
                for name, fall in runs.items()
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
    return Plot(
        "Errors of the five formulations",
        "time [s]",
        *panels,
        caption="Figures 11 to 14 and B.19 to B.22 of the paper for all formulations.",
    )
