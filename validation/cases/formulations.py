"""The five formulations of the benchmark's dynamics, beside tables 5, 6 and 7 of its paper."""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter

import numpy as np

from twin.arrays import FloatArray
from twin.dynamics.formulations import (
    Formulation,
    FormulationRun,
    formulation_names,
    simulate_formulation,
)
from twin.dynamics.integrate import integrate
from twin.errors import IntegrationError
from twin.platform import Platform
from twin.validation.case import Case
from twin.validation.comparison import log_curve
from twin.validation.formulation_tables import PRINTED
from twin.validation.published import EXTENDED
from twin.validation.results import CaseResult, Curve, Measure, Panel, Plot, Statement
from twin.validation.sampling import random_states

CASE = Case(
    key="formulations",
    title="Five formulations of the dynamics",
    description=(
        "The free fall from home by the configuration-space, actuator-space, task-space, "
        "extended-to-task-space and extended-to-actuator-space formulations: accelerations and "
        "motion against the reference, what each does at the singular pose in the plane of the "
        "base, errors of the loop closure (e1 position, e2 velocity, e3 acceleration), energy and "
        "run time, beside the paper's tables. All with Dormand-Prince 5(4) at 1e-13 per step."
    ),
    machines=("srspm",),
)

FALL_TIME, AGREEMENT_TIME = 1.0, 0.3
"""[s]"""

STATES, RUNS = 50, 5

PRINTED_STOP = 0.48
"""[s] at which the paper's actuator-space simulations end."""

OUTPUT_STEP = 0.01
"""[s] the paper's 100 equal steps."""

OPERATIONS = 4.0
"""Roundings, of the size of the largest terms, that an error at the limit of float64 may hold."""

ENERGY_GAIN = 100.0
"""The energy error has to be this much smaller than printed."""


def run(platform: Platform) -> CaseResult:
    """Run the case on one machine."""
    runs, stops = falls(platform)
    seconds = {name: run_time(platform, name) for name in formulation_names()}
    measures = [*_agreement(platform, runs), *_singular(platform, runs, stops)]
    for name, fall in runs.items():
        measures += _errors(name, fall)
    measures += _speeds(seconds)
    statements = (
        _stop_statement(stops),
        _branch_statement(platform, runs["configuration"]),
        _time_statement(seconds),
        *(_error_statement(name, fall) for name, fall in runs.items()),
    )
    return CASE.result(platform, measures, _plots(runs), statements)


def falls(
    platform: Platform,
) -> tuple[dict[str, FormulationRun], dict[str, IntegrationError]]:
    """Return the fall by each formulation as far as it goes, and the errors of those that stop."""
    runs, stops = {}, {}
    for name in formulation_names():
        try:
            runs[name] = simulate_formulation(platform, name, FALL_TIME, OUTPUT_STEP)
        except IntegrationError as error:
            runs[name], stops[name] = error.data["run"], error
    return runs, stops


def run_time(platform: Platform, name: str) -> float:
    """Return seconds per simulated second, the best of some runs, as long as the paper's."""
    formulation, duration = Formulation(platform, name), PRINTED[name].real_time
    best = np.inf
    for _ in range(RUNS):
        start = perf_counter()
        formulation.integrate(duration, OUTPUT_STEP)
        best = min(best, perf_counter() - start)
    return float(best / duration)


def rigidity_ranks(tips: FloatArray) -> FloatArray:
    """Return the ratios of smallest to largest singular value of the paper's twelve constraints.

    Nine distances and three triple products (coplanarity) of the tips `(k, 6, 3)`; derivatives by the tips.
    """
    pairs = [(i, (i + 1) % 6) for i in range(6)] + [(0, 2), (2, 4), (4, 0)]
    ratios = []
    for points in tips:
        rows = np.zeros((12, 6, 3))
        for line, (i, j) in enumerate(pairs):
            side = points[j] - points[i]
            rows[line, i], rows[line, j] = -side, side
        corner, first, second = points[0], points[2] - points[0], points[4] - points[0]
        for line, m in enumerate((1, 3, 5), start=9):
            arm = points[m] - corner
            parts = np.cross(first, second), np.cross(second, arm), np.cross(arm, first)
            rows[line, m], rows[line, 2], rows[line, 4] = parts
            rows[line, 0] = -sum(parts)
        values = np.linalg.svd(rows.reshape(12, 18), compute_uv=False)
        ratios.append(values[-1] / values[0])
    return np.array(ratios)


