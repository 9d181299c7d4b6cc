"""Time offset between two channels that record the same motion: its estimate and its removal."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.interpolate import make_interp_spline
from scipy.optimize import minimize_scalar
from scipy.signal import correlate

from twin.basics.arrays import FloatArray, as_instance, positive
from twin.errors import InputError
from twin.logs.log import Channel, Log, check_increasing

MIN_CORRELATION = 0.7
"""Correlation below which two channels are taken for different motions."""

MIN_SAMPLES = 16
"""Minimum number of samples of the reference that must remain at every offset."""

MAX_LAGS = 200_000


class TimeOffset(NamedTuple):
    """Offset between two channels."""

    seconds: float
    """time by which the channel is behind the reference: channel(t) is reference(t - seconds)"""
    correlation: float
    """correlation of the two at this offset, at most 1"""


def time_offset(channel: Channel, reference: Channel, max_offset: float = 0.5) -> TimeOffset:
    """Return the time by which a channel is behind a reference with the same columns.

    The offset of largest normalised cross-correlation, first on a grid and then between its
    points, with cubic splines through the samples. Constant offsets and a common scale of the
    values do not matter. Of a periodic motion, `max_offset` must be below half a period.

    Args:
        channel: `(k, w)`, at any increasing times.
        reference: `(m, w)`, at any increasing times.
        max_offset: largest offset [s] that is looked for, to both sides.

    Raises:
        InputError: other columns, times that do not increase, too short an overlap, no motion, or
            an offset beyond `max_offset`.
    """
    limit = positive(max_offset, "max_offset")
    for signal in (channel, reference):
        check_increasing(as_instance(signal, "channel", Channel))
    if channel.width != reference.width:
        raise InputError("channel", f"has {channel.width} columns, not {reference.width}")
    start = max(reference.time[0], channel.time[0] + limit)
    end = min(reference.time[-1], channel.time[-1] - limit)
    step = min(float(np.median(np.diff(signal.time))) for signal in (channel, reference))
    if not end - start >= MIN_SAMPLES * step:
        raise InputError(
            "max_offset", f"{limit:g} s is too much for the time that both channels have"
        )
    if max(limit, end - start) / step > MAX_LAGS:
        raise InputError("channel", f"has more than {MAX_LAGS} samples; take a window of the log")
    splines = [
        make_interp_spline(signal.time, signal.values, k=min(3, len(signal) - 1))
        for signal in (channel, reference)
    ]
    times = start + step * np.arange(int((end - start) / step) + 1)
    reference_deviations = _deviations(splines[1](times))
    if not np.linalg.norm(reference_deviations) > 1e-9 * np.abs(reference.values).max(
        initial=1e-30
    ):
        raise InputError(reference.name, "does not move; there is nothing to compare")

    def similarity(offset: float) -> float:
        shifted_deviations = _deviations(splines[0](times + offset))
        norm_product = np.linalg.norm(shifted_deviations) * np.linalg.norm(reference_deviations)
        product = float((shifted_deviations * reference_deviations).sum())
        return product / float(norm_product) if norm_product > 0.0 else 0.0

    lags = np.arange(-int(limit / step), int(limit / step) + 1) * step
    wide_samples = splines[0](
        np.concatenate([start + lags[0] + step * np.arange(len(lags) - 1 + len(times))])
    )
    best_lag = int(_correlations(wide_samples, reference_deviations).argmax())
    low, high = lags[max(best_lag - 1, 0)], lags[min(best_lag + 1, len(lags) - 1)]
    optimum = minimize_scalar(
        lambda offset: -similarity(offset),
        bounds=(low, high),
        method="bounded",
        options={"xatol": 1e-6 * step},
    )
    seconds, correlation = float(optimum.x), -float(optimum.fun)
    if correlation < MIN_CORRELATION:
        raise InputError(
            channel.name,
            f"is no copy of {reference.name!r}: their correlation is {correlation:.2f} at most",
        )
    if best_lag in (0, len(lags) - 1):
        raise InputError("max_offset", f"the offset is larger than {limit:g} s; allow more")
    return TimeOffset(seconds, correlation)


def aligned(log: Log, name: str, offset: TimeOffset) -> Log:
    """Return the log with the offset of a channel removed from its times.

    Raises:
        InputError: no such channel.
    """
    as_instance(offset, "offset", TimeOffset)
    return log.with_channels(log[name].delayed(-offset.seconds))


def _deviations(values: FloatArray) -> FloatArray:
    return np.asarray(values - values.mean(axis=0))


def _correlations(wide_samples: FloatArray, reference_deviations: FloatArray) -> FloatArray:
    """Return the normalised correlation of the reference with every window of `wide_samples`."""
    count = len(reference_deviations)
    centred = wide_samples - wide_samples.mean(axis=0)
    products = sum(
        correlate(centred[:, k], reference_deviations[:, k], mode="valid", method="fft")
        for k in range(reference_deviations.shape[1])
    )
    running_sums = np.vstack([np.zeros(reference_deviations.shape[1]), np.cumsum(centred, axis=0)])
    running_squares = np.concatenate([[0.0], np.cumsum((centred**2).sum(axis=1))])
    means = (running_sums[count:] - running_sums[:-count]) / count
    energy = running_squares[count:] - running_squares[:-count] - count * (means**2).sum(axis=1)
    norm_product = np.sqrt(
        np.maximum(energy, 1e-12 * running_squares[-1] + 1e-300)
    ) * np.linalg.norm(reference_deviations)
    return np.asarray(products / norm_product)
