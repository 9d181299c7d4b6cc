"""Search for the largest value of a function that is not smooth, by separable CMA-ES."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray


class Found(NamedTuple):
    """Best point of a search."""

    point: FloatArray
    """`(d,)`"""
    value: float


def maximised(
    function: Callable[[FloatArray], float],
    start: FloatArray,
    width: float,
    rounds: int,
    generator: np.random.Generator,
    report: Callable[[int], None],
) -> Found:
    """Return the best point that an evolution strategy with a diagonal covariance finds.

    Args:
        function: point `(d,)` -> value; minus infinity where there is none.
        start: `(d,)`.
        width: standard deviation of the first points about it.
        rounds: how many; each calls the function 4 + 3 ln d times.
        generator: of everything random.
        report: called with the number of each round.

    Reference:
        R. Ros and N. Hansen, A simple modification in CMA-ES achieving linear time and space
        complexity, PPSN X (2008).
    """
    d = len(start)
    count = 4 + int(3.0 * np.log(d))
    weights = np.log(count / 2.0 + 0.5) - np.log(np.arange(1, count // 2 + 1))
    weights /= weights.sum()
    effective = 1.0 / (weights**2).sum()
    step_memory = (effective + 2.0) / (d + effective + 5.0)
    damping = 1.0 + 2.0 * max(0.0, np.sqrt((effective - 1.0) / (d + 1.0)) - 1.0) + step_memory
    path_memory = (4.0 + effective / d) / (d + 4.0 + 2.0 * effective / d)
    # Rates of learning of a diagonal are (d + 2) / 3 times those of a whole matrix.
    faster = (d + 2.0) / 3.0
    one = min(0.5, faster * 2.0 / ((d + 1.3) ** 2 + effective))
    ranks = 2.0 * (effective - 2.0 + 1.0 / effective) / ((d + 2.0) ** 2 + effective)
    many = min(1.0 - one, faster * ranks)
    usual = np.sqrt(d) * (1.0 - 1.0 / (4.0 * d) + 1.0 / (21.0 * d * d))
    mean, variances = start.copy(), np.ones(d)
    step_path, path = np.zeros(d), np.zeros(d)
    best = Found(start.copy(), function(start))
    for number in range(rounds):
        drawn = generator.normal(size=(count, d))
        points = mean + width * np.sqrt(variances) * drawn
        values = np.array([function(point) for point in points])
        order = np.argsort(-values)
        if values[order[0]] > best.value:
            best = Found(points[order[0]].copy(), float(values[order[0]]))
        chosen = drawn[order[: len(weights)]]
        moved = weights @ chosen
        mean = mean + width * np.sqrt(variances) * moved
        step_path *= 1.0 - step_memory
        step_path += np.sqrt(step_memory * (2.0 - step_memory) * effective) * moved
        length = np.linalg.norm(step_path) / usual
        path *= 1.0 - path_memory
        if length < 1.4 + 2.0 / (d + 1.0):
            scale = np.sqrt(path_memory * (2.0 - path_memory) * effective)
            path += scale * np.sqrt(variances) * moved
        squares = variances * (weights @ chosen**2)
        variances = (1.0 - one - many) * variances + one * path**2 + many * squares
        width *= float(np.exp(step_memory / damping * (length - 1.0)))
        report(number + 1)
    return best
