"""Curves as they are sent to the page: samples of a time span, thinned out and rounded."""

from __future__ import annotations

import numpy as np

from twin.basics.arrays import FloatArray

RESOLUTION = 2000.0
"""Steps to which the range of a chart is rounded; charts are lower than that in pixels."""

FINEST = 1e-6
"""Finest step of a chart as a share of its greatest value."""


def span(
    time: FloatArray, values: FloatArray, start: float, end: float
) -> tuple[FloatArray, FloatArray]:
    """Return the samples `(k,)`, `(k, c)` between two times [s], both inclusive."""
    first, last = np.searchsorted(time, (start, end + 1e-9))
    return time[first:last], values[first:last]


def thinned(time: FloatArray, values: FloatArray, points: int) -> tuple[FloatArray, FloatArray]:
    """Return about `points` samples at most; the curves keep all their peaks.

    Each of equally long spells becomes two samples: the least and the greatest value of every
    curve, in the order in which the curve runs. The spells are fixed in time, so that a scrolling
    curve does not flicker.

    Args:
        time: `(k,)` [s], rising.
        values: `(k, c)`, NaN where there is none.
        points: largest number of samples, but for two more where spells are cut at the ends.
    """
    if len(time) <= points:
        return time, values
    # A power of two, so that a little more or less of time does not move all spells.
    length = 2.0 ** np.ceil(np.log2(2.0 * (time[-1] - time[0]) / points))
    spell = np.floor(time / length)
    begin = np.flatnonzero(np.diff(spell, prepend=-np.inf))
    low, high = np.fmin.reduceat(values, begin), np.fmax.reduceat(values, begin)
    last = np.append(begin[1:], len(time)) - 1
    falls = values[last] < values[begin]
    kept = np.empty((2 * len(begin), values.shape[1]))
    kept[0::2], kept[1::2] = np.where(falls, high, low), np.where(falls, low, high)
    middles = np.concatenate([time[begin], time[last]]).reshape(2, -1).T.ravel()
    return middles, kept


def since_last_gap(values: FloatArray) -> int:
    """Return the index after which no curve begins any more in values `(k, c)`.

    The page's charts join curves over gaps, which would show a motion that never was, and find no
    range if the first number is NaN. Curves without any number do not count.
    """
    there = np.isfinite(values)
    begins = there.copy()
    begins[1:] &= ~there[:-1]
    return int(np.flatnonzero(begins.any(axis=1)).max(initial=0))


def rounded(values: FloatArray, least: float = 0.0) -> FloatArray:
    """Return numbers `(k, c)` rounded to the resolution of a chart.

    Args:
        values: NaN where there is none.
        least: smallest range that matters.
    """
    finite = values[np.isfinite(values)]
    if finite.size == 0:
        return values
    low, high = float(finite.min()), float(finite.max())
    wide = max(high - low, FINEST * RESOLUTION * max(-low, high), least)
    if wide <= 0.0:
        return values
    return np.round(values, int(np.clip(np.ceil(np.log10(RESOLUTION / wide)), 0, 300)))