def _agreement(platform: Platform, runs: dict[str, FormulationRun]) -> Iterator[Measure]:
    states = random_states(platform, STATES, seed=11)
    forces = platform.inverse_dynamics(states.pose, states.twist, states.acceleration)
    legs = platform.leg_coordinates(states.pose, states.twist, states.acceleration)
    joints = np.concatenate([legs.angle_accelerations, legs.length_accelerations[..., None]], -1)
    reference = integrate(platform, AGREEMENT_TIME)
    index = round(AGREEMENT_TIME / OUTPUT_STEP)
    for name, fall in runs.items():
        formulation, worst = Formulation(platform, name), 0.0
        for k, pose in enumerate(states.pose):
            y = formulation.state_from(pose, states.twist[k])
            found = formulation.derivative(y, forces[k], guess=pose)[-_freedoms(name) :]
            wanted = {6: states.acceleration[k], 18: joints[k].reshape(18)}[_freedoms(name)]
            wanted = legs.length_accelerations[k] if "actuator" in name else wanted
            worst = max(worst, float(np.abs(found - wanted).max() / np.abs(wanted).max()))
        title = PRINTED[name].title
        yield Measure(
            f"{title}: accelerations at {STATES} random states",
            worst,
            "1",
            1e-9,
            "two derivations of one equation; forces from inverse dynamics",
        )
        apart = float(np.abs(fall.pose[index] - reference.pose[-1]).max())
        yield Measure(
            f"{title}: pose after {AGREEMENT_TIME:g} s against the reference",
            apart,
            "m, 1",
            1e-11,
            "the reference's tolerance of 1e-12 per step, summed up",
        )


def _freedoms(name: str) -> int:
    return 18 if name == "configuration" else 6


def _singular(
    platform: Platform, runs: dict[str, FormulationRun], stops: dict[str, IntegrationError]
) -> Iterator[Measure]:
    expected = {"actuator", "extended_to_actuator"}
    yield Measure(
        "formulations that do at the singular pose what they should not",
        float(len(expected ^ set(stops))),
        "1",
        0.0,
        "the two actuator spaces have to stop, the three others have to pass",
    )
    for name, error in stops.items():
        data = error.data
        yield Measure(
            f"{PRINTED[name].title}: stops at the singular pose",
            float(data["time"]),
            "s",
            reason=f"condition number {data['condition_number']:.2g}, {data['reason']}",
        )
        yield Measure(
            f"{PRINTED[name].title}: stop off the paper's last output at {PRINTED_STOP} s",
            float(abs(data["run"].time[-1] - PRINTED_STOP)),
            "s",
            1e-9,
            f"last time of the result in steps of {OUTPUT_STEP} s, as in the paper",
        )
    for name, fall in runs.items():
        if name in stops:
            continue
        yield Measure(
            f"{PRINTED[name].title}: branch behind the singular pose, height at the end",
            float(fall.pose[-1, 2]),
            "m",
            0.0,
            "negative: it goes on through the base, as momentum has it; positive: it turns back",
        )
        apart = float(np.abs(fall.pose[-1] - integrate(platform, FALL_TIME).pose[-1]).max())
        yield Measure(
            f"{PRINTED[name].title}: pose after {FALL_TIME:g} s against the reference",
            apart,
            "m, 1",
            1e-9,
            "0.3 s before it agrees to 1e-12; passing the singular pose costs no digits",
        )


def _errors(name: str, fall: FormulationRun) -> Iterator[Measure]:
    printed = PRINTED[name]
    least = fall.resolution.max(axis=0)
    for k, (error, unit) in enumerate(((fall.e1, "m"), (fall.e2, "m/s"), (fall.e3, "m/s2"))):
        bar = max(10.0 * printed.errors[k], OPERATIONS * float(least[k]))
        yield Measure(
            f"{printed.title}: e{k + 1}",
            float(error.max()),
            unit,
            bar,
            f"printed order {printed.errors[k]:.0e}, that is up to ten times as much, or "
            f"{OPERATIONS:g} roundings of the terms that cancel, of {least[k]:.1e}",
        )
    yield Measure(
        f"{printed.title}: energy error",
        float(np.abs(fall.energy_error).max()),
        "%",
        printed.energy / ENERGY_GAIN,
        f"a hundredth of the printed order {printed.energy:.0e}",
    )


def _speeds(seconds: dict[str, float]) -> Iterator[Measure]:
    for name, value in seconds.items():
        yield Measure(
            f"{PRINTED[name].title}: faster than real time",
            1.0 / value,
            "1",
            reason=f"{value / seconds['extended_to_task']:.2f} times extended-to-task; here, now",
        )


