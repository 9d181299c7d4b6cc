"""Least squares of prediction errors and priors over the parameters of a machine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import ceil
from typing import Any

import numpy as np

from twin.basics.arrays import FloatArray
from twin.errors import InputError
from twin.identification.parameters import with_parameters
from twin.identification.prediction.problem import CHANGE, Linear, PredictionProblem
from twin.identification.prediction.refine import (
    Solution,
    newton_step,
    refined,
    sizes,
    together,
    total_squares,
)

FIRST_SHARE = 4
"""One stretch in so many shows what is visible."""

LATER = 1e-4
"""[s] Difference of delays for the first slopes."""

FIRMNESS, SHORT_SHARE = 5.0, 3
"""Of the first passes: how much faster predictions are corrected, one window in so many."""

ROUNDS = ((2, 3.0), (2, 0.5))
"""Of the first passes: slopes at most, and reach in spreads of the search for plays after them."""

MOST, REACHES, TOLERANCE = 2, (3.0, 0.5), 1e-3
"""Slopes of the pass over all windows at most, reaches of the searches for plays after it, and
relative fall of the cost by the steps with the same slopes at the end of a pass."""

KEPT, WORTH = 4, 1e-2
"""Steps with the same slopes at most, and relative fall of the cost for another one."""

TRIES, MISFIT = 2, 2.0
"""Searches at most: another one where errors are more than so many deviations of the noise."""

PLAY, SCAN, SCAN_SHARE = "backlash", 13, 0.25
"""In the paths of plays; values that are tried of each; share of the stretches that show it."""

SHARES = (1.0, 0.5, 0.2, 0.05)
"""Of a step that are tried."""

SHOWN, LARGEST = 0.3, 0.2
"""Change of the errors by a difference, in their size; length of the largest one, in spreads."""


class _Pass:
    """Least squares with noise in each window as large as its errors at the beginning.

    Dry friction, play and contacts make errors rough functions of the parameters. Slopes therefore
    come from differences along the principal directions of what the slopes before have found, each
    long enough for `SHOWN` of the errors: sums that hardly show are not left to the difference of
    two large changes.
    """

    def __init__(
        self,
        problems: Sequence[PredictionProblem],
        x: FloatArray,
        steps: FloatArray | None,
        robust: bool,
        tick: Callable[[], Any],
    ) -> None:
        self.problems, self.steps, self.robust, self.tick = problems, steps, robust, tick
        parameters = problems[0].parameters
        self.nominal = np.array([each.nominal for each in parameters])
        self.spreads = np.array([each.spread for each in parameters])
        self.information = np.eye(len(x))
        found = [problem.errors(self.nominal + self.spreads * x) for problem in problems]
        if not all(np.isfinite(each).all() for each in found):
            raise InputError("log", "the model cannot follow its commands; check their signs")
        pairs = zip(found, problems, strict=True)
        self.sizes = [sizes(errors, problem.blocks) for errors, problem in pairs]

    def evaluated(self, x: FloatArray) -> tuple[float, list[FloatArray]]:
        """Return half the sum of squares of errors and priors, and the errors in their sizes.

        The sum is infinite where rollouts fail.
        """
        self.tick()
        try:
            found = [problem.errors(self.nominal + self.spreads * x) for problem in self.problems]
        except InputError:
            return np.inf, []
        found = [each / size for each, size in zip(found, self.sizes, strict=True)]
        squares = [each**2 for each in found]
        if self.robust:
            squares = [2.0 * (np.sqrt(1.0 + each) - 1.0) for each in squares]
        total = 0.5 * (sum(float(each.sum()) for each in squares) + float(x @ x))
        return total if np.isfinite(total) else np.inf, found

    def search(self, x: FloatArray, bounds: FloatArray, most: int) -> FloatArray:
        """Return the parameters after steps of Gauss and Newton, shortened while the cost rises.

        Slopes cost an evaluation for each parameter: they are kept while steps with them pay.
        """
        cost, errors = self.evaluated(x)
        for _ in range(most):
            slopes, begin = self.slopes(x), cost
            for _ in range(KEPT):
                linear = [Linear(*pair) for pair in zip(errors, slopes, strict=True)]
                step, self.information = newton_step(
                    linear, x, bounds, self.information, robust=self.robust
                )
                for share in SHARES:
                    moved, tried = self.evaluated(x + share * step)
                    if moved < cost:
                        break
                else:
                    break
                x, errors, fall, cost = x + share * step, tried, cost - moved, moved
                if fall < WORTH * cost:
                    break
            if begin - cost < TOLERANCE * cost:
                break
        return x

    def scan(self, x: FloatArray, bounds: FloatArray, reach: float) -> FloatArray:
        """Return the parameters with each play where errors are least, up to `reach` spreads away.

        Play shows in impacts. Their errors have many minima, and slopes lead to the next one. Tried
        are the stretches in which the force of its leg changes its sign most often.
        """
        parameters = self.problems[0].parameters
        plays = [k for k, each in enumerate(parameters) if PLAY in each.path]
        if not plays:
            return x
        self.tick()
        rows = np.tile(x, (len(plays), SCAN, 1))
        for own, k in zip(rows, plays, strict=True):
            ends = max(bounds[0, k], x[k] - reach), min(bounds[1, k], x[k] + reach)
            own[:, k] = np.linspace(*ends, SCAN)
        costs = np.array([own[:, k] ** 2 for own, k in zip(rows, plays, strict=True)])
        values = self.nominal + self.spreads * x
        machine = with_parameters(self.problems[0].machine, parameters, values)
        for problem, size in zip(self.problems, self.sizes, strict=True):
            turns = problem.turns(machine)
            often = turns.reshape(len(problem.windows.first), -1, turns.shape[1]).sum(axis=1)
            shown = [_most(often, parameters[k].leg) for k in plays]
            costs += problem.squares(self.nominal + self.spreads * rows, shown, size)
        costs[~np.isfinite(costs)] = np.inf
        moved = x.copy()
        for k, own, cost in zip(plays, rows, costs, strict=True):
            moved[k] = own[np.argmin(cost), k]
        return self._best(x, moved, plays)

    def _best(self, x: FloatArray, moved: FloatArray, plays: Sequence[int]) -> FloatArray:
        """Return `x` with those plays of `moved` with which the cost falls most.

        Plays may make up for each other: they are tried together, alone, and those together that
        are good alone.
        """
        tried = [x, moved]
        for k in plays:
            tried.append(x.copy())
            tried[-1][k] = moved[k]
        costs = [self.evaluated(each)[0] for each in tried]
        good = [k for k, cost in zip(plays, costs[2:], strict=True) if cost < costs[0]]
        if len(good) > 1:
            tried.append(x.copy())
            tried[-1][good] = moved[good]
            costs.append(self.evaluated(tried[-1])[0])
        return tried[int(np.argmin(costs))]

    def slopes(self, x: FloatArray) -> list[FloatArray]:
        """Return the slopes of all problems in sizes of their errors.

        Set the information, and the steps of the next slopes.
        """
        self.tick()
        values = self.nominal + self.spreads * x
        found = [
            problem.linearised(values, self.steps).slopes / size[..., None]
            for problem, size in zip(self.problems, self.sizes, strict=True)
        ]
        rows = [each.reshape(-1, len(x)) for each in found]
        squares = np.sum([each.T @ each for each in rows], axis=0)
        self.information = squares + np.eye(len(x))
        scaled = squares * together(self.problems[0].parameters) / sum(map(len, rows))
        shown, directions = np.linalg.eigh(scaled)
        lengths = SHOWN / np.sqrt(np.maximum(shown, (SHOWN / LARGEST) ** 2))
        self.steps = lengths[:, None] * directions.T
        return found


def first_slopes(problems: Sequence[PredictionProblem]) -> FloatArray:
    """Return slopes `(rows, p)` at the nominal values, by the parameters in SI, of some windows.

    Differences are to both sides, and equal for all delays, of which some make up for each other.
    """
    nominal = np.array([each.nominal for each in problems[0].parameters])
    spreads = np.array([each.spread for each in problems[0].parameters])
    equal = np.where([each.unit == "s" for each in problems[0].parameters], LATER / spreads, CHANGE)
    both = np.vstack([np.diag(equal), -np.diag(equal)])
    rows = []
    for problem in problems:
        some = _some(problem, FIRST_SHARE)
        share = len(problem.windows.first) / len(some.windows.first)
        # Few windows stand for all.
        found = some.linearised(nominal, both).slopes.reshape(-1, len(nominal))
        rows.append(np.sqrt(share) * found / spreads)
    return np.vstack(rows)


def solve(
    problems: Sequence[PredictionProblem],
    start: FloatArray | None = None,
    *,
    robust: bool = False,
    tick: Callable[[], Any] = lambda: None,
) -> Solution:
    """Return the parameters that predict the recordings best, with their priors.

    The first passes take some of the windows, with firm corrections: predictions of a wrong machine
    then stay close to the recording. Plays are tried over their whole range. The last pass takes
    all windows, and `refined` ends the search. Noise is as large as the errors that each pass
    begins with, window by window: where the model misses something, as in a series of impacts, a
    window says less.

    Args:
        problems: of one machine with the same parameters.
        start: `(p,)` values to begin with, where they predict better than the nominal ones.
        robust: whether large errors count less than their square.
        tick: called after every evaluation.

    Raises:
        InputError: the rollouts fail for the values to begin with.
    """
    parameters = problems[0].parameters
    nominal = np.array([each.nominal for each in parameters])
    spreads = np.array([each.spread for each in parameters])
    ends = [[getattr(each, side) for each in parameters] for side in ("lower", "upper")]
    bounds = (np.array(ends) - nominal) / spreads
    short = [problem.short(FIRMNESS, SHORT_SHARE) for problem in problems]
    x, steps = _begin(short, start, bounds), None
    for _ in range(TRIES):
        for most, reach in ROUNDS:
            first = _Pass(short, x, steps, robust, tick)
            x = first.scan(first.search(x, bounds, most), bounds, reach)
            steps = first.steps
        current = _Pass(problems, x, steps, robust, tick)
        x, steps = current.search(x, bounds, MOST), current.steps
        # With all else known, plays show best: that of a leg seldom unloaded in few windows.
        for reach in REACHES:
            x = current.scan(x, bounds, reach)
        left = [sizes(each.errors(nominal + spreads * x), each.blocks) for each in problems]
        if all(np.median(each) < MISFIT for each in left):
            break
    return refined(problems, x, current.information, bounds, robust=robust, tick=tick)


def _begin(
    problems: Sequence[PredictionProblem], start: FloatArray | None, bounds: FloatArray
) -> FloatArray:
    """Return where a search begins, in spreads: at `start` if it predicts better than the file."""
    parameters = problems[0].parameters
    nominal = np.array([each.nominal for each in parameters])
    spreads = np.array([each.spread for each in parameters])
    tried = [np.zeros(len(nominal))]
    if start is not None:
        tried.append(np.clip((start - nominal) / spreads, *bounds))
    one = [np.ones(1)] * len(problems)
    return min(tried, key=lambda x: total_squares(problems, nominal + spreads * x, one))


def _some(problem: PredictionProblem, share: int) -> PredictionProblem:
    return problem.part(np.arange(0, len(problem.windows.first), share))


def _most(often: FloatArray, leg: int | None) -> Any:
    """Return the stretches in which the force of a leg, or of all, turns most `often` (S, n)."""
    counts = often.sum(axis=1) if leg is None else often[:, leg]
    return np.argsort(-counts, kind="stable")[: ceil(SCAN_SHARE * len(counts))]
