"""Least squares of prediction errors and priors over the parameters of a machine.

The search runs in scaled parameters `x` `(p,)`: differences from the file's values, each in its
prior standard deviation. A prior is thus a unit Gaussian on every entry of `x`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import ceil
from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray
from twin.errors import InputError
from twin.identification.parameters import Parameter, with_parameters
from twin.identification.prediction.problem import DIFFERENCE_STEP, Linear, PredictionProblem
from twin.identification.prediction.recording import SENSOR_PREFIXES

VISIBILITY_WINDOW_STEP = 4
"""Every fourth window is used to find out which parameters are identifiable."""

DELAY_DIFFERENCE = 1e-4
"""[s] Difference of delays for the first Jacobian."""

FIRST_GAIN_SCALE = 5.0
"""How much faster the first passes correct their predictions than the last one."""

FIRST_WINDOW_STEP = 3
"""The first passes take every third window."""

FIRST_PASSES = ((2, 3.0), (2, 0.5))
"""Largest number of Jacobians of each first pass, and search radius of the backlash scan after it,
in prior standard deviations."""

MAX_JACOBIANS = 2
"""Jacobians of the pass over all windows."""

BACKLASH_SEARCH_RADII = (3.0, 0.5)
"""Search radii of the backlash scans after that pass, in prior standard deviations."""

COST_TOLERANCE = 1e-3
"""Relative decrease of the cost with one Jacobian below which a pass ends."""

MAX_STEPS_PER_JACOBIAN = 4
"""Maximum number of Gauss-Newton steps with one Jacobian."""

MIN_STEP_DECREASE = 1e-2
"""Relative decrease of the cost below which no further step is taken with the same Jacobian."""

MAX_SEARCHES = 2
"""Maximum number of searches; a second one runs only if errors stay above `MAX_NOISE_RATIO`."""

MAX_NOISE_RATIO = 2.0
"""Prediction errors over noise that end the search."""

BACKLASH_KEY = "backlash"
"""Text that the paths of backlash parameters contain."""

SCAN_POINTS = 13
"""Values of each backlash that a scan tries."""

SCAN_WINDOW_FRACTION = 0.25
"""Fraction of the windows that a scan uses: those with most force reversals."""

STEP_FRACTIONS = (1.0, 0.5, 0.2, 0.05)
"""Fractions of a Gauss-Newton step that are tried until the cost falls."""

DIFFERENCE_EFFECT = 0.3
"""Root mean square change of the scaled errors that a finite difference aims at."""

MAX_DIFFERENCE = 0.2
"""Length of the longest difference, in prior standard deviations."""

MAX_FINAL_STEPS = 8
"""Engineering choice: maximum number of Gauss-Newton steps of `refine`; each projects out the
discontinuities at its own point.
"""

CONVERGED_STEP = 0.3
"""Engineering choice: root mean square length of a step, in standard errors, that ends `refine`."""

DISCONTINUITY_RATIO = 0.5
"""Engineering choice: what the Jacobian leaves of the differences of a window, in its noise, from
which on it counts as a discontinuity: an impact or a stop that comes or goes.
"""

MAX_COST_INCREASE = 5e-2
"""Engineering choice: relative increase of the sum of squares above which `refine` does not take a
step.
"""

FINAL_STEP_FRACTIONS = (1.0, 0.3, 0.1)
"""Engineering choice: fractions of a step that `refine` tries."""

TRUST_RADIUS = 1.0
"""Engineering choice: largest change of a scaled parameter in one step."""


class Solution(NamedTuple):
    """Estimate, and the linearised problem there; lists have one entry per recording."""

    values: FloatArray
    """`(p,)` values in SI"""
    errors: list[FloatArray]
    """`(W, m)` errors in standard deviations of the noise, discontinuities projected out"""
    slopes: list[FloatArray]
    """`(W, m, p)` derivatives by the scaled parameters, discontinuities projected out"""
    last: float
    """root mean square length of the last step, in standard errors"""


def solve(
    problems: Sequence[PredictionProblem],
    start: FloatArray | None = None,
    *,
    robust: bool = False,
    tick: Callable[[], Any] = lambda: None,
) -> Solution:
    """Return the parameters that predict the recordings best, with their priors.

    The first passes take some of the windows and correct predictions fast, so that those of a wrong
    machine stay close to the recording. They scan each backlash over its whole range. The last pass
    takes all windows, and `refine` ends the search. Each pass takes the root mean square of a
    window's initial errors as its noise, so that a window with unmodelled effects, such as a series
    of impacts, counts less.

    Args:
        problems: of one machine with the same parameters.
        start: `(p,)` values in SI to begin with, where they predict better than the nominal ones.
        robust: whether large errors count less than their square.
        tick: called after every evaluation.

    Raises:
        InputError: the rollouts fail for the values to begin with.
    """
    parameters = problems[0].parameters
    nominal = np.array([parameter.nominal for parameter in parameters])
    prior_stds = np.array([parameter.spread for parameter in parameters])
    limits = [[getattr(parameter, side) for parameter in parameters] for side in ("lower", "upper")]
    bounds = (np.array(limits) - nominal) / prior_stds
    shortened = [problem.short(FIRST_GAIN_SCALE, FIRST_WINDOW_STEP) for problem in problems]
    x, steps = _first_guess(shortened, start, bounds), None
    for _ in range(MAX_SEARCHES):
        for max_jacobians, radius in FIRST_PASSES:
            first_pass = _Pass(shortened, x, steps, robust, tick)
            x = first_pass.scan_backlash(
                first_pass.search(x, bounds, max_jacobians), bounds, radius
            )
            steps = first_pass.steps
        current = _Pass(problems, x, steps, robust, tick)
        x, steps = current.search(x, bounds, MAX_JACOBIANS), current.steps
        # Once all else is known, backlash shows best, also that of a leg that is seldom unloaded.
        for radius in BACKLASH_SEARCH_RADII:
            x = current.scan_backlash(x, bounds, radius)
        ratios = [
            rms_scale(problem.errors(nominal + prior_stds * x), problem.blocks)
            for problem in problems
        ]
        if all(np.median(ratio) < MAX_NOISE_RATIO for ratio in ratios):
            break
    return refine(problems, x, current.information, bounds, robust=robust, tick=tick)


def refine(
    problems: Sequence[PredictionProblem],
    x: FloatArray,
    information: FloatArray,
    bounds: FloatArray,
    *,
    robust: bool,
    tick: Callable[[], Any],
) -> Solution:
    """Return the estimate near `x` `(p,)`.

    Errors are smooth functions of the parameters but for discontinuities: an impact or a stop that
    comes or goes changes all later errors of its window. They hide the minimum from a search that
    compares sums of squares. Central differences, one standard error long, tell them apart: a
    discontinuity is what the Jacobian leaves of the differences. Errors and Jacobian of each window
    are projected at right angles to it, so an event that may or may not happen has no effect.

    Args:
        problems: of one machine with the same parameters.
        x: scaled parameters so far.
        information: `(p, p)` information matrix there.
        bounds: `(2, p)` of `x`.
        robust: whether large errors count less than their square.
        tick: called after every evaluation.
    """
    parameters = problems[0].parameters
    nominal = np.array([parameter.nominal for parameter in parameters])
    prior_stds = np.array([parameter.spread for parameter in parameters])
    scales = [
        rms_scale(problem.errors(nominal + prior_stds * x), problem.blocks) for problem in problems
    ]
    cost = total_squares(problems, nominal + prior_stds * x, scales)
    for _ in range(MAX_FINAL_STEPS):
        steps = difference_steps(information, parameters)
        tick()
        linear_problems = [
            project_out_discontinuities(problem, nominal + prior_stds * x, steps)
            for problem in problems
        ]
        step, information = gauss_newton_step(linear_problems, x, bounds, robust=robust)
        x_before = x
        for fraction in FINAL_STEP_FRACTIONS:
            new_cost = total_squares(
                problems, nominal + prior_stds * (x_before + fraction * step), scales
            )
            if new_cost <= (1.0 + MAX_COST_INCREASE) * cost:
                x, cost = x_before + fraction * step, new_cost
                break
        step_length = float(np.sqrt(step @ information @ step / len(x)))
        if step_length < CONVERGED_STEP or x is x_before:
            break
    net_step = x - x_before
    return Solution(
        nominal + prior_stds * x,
        [errors + slopes @ net_step for errors, slopes in linear_problems],
        [slopes for _, slopes in linear_problems],
        step_length,
    )


class _Pass:
    """Least squares in which the noise of each window is the size of its initial errors.

    Dry friction, backlash and contacts make errors rough functions of the parameters. Jacobians
    therefore come from differences along the principal directions of the Jacobian before. Each
    difference is long enough to change the errors by `DIFFERENCE_EFFECT`, so that a sum that hardly
    shows is not left to the difference of two large changes.
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
        self.nominal = np.array([parameter.nominal for parameter in parameters])
        self.spreads = np.array([parameter.spread for parameter in parameters])
        self.information = np.eye(len(x))
        errors = [problem.errors(self.nominal + self.spreads * x) for problem in problems]
        if not all(np.isfinite(error).all() for error in errors):
            raise InputError("log", "the model cannot follow its commands; check their signs")
        pairs = zip(errors, problems, strict=True)
        self.scales = [rms_scale(error, problem.blocks) for error, problem in pairs]

    def evaluate(self, x: FloatArray) -> tuple[float, list[FloatArray]]:
        """Return half the sum of squares of errors and priors, and the scaled errors.

        The sum is infinite where rollouts fail.
        """
        self.tick()
        try:
            errors = [problem.errors(self.nominal + self.spreads * x) for problem in self.problems]
        except InputError:
            return np.inf, []
        scaled = [error / scale for error, scale in zip(errors, self.scales, strict=True)]
        squares = [error**2 for error in scaled]
        if self.robust:
            squares = [2.0 * (np.sqrt(1.0 + square) - 1.0) for square in squares]
        cost = 0.5 * (sum(float(square.sum()) for square in squares) + float(x @ x))
        return cost if np.isfinite(cost) else np.inf, scaled

    def search(self, x: FloatArray, bounds: FloatArray, max_jacobians: int) -> FloatArray:
        """Return the parameters after Gauss-Newton steps, shortened while the cost rises.

        A Jacobian costs an evaluation for each parameter: it is kept while steps with it pay.
        """
        cost, errors = self.evaluate(x)
        for _ in range(max_jacobians):
            jacobians, cost_before = self.jacobians(x), cost
            for _ in range(MAX_STEPS_PER_JACOBIAN):
                linear = [Linear(*pair) for pair in zip(errors, jacobians, strict=True)]
                step, self.information = gauss_newton_step(
                    linear, x, bounds, self.information, robust=self.robust
                )
                for fraction in STEP_FRACTIONS:
                    new_cost, new_errors = self.evaluate(x + fraction * step)
                    if new_cost < cost:
                        break
                else:
                    break
                x, errors = x + fraction * step, new_errors
                decrease, cost = cost - new_cost, new_cost
                if decrease < MIN_STEP_DECREASE * cost:
                    break
            if cost_before - cost < COST_TOLERANCE * cost:
                break
        return x

    def scan_backlash(self, x: FloatArray, bounds: FloatArray, radius: float) -> FloatArray:
        """Return the parameters with each backlash where errors are least, up to `radius` away.

        Backlash shows in impacts. Their errors have many minima, and a Jacobian leads to the next
        one only. The scan uses the windows in which the force of the leg changes its sign most.
        """
        parameters = self.problems[0].parameters
        backlash = [k for k, parameter in enumerate(parameters) if BACKLASH_KEY in parameter.path]
        if not backlash:
            return x
        self.tick()
        rows = np.tile(x, (len(backlash), SCAN_POINTS, 1))
        for row, k in zip(rows, backlash, strict=True):
            limits = max(bounds[0, k], x[k] - radius), min(bounds[1, k], x[k] + radius)
            row[:, k] = np.linspace(*limits, SCAN_POINTS)
        costs = np.array([row[:, k] ** 2 for row, k in zip(rows, backlash, strict=True)])
        values = self.nominal + self.spreads * x
        machine = with_parameters(self.problems[0].machine, parameters, values)
        for problem, scale in zip(self.problems, self.scales, strict=True):
            reversals = problem.sign_reversals(machine)
            counts = reversals.reshape(len(problem.windows.first), -1, reversals.shape[1])
            windows = [_most_reversals(counts.sum(axis=1), parameters[k].leg) for k in backlash]
            costs += problem.squares(self.nominal + self.spreads * rows, windows, scale)
        costs[~np.isfinite(costs)] = np.inf
        scanned = x.copy()
        for k, row, cost in zip(backlash, rows, costs, strict=True):
            scanned[k] = row[np.argmin(cost), k]
        return self.best_combination(x, scanned, backlash)

    def best_combination(
        self, x: FloatArray, scanned: FloatArray, indices: Sequence[int]
    ) -> FloatArray:
        """Return `x` with those entries of `scanned` with which the cost falls most.

        Backlash of one leg may make up for that of another. Entries are tried all at once, each
        alone, and then together those that are good alone.
        """
        candidates = [x, scanned]
        for k in indices:
            candidates.append(x.copy())
            candidates[-1][k] = scanned[k]
        costs = [self.evaluate(candidate)[0] for candidate in candidates]
        improving = [k for k, cost in zip(indices, costs[2:], strict=True) if cost < costs[0]]
        if len(improving) > 1:
            candidates.append(x.copy())
            candidates[-1][improving] = scanned[improving]
            costs.append(self.evaluate(candidates[-1])[0])
        return candidates[int(np.argmin(costs))]

    def jacobians(self, x: FloatArray) -> list[FloatArray]:
        """Return the Jacobians of the scaled errors of all problems.

        Sets the information, and the differences of the next Jacobian.
        """
        self.tick()
        values = self.nominal + self.spreads * x
        jacobians = [
            problem.linearised(values, self.steps).slopes / scale[..., None]
            for problem, scale in zip(self.problems, self.scales, strict=True)
        ]
        rows = [jacobian.reshape(-1, len(x)) for jacobian in jacobians]
        normal_matrix = np.sum([row_block.T @ row_block for row_block in rows], axis=0)
        self.information = normal_matrix + np.eye(len(x))
        per_row = normal_matrix * block_mask(self.problems[0].parameters) / sum(map(len, rows))
        effects, directions = np.linalg.eigh(per_row)
        min_effect = (DIFFERENCE_EFFECT / MAX_DIFFERENCE) ** 2
        lengths = DIFFERENCE_EFFECT / np.sqrt(np.maximum(effects, min_effect))
        self.steps = lengths[:, None] * directions.T
        return jacobians


