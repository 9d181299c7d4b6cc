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
from twin.identification.parameters import (
    TERM_PREFIX,
    Parameter,
    bounds_array,
    nominal_array,
    prior_std_array,
    with_parameters,
)
from twin.identification.prediction.bodies import BodyCoordinates
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

BACKLASH_SEARCH_RADII = (3.0, 0.5)
"""Search radii of the backlash scans, in prior standard deviations."""

MAX_EVALUATIONS = 4
"""Evaluations of the errors in each pass, most of which need a Jacobian as well."""

COST_TOLERANCE = 1e-3
"""Relative decrease of the cost with one step below which a pass ends."""

MAX_NOISE_RATIO = 4.0
"""Engineering choice: prediction errors of the first windows over noise up to which one start is
enough.
"""

TERM_START = 0.3
"""Engineering choice: prior standard deviations from nothing at which free terms begin."""

FRICTION_KEY = "drive.friction"
"""Text that the paths of dry friction contain."""

FRICTION_START = 1.5
"""Engineering choice: prior standard deviations beside the file at which other starts have
friction.
"""

BACKLASH_KEY = "backlash"
"""Text that the paths of backlash parameters contain."""

SCAN_POINTS = 13
"""Values of each backlash that a scan tries, and half the frequencies of a swing."""

SWING_PATHS = (f"{TERM_PREFIX}pendulum.mass", f"{TERM_PREFIX}pendulum.frequency")
"""Paths of mass and frequency of a swing."""

SWING_SCAN_REACHES = (3.0, 1.1)
"""Ratios by which scans of the frequency of a swing go to both sides."""

SCAN_SEGMENT_FRACTION = 0.25
"""Fraction of the segments that a scan uses: those with most force reversals."""

DIFFERENCE_EFFECT = 0.3
"""Root mean square change of the scaled errors that a finite difference aims at."""

MAX_DIFFERENCE = 0.2
"""Length of the longest difference, in prior standard deviations."""

STEP_FACTORS = (2, 4, 8)
"""Engineering choice: `refine` takes steps of rollouts that are so many times finer, one after the
other, until estimates stay.
"""

MAX_FINAL_STEPS = 6
"""Engineering choice: maximum number of steps of `refine` with one step of rollouts."""

CONVERGED_STEP = 0.3
"""Engineering choice: root mean square length of a Gauss-Newton step, in standard errors, that
ends those with one step of rollouts.
"""

SETTLED_STEP = 0.2
"""Largest move of an estimate by finer rollouts, in its standard errors, that ends `refine`: a
tenth of half a 95 % interval.
"""

CHORD_STEP = 2.0
"""Engineering choice: root mean square length of a step, in standard errors, after which `refine`
takes a new Jacobian.
"""

DISCONTINUITY_RATIO = 0.5
"""Engineering choice: what the Jacobian leaves of the differences of a window, in its noise, from
which on it counts as a discontinuity: an impact or a stop that comes or goes.
"""

MAX_COST_INCREASE = 0.2
"""Engineering choice: relative increase of the cost above which `refine` shortens its step."""

