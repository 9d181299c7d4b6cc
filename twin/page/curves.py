"""Curves as they go over the wire: rows of a time span, thinned out and rounded."""

from __future__ import annotations

import numpy as np

from twin.basics.arrays import FloatArray

RESOLUTION = 2000.0
"""Steps that the range of a chart is rounded to at least; charts are lower than that in pixels."""

FINEST = 1e-6
"""Share of its greatest value that a chart resolves at best."""


def span(
    time: FloatArray, values: FloatArray, start: float, end: float
) -> tuple[FloatArray, FloatArray]:
    """Return the rows `(k,)`, `(k, c)` between two times [s], both inclusive."""
    first, last = np.searchsorted(time, (start, end + 1e-9))
    return time[first:last], values[first:last]


def thinned(time: FloatArray, values: FloatArray, points: int) -> tuple[FloatArray, FloatArray]:
    """Return at most about `points` rows whose curves keep all their peaks.

    Each of equally long spells becomes two rows: the least and the greatest value of every curve,
    in the order in which the curve runs. The spells lie fixed in time, so that a curve that scrolls
    does not flicker.

    Args:
        time: `(k,)` [s], rising.
        values: `(k, c)`, nan where there is none.
        points: how many rows there may be; two more where spells are cut at the ends.
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
    """Return the row from which on no curve begins any more in values `(k, c)`.

    The page's charts join over gaps, which would show a motion that never was, and find no range
    where the first number is none. Curves without any number do not count.
    """
    there = np.isfinite(values)
    begins = there.copy()
    begins[1:] &= ~there[:-1]
    return int(np.flatnonzero(begins.any(axis=1)).max(initial=0))


def rounded(values: FloatArray, least: float = 0.0) -> FloatArray:
    """Return numbers `(k, c)` with as many decimals as their range deserves.

    Args:
        values: with nan where there is none.
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
