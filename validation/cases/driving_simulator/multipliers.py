"""The multipliers that the driving simulator paper prints, term by term, and ours."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple

from twin.basics.optional import optional
from twin.papers.driving_simulator.dae.index_reduction import IndexReduction
from twin.papers.driving_simulator.dae.lagrange import symbolic_dae
from twin.papers.driving_simulator.plate import PlateModel


class PrintedTerm(NamedTuple):
    """One term of a multiplier: coefficient times powers of the angles times what drives it."""

    multiplier: int
    """from 1"""
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
    """Return our coefficient of a term of a multiplier."""
    symbols = symbolic_dae(plate.lumped()).symbols
    names = [*symbols.coordinates, *symbols.rates, *symbols.input_accelerations]
    required = {symbols.roll: term.angles[0], symbols.pitch: term.angles[1]}
    if term.input is not None:
        required[symbols.input_accelerations[term.input - 1]] = 1
    powers = tuple(required.get(name, 0) for name in names)
    found = dict(_polynomial(reduction.multipliers[term.multiplier - 1], names))
    value = found.get(powers, 0)
    return Fraction(int(value.p), int(value.q)) if value else Fraction(0)


def _polynomial(expression: Any, names: list[Any]) -> Any:
    return optional("sympy").Poly(expression, *names).terms()


def wrong_terms(reduction: IndexReduction, plate: PlateModel) -> list[PrintedTerm]:
    """Return the printed terms that are not ours."""
    return [
        term
        for term in PRINTED_TERMS
        if coefficient(reduction, plate, term) != Fraction(*term.coefficient)
    ]
