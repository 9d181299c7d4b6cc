"""Twice-integrated accelerations without the drift that sensor bias and unknown start cause.

One recorded axis as a smooth function of time, with exact derivatives and integrals.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.polynomial import Polynomial

from twin.basics.arrays import FloatArray, one_of
from twin.errors import InputError
from twin.motion.checks import bounded

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


DRIFT = ("detrend", "high_pass", "none")

MOST_SAMPLES = 10_000_000
"""On the even grid of the high-pass filter; more means wildly uneven times."""


def integrated_curve(
    time: FloatArray,
    accelerations: FloatArray,
    field: str,
    *,
    drift: str = "detrend",
    cutoff: Any = 0.2,
) -> Curve:
    """Return the curve of an axis from samples of its acceleration.

    Treatments of drift:

    - 'detrend': the least-squares cubic is taken from the integrated axis, and its derivatives
      from rate and acceleration. Removes unknown position and velocity at the start, and
      constant and linearly growing sensor bias. For records of a few seconds.
    - 'high_pass': the accelerations go through a Butterworth filter of order two, forward and
      backward (no phase shift), then the least-squares line is taken from the integrated axis.
      Removes slow sensor noise too. For long records; needs one period of `cutoff` at least.
    - 'none': integrated as given, from rest at zero.

    Args:
        time: `(n,)` [s], increasing.
        accelerations: `(n,)` [m/s2] or [rad/s2].
        field: name of the column, for the message.
        drift: one of the three.
        cutoff: [Hz] of the high-pass filter: content below it is lost.

    Raises:
        InputError: unknown treatment, cutoff outside what the record can hold.
    """
    one_of(drift, "drift", DRIFT)
    if drift == "none":
        return curve_of_accelerations(time, accelerations, field)
    if drift == "high_pass":
        time, accelerations = _high_passed(time, accelerations, field, cutoff)
    curve = curve_of_accelerations(time, accelerations, field)
    even = np.linspace(time[0], time[-1], len(time))
    trend = Polynomial.fit(even, curve.value(even), 1 if drift == "high_pass" else 3)
    return curve._replace(drift=trend)


def _high_passed(
    time: FloatArray, accelerations: FloatArray, field: str, cutoff: Any
) -> tuple[FloatArray, FloatArray]:
    from scipy.signal import butter, sosfiltfilt

    duration = float(time[-1] - time[0])
    intervals = np.ceil(duration / float(np.median(np.diff(time))))
    if intervals >= MOST_SAMPLES:
        raise InputError(field, "times are too uneven for the high-pass filter; resample them")
    rate = float(intervals) / duration
    low, high = 1.0 / duration, 0.45 * rate
    if low >= high:
        raise InputError(
            field, "too few samples for the high-pass filter; use drift='detrend' or 'none'"
        )
    frequency = bounded(cutoff, "cutoff", low, high)
    even = np.linspace(time[0], time[-1], int(intervals) + 1)
    values = spline_through(time, accelerations, field)(even)
    sections = butter(2, frequency, "highpass", fs=rate, output="sos")
    padding = min(len(even) - 1, int(rate / frequency))
    return even, sosfiltfilt(sections, values, padlen=padding)
