"""Estimates of a frequency response from records of input and output.

Sweep (H1): with the spectra X, Y of Hann windows that overlap by half,

    G = sum X* Y / sum |X|^2,   coherence = 1 - sum n / (n - 1) |Y - G X|^2 / sum |Y|^2,

unbiased by noise of the output. The sums are over the n windows in which the sweep passes a
frequency: in the others friction brings harmonics of lower frequencies, which are larger than the
response to higher ones. The coherence is that of a frequency with its neighbours, as a few windows
alone show little of the noise. The standard deviation of G per magnitude is
sqrt((1 - coherence) / (2 n coherence)).

Whole record: of an excitation from rest to rest whose response has died away at the end, the
ratio of the two spectra without any window: no leakage, whatever the damping. Coherence is that of
each line with its neighbours.

Stepped sine: least squares of a sine, a cosine, a constant and a drift on both signals over the
part of a dwell that is settled. The ratio is the gain; what the output has besides gives coherence
and deviation.

Reference:
    Bendat and Piersol, Random Data, 4th edition (2010), sections 6.1 and 9.2.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from twin.analysis.frequency.response import FrequencyResponse
from twin.basics.arrays import ComplexArray, FloatArray, IndexArray, as_floats, positive
from twin.errors import InputError

OVERLAP = 0.5

SILENT = 1e-12
"""Power of the input per its largest at which a frequency counts as not excited."""

NEIGHBOURS = 3
"""Lines that the coherence of a whole record is taken over."""

SWEEP_NEIGHBOURS = 7
"""Adopted: lines that the coherence of a sweep is taken over."""

PASSING = 0.05
"""Adopted: power of the input in a window, per the largest of its line, from which the sweep passes
it."""

FEWEST_WINDOWS = 2
"""Windows of each frequency, those with the largest power of the input."""

FEWEST = 8
"""Samples of a window or of a dwell."""


class Spectra(NamedTuple):
    """Spectra of an input and an output, averaged over windows."""

    frequency: FloatArray
    """`(k,)` [Hz] from 0 to half the sampling rate"""
    given: FloatArray
    """`(k,)` power density of the input"""
    received: FloatArray
    """`(k,)` power density of the output"""
    cross: ComplexArray
    """`(k,)` cross power density"""
    windows: int

    @property
    def transfer(self) -> ComplexArray:
        """Output per input `(k,)`; zero where the input has nothing."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.nan_to_num(self.cross / self.given, nan=0.0, posinf=0.0, neginf=0.0)

    @property
    def coherence(self) -> FloatArray:
        """Share of the output that follows linearly from the input `(k,)`, 0 to 1."""
        return _coherence(self.cross, self.given, self.received)


def spectra(
    given: FloatArray, received: FloatArray, step: float, size: int, *, detrend: str
) -> Spectra:
    """Return the spectra of records `(m,)` over Hann windows that overlap by half.

    Args:
        given: input, evenly sampled.
        received: output.
        step: between samples [s].
        size: samples of a window, at most `m`.
        detrend: "constant" or "linear", taken out of every window.
    """
    from scipy.signal import csd, welch

    hop = max(1, round(size * (1.0 - OVERLAP)))
    options = {"fs": 1.0 / step, "nperseg": size, "noverlap": size - hop, "detrend": detrend}
    frequency, cross = csd(given, received, **options)
    power_in, power_out = (welch(part, **options)[1] for part in (given, received))
    return Spectra(frequency, power_in, power_out, cross, 1 + (len(given) - size) // hop)


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
            do not resolve, or an input without any.
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
    lines = np.fft.rfftfreq(size, step)
    inside = (lines >= first * (1.0 - 1e-9)) & (lines <= last * (1.0 + 1e-9))
    into, out = (_window_spectra(part, size)[:, inside] for part in (x, y))
    powers = np.abs(into) ** 2
    largest = powers.max(axis=0, initial=0.0)
    if not largest.max(initial=0.0) > 0.0:
        raise InputError("given", "has nothing between these frequencies")
    few = np.sort(powers, axis=0)[-min(FEWEST_WINDOWS, len(powers))]
    passing = powers >= np.minimum(PASSING * largest, few)
    excited = largest > SILENT * largest.max()
    into, out = (np.where(passing, part, 0.0)[:, excited] for part in (into, out))
    gain = (into.conj() * out).sum(axis=0) / (np.abs(into) ** 2).sum(axis=0)
    windows = passing[:, excited].sum(axis=0)
    noise = (np.abs(out - gain * into) ** 2).sum(axis=0) * windows / np.maximum(windows - 1, 1)
    coherence = 1.0 - _ratio(*(_smoothed(part) for part in (noise, (np.abs(out) ** 2).sum(axis=0))))
    return FrequencyResponse(lines[inside][excited], gain, coherence, deviation(coherence, windows))


def _window_spectra(record: FloatArray, size: int) -> ComplexArray:
    """Return the spectra `(windows, lines)` of Hann windows over a record, without their means."""
    from scipy.signal.windows import hann

    hop = max(1, round(size * (1.0 - OVERLAP)))
    windows = np.lib.stride_tricks.sliding_window_view(record, size)[::hop]
    parts = windows - windows.mean(axis=1, keepdims=True)
    return np.asarray(np.fft.rfft(parts * hann(size, sym=False), axis=1))


def _smoothed(powers: FloatArray) -> FloatArray:
    """Return sums over `SWEEP_NEIGHBOURS` lines."""
    width = SWEEP_NEIGHBOURS // 2
    return np.convolve(powers, np.ones(SWEEP_NEIGHBOURS))[width : width + len(powers)]


def _ratio(noise: FloatArray, power: FloatArray) -> FloatArray:
    """Return the share of noise in the power of an output, 0 to 1; 1 where there is no output."""
    share = np.divide(noise, power, out=np.ones_like(power), where=power > 0.0)
    return np.clip(share, 0.0, 1.0)


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
        InputError: shapes that differ, frequencies that the samples do not resolve, or an input
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
    coherence = _coherence(cross, *powers)
    return FrequencyResponse(
        lines, out[inside] / into[inside], coherence, deviation(coherence, NEIGHBOURS)
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
            do not resolve, or an input without it.
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
        deviation(coherence, 0.5 * len(x)),
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


def deviation(coherence: FloatArray, averages: float | IndexArray) -> FloatArray:
    """Return the standard deviation of a gain per its magnitude; infinite at zero coherence."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.sqrt((1.0 - coherence) / (2.0 * averages * coherence)))


def _coherence(cross: ComplexArray, given: FloatArray, received: FloatArray) -> FloatArray:
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.nan_to_num(np.abs(cross) ** 2 / (given * received))
    return np.asarray(np.clip(share, 0.0, 1.0))


def _records(given: Any, received: Any) -> tuple[FloatArray, FloatArray]:
    x, y = as_floats(given, "given"), as_floats(received, "received")
    if x.ndim != 1 or y.shape != x.shape:
        raise InputError("given, received", "must be two lists of the same length")
    return x, y