def first_jacobian(problems: Sequence[PredictionProblem]) -> FloatArray:
    """Return the Jacobian `(rows, p)` at the nominal values, by parameters in SI, of some windows.

    Differences are central, and equal for all delays, of which some make up for each other.
    """
    nominal = np.array([parameter.nominal for parameter in problems[0].parameters])
    prior_stds = np.array([parameter.spread for parameter in problems[0].parameters])
    delays = [parameter.unit == "s" for parameter in problems[0].parameters]
    steps = np.diag(np.where(delays, DELAY_DIFFERENCE / prior_stds, DIFFERENCE_STEP))
    rows = []
    for problem in problems:
        count = len(problem.windows.first)
        decimated = problem.part(np.arange(0, count, VISIBILITY_WINDOW_STEP))
        slopes = decimated.linearised(nominal, np.vstack([steps, -steps])).slopes
        # Few windows stand for all.
        weight = np.sqrt(count / len(decimated.windows.first))
        rows.append(weight * slopes.reshape(-1, len(nominal)) / prior_stds)
    return np.vstack(rows)


def difference_steps(information: FloatArray, parameters: Sequence[Parameter]) -> FloatArray:
    """Return differences `(p, p)` of scaled parameters, one a row, each one standard error long.

    None is longer than `MAX_DIFFERENCE`.
    """
    eigenvalues, directions = np.linalg.eigh(information * block_mask(parameters))
    lengths = np.minimum(1.0 / np.sqrt(eigenvalues), MAX_DIFFERENCE)
    return np.asarray(lengths[:, None] * directions.T)


