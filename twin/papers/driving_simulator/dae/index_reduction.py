"""Index reduction: differentiate the constraints until they determine the multipliers.

Reference: driving simulator paper, section "Index Reduction and converting the model".
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

from twin.basics.optional import optional
from twin.papers.driving_simulator.dae.lagrange import SymbolicDae, symbolic_dae
from twin.papers.driving_simulator.kinematics import PlateModel


@dataclass(frozen=True, eq=False)
class IndexReduction:
    """Constraints, first and second derivatives, with the multipliers that they determine."""

    accelerations: Any
    """`(7, 1)` explicit in coordinates, rates and multipliers: a1 to a7 of the paper"""
    levels: tuple[Any, Any, Any]
    """Constraints; their first derivative; their second with the accelerations put in"""
    ranks: tuple[int, int, int]
    """Ranks of the derivatives of the levels by the multipliers"""
    multipliers: Any
    """`(7, 1)` explicit in coordinates, rates and accelerations of the inputs"""

    @property
    def index(self) -> int:
        """Differentiation index: one more than the level that determines the multipliers."""
        return self.ranks.index(self.multipliers.rows) + 1


@cache
def reduce_index(plate: PlateModel) -> IndexReduction:
    """Return the index reduction of `symbolic_dae(plate)`; `plate.lumped()` gives the paper's.

    Raises:
        MissingDependencyError: sympy is not installed.
    """
    sympy = optional("sympy")
    dae = symbolic_dae(plate)
    symbols = dae.symbols
    accelerations = _explicit_accelerations(dae)
    first_derivative = symbols.time_derivative(dae.constraints)
    second_derivative = symbols.time_derivative(first_derivative)
    second_derivative = second_derivative.subs(
        dict(zip(symbols.accelerations, accelerations, strict=True))
    )
    levels = (dae.constraints, first_derivative, second_derivative)
    slopes = [level.jacobian(symbols.multipliers) for level in levels]
    known_part = second_derivative.subs(dict.fromkeys(symbols.multipliers, 0))
    multipliers = solve(slopes[2], -known_part).applyfunc(sympy.expand)
    ranks = [_domain_matrix(slope).rank() for slope in slopes]
    return IndexReduction(accelerations, levels, (ranks[0], ranks[1], ranks[2]), multipliers)


def _explicit_accelerations(dae: SymbolicDae) -> Any:
    forces = dae.jacobian.T * optional("sympy").Matrix(dae.symbols.multipliers)
    return solve(dae.mass, -(dae.bias + forces))


def multipliers_of_motion(dae: SymbolicDae) -> Any:
    """Return the multipliers `(7, 1)` of a system without dof, directly from its known motion.

    The constraints alone give the accelerations, and Lagrange's equations then the multipliers.
    No fraction of polynomials arises, whatever the mass matrix.

    Raises:
        MissingDependencyError: sympy is not installed.
    """
    sympy = optional("sympy")
    symbols = dae.symbols
    second_derivative = symbols.time_derivative(symbols.time_derivative(dae.constraints))
    input_part = second_derivative.subs(dict.fromkeys(symbols.accelerations, 0))
    accelerations = dae.jacobian.LUsolve(-input_part)
    inertial_forces = dae.mass * accelerations + dae.bias
    return dae.jacobian.T.LUsolve(-inertial_forces).applyfunc(sympy.expand)


def solve(matrix: Any, right_side: Any) -> Any:
    """Return the solution of a square system of rational expressions.

    It works with fractions of polynomials, a hundred times faster than with expressions.
    """
    left_matrix, right_matrix = _domain_matrix(matrix), _domain_matrix(right_side)
    field = left_matrix.domain.unify(right_matrix.domain)
    return left_matrix.convert_to(field).lu_solve(right_matrix.convert_to(field)).to_Matrix()


def _domain_matrix(matrix: Any) -> Any:
    polys = optional("sympy.polys.matrices")
    return polys.DomainMatrix.from_Matrix(matrix).to_field()