MAX_MISFIT = 8.0
"""Engineering choice: errors over noise above which `refine` takes no finer steps."""

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
    last_step: float
    """root mean square length of the last step, in standard errors"""
    step_errors: FloatArray
    """`(p,)` last moves of the scaled parameters by finer steps of the rollouts"""
    step_factor: int
    """how many times finer the last rollouts were"""


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
    takes all windows, and `refine` ends the search.

    Args:
        problems: of one machine with the same parameters.
        start: `(p,)` values in SI to begin with, where they predict better than the nominal ones.
        robust: whether large errors count less than their square.
        tick: called after every evaluation.

    Raises:
        InputError: the rollouts fail for the values to begin with.
    """
    first = Search(
        [problem.short(FIRST_GAIN_SCALE, FIRST_WINDOW_STEP) for problem in problems], robust, tick
    )
    full = Search(problems, robust, tick)
    candidates = sorted(first.starts(start), key=first.cost)
    x = first.minimised(candidates[0])
    for candidate in candidates[1:]:
        if first.explains(x):
            break
        x = min(x, first.minimised(candidate), key=first.cost)
    for radius in BACKLASH_SEARCH_RADII:
        x = first.scan_backlash(first.minimised(x), radius)
    for reach in SWING_SCAN_REACHES:
        x = full.scan_swing(x, reach)
    full.steps, full.information = first.steps, first.information
    if any(BACKLASH_KEY in parameter.path for parameter in full.parameters):
        x = full.minimised(x)
        # Once all else is known, backlash shows best, also that of a leg that is seldom unloaded.
        for radius in BACKLASH_SEARCH_RADII:
            x = full.scan_backlash(x, radius)
    return refine(full, x)


class Search:
    """Cost of scaled parameters, and searches for its minimum.

    The noise of each window is the root mean square of its errors at the point where a pass begins,
    so that a window with unmodelled effects, such as a series of impacts, counts less.

    Dry friction, backlash and contacts make errors rough functions of the parameters. Jacobians
    therefore come from differences along the principal directions of the previous Jacobian. Each
    difference is long enough to change the errors by `DIFFERENCE_EFFECT`, but no longer than
    `MAX_DIFFERENCE`: a combination of parameters with little effect gets a long step of its own.

    Attributes:
        nominal: `(p,)` values of the file in SI.
        prior_stds: `(p,)` standard deviations of the priors in SI.
        bounds: `(2, p)` of the scaled parameters.
        scales: `(W, m)` noise of the errors of each problem.
        steps: `(p, p)` differences of the next Jacobian, one a row; None: each parameter alone.
        information: `(p, p)` of the last Jacobian, with the priors.
    """

    def __init__(
        self, problems: Sequence[PredictionProblem], robust: bool, tick: Callable[[], Any]
    ) -> None:
        """Prepare a search over the parameters of `problems`, with errors as they are."""
        self.problems, self.robust, self.tick = problems, robust, tick
        self.parameters = problems[0].parameters
        self.nominal = nominal_array(self.parameters)
        self.prior_stds = prior_std_array(self.parameters)
        self.bounds = (bounds_array(self.parameters) - self.nominal) / self.prior_stds
        self.bodies = BodyCoordinates(self.parameters)
        self.scales: list[FloatArray] = [np.ones(1) for _ in problems]
        self.steps: FloatArray | None = None
        self.information = np.eye(len(self.nominal))

    def values(self, x: FloatArray) -> FloatArray:
        """Return the values in SI of scaled parameters `(..., p)`."""
        return self.nominal + self.prior_stds * x

    def rescale(self, x: FloatArray) -> None:
        """Take the root mean squares of the errors at `x` for the noise of the windows.

        Raises:
            InputError: the rollouts fail there.
        """
        errors = [problem.errors(self.values(x)) for problem in self.problems]
        if not all(np.isfinite(error).all() for error in errors):
            raise InputError("log", "the model cannot follow its commands; check their signs")
        pairs = zip(errors, self.problems, strict=True)
        self.scales = [rms_scale(error, problem.blocks) for error, problem in pairs]

    def starts(self, given: FloatArray | None) -> list[FloatArray]:
        """Return the starts of the search, each `(p,)`: the file's values, then `given` ones.

        Both with free terms at `TERM_START`. Two more have other friction: with friction far off,
        simulated motors stick where the real ones move, or the reverse.
        """
        starts = [term_starts(self.parameters)]
        if given is not None:
            scaled = (given - self.nominal) / self.prior_stds
            starts.append(np.clip(scaled + starts[0], *self.bounds))
        is_friction = np.array([FRICTION_KEY in parameter.path for parameter in self.parameters])
        if is_friction.any():
            starts += [
                np.clip(starts[-1] + side * is_friction, *self.bounds)
                for side in (-FRICTION_START, FRICTION_START)
            ]
        return starts

    def explains(self, x: FloatArray) -> bool:
        """Return whether the errors at `x` are hardly above the noise."""
        self.rescale(x)
        return all(float(np.median(scale)) < MAX_NOISE_RATIO for scale in self.scales)

    def residuals(self, x: FloatArray) -> FloatArray:
        """Return `x`, then all scaled errors; infinite where rollouts fail."""
        self.tick()
        pairs = zip(self.problems, self.scales, strict=True)
        try:
            errors = [(problem.errors(self.values(x)) / scale).ravel() for problem, scale in pairs]
        except InputError:
            return np.full(len(x) + sum(scale.size for scale in self.scales), np.inf)
        residuals = np.concatenate([x, *errors])
        return np.asarray(np.nan_to_num(residuals, nan=np.inf, posinf=np.inf))

    def cost(self, x: FloatArray) -> float:
        """Return the sum of squares of the residuals; infinite where rollouts fail."""
        return self._loss(self.residuals(x))

    def _loss(self, residuals: FloatArray) -> float:
        squares = residuals**2
        return float((2.0 * (np.sqrt(1.0 + squares) - 1.0) if self.robust else squares).sum())

    def extrapolated(self, x: FloatArray, factor: int) -> tuple[list[FloatArray], float]:
        """Return errors `(W, m)` without those of the step of rollouts, and their cost.

        Args:
            x: `(p,)` scaled parameters.
            factor: how many times finer the finest rollouts are.
        """
        self.tick()
        try:
            errors = [
                problem.extrapolated_errors(self.values(x), factor) for problem in self.problems
            ]
        except InputError:
            return [], np.inf
        pairs = zip(errors, self.scales, strict=True)
        cost = self._loss(np.concatenate([x, *((error / scale).ravel() for error, scale in pairs)]))
        return errors, cost if np.isfinite(cost) else np.inf

    def projected(self, x: FloatArray, information: FloatArray) -> list[ProjectedJacobian]:
        """Return the Jacobians without discontinuities, for an `information` `(p, p)`."""
        self.tick()
        steps = difference_steps(information, self.parameters)
        return [projected_jacobian(problem, self.values(x), steps) for problem in self.problems]

    def jacobian(self, x: FloatArray) -> FloatArray:
        """Return the Jacobian of the residuals; it sets the steps of the next one."""
        self.tick()
        slopes = [
            problem.linearised(self.values(x), self.steps).slopes / scale[..., None]
            for problem, scale in zip(self.problems, self.scales, strict=True)
        ]
        rows: FloatArray = np.vstack(
            [np.eye(len(x)), *(slope.reshape(-1, len(x)) for slope in slopes)]
        )
        self.information = rows.T @ rows
        effect = DIFFERENCE_EFFECT * np.sqrt(len(rows))
        self.steps = difference_steps(self.information, self.parameters, effect)
        return rows

    def minimised(self, x: FloatArray) -> FloatArray:
        """Return the parameters after a pass of least squares from `x`, by possible bodies only."""
        from scipy.optimize import least_squares

        self.rescale(x)
        bodies = self.bodies
        solution = least_squares(
            lambda y: self.residuals(bodies.scaled(y)),
            bodies.free(x),
            lambda y: self.jacobian(bodies.scaled(y)) @ bodies.slopes(y),
            bounds=tuple(bodies.free_bounds(self.bounds)),
            loss="soft_l1" if self.robust else "linear",
            ftol=COST_TOLERANCE,
            max_nfev=MAX_EVALUATIONS,
        )
        return bodies.scaled(solution.x)

    def scan_swing(self, x: FloatArray, reach: float) -> FloatArray:
        """Return the parameters with frequency and mass of a swing where errors are least.

        A swing that differs in frequency falls out of step with the recorded one, and a Jacobian
        does not show the way back. Errors are linear in the mass that swings: each frequency is
        judged with the best mass for it.

        Args:
            x: `(p,)` scaled parameters.
            reach: largest ratio of a frequency to that of `x`, to both sides.
        """
        paths = [parameter.path for parameter in self.parameters]
        if not set(SWING_PATHS) <= set(paths):
            return x
        mass, frequency = map(paths.index, SWING_PATHS)
        self.rescale(x)
        trials = np.tile(x, (2 * SCAN_POINTS, 1))
        trials[0, mass], trials[1:, mass] = 0.0, 1.0
        hertz = self.values(x)[frequency] * np.geomspace(1.0 / reach, reach, len(trials))
        limits = self.bounds[:, frequency]
        trials[:, frequency] = np.clip(
            (hertz - self.nominal[frequency]) / self.prior_stds[frequency], *limits
        )
        products, squares = np.zeros((2, len(trials)))
        for problem, scale in zip(self.problems, self.scales, strict=True):
            errors = problem.errors(self.values(trials)) / scale
            changes = errors - errors[0]
            products -= (changes * errors[0]).sum(axis=(1, 2))
            squares += (changes**2).sum(axis=(1, 2))
        gains = np.nan_to_num(products[1:] * np.abs(products[1:]) / squares[1:])
        best = 1 + int(np.argmax(gains))
        trials[best, mass] = np.clip(products[best] / squares[best], *self.bounds[:, mass])
        return min(x, trials[best], key=self.cost)

    def scan_backlash(self, x: FloatArray, radius: float) -> FloatArray:
        """Return the parameters with each backlash where errors are least, up to `radius` away.

        Backlash shows in impacts. Their errors have many minima, and a Jacobian leads to the next
        one only. The scan uses the segments in which the force of the leg changes its sign most.
        Backlash of one leg may make up for that of another: the best value of each is taken only
        where the cost of all errors falls.
        """
        indices = [
            k for k, parameter in enumerate(self.parameters) if BACKLASH_KEY in parameter.path
        ]
        if not indices:
            return x
        machine = with_parameters(self.problems[0].machine, self.parameters, self.values(x))
        reversals = [problem.sign_reversals(machine) for problem in self.problems]
        best, cost = x, self.cost(x)
        for k in indices:
            trials = np.tile(x, (SCAN_POINTS, 1))
            limits = np.clip([x[k] - radius, x[k] + radius], *self.bounds[:, k])
            trials[:, k] = np.linspace(float(limits[0]), float(limits[1]), SCAN_POINTS)
            segment_costs = trials[:, k] ** 2
            for problem, scale, flags in zip(self.problems, self.scales, reversals, strict=True):
                part, windows = _most_reversals(problem, flags, self.parameters[k].leg)
                errors = part.errors(self.values(trials)) / scale[windows]
                segment_costs += (errors**2).sum(axis=(1, 2))
            candidate = best.copy()
            candidate[k] = trials[np.argmin(np.nan_to_num(segment_costs, nan=np.inf)), k]
            new_cost = self.cost(candidate)
            if new_cost < cost:
                best, cost = candidate, new_cost
        return best


def _most_reversals(
    problem: PredictionProblem, reversals: FloatArray, leg: int | None
) -> tuple[PredictionProblem, Any]:
    """Return the segments in which the force of a leg, or of all, changes its sign most often.

    Args:
        problem: of one recording.
        reversals: `(W, n)` whether the force of each leg changes its sign in each window.
        leg: index of the leg; None for all.

    Returns:
        The problem of these segments, and the indices of its windows.
    """
    windows_per_segment = problem.windows.counted
    window_counts = reversals.sum(axis=1) if leg is None else reversals[:, leg]
    segment_counts = window_counts.reshape(-1, windows_per_segment).sum(axis=1)
    n_segments = ceil(SCAN_SEGMENT_FRACTION * len(segment_counts))
    segments = np.argsort(-segment_counts, kind="stable")[:n_segments]
    windows = windows_per_segment * segments[:, None] + np.arange(windows_per_segment)
    return problem.part(segments), windows.ravel()


def refine(search: Search, x: FloatArray) -> Solution:
    """Return the estimate near `x` `(p,)`, without the errors that the step of rollouts makes.

    Errors are smooth functions of the parameters but for discontinuities: an impact or a stop that
    comes or goes changes all later errors of its window. They hide the minimum from a search that
    compares sums of squares. Central differences, one standard error long, tell them apart: a
    discontinuity is what the Jacobian leaves of the differences. Errors and Jacobian of each window
    are projected at right angles to it, so an event that may or may not happen has no effect.

    Once the steps are short, the rollouts become finer. The search ends where that moves no
    estimate by more than `SETTLED_STEP`; what the last one moved is an error of the estimate.
    """
    search.rescale(x)
    information, last_step = search.information, np.inf
    jacobians: list[ProjectedJacobian] = []
    for factor in STEP_FACTORS:
        errors, cost = search.extrapolated(x, factor)
        before_finer = x
        for _ in range(MAX_FINAL_STEPS):
            if last_step > CHORD_STEP:
                jacobians = search.projected(x, information)
            linear = [jacobian.linear(e) for jacobian, e in zip(jacobians, errors, strict=True)]
            full_step, information = _gauss_newton_step(linear, x, search)
            last_step = float(np.sqrt(full_step @ information @ full_step / len(x)))
            for fraction in FINAL_STEP_FRACTIONS:
                trial = x + fraction * full_step
                trial_errors, trial_cost = search.extrapolated(trial, factor)
                if trial_cost <= (1.0 + MAX_COST_INCREASE) * cost:
                    x, errors, cost = trial, trial_errors, trial_cost
                    break
            # Without an accepted fraction of the step, `x` has not become the last trial.
            if last_step < CONVERGED_STEP or x is not trial:
                break
        standard_errors = np.sqrt(np.diag(np.linalg.inv(information)))
        moves = np.abs(x - before_finer) / standard_errors
        is_settled = last_step < CONVERGED_STEP and moves.max() < SETTLED_STEP
        # What a model misses by far is no matter of steps.
        if (
            is_settled
            or np.median(np.concatenate([jacobian.scale for jacobian in jacobians])) > MAX_MISFIT
        ):
            break
    # Intervals are those of the end, where events come or go that did not where the search began.
    jacobians = search.projected(x, information)
    linear = [jacobian.linear(e) for jacobian, e in zip(jacobians, errors, strict=True)]
    return Solution(
        search.values(x),
        [window.errors for window in linear],
        [window.slopes for window in linear],
        last_step,
        x - before_finer,
        factor,
    )


def first_jacobian(problems: Sequence[PredictionProblem]) -> FloatArray:
    """Return the Jacobian `(rows, p)` at the nominal values, by parameters in SI, of some windows.

    Differences are central, with the same step for all delays, as some delays make up for others.
    """
    parameters = problems[0].parameters
    prior_stds = prior_std_array(parameters)
    nominal = nominal_array(parameters) + prior_stds * term_starts(parameters)
    delays = [parameter.unit == "s" for parameter in parameters]
    steps = np.diag(np.where(delays, DELAY_DIFFERENCE / prior_stds, DIFFERENCE_STEP))
    rows = []
    for problem in problems:
        count = len(problem.windows.first)
        decimated = problem.part(np.arange(0, count, VISIBILITY_WINDOW_STEP))
        slopes = decimated.linearised(nominal, np.vstack([steps, -steps])).slopes
        # Weighted as if all windows were used.
        weight = np.sqrt(count / len(decimated.windows.first))
        rows.append(weight * slopes.reshape(-1, len(nominal)) / prior_stds)
    return np.vstack(rows)


def term_starts(parameters: Sequence[Parameter]) -> FloatArray:
    """Return the scaled parameters `(p,)` to begin with: free terms above zero, others the file's.

    The direction of a cable and the frequency of a swinging payload have no effect while its force
    or mass is zero.
    """
    return np.array(
        [TERM_START * parameter.path.startswith(TERM_PREFIX) for parameter in parameters]
    )


def difference_steps(
    information: FloatArray, parameters: Sequence[Parameter], length: float = 1.0
) -> FloatArray:
    """Return differences `(p, p)` of scaled parameters, one a row, `length` standard errors long.

    None is longer than `MAX_DIFFERENCE`. Each is along parameters that move the machine, or along
    those that do not, whose rollouts are the same.
    """
    moves = np.array([not parameter.path.startswith(SENSOR_PREFIXES) for parameter in parameters])
    same_kind = moves[:, None] == moves
    eigenvalues, directions = np.linalg.eigh(information * same_kind)
    lengths = np.minimum(length / np.sqrt(eigenvalues), MAX_DIFFERENCE)
    return np.asarray(lengths[:, None] * directions.T)


class ProjectedJacobian(NamedTuple):
    """Jacobian of a recording, in each window at right angles to its discontinuities."""

    slopes: FloatArray
    """`(W, m, p)` by scaled parameters, of errors over `scale`"""
    jumps: list[FloatArray]
    """`(m, j)` directions of the discontinuities of each window, of length one"""
    scale: FloatArray
    """`(W, m)` noise of the errors"""
    blocks: Sequence[int]

    def linear(self, errors: FloatArray) -> Linear:
        """Return errors `(W, m)` and Jacobian over the noise that is left, without jumps."""
        left = errors / self.scale
        for window, jumps in enumerate(self.jumps):
            left[window] -= jumps @ (jumps.T @ left[window])
        # Errors are smaller now, but not below the noise.
        reduced_scale = rms_scale(left * self.scale, self.blocks) / self.scale
        return Linear(left / reduced_scale, self.slopes / reduced_scale[..., None])


def projected_jacobian(
    problem: PredictionProblem, values: FloatArray, steps: FloatArray
) -> ProjectedJacobian:
    """Return the Jacobian, in each window at right angles to its discontinuities.

    Args:
        problem: of one recording.
        values: `(p,)` of the parameters in SI.
        steps: `(p, p)` differences of scaled parameters, one a row; each is taken to both sides.
    """
    errors, steps, changes = problem.differences(values, np.vstack([steps, -steps]))
    scale = rms_scale(errors, problem.blocks)
    changes = changes / scale
    slopes = np.tensordot(changes, np.linalg.pinv(steps), (0, 1))
    residuals = np.moveaxis(changes, 0, 2) - slopes @ steps.T
    jumps_of_windows = []
    for window, residual in enumerate(residuals):
        eigenvalues, axes = np.linalg.eigh(residual.T @ residual)
        is_discontinuity = eigenvalues > DISCONTINUITY_RATIO**2
        jumps = residual @ axes[:, is_discontinuity] / np.sqrt(eigenvalues[is_discontinuity])
        slopes[window] -= jumps @ (jumps.T @ slopes[window])
        jumps_of_windows.append(jumps)
    return ProjectedJacobian(slopes, jumps_of_windows, scale, problem.blocks)


def _gauss_newton_step(
    problems: Sequence[Linear], x: FloatArray, search: Search
) -> tuple[FloatArray, FloatArray]:
    """Return the step to the minimum of the linear problem, and the information `(p, p)`.

    The step stays inside the bounds, leads to a possible body, and moves no free coordinate by more
    than `TRUST_RADIUS`.
    """
    from scipy.optimize import lsq_linear

    gradient, information = x.copy(), np.eye(len(x))
    for errors, slopes in problems:
        weights = 1.0 / np.sqrt(1.0 + errors**2) if search.robust else np.ones_like(errors)
        rows = (weights[..., None] * slopes).reshape(-1, len(x))
        information += rows.T @ slopes.reshape(-1, len(x))
        gradient += errors.ravel() @ rows
    free = search.bodies.free(x)
    scaled_by_free = search.bodies.slopes(free)
    room = search.bodies.free_bounds(search.bounds) - free
    step_bounds = np.clip(room, -TRUST_RADIUS, TRUST_RADIUS)
    factor = np.linalg.cholesky(information).T
    # `lsq_linear` needs bounds that differ; the result is clipped to the exact ones.
    margins = np.array([[-1e-9], [1e-9]])
    target = -np.linalg.solve(factor.T, gradient)
    step = lsq_linear(factor @ scaled_by_free, target, bounds=tuple(step_bounds + margins)).x
    return search.bodies.scaled(free + np.clip(step, *step_bounds)) - x, information


def rms_scale(errors: FloatArray, blocks: Sequence[int]) -> FloatArray:
    """Return the root mean squares `(W, m)` of errors in each window, at least those of the noise.

    Args:
        errors: `(W, m)` in standard deviations.
        blocks: columns at which another signal begins; each signal has its own scale.
    """
    parts = [
        np.broadcast_to((part**2).mean(axis=1, keepdims=True), part.shape)
        for part in np.split(errors, blocks, axis=1)
    ]
    return np.asarray(np.sqrt(np.maximum(1.0, np.hstack(parts))))