def project_out_discontinuities(
    problem: PredictionProblem, values: FloatArray, steps: FloatArray
) -> Linear:
    """Return errors and Jacobian, in each window at right angles to its discontinuities.

    Args:
        problem: of one recording.
        values: `(p,)` of the parameters in SI.
        steps: `(p, p)` differences of scaled parameters, one a row; each is taken to both sides.
    """
    errors, steps, changes = problem.differences(values, np.vstack([steps, -steps]))
    scale = rms_scale(errors, problem.blocks)
    errors, changes = errors / scale, changes / scale
    slopes = np.tensordot(changes, np.linalg.pinv(steps), (0, 1))
    residuals = np.moveaxis(changes, 0, 2) - slopes @ steps.T
    for window, residual in enumerate(residuals):
        eigenvalues, axes = np.linalg.eigh(residual.T @ residual)
        is_discontinuity = eigenvalues > DISCONTINUITY_RATIO**2
        jumps = residual @ axes[:, is_discontinuity] / np.sqrt(eigenvalues[is_discontinuity])
        errors[window] -= jumps @ (jumps.T @ errors[window])
        slopes[window] -= jumps @ (jumps.T @ slopes[window])
    # Errors are smaller now, but not below the noise.
    reduced_scale = rms_scale(errors * scale, problem.blocks) / scale
    return Linear(errors / reduced_scale, slopes / reduced_scale[..., None])


