"""Splines through samples, with their exact derivatives and integrals."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from twin.arrays import FloatArray
from twin.errors import InputError

FEWEST_SAMPLES = 4
"""A cubic needs four; from six on the spline is quintic."""


class AxisSpline(NamedTuple):
    """One axis as a function of time: three `scipy.interpolate.BSpline`."""

    value: Any
    rate: Any
    acceleration: Any

    def shifted(self, coefficients: FloatArray) -> AxisSpline:
        """Return the axis minus a polynomial in time.

        Args:
            coefficients: `(d,)` in ascending powers of time / duration, d at most 4.
        """
        from scipy.interpolate import BSpline

        start, end = float(self.value.t[0]), float(self.value.t[-1])
        polynomial = np.polynomial.Polynomial(coefficients, domain=[start, end], window=[0.0, 1.0])
        parts = []
        for spline, order in ((self.value, 0), (self.rate, 1), (self.acceleration, 2)):
            curve = polynomial.deriv(order) if order else polynomial
            # Interpolation at the Greville sites reproduces the polynomial: it is in the space.
            sites = np.convolve(spline.t[1:-1], np.ones(spline.k) / spline.k, mode="valid")
            matrix = BSpline.design_matrix(np.clip(sites, start, end), spline.t, spline.k)
            parts.append((spline, curve, sites, matrix))
        raise NotImplementedError(parts)
