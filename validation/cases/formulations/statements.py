"""Statements of the extended-configuration-space paper about the formulations."""

from __future__ import annotations

import numpy as np

from twin.errors import IntegrationError
from twin.papers.formulations import FormulationRun
from twin.simulation.platform import Platform
from twin.validation.cases.formulations.runs import PRINTED, PRINTED_STOP, rigidity_ranks, tips_of
from twin.validation.measures.metrics import largest
from twin.validation.published.papers import EXTENDED
from twin.validation.results import Statement


def stop_statement(stops: dict[str, IntegrationError]) -> Statement:
    """Return the statement about the end of the actuator spaces."""
    times = {PRINTED[name].title: error.data["time"] for name, error in stops.items()}
    found = ", ".join(f"{title} at {time:.5f} s" for title, time in times.items())
    last = [error.data["run"].time[-1] for error in stops.values()]
    same = len(last) == 2 and bool(np.abs(np.array(last) - PRINTED_STOP).max() < 1e-9)
    return EXTENDED["end_of_actuator_spaces"].judged(
        f"They stop at the singular pose: {found}; the last of the paper's output times before is "
        f"{PRINTED_STOP} s.",
        same,
    )


def branch_statement(platform: Platform, fall: FormulationRun) -> Statement:
    """Return the statement about configuration space behind the singular pose."""
    ranks = rigidity_ranks(tips_of(platform, fall.pose))
    spread = largest(ranks / ranks[0] - 1.0)
    through = fall.pose[-1, 2] < 0.0
    branch = "goes on through the base" if through else "turns back"
    return EXTENDED["configuration_space_branch"].judged(
        f"It {branch}.",
        not through,
        "what loses rank at the singular pose is the constraint Jacobian of the passive angles, "
        "which this formulation does not invert. That of all joints keeps its rank as long as no "
        "leg lies along its first axis: it is a matter of the platform's shape. For twelve "
        "constraints as the paper's (nine distances, three of coplanarity) the ratio of extreme "
        f"singular values is {ranks.min():.3g}, the same all along to {spread:.0e}",
    )


def time_statement(seconds: dict[str, float]) -> Statement:
    """Return the statement about run times, given seconds per simulated second."""
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
    return Statement.judged(
        f"{EXTENDED}, section 5.2, tables 5 and 6",
        f"Run time per real time, in brackets per extended-to-task; Mathematica, C++: {printed}.",
        f"{ours}. Extended-to-task is {'' if fastest else 'not '}the fastest; the ratios are "
        "smaller because no formulation evaluates symbolic expressions here.",
        fastest,
        "run times of one moment on one computer",
    )


def error_statement(name: str, fall: FormulationRun) -> Statement:
    """Return the statement about the errors of one formulation."""
    printed = PRINTED[name]
    errors = [float(error.max()) for error in (fall.e1, fall.e2, fall.e3)]
    energy = largest(fall.energy_error)
    least = ", ".join(f"{value:.0e}" for value in fall.resolution.max(axis=0))
    reached = all(ours < 10.0 * order for ours, order in zip(errors, printed.errors, strict=True))
    return Statement.judged(
        f"{EXTENDED}, section 5.3, table 7, {printed.title}",
        "e1, e2, e3 of the order "
        + ", ".join(f"{order:.0e}" for order in printed.errors)
        + f"; energy error {printed.energy:.0e} percent",
        ", ".join(f"{error:.1e}" for error in errors) + f"; energy error {energy:.1e} percent",
        reached,
        f"one rounding of the terms that cancel is {least}; nothing below that is resolved in "
        "double precision",
        "differs" if name == "extended_to_task" else "reproduced",
    )