def gauss_newton_step(
    problems: Sequence[Linear],
    x: FloatArray,
    bounds: FloatArray,
    information: FloatArray | None = None,
    *,
    robust: bool,
) -> tuple[FloatArray, FloatArray]:
    """Return the step to the minimum of the linear problem, and the information `(p, p)`.

    The step stays inside `bounds` `(2, p)`, and moves no parameter by more than `TRUST_RADIUS`.
    Information that is given is not computed again, unless errors have weights.
    """
    from scipy.optimize import lsq_linear

    gradient, size = x.copy(), len(x)
    if robust or information is None:
        information = np.eye(size)
        for errors, slopes in problems:
            rows = slopes * np.sqrt(_weights(errors, robust))[..., None]
            information += rows.reshape(-1, size).T @ rows.reshape(-1, size)
    for errors, slopes in problems:
        gradient += (_weights(errors, robust) * errors).ravel() @ slopes.reshape(-1, size)
    step_bounds = np.stack(
        [np.maximum(bounds[0], x - TRUST_RADIUS), np.minimum(bounds[1], x + TRUST_RADIUS)]
    )
    cholesky_factor = np.linalg.cholesky(information).T
    target = -np.linalg.solve(cholesky_factor.T, gradient)
    # `lsq_linear` needs bounds that differ; the result is clipped to the exact ones.
    margins = np.array([[-1e-9], [1e-9]])
    step = lsq_linear(cholesky_factor, target, bounds=tuple(step_bounds - x + margins)).x
    return np.asarray(np.clip(x + step, *step_bounds) - x), information


