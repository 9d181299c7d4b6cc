"""Estimates of a frequency response from records of input and output.

**Sweep** (H1): with the spectra X, Y of Hann windows that overlap by half,

    G = sum X* Y / sum |X|^2,   coherence = |sum X* Y|^2 / (sum |X|^2 sum |Y|^2),

unbiased by noise of the output. Its standard deviation per magnitude is
sqrt((1 - coherence) / (2 n coherence)) for n windows: all of them bring noise, also those in which
the sweep is elsewhere.

**Whole record**: of an excitation from rest to rest whose response has died away at the end, the
ratio of the two spectra without any window: no leakage, whatever the damping. Coherence is that of
each line with its neighbours.

**Stepped sine**: least squares of a sine, a cosine, a constant and a drift on both signals over the
part of a dwell that is settled. The ratio is the gain; what the output has besides gives coherence
and deviation.

Reference:
    Bendat and Piersol, Random Data, 4th edition (2010), sections 6.1 and 9.2.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from twin.analysis.frequency.response import FrequencyResponse
from twin.basics.arrays import FloatArray, as_floats, positive
from twin.errors import InputError

OVERLAP = 0.5

SILENT = 1e-12
"""Power of the input per its largest at which a frequency counts as not excited."""

NEIGHBOURS = 3
"""Lines that the coherence of a whole record is taken over."""

FEWEST = 8
"""Samples of a window or of a dwell."""


def sweep_response(
    given: Any, received: Any, period: Any, *, window: Any, low: Any, high: Any
) -> FrequencyResponse:
    """Return the response from `given` to `received`, between two frequencies.

    Args:
        given: input `(m,)`, evenly sampled.
        received: output `(m,)`.
        period: between samples [s].
        window: length of a window [s]; its inverse is the distance of the frequencies.
        low: lowest frequency [Hz].
        high: highest frequency [Hz], below half the sampling rate.

    Raises:
        InputError: shapes that differ, a record shorter than a window, frequencies that the samples
            cannot tell, or an input without any.
    """
    x, y = _records(given, received)
    step, length = positive(period, "period"), positive(window, "window")
    size = round(length / step)
    if size < FEWEST or size > len(x):
        raise InputError(
            "window", f"must hold from {FEWEST} samples to the record's {len(x)}, not {size}"
        )
    first, last = positive(low, "low"), positive(high, "high")
    if not first < last <= 0.5 / step:
        raise InputError("low, high", f"must increase and stay below {0.5 / step:g} Hz")
    hop = max(1, round(size * (1.0 - OVERLAP)))
    starts = range(0, len(x) - size + 1, hop)
    hann = np.hanning(size + 1)[:-1]
    spectra = [
        np.array([np.fft.rfft(hann * _centred(part[k : k + size])) for k in starts])
        for part in (x, y)
    ]
    frequency = np.fft.rfftfreq(size, step)
    inside = (frequency >= first * (1.0 - 1e-9)) & (frequency <= last * (1.0 + 1e-9))
    into, out = (part[:, inside] for part in spectra)
    power_in, power_out = np.abs(into) ** 2, np.abs(out) ** 2
    total = power_in.sum(axis=0)
    if not total.size or not total.max() > 0.0:
        raise InputError("given", "has nothing between these frequencies")
    excited = total > SILENT * total.max()
    cross = (into.conj() * out).sum(axis=0)[excited]
    total, received_power = total[excited], power_out.sum(axis=0)[excited]
    with np.errstate(divide="ignore", invalid="ignore"):
        coherence = np.nan_to_num(np.abs(cross) ** 2 / (total * received_power))
    coherence = np.clip(coherence, 0.0, 1.0)
    return FrequencyResponse(
        frequency[inside][excited],
        cross / total,
        coherence,
        _deviation(coherence, np.array([float(len(starts))])),
    )


def record_response(
    given: Any, received: Any, period: Any, *, low: Any, high: Any
) -> FrequencyResponse:
    """Return the response from records that begin at rest and end after all has died away.

    Args:
        given: input `(m,)`, evenly sampled.
        received: output `(m,)`.
        period: between samples [s].
        low: lowest frequency [Hz].
        high: highest frequency [Hz], below half the sampling rate.

    Raises:
        InputError: shapes that differ, frequencies that the samples cannot tell, or an input
            without any.
    """
    x, y = _records(given, received)
    step, first, last = positive(period, "period"), positive(low, "low"), positive(high, "high")
    frequency = np.fft.rfftfreq(len(x), step)
    inside = (frequency >= first) & (frequency <= last)
    if not inside.any() or last > 0.5 / step:
        raise InputError("low, high", f"must hold a frequency and stay below {0.5 / step:g} Hz")
    into, out = np.fft.rfft(x), np.fft.rfft(y)
    lines = np.asarray(frequency[inside], dtype=np.float64)
    if not np.abs(into[inside]).min() > 0.0:
        raise InputError("given", "has nothing at some of these frequencies")
    beside = np.ones(NEIGHBOURS)
    cross = np.convolve(into.conj() * out, beside, "same")[inside]
    powers = [np.convolve(np.abs(part) ** 2, beside, "same")[inside] for part in (into, out)]
    with np.errstate(divide="ignore", invalid="ignore"):
        coherence = np.clip(np.nan_to_num(np.abs(cross) ** 2 / (powers[0] * powers[1])), 0.0, 1.0)
    return FrequencyResponse(
        lines,
        out[inside] / into[inside],
        coherence,
        _deviation(coherence, np.array([float(NEIGHBOURS)])),
    )


def sine_response(given: Any, received: Any, period: Any, frequency: Any) -> FrequencyResponse:
    """Return the response at one frequency from a settled record of one sine.

    Args:
        given: input `(m,)`, evenly sampled.
        received: output `(m,)`.
        period: between samples [s].
        frequency: [Hz], below half the sampling rate.

    Raises:
        InputError: shapes that differ, less than a period of the sine, a frequency the samples
            cannot tell, or an input without it.
    """
    x, y = _records(given, received)
    step, hertz = positive(period, "period"), positive(frequency, "frequency")
    if hertz >= 0.5 / step:
        raise InputError("frequency", f"must stay below {0.5 / step:g} Hz")
    if len(x) < FEWEST or len(x) * step * hertz < 1.0 - 1e-9:
        raise InputError("given", f"must hold {FEWEST} samples and a period of the sine")
    time = np.arange(len(x)) * step
    angle = 2.0 * np.pi * hertz * time
    shapes = np.column_stack([np.cos(angle), np.sin(angle), np.ones_like(time), time - time.mean()])
    found = np.linalg.lstsq(shapes, np.column_stack([x, y]), rcond=None)[0]
    into, out = found[0] - 1j * found[1]
    if not abs(into) > 0.0:
        raise InputError("given", f"has nothing at {hertz:g} Hz")
    rest = y - shapes @ found[:, 1]
    sine, noise = 0.5 * abs(out) ** 2, float(rest @ rest) / max(1, len(x) - shapes.shape[1])
    coherence = np.array([sine / (sine + noise) if sine + noise > 0.0 else 0.0])
    return FrequencyResponse(
        np.array([hertz]),
        np.array([out / into]),
        coherence,
        _deviation(coherence, np.array([0.5 * len(x)])),
    )


def joined(parts: list[FrequencyResponse]) -> FrequencyResponse:
    """Return several responses as one, lowest frequency first.

    Raises:
        InputError: none are given.
    """
    if not parts:
        raise InputError("parts", "must hold at least one response")
    order = np.argsort(np.concatenate([part.frequency for part in parts]), kind="stable")
    return FrequencyResponse(
        *(np.concatenate(column)[order] for column in zip(*parts, strict=True))
    )


def _deviation(coherence: FloatArray, averages: FloatArray) -> FloatArray:
    """Return the standard deviation of a gain per its magnitude; infinite at zero coherence."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.sqrt((1.0 - coherence) / (2.0 * averages * coherence)))


def _centred(part: FloatArray) -> FloatArray:
    return np.asarray(part - part.mean())


def _records(given: Any, received: Any) -> tuple[FloatArray, FloatArray]:
    x, y = as_floats(given, "given"), as_floats(received, "received")
    if x.ndim != 1 or y.shape != x.shape:
        raise InputError("given, received", "must be two lists of the same length")
    return x, y
