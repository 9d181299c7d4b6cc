"""Last steps of a search, with slopes over standard errors and without the jumps of errors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray
from twin.errors import InputError
from twin.identification.parameters import Parameter
from twin.identification.prediction.platform_signals import OWN
from twin.identification.prediction.problem import Linear, PredictionProblem

STEPS, SHORT = 8, 0.3
"""Adopted: steps of Gauss and Newton at most, as jumps are found anew at each; length of the last
one in standard errors, as root mean square over all directions."""

LONGEST = 0.2
"""Adopted, in spreads: longest difference, of directions that hardly show."""

JUMP = 0.5
"""Adopted, in the noise: what slopes leave of all differences of a window together, from which on
it is an event that comes or goes."""

RISE, SHARES = 5e-2, (1.0, 0.3, 0.1)
"""Adopted: relative change of the sum of squares from which on a step is not taken; shares to
try."""

RADIUS = 1.0
"""Adopted, in spreads: what a step moves a parameter by at most."""


class Solution(NamedTuple):
    """Estimate, and the linear problem about it; one entry of a list per recording."""

    values: FloatArray
    """`(p,)` in SI"""
    errors: list[FloatArray]
    """`(W, m)` in standard deviations of the noise, without jumps"""
    slopes: list[FloatArray]
    """`(W, m, p)` by the parameters in spreads, likewise"""
    last: float
    """step of the search, in standard errors, as root mean square over all directions"""


def refined(
    problems: Sequence[PredictionProblem],
    x: FloatArray,
    information: FloatArray,
    bounds: FloatArray,
    *,
    robust: bool,
    tick: Callable[[], Any],
) -> Solution:
    """Return the estimate near `x` `(p,)`, in spreads from the nominal values.

    Errors are smooth functions of the parameters but for jumps: an impact or a stop that comes or
    goes moves all later errors of its window. Jumps hide the minimum from a search that compares
    sums of squares. Here differences to both sides, one standard error long, tell them apart: a
    jump is what slopes leave of the differences. Each window's errors and slopes are taken at right
    angles to its jumps, so an event that may or may not be says nothing.

    Args:
        problems: of one machine with the same parameters.
        x: estimate so far.
        information: `(p, p)` about it.
        bounds: `(2, p)` of `x`.
        robust: whether large errors count less than their square.
        tick: called after every evaluation.
    """
    parameters = problems[0].parameters
    nominal = np.array([each.nominal for each in parameters])
    spreads = np.array([each.spread for each in parameters])
    scales = [sizes(each.errors(nominal + spreads * x), each.blocks) for each in problems]
    squares = total_squares(problems, nominal + spreads * x, scales)
    for _ in range(STEPS):
        steps = longest_steps(information, parameters)
        tick()
        smooth = [without_jumps(each, nominal + spreads * x, steps) for each in problems]
        step, information = newton_step(smooth, x, bounds, robust=robust)
        start = x
        for share in SHARES:
            after = total_squares(problems, nominal + spreads * (start + share * step), scales)
            if after <= (1.0 + RISE) * squares:
                x, squares = start + share * step, after
                break
        last = float(np.sqrt(step @ information @ step / len(x)))
        if last < SHORT or x is start:
            break
    moved = x - start
    return Solution(
        nominal + spreads * x,
        [errors + slopes @ moved for errors, slopes in smooth],
        [slopes for _, slopes in smooth],
        last,
    )


def longest_steps(information: FloatArray, parameters: Sequence[Parameter]) -> FloatArray:
    """Return differences `(p, p)` in spreads, one a row: a standard error, where not too long."""
    shown, directions = np.linalg.eigh(information * together(parameters))
    return np.asarray(np.minimum(1.0 / np.sqrt(shown), LONGEST)[:, None] * directions.T)


def without_jumps(problem: PredictionProblem, values: FloatArray, steps: FloatArray) -> Linear:
    """Return errors and slopes at parameters `(p,)`, in each window at right angles to its jumps.

    Args:
        problem: of one recording.
        values: of the parameters, in SI.
        steps: `(p, p)` differences in spreads, one a row; each is taken to both sides.
    """
    errors, steps, changes = problem.differences(values, np.vstack([steps, -steps]))
    size = sizes(errors, problem.blocks)
    errors, changes = errors / size, changes / size
    slopes = np.tensordot(changes, np.linalg.pinv(steps), (0, 1))
    left = np.moveaxis(changes, 0, 2) - slopes @ steps.T
    for window, rest in enumerate(left):
        squares, axes = np.linalg.eigh(rest.T @ rest)
        large = squares > JUMP**2
        jumps = rest @ axes[:, large] / np.sqrt(squares[large])
        errors[window] -= jumps @ (jumps.T @ errors[window])
        slopes[window] -= jumps @ (jumps.T @ slopes[window])
    # Without jumps errors are smaller, but not below the noise.
    less = sizes(errors * size, problem.blocks) / size
    return Linear(errors / less, slopes / less[..., None])


def sizes(errors: FloatArray, blocks: Sequence[int]) -> FloatArray:
    """Return the root mean squares `(W, m)` of errors in each window, at least those of the noise.

    Args:
        errors: `(W, m)` in standard deviations.
        blocks: where those of another signal begin: each signal has a size of its own.
    """
    squares = np.empty_like(errors)
    ends = zip((0, *blocks), (*blocks, errors.shape[1]), strict=True)
    for part in (slice(*pair) for pair in ends):
        squares[:, part] = (errors[:, part] ** 2).mean(axis=1, keepdims=True)
    return np.sqrt(np.maximum(1.0, squares))


def together(parameters: Sequence[Parameter]) -> FloatArray:
    """Return `(p, p)` 1 for two parameters that both move the machine, or both do not; else 0.

    Differences along directions of either kind leave the rollouts of the second kind out.
    """
    moves = np.array([not each.path.startswith(OWN) for each in parameters])
    return np.asarray(moves[:, None] == moves, dtype=float)


def newton_step(
    problems: Sequence[Linear],
    x: FloatArray,
    bounds: FloatArray,
    information: FloatArray | None = None,
    *,
    robust: bool,
) -> tuple[FloatArray, FloatArray]:
    """Return the step to the minimum of the linear problem, and the information `(p, p)`.

    The step stays inside `bounds` `(2, p)`, and moves no parameter by more than `RADIUS`.
    Information that is given is not computed again, unless errors have weights.
    """
    from scipy.optimize import lsq_linear

    score, size = x.copy(), len(x)
    if robust or information is None:
        information = np.eye(size)
        for errors, slopes in problems:
            rows = slopes * np.sqrt(_weights(errors, robust))[..., None]
            information += rows.reshape(-1, size).T @ rows.reshape(-1, size)
    for errors, slopes in problems:
        score += (_weights(errors, robust) * errors).ravel() @ slopes.reshape(-1, size)
    near = np.stack([np.maximum(bounds[0], x - RADIUS), np.minimum(bounds[1], x + RADIUS)])
    factor = np.linalg.cholesky(information).T
    target = -np.linalg.solve(factor.T, score)
    margins = np.array([[-1e-9], [1e-9]])
    step = lsq_linear(factor, target, bounds=tuple(near - x + margins)).x
    return np.asarray(np.clip(x + step, *near) - x), information


def _weights(errors: FloatArray, robust: bool) -> FloatArray:
    return np.asarray(1.0 / np.sqrt(1.0 + errors**2) if robust else np.ones_like(errors))


def total_squares(
    problems: Sequence[PredictionProblem], values: FloatArray, scales: Sequence[FloatArray]
) -> float:
    """Return the sum of the squares of all errors per scale; infinite where there are none."""
    pairs = zip(problems, scales, strict=True)
    try:
        total = sum(float(((each.errors(values) / scale) ** 2).sum()) for each, scale in pairs)
    except InputError:
        return np.inf
    return total if np.isfinite(total) else np.inf