def rms_scale(errors: FloatArray, blocks: Sequence[int]) -> FloatArray:
    """Return the root mean squares `(W, m)` of errors in each window, at least those of the noise.

    Args:
        errors: `(W, m)` in standard deviations.
        blocks: columns at which another signal begins; each signal has its own scale.
    """
    mean_squares = np.empty_like(errors)
    edges = zip((0, *blocks), (*blocks, errors.shape[1]), strict=True)
    for block in (slice(*block_edges) for block_edges in edges):
        mean_squares[:, block] = (errors[:, block] ** 2).mean(axis=1, keepdims=True)
    return np.sqrt(np.maximum(1.0, mean_squares))


def block_mask(parameters: Sequence[Parameter]) -> FloatArray:
    """Return `(p, p)` 1 for two parameters that both move the machine, or both do not; else 0.

    Differences along directions of one block leave the rollouts of the other unchanged.
    """
    moves_machine = np.array(
        [not parameter.path.startswith(SENSOR_PREFIXES) for parameter in parameters]
    )
    return np.asarray(moves_machine[:, None] == moves_machine, dtype=float)


def total_squares(
    problems: Sequence[PredictionProblem], values: FloatArray, scales: Sequence[FloatArray]
) -> float:
    """Return the sum of squares of all errors over their scales; infinite where rollouts fail."""
    pairs = zip(problems, scales, strict=True)
    try:
        sum_of_squares = sum(
            float(((problem.errors(values) / scale) ** 2).sum()) for problem, scale in pairs
        )
    except InputError:
        return np.inf
    return sum_of_squares if np.isfinite(sum_of_squares) else np.inf


def _first_guess(
    problems: Sequence[PredictionProblem], start: FloatArray | None, bounds: FloatArray
) -> FloatArray:
    """Return the scaled parameters `(p,)` of `start`, if it predicts better than the file, or 0."""
    parameters = problems[0].parameters
    nominal = np.array([parameter.nominal for parameter in parameters])
    prior_stds = np.array([parameter.spread for parameter in parameters])
    candidates = [np.zeros(len(nominal))]
    if start is not None:
        candidates.append(np.clip((start - nominal) / prior_stds, *bounds))
    unit_scales = [np.ones(1)] * len(problems)
    return min(
        candidates, key=lambda x: total_squares(problems, nominal + prior_stds * x, unit_scales)
    )


def _most_reversals(counts: FloatArray, leg: int | None) -> Any:
    """Return the windows in which the force of a leg, or of all, changes its sign most often."""
    reversals = counts.sum(axis=1) if leg is None else counts[:, leg]
    return np.argsort(-reversals, kind="stable")[: ceil(SCAN_WINDOW_FRACTION * len(reversals))]


def _weights(errors: FloatArray, robust: bool) -> FloatArray:
    return np.asarray(1.0 / np.sqrt(1.0 + errors**2) if robust else np.ones_like(errors))
