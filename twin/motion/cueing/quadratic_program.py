"""A quadratic program solved again and again with other numbers, by OSQP."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray
from twin.basics.optional import optional


class Problem(NamedTuple):
    """Minimise x P x / 2 + q x subject to lower <= A x <= upper."""

    hessian: FloatArray
    """P `(m, m)`, symmetric, positive semidefinite"""
    gradient: FloatArray
    """q `(m,)`"""
    rows: FloatArray
    """A `(k, m)`"""
    lower: FloatArray
    """`(k,)`"""
    upper: FloatArray
    """`(k,)`"""


class Solution(NamedTuple):
    """Solution of a quadratic program, and whether it is one."""

    solution: FloatArray
    """x `(m,)`"""
    solved: bool
    """whether the solver's tolerances are met"""
    iterations: int


class QuadraticProgram:
    """Problems of one shape, each started from the solution of the one before.

    Reference:
        Stellato, Banjac, Goulart, Bemporad and Boyd, OSQP: an operator splitting solver for
        quadratic programs, Math. Programming Computation 12 (2020).
    """

    def __init__(self, problem: Problem, tolerance: float, most: int) -> None:
        """Prepare the solver.

        Args:
            problem: the first; the Hessian is that of all.
            tolerance: absolute and relative, of the solver.
            most: iterations.

        Raises:
            MissingDependencyError: the solver is not installed.
        """
        from scipy.sparse import csc_matrix, triu

        library = optional("osqp")
        count, size = problem.rows.shape
        places = np.tile(np.arange(count), size)
        rows = csc_matrix(
            (_entries(problem.rows), places, count * np.arange(size + 1)), shape=(count, size)
        )
        self.solver = library.OSQP()
        self.solver.setup(
            P=triu(csc_matrix(problem.hessian), format="csc"),
            q=problem.gradient,
            A=rows,
            l=problem.lower,
            u=problem.upper,
            verbose=False,
            warm_starting=True,
            eps_abs=tolerance,
            eps_rel=tolerance,
            max_iter=most,
            # Counted in iterations, not in time: the same input gives the same motion.
            adaptive_rho_interval=25,
        )

    def solve(self, problem: Problem) -> Solution:
        """Return the solution of a problem with the Hessian of the first."""
        self.solver.update(
            q=problem.gradient,
            l=problem.lower,
            u=problem.upper,
            Ax=_entries(problem.rows),
        )
        result = self.solver.solve(raise_error=False)
        solution = np.asarray(result.x, dtype=np.float64)
        fine = result.info.status == "solved" and bool(np.isfinite(solution).all())
        return Solution(solution, fine, int(result.info.iter))


def _entries(rows: FloatArray) -> FloatArray:
    """Return all entries, column by column."""
    return rows.ravel(order="F")
