"""The discrete Riccati equation of plants with waiting commands, whose poles at zero are many."""

from __future__ import annotations

import numpy as np

from twin.basics.arrays import FloatArray
from twin.errors import StateError

ROUNDS = 60
"""Each doubles the number of periods looked ahead."""

SETTLED = 1e-12

LARGEST = 1e60
"""A solution beyond is none: its squares would leave the range of numbers."""


def riccati(
    dynamics: FloatArray, input_matrix: FloatArray, cost: FloatArray, effort: FloatArray
) -> FloatArray:
    """Return the stabilising solution X `(s, s)` by structured doubling.

        X = A' X A - A' X B (R + B' X B)^-1 B' X A + Q

    Sums over 1, 2, 4, .. periods. Chains of delays make the usual pencil too ill-conditioned to be
    sorted; here they simply end.

    Args:
        dynamics: `(s, s)` A.
        input_matrix: `(s, i)` B.
        cost: `(s, s)` Q, symmetric and not negative.
        effort: `(i, i)` R, symmetric and positive.

    Raises:
        StateError: no solution, what is unstable is out of reach (`data`: change).

    Reference:
        Chu, Fan, Lin, Wang, structure-preserving algorithms for periodic discrete-time algebraic
        Riccati equations, International Journal of Control 77 (2004).
    """
    step, reach, found = dynamics, input_matrix @ np.linalg.solve(effort, input_matrix.T), cost
    one, change = np.eye(len(dynamics)), np.inf
    for _ in range(ROUNDS):
        if float(np.abs(found).max()) > LARGEST:
            break
        both = np.linalg.solve(one + reach @ found, np.hstack([step, reach]))
        forward, spread = both[:, : len(one)], both[:, len(one) :]
        added = step.T @ found @ forward
        reach = reach + step @ spread @ step.T
        step = step @ forward
        found = found + 0.5 * (added + added.T)
        reach = 0.5 * (reach + reach.T)
        size = np.sqrt(np.maximum(np.diag(found), 1e-300))
        change = float(np.abs(added / np.outer(size, size)).max())
        if change <= SETTLED:
            return found
    raise StateError("the gains of the loop do not settle", {"change": change})
