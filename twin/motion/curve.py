"""One recorded axis as a smooth function of time, with exact derivatives and integrals."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.polynomial import Polynomial

from twin.basics.arrays import FloatArray
from twin.errors import InputError

FEWEST_SAMPLES = 4
"""A cubic spline needs four samples; from six on the spline is quintic."""


class Curve(NamedTuple):
    """A spline for each derivative, minus a polynomial that takes away drift."""

    value: Any
    """`scipy.interpolate.BSpline`, as are its derivatives"""
    rate: Any
    acceleration: Any
    drift: Polynomial

    def __call__(self, time: FloatArray) -> FloatArray:
        """Return value, rate and acceleration `(m, 3)` at times `(m,)` [s]."""
        parts = (
            self.value(time) - self.drift(time),
            self.rate(time) - self.drift.deriv(1)(time),
            self.acceleration(time) - self.drift.deriv(2)(time),
        )
        return np.stack(parts, axis=1)


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
            spline = make_interp_spline(time, values, k=5 if len(time) >= 6 else 3)
    except (ValueError, np.linalg.LinAlgError) as error:
        raise InputError(field, f"no spline fits these samples ({error})") from None
    if not np.isfinite(spline.c).all():
        raise InputError(field, "no finite spline fits these samples; check units and time")
    return spline


def curve_of_values(time: FloatArray, values: FloatArray, field: str) -> Curve:
    """Return the curve through samples `(n,)` of the axis itself at times `(n,)` [s].

    Raises:
        InputError: see `spline_through`.
    """
    spline = spline_through(time, values, field)
    return Curve(spline, spline.derivative(1), spline.derivative(2), Polynomial([0.0]))


def curve_of_accelerations(time: FloatArray, accelerations: FloatArray, field: str) -> Curve:
    """Return the curve of samples `(n,)` of the second derivative, from rest at zero.

    The spline through the samples is integrated twice, exactly.

    Raises:
        InputError: see `spline_through`.
    """
    spline = spline_through(time, accelerations, field)
    return Curve(spline.antiderivative(2), spline.antiderivative(1), spline, Polynomial([0.0]))
