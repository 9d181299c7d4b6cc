"""Least squares of prediction errors and priors over the parameters of a machine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray
from twin.errors import InputError
from twin.identification.prediction.problem import PredictionProblem, without

FIRST_SHARE = 4
"""One window in so many takes part while the estimate is far away."""

PASSES = ((1e-2, 20), (1e-6, 25))
"""Relative change of the cost at which a pass ends, and its most evaluations."""

SMALLEST_STEP = 1e-5
"""of a pass, in spreads per parameters in spreads"""


class Solution(NamedTuple):
    """Estimate, and the linear problem about it; one entry of a list per recording."""

    values: FloatArray
    """`(p,)` in SI"""
    errors: list[FloatArray]
    """`(W, m)` in standard deviations of the noise, less what the starts explain"""
    slopes: list[FloatArray]
    """`(W, m, p)` by the parameters in spreads, likewise"""


class _Pass:
    """Least squares with the starts' part taken out by fixed columns."""

    def __init__(
        self,
        problems: Sequence[PredictionProblem],
        values: FloatArray,
        tick: Callable[[], Any],
    ) -> None:
        self.problems, self.tick = problems, tick
        parameters = problems[0].parameters
        self.nominal = np.array([each.nominal for each in parameters])
        self.spreads = np.array([each.spread for each in parameters])
        linear = [problem.linearised(values, by_parameters=False) for problem in problems]
        self.columns = [each.by_starts for each in linear]
        if not all(np.isfinite(each.errors).all() for each in linear):
            raise InputError("log", "the model cannot follow its commands; check their signs")
        lefts = [without(each.by_starts, each.errors) for each in linear]
        self.sizes = [max(1.0, float(np.sqrt((left**2).mean()))) for left in lefts]

    def errors(self, x: FloatArray) -> FloatArray:
        """Return errors and priors at scaled parameters; NaN where no machine can be so."""
        self.tick()
        values = self.nominal + self.spreads * x
        rows = []
        for problem, columns, size in zip(self.problems, self.columns, self.sizes, strict=True):
            try:
                rows.append(without(columns, problem.errors(values)).ravel() / size)
            except InputError:
                rows.append(np.full(columns[..., 0].size, np.nan))
        return np.concatenate([*rows, x])

    def slopes(self, x: FloatArray) -> FloatArray:
        """Return the slopes of `errors`."""
        self.tick()
        values = self.nominal + self.spreads * x
        rows = []
        for problem, columns, size in zip(self.problems, self.columns, self.sizes, strict=True):
            found = problem.linearised(values, by_starts=False).slopes
            rows.append(without(columns, found).reshape(-1, len(x)) / size)
        return np.vstack([*rows, np.eye(len(x))])


def first_slopes(problems: Sequence[PredictionProblem]) -> FloatArray:
    """Return slopes `(rows, p)` at the nominal values, by the parameters in SI, of some windows."""
    nominal = np.array([each.nominal for each in problems[0].parameters])
    spreads = np.array([each.spread for each in problems[0].parameters])
    rows = []
    for problem in problems:
        found = _some(problem).linearised(nominal)
        slopes = without(found.by_starts, found.slopes).reshape(-1, len(nominal))
        # Few windows stand for all.
        rows.append(np.sqrt(FIRST_SHARE) * slopes / spreads)
    return np.vstack(rows)


def solve(
    problems: Sequence[PredictionProblem],
    *,
    robust: bool = False,
    tick: Callable[[], Any] = lambda: None,
) -> Solution:
    """Return the parameters that predict the recordings best, with their priors.

    The first pass takes some of the windows from smoothed starts. The second one takes all, with
    starts that fit them. Noise is as large as the errors that each pass begins with, so priors keep
    their weight where the model misses something.

    Args:
        problems: of one machine with the same parameters.
        robust: whether large errors count less than their square.
        tick: called after every evaluation.

    Raises:
        InputError: the rollouts fail for the values to begin with.
    """
    from scipy.optimize import least_squares

    parameters = problems[0].parameters
    nominal = np.array([each.nominal for each in parameters])
    spreads = np.array([each.spread for each in parameters])
    bounds = [
        (np.array([getattr(each, side) for each in parameters]) - nominal) / spreads
        for side in ("lower", "upper")
    ]
    x = np.zeros(len(nominal))
    for number, (tolerance, most) in enumerate(PASSES):
        parts = [_some(problem) for problem in problems] if number == 0 else list(problems)
        if number:
            for problem in problems:
                problem.improve_starts(nominal + spreads * x)
        current = _Pass(parts, nominal + spreads * x, tick)
        found = least_squares(
            current.errors,
            x,
            current.slopes,
            bounds=bounds,
            loss="soft_l1" if robust and number else "linear",
            ftol=tolerance,
            xtol=SMALLEST_STEP,
            max_nfev=most,
        )
        x = found.x
    return _solution(current, x)


def _some(problem: PredictionProblem) -> PredictionProblem:
    return problem.part(np.arange(0, len(problem.windows.first), FIRST_SHARE))


def _solution(current: _Pass, x: FloatArray) -> Solution:
    values = current.nominal + current.spreads * x
    errors, slopes = [], []
    for problem, columns in zip(current.problems, current.columns, strict=True):
        found = problem.linearised(values, by_starts=False)
        left = without(columns, found.errors)
        size = max(1.0, float(np.sqrt((left**2).mean())))
        errors.append(left / size)
        slopes.append(without(columns, found.slopes) / size)
    return Solution(values, errors, slopes)
