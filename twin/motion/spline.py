"""Splines through recorded samples; long records are solved piece by piece."""

from __future__ import annotations

from typing import Any

import numpy as np

from twin.basics.arrays import FloatArray
from twin.errors import InputError

PIECE = 10_000
"""Coefficients of a spline that are solved for together; all at once take 130 bytes a sample."""

OVERLAP = 500
"""Samples beyond a piece that take part. The influence of a sample falls by 0.43 with each further
one, for evenly spaced samples."""


def knots_of(time: FloatArray) -> FloatArray:
    """Return the knots `(n + 10,)` of the second integral of a spline through samples.

    Without the first and last entry they are those of the first integral, without two those of
    the spline itself. Splines of long records share them: they are as large as the samples.

    Args:
        time: `(n,)` [s] of the samples, six at least.
    """
    return np.concatenate([np.repeat(time[0], 8), time[3:-3], np.repeat(time[-1], 8)])


def spline_through(
    time: FloatArray, values: FloatArray, field: str, knots: FloatArray | None = None
) -> Any:
    """Return the spline `scipy.interpolate.BSpline` through samples, not-a-knot at its ends.

    Quintic (four continuous derivatives); cubic (two) for fewer than six samples.

    Args:
        time: `(n,)` [s], increasing.
        values: `(n,)`.
        field: name of the column, for the message.
        knots: `knots_of(time)`; computed where None.

    Raises:
        InputError: samples too close in time or too large for a finite spline.
    """
    from scipy.interpolate import make_interp_spline

    try:
        with np.errstate(all="ignore"):
            if len(time) > PIECE + 2 * OVERLAP:
                spline = _in_pieces(time, values, knots_of(time) if knots is None else knots)
            else:
                spline = make_interp_spline(time, values, k=5 if len(time) >= 6 else 3)
    except (ValueError, np.linalg.LinAlgError) as error:
        raise InputError(field, f"no spline fits these samples ({error})") from None
    if not np.isfinite(spline.c).all():
        raise InputError(field, "no finite spline fits these samples; check units and time")
    return spline


def _in_pieces(time: FloatArray, values: FloatArray, knots: FloatArray) -> Any:
    """Return the quintic spline through many samples.

    Its coefficient j belongs to the knots from sample j - 3 to j + 3. So does that of a spline
    through some of the samples, away from their ends.
    """
    from scipy.interpolate import BSpline, make_interp_spline

    count = len(time)
    coefficients = np.empty(count)
    for begin in range(0, count, PIECE):
        first, last = max(0, begin - OVERLAP), min(count, begin + PIECE + OVERLAP)
        piece = make_interp_spline(time[first:last], values[first:last], k=5).c
        coefficients[begin : begin + PIECE] = piece[begin - first :][:PIECE]
    # The constructor would sort the knots, which takes three times their size.
    return BSpline.construct_fast(knots[2:-2], coefficients, 5)


def integrals(spline: Any, knots: FloatArray | None = None) -> tuple[Any, Any]:
    """Return the second and the first integral of a spline, zero at its start.

    Args:
        spline: a `scipy.interpolate.BSpline`.
        knots: those of the second integral, to be shared; see `knots_of`.
    """
    from scipy.interpolate import BSpline

    if knots is None:
        first = spline.antiderivative()
        return first.antiderivative(), first
    once = _integral(spline.c, knots[2:-2], spline.k)
    twice = _integral(once, knots[1:-1], spline.k + 1)
    return (
        BSpline.construct_fast(knots, twice, spline.k + 2),
        BSpline.construct_fast(knots[1:-1], once, spline.k + 1),
    )


def _integral(coefficients: FloatArray, knots: FloatArray, degree: int) -> FloatArray:
    """Return the coefficients `(n + 1,)` of the integral of a spline; nothing else is allocated.

    Reference: de Boor, A Practical Guide to Splines (2001), chapter X, integral of a spline.
    """
    result = np.zeros(len(coefficients) + 1)
    parts = result[1:]
    np.subtract(knots[degree + 1 :], knots[: -degree - 1], out=parts)
    parts *= coefficients
    parts /= degree + 1.0
    np.cumsum(parts, out=parts)
    return result
