"""Splines through recorded samples; long records are solved piece by piece."""

from __future__ import annotations

from typing import Any

import numpy as np

from twin.basics.arrays import FloatArray
from twin.errors import InputError

PIECE = 200_000
"""Coefficients of a spline that are solved for together; all at once take 130 bytes a sample."""

OVERLAP = 500
"""Samples beyond a piece that take part. The influence of a sample falls by 0.43 with each further
one, for evenly spaced samples."""


def spline_through(time: FloatArray, values: FloatArray, field: str) -> Any:
    """Return the spline `scipy.interpolate.BSpline` through samples, not-a-knot at its ends.

    Quintic (four continuous derivatives); cubic (two) for fewer than six samples.

    Args:
        time: `(n,)` [s], increasing.
        values: `(n,)`.
        field: name of the column, for the message.

    Raises:
        InputError: samples too close in time or too large for a finite spline.
    """
    from scipy.interpolate import make_interp_spline

    try:
        with np.errstate(all="ignore"):
            if len(time) > PIECE + 2 * OVERLAP:
                spline = _in_pieces(time, values)
            else:
                spline = make_interp_spline(time, values, k=5 if len(time) >= 6 else 3)
    except (ValueError, np.linalg.LinAlgError) as error:
        raise InputError(field, f"no spline fits these samples ({error})") from None
    if not np.isfinite(spline.c).all():
        raise InputError(field, "no finite spline fits these samples; check units and time")
    return spline


def _in_pieces(time: FloatArray, values: FloatArray) -> Any:
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
    knots = np.concatenate([np.repeat(time[0], 6), time[3:-3], np.repeat(time[-1], 6)])
    return BSpline(knots, coefficients, 5)
