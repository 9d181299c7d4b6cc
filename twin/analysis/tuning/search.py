"""Search for parameters whose response keeps bounds: linear programs in a region of trust.

Gains are compared by their ratio, so the search runs over the logarithms p of the m parameters.
With the violations c(p) of all bounds, negative inside, and their differences A, each iteration
solves

    minimise g   subject to   c + A d <= g,   |d| <= r,   low <= p + d <= high

for the step d. Where that leaves room inside the bounds, the smallest step that reaches them is
taken instead: minimise r subject to c + A d <= -margin. A step counts if the largest violation
falls; else the region r is halved. The search ends with the first parameters whose largest
violation is not above -margin: on the start's side of the admissible set, with gains no larger
than necessary.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, as_floats
from twin.errors import InputError

DIFFERENCE = 1e-3
"""Of a parameter's logarithm, per its range, for the derivatives."""

FIRST_REGION = 0.3
"""Half the width of the region of trust, per range."""

SMALLEST_REGION = 1e-4

WIDER = 2.0
INSIDE = 1e-3
"""Margin inside the bounds at which a step aims, so that curvature does not leave it outside."""

EXPECTED = 0.5
"""The region is widened where the violation falls by at least this part of what was predicted."""

Respond = Callable[[FloatArray], FloatArray]
Violate = Callable[[FloatArray], FloatArray]


class Trial(NamedTuple):
    """Parameters at the end of an iteration, with their response."""

    parameters: FloatArray
    """`(m,)`"""
    response: FloatArray
    """`(k,)`"""
    violation: float
    """largest, zero or less where all bounds are kept"""
    responses: int
    """number of responses computed so far"""


class Search(NamedTuple):
    """Trials from the start to the result."""

    trials: tuple[Trial, ...]
    """the start first, then one per iteration"""
    met: bool
    """whether the last one keeps all bounds"""
    reason: str
    """why the search ended"""

    @property
    def best(self) -> Trial:
        """The last trial, which has the smallest violation."""
        return self.trials[-1]


def search_bounds(
    respond: Respond,
    violate: Violate,
    start: Any,
    low: Any,
    high: Any,
    *,
    margin: float = 0.0,
    iterations: int = 30,
    watch: Callable[[Trial], None] | None = None,
) -> Search:
    """Return the search from `start` for parameters that keep all bounds.

    Args:
        respond: parameters `(m,)` to response `(k,)`; infinite entries where there is none.
        violate: response to violations `(c,)`, zero or less inside.
        start: parameters `(m,)`.
        low: smallest parameters `(m,)`, above zero.
        high: largest parameters `(m,)`.
        margin: by which the bounds shall be kept.
        iterations: at most.
        watch: called with every trial as it is found.

    Raises:
        InputError: shapes that differ, bounds not above zero or out of order, a start outside, or
            one without a response.
    """
    first, lowest, highest = (
        as_floats(value, name) for value, name in ((start, "start"), (low, "low"), (high, "high"))
    )
    if first.ndim != 1 or lowest.shape != first.shape or highest.shape != first.shape:
        raise InputError("start, low, high", "must be lists of the same length")
    if not (lowest > 0.0).all() or not (lowest < highest).all():
        raise InputError("low, high", "must be above zero, low below high")
    if (first < lowest).any() or (first > highest).any():
        raise InputError("start", f"must lie from {lowest.tolist()} to {highest.tolist()}")
    task = _Task(respond, violate, lowest, highest)
    place = np.log(first / lowest) / np.log(highest / lowest)
    violations = task.violations(place)
    if not np.isfinite(violations).all():
        raise InputError("start", "has no response to begin with: the loop is unstable there")
    trials = [task.trial(place, violations)]
    region = FIRST_REGION

    def report() -> None:
        if watch is not None:
            watch(trials[-1])

    report()
    while violations.max() > -margin:
        if len(trials) > iterations:
            return Search(tuple(trials), False, f"not met after {iterations} iterations")
        slopes = task.slopes(place, violations)
        found = None
        while found is None and region >= SMALLEST_REGION:
            step, predicted = _step(violations, slopes, place, region, margin + INSIDE)
            tried = np.clip(place + step, 0.0, 1.0)
            there = task.violations(tried)
            gained, hoped = violations.max() - there.max(), violations.max() - predicted
            if gained > 0.0:
                found = tried, there
                region = min(1.0, region * (WIDER if gained > EXPECTED * hoped else 1.0))
            else:
                region *= 0.5
        if found is None:
            return Search(tuple(trials), False, "no better parameters near the last ones")
        place, violations = found
        trials.append(task.trial(place, violations))
        report()
    return Search(tuple(trials), True, "all bounds are kept")


class _Task:
    """Responses and violations over places from 0 (low) to 1 (high), even in ratio."""

    def __init__(
        self, respond: Respond, violate: Violate, low: FloatArray, high: FloatArray
    ) -> None:
        self._respond, self._violate = respond, violate
        self._low, self._ratio = low, high / low
        self._count = 0
        self._last: FloatArray = np.empty(0)

    def violations(self, place: FloatArray) -> FloatArray:
        self._last = self._respond(self._low * self._ratio**place)
        self._count += 1
        if not np.isfinite(self._last).all():
            return np.full(1, np.inf)
        return self._violate(self._last)

    def slopes(self, place: FloatArray, violations: FloatArray) -> FloatArray:
        columns = []
        for k in range(len(place)):
            away = place.copy()
            change = DIFFERENCE if place[k] + DIFFERENCE <= 1.0 else -DIFFERENCE
            away[k] += change
            there = self.violations(away)
            known = there.shape == violations.shape
            columns.append((there - violations) / change if known else np.zeros_like(violations))
        return np.column_stack(columns)

    def trial(self, place: FloatArray, violations: FloatArray) -> Trial:
        return Trial(
            self._low * self._ratio**place, self._last, float(violations.max()), self._count
        )


def _step(
    violations: FloatArray, slopes: FloatArray, place: FloatArray, region: float, inside: float
) -> tuple[FloatArray, float]:
    """Return the step `(m,)` and the largest violation that it leaves, both by linear programs."""
    from scipy.optimize import linprog

    m, ones = len(place), np.ones((len(violations), 1))
    bounds = [(max(-region, -value), min(region, 1.0 - value)) for value in place]
    cost = np.append(np.zeros(m), 1.0)
    found = linprog(cost, np.hstack([slopes, -ones]), -violations, bounds=[*bounds, (None, None)])
    if found.x[m] > -inside:
        return np.asarray(found.x[:m]), float(found.x[m])
    sides = np.vstack([np.eye(m), -np.eye(m)])
    shortest = linprog(
        cost,
        np.vstack([np.hstack([slopes, 0.0 * ones]), np.hstack([sides, -np.ones((2 * m, 1))])]),
        np.append(-inside - violations, np.zeros(2 * m)),
        bounds=[*bounds, (0.0, None)],
    )
    return np.asarray(shortest.x[:m]), -inside
