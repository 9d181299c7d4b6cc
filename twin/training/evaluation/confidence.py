"""Means over episodes, and over trainings, with their 95 % confidence intervals."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import as_floats
from twin.errors import InputError

LEVEL = 0.95

SMALL = 1e-4
"""Numbers below it are written as powers of ten."""


class Mean(NamedTuple):
    """A mean and its confidence interval."""

    value: float
    half_width: float
    """of the interval of Student's t around the mean; NaN for fewer than two values"""
    episodes: int

    def text(self, digits: int = 3) -> str:
        """Return "mean +- half width", to a number of digits of the mean."""
        if self.episodes == 0:
            return "-"
        if not np.isfinite(self.half_width):
            return f"{self.value:.{digits}g}"
        # Both to the same decimal place: that of the mean's last digit.
        size = max(abs(self.value), self.half_width) or 1.0
        last = _power(size) - (digits - 1)
        if size < SMALL:
            both = self.value, self.half_width
            return " +- ".join(f"{value:.{max(0, _power(value) - last)}e}" for value in both)
        places = max(0, -last)
        return f"{self.value:.{places}f} +- {self.half_width:.{places}f}"


def _power(value: float) -> int:
    """Return the power of ten of the first digit."""
    return int(np.floor(np.log10(abs(value)))) if value else 0


def mean_of(values: Any) -> Mean:
    """Return the mean of independent values `(n,)` with its confidence interval.

    Raises:
        InputError: another shape, or not finite.
    """
    found = as_floats(values, "values") if np.size(values) else np.empty(0)
    if found.ndim != 1:
        raise InputError("values", f"must have shape (n,), got {found.shape}")
    count = found.size
    if count == 0:
        return Mean(float("nan"), float("nan"), 0)
    if count == 1:
        return Mean(float(found[0]), float("nan"), 1)
    from scipy.stats import t

    quantile = float(t.ppf(0.5 + 0.5 * LEVEL, count - 1))
    half = quantile * float(found.std(ddof=1)) / float(np.sqrt(count))
    return Mean(float(found.mean()), half, count)


def paired_difference(values: Any, baseline: Any) -> Mean:
    """Return the mean of `values - baseline` `(n,)`, of the same episodes in the same order.

    Raises:
        InputError: shapes that differ, or not finite.
    """
    if np.shape(values) != np.shape(baseline):
        raise InputError("baseline", "must have the same episodes as the values")
    return mean_of(np.asarray(values, dtype=float) - np.asarray(baseline, dtype=float))


def mean_over_trainings(values: Any) -> Mean:
    """Return the mean of `(trainings, episodes)` values, all policies in the same episodes.

    The interval is for other trainings and other episodes: the half widths of both, over the
    means of the trainings and over those of the episodes, add up by their squares. One training
    has that of its episodes.

    Raises:
        InputError: another shape, or not finite.
    """
    found = as_floats(values, "values")
    if found.ndim != 2:
        raise InputError("values", f"must have shape (trainings, episodes), got {found.shape}")
    ways = [
        mean_of(found.mean(axis=axis)).half_width for axis in (0, 1) if found.shape[1 - axis] > 1
    ]
    half = float(np.hypot.reduce(ways)) if ways else float("nan")
    return Mean(float(found.mean()), half, found.shape[1])
