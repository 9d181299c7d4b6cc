"""Twice-integrated accelerations without the drift that sensor bias and unknown start cause."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.polynomial import Polynomial

from twin.basics.arrays import FloatArray, one_of
from twin.errors import InputError
from twin.motion.checks import bounded
from twin.motion.curve import Curve, curve_of_accelerations, spline_through

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