def _plots(runs: dict[str, FormulationRun]) -> tuple[Plot, ...]:
    panels = [
        Panel(
            label,
            tuple(
                log_curve(PRINTED[name].title, fall.time[1:], np.abs(values(fall))[1:])
                for name, fall in runs.items()
            ),
            log_y=True,
        )
        for label, values in (
            ("e1 [m]", lambda fall: fall.e1),
            ("e2 [m/s]", lambda fall: fall.e2),
            ("e3 [m/s2]", lambda fall: fall.e3),
            ("energy error [%]", lambda fall: fall.energy_error),
        )
    ]
    heights = tuple(
        Curve(PRINTED[name].title, fall.time, fall.pose[:, 2]) for name, fall in runs.items()
    )
    return (
        Plot(
            "Errors of the five formulations",
            "time [s]",
            tuple(panels),
            caption="Figures 11 to 14 and B.19 to B.22 of the paper for all formulations.",
        ),
        Plot("Height of the platform", "time [s]", (Panel("z [m]", heights),)),
    )


def _stop_statement(stops: dict[str, IntegrationError]) -> Statement:
    times = {PRINTED[name].title: error.data["time"] for name, error in stops.items()}
    found = ", ".join(f"{title} at {time:.5f} s" for title, time in times.items())
    last = [error.data["run"].time[-1] for error in stops.values()]
    same = len(last) == 2 and bool(np.abs(np.array(last) - PRINTED_STOP).max() < 1e-9)
    return Statement(
        f"{EXTENDED}, section 5.2, tables 5 and 6",
        "Actuator-space and extended-to-actuator-space simulations end at 0.48 s (0.47 s in table "
        "5), where the root tracker fails at a singular pose.",
        f"They stop at the singular pose: {found}; the last of the paper's output times before is "
        f"{PRINTED_STOP} s.",
        "reproduced" if same else "differs",
    )


def _branch_statement(platform: Platform, fall: FormulationRun) -> Statement:
    ranks = rigidity_ranks(_tips(platform, fall.pose))
    spread = float(np.abs(ranks / ranks[0] - 1.0).max())
    through = fall.pose[-1, 2] < 0.0
    branch = "goes on through the base" if through else "turns back"
    return Statement(
        f"{EXTENDED}, section 5.2, figure 8",
        "In configuration space the motion after 0.48 s depends on the solver alone; the platform "
        "changes its direction at the singular pose.",
        f"It {branch}. What loses rank at the singular pose is the constraint Jacobian of the "
        "passive angles, which this formulation does not invert. That of all joints keeps its "
        "rank as long as no leg lies along its first axis: it is a matter of the platform's shape. "
        "For twelve constraints as the paper's (nine distances, three of coplanarity) the ratio "
        f"of extreme singular values is {ranks.min():.3g}, constant along the fall to {spread:.0e}.",
        "differs" if through else "reproduced",
    )


def _tips(platform: Platform, pose: FloatArray) -> FloatArray:
    from scipy.spatial.transform import Rotation

    turns = Rotation.from_quat(pose[:, [4, 5, 6, 3]]).as_matrix()
    return np.asarray(pose[:, None, :3] + np.einsum("kab,ib->kia", turns, platform.platform_joints))


def _time_statement(seconds: dict[str, float]) -> Statement:
    base = seconds["extended_to_task"]
    ours = "; ".join(
        f"{PRINTED[name].title} {value:.2g} ({value / base:.1f})" for name, value in seconds.items()
    )
    printed = "; ".join(
        f"{row.title} {row.mathematica:g} ({row.mathematica / 0.289:.1f}), "
        f"{row.compiled:g} ({row.compiled / 0.042:.1f})"
        for row in PRINTED.values()
    )
    fastest = min(seconds, key=lambda name: seconds[name]) == "extended_to_task"
    return Statement(
        f"{EXTENDED}, section 5.2, tables 5 and 6",
        f"Run time per real time, in brackets per extended-to-task; Mathematica, C++: {printed}.",
        f"{ours}. Extended-to-task is {'' if fastest else 'not '}the fastest; the ratios are "
        "smaller because no formulation evaluates symbolic expressions here.",
        "reproduced" if fastest else "differs",
    )


def _error_statement(name: str, fall: FormulationRun) -> Statement:
    printed = PRINTED[name]
    errors = [float(error.max()) for error in (fall.e1, fall.e2, fall.e3)]
    energy = float(np.abs(fall.energy_error).max())
    least = ", ".join(f"{value:.0e}" for value in fall.resolution.max(axis=0))
    reached = all(ours < 10.0 * order for ours, order in zip(errors, printed.errors, strict=True))
    return Statement(
        f"{EXTENDED}, section 5.3, table 7, {printed.title}",
        "e1, e2, e3 of the order "
        + ", ".join(f"{order:.0e}" for order in printed.errors)
        + f"; energy error {printed.energy:.0e} percent",
        ", ".join(f"{error:.1e}" for error in errors)
        + f"; energy error {energy:.1e} percent. One rounding of the terms that cancel is {least}; "
        "nothing below that can be told in double precision.",
        "reproduced" if reached else "differs",
    )
