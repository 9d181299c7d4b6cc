"""Differential-algebraic equations of the driving simulator."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

from twin.analysis.platform import Platform
from twin.basics.optional import optional
from twin.papers.driving_simulator.dae.index_reduction import IndexReduction, reduce_index
from twin.papers.driving_simulator.dae.integration import DaeRun, integrate_dae
from twin.papers.driving_simulator.dae.lagrange import DRIVEN_INDICES, symbolic_dae
from twin.papers.driving_simulator.kinematics import PlateModel
from twin.papers.driving_simulator.studies import exact_forces
from twin.validation.case import CaseResult, Entry, Measure, Statement, validation_case
from twin.validation.cases.driving_simulator.engines import (
    CONSTRAINT_RANK,
    LEVEL_RANKS,
    MACHINE_REASON,
    SIGMOID_INPUTS,
    SINE_INPUTS,
    paper_inputs,
    response_plot,
)
from twin.validation.published.printed import SIMULATOR_PAPER

RUN_DURATIONS = {SINE_INPUTS: 10.0, SIGMOID_INPUTS: 3.0}
"""[s] Duration of the run with each input."""

DRIFT_TOLERANCE = 1e-9
"""[m, rad] Largest drift of the integrated states off their constraints."""

DRIFT_REASON = (
    "nothing but the integrator's tolerance of 1e-11 holds the state on its constraints; over some "
    "hundred steps that leaves 1e-10"
)


class PrintedTerm(NamedTuple):
    """One term of a multiplier: coefficient times powers of the angles times its input."""

    multiplier: int
    """number of the multiplier, from 1"""
    coefficient: tuple[int, int]
    """numerator and denominator"""
    angles: tuple[int, int]
    """powers of roll and pitch"""
    input: int | None
    """1 to 3: second derivative of that input; None: a constant"""


PRINTED_TERMS = (
    PrintedTerm(1, (30, 1), (0, 0), 3),
    PrintedTerm(1, (-30, 1), (0, 0), 2),
    PrintedTerm(1, (-30, 1), (0, 0), 1),
    PrintedTerm(1, (-2943, 10), (0, 0), None),
    PrintedTerm(2, (30, 1), (2, 0), 3),
    PrintedTerm(2, (-30, 1), (2, 0), 2),
    PrintedTerm(3, (192000, 1681), (0, 2), 1),
    PrintedTerm(4, (30, 1), (2, 0), 2),
    PrintedTerm(4, (-30, 1), (2, 0), 3),
    PrintedTerm(5, (192000, 1681), (0, 2), 3),
    PrintedTerm(6, (30, 1), (2, 0), 3),
    PrintedTerm(6, (-30, 1), (2, 0), 2),
    PrintedTerm(7, (30, 1), (2, 0), 2),
    PrintedTerm(7, (-30, 1), (2, 0), 3),
)
"""Section "Equation of the lagrange multiplier", all terms that are printed in full."""


def coefficient(reduction: IndexReduction, plate: PlateModel, term: PrintedTerm) -> Fraction:
    """Return the derived coefficient of a term of a multiplier."""
    symbols = symbolic_dae(plate.lumped()).symbols
    names = [*symbols.coordinates, *symbols.rates, *symbols.input_accelerations]
    exponents = {symbols.roll: term.angles[0], symbols.pitch: term.angles[1]}
    if term.input is not None:
        exponents[symbols.input_accelerations[term.input - 1]] = 1
    powers = tuple(exponents.get(symbol, 0) for symbol in names)
    multiplier = reduction.multipliers[term.multiplier - 1]
    value = optional("sympy").Poly(multiplier, *names).nth(*powers)
    return Fraction(int(value.p), int(value.q))


def wrong_terms(reduction: IndexReduction, plate: PlateModel) -> list[PrintedTerm]:
    """Return the printed terms that differ from the derived ones."""
    return [
        term
        for term in PRINTED_TERMS
        if coefficient(reduction, plate, term) != Fraction(*term.coefficient)
    ]


@validation_case(machines=("driving_simulator",), because=MACHINE_REASON, run_time=1.5)
def check_simulator_dae(platform: Platform) -> CaseResult:
    """Differential-algebraic equations of the driving simulator.

    The paper's small-angle model has seven coordinates and seven constraints. It is derived with
    sympy from the printed energies. Checked are the rank of the constraints, the ranks through the
    two differentiations, and every printed term of the multipliers. The index-1 system is
    integrated for both sets of inputs from consistent states. As no freedom is left, the solution
    is also known without integrating. The forces of this model are compared with those of the exact
    model, which has the terms that the printed energies leave out.
    """
    plate = PlateModel.from_parameters(platform.parameters)
    reduction = reduce_index(plate.lumped())
    rank = symbolic_dae(plate.lumped()).jacobian.rank()
    runs, plots = {}, []
    for name, inputs in paper_inputs(plate).items():
        run = runs[name] = integrate_dae(plate.lumped(), inputs, RUN_DURATIONS[name])
        exact = exact_forces(plate.lumped(), inputs, run.time)[:, list(DRIVEN_INDICES)]
        plots.append(response_plot(name, run, exact))
    return check_simulator_dae.result(
        platform, _runs(runs), plots, _statements(plate, reduction, rank, runs)
    )


def _runs(runs: dict[str, DaeRun]) -> Iterator[Entry]:
    for name, result in runs.items():
        yield Measure(
            f"{name}: integration against the solution that the constraints alone give",
            result.error,
            DRIFT_TOLERANCE,
            DRIFT_REASON,
            "m, rad",
        )
        yield Measure(
            f"{name}: drift of the constraints in {result.time[-1]:g} s",
            result.position_drift.max(),
            DRIFT_TOLERANCE,
            DRIFT_REASON,
            "m",
        )


def _statements(
    plate: PlateModel,
    reduction: IndexReduction,
    rank: int,
    runs: dict[str, DaeRun],
) -> tuple[Statement, ...]:
    differing_terms = wrong_terms(reduction, plate)
    return (
        SIMULATOR_PAPER["constraint_rank"].judged(f"Rank {rank}.", rank == CONSTRAINT_RANK),
        SIMULATOR_PAPER["index"].judged(
            f"Ranks {', '.join(map(str, reduction.ranks))}: index {reduction.index}.",
            reduction.ranks == LEVEL_RANKS,
        ),
        SIMULATOR_PAPER["multipliers"].judged(
            f"{len(PRINTED_TERMS) - len(differing_terms)} of them are the same fractions.",
            not differing_terms,
        ),
        SIMULATOR_PAPER["responses"].not_given(
            "Both integrate from consistent states and stay on the known solution to "
            f"{max(result.error for result in runs.values()):.0e} m and rad.",
            "curves without numbers",
        ),
    )
