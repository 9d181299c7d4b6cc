"""Frequency response: complex gain over frequency with coherence, bandwidth, peak, delay."""

from __future__ import annotations

from collections.abc import Mapping
from math import nan
from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import ComplexArray, FloatArray, as_floats, positive
from twin.charts.panels import Axes, Line, panels_figure
from twin.errors import InputError

CUT_OFF = -3.0
"""[dB] Magnitude at which the bandwidth ends."""

MIN_COHERENCE = 0.5
"""Coherence below which a point is left out of figures."""


class FrequencyResponse(NamedTuple):
    """Gain from one signal to another, lowest frequency first."""

    frequency: FloatArray
    """`(k,)` [Hz]"""
    gain: ComplexArray
    """`(k,)` output per input"""
    coherence: FloatArray
    """`(k,)` share of the output that follows linearly from the input, 0 to 1"""
    deviation: FloatArray
    """`(k,)` standard deviation of the gain per its magnitude"""

    @property
    def magnitude(self) -> FloatArray:
        """`(k,)` [dB]."""
        with np.errstate(divide="ignore"):
            return np.asarray(20.0 * np.log10(np.abs(self.gain)))

    @property
    def phase(self) -> FloatArray:
        """`(k,)` [rad], without jumps."""
        return np.asarray(np.unwrap(np.angle(self.gain)))

    @property
    def trusted(self) -> FrequencyResponse:
        """The points whose coherence is at least one half."""
        kept = self.coherence >= MIN_COHERENCE
        return self.only(kept)

    def only(self, kept: Any) -> FrequencyResponse:
        """Return the points chosen by indices or by `(k,)` truth values."""
        return FrequencyResponse(
            self.frequency[kept], self.gain[kept], self.coherence[kept], self.deviation[kept]
        )

    def between(self, low: float, high: float) -> FrequencyResponse:
        """Return the points from `low` to `high` [Hz]."""
        kept = (self.frequency >= low) & (self.frequency <= high)
        return self.only(kept)

    def magnitude_at(self, frequency: Any) -> FloatArray:
        """Return magnitudes [dB] at frequencies [Hz], on straight lines between the points.

        Raises:
            InputError: a frequency outside the points.
        """
        hertz = as_floats(frequency, "frequency")
        if hertz.min() < self.frequency[0] or hertz.max() > self.frequency[-1]:
            raise InputError(
                "frequency",
                f"must lie from {self.frequency[0]:.4g} to {self.frequency[-1]:.4g} Hz",
            )
        return np.asarray(np.interp(hertz, self.frequency, self.magnitude))


class ResponseFigures(NamedTuple):
    """Bandwidth, peak and delay of a closed loop; not-a-number where there is none."""

    bandwidth: float
    """frequency [Hz] above the peak where the magnitude first falls below -3 dB"""
    peak: float
    """[dB]"""
    peak_frequency: float
    """[Hz]"""
    delay: float
    """[s] slope of the phase up to half the bandwidth, or over all points where there is none"""


def exact_response(frequency: FloatArray, gain: Any) -> FrequencyResponse:
    """Return a response that was calculated, not measured: coherence one, no deviation.

    Raises:
        InputError: shapes that differ, not finite.
    """
    hertz, complex_gain = as_floats(frequency, "frequency"), np.asarray(gain, dtype=complex)
    if hertz.shape != complex_gain.shape or hertz.ndim != 1 or not np.isfinite(complex_gain).all():
        raise InputError("frequency, gain", "must be two lists of the same length, finite")
    return FrequencyResponse(hertz, complex_gain, np.ones_like(hertz), np.zeros_like(hertz))


def response_figures(response: FrequencyResponse) -> ResponseFigures:
    """Return bandwidth, peak and delay of the trusted points of a response.

    Raises:
        InputError: fewer than two trusted points.
    """
    kept = response.trusted
    if len(kept.frequency) < 2:
        raise InputError(
            "response",
            f"has fewer than two points of coherence {MIN_COHERENCE:g} or more; excite it more "
            "strongly",
        )
    magnitude = kept.magnitude
    top = int(magnitude.argmax())
    bandwidth = nan
    below = np.flatnonzero(magnitude[top:] < CUT_OFF)
    if below.size and below[0] > 0:
        last = top + int(below[0]) - 1
        low, high = magnitude[last], magnitude[last + 1]
        part = (CUT_OFF - low) / (high - low)
        step = kept.frequency[last + 1] - kept.frequency[last]
        bandwidth = float(kept.frequency[last] + part * step)
    high_end = 0.5 * bandwidth if np.isfinite(bandwidth) else float(kept.frequency[-1])
    return ResponseFigures(
        bandwidth,
        float(magnitude[top]),
        float(kept.frequency[top]),
        delay_of(kept, high_end),
    )


def delay_of(response: FrequencyResponse, high: float) -> float:
    """Return the delay [s] whose phase is nearest to that of the points up to `high` [Hz].

    A line through the origin, weighted by coherence. Not-a-number without points.

    Raises:
        InputError: a frequency that is not above zero.
    """
    kept = response.frequency <= positive(high, "high")
    omega = 2.0 * np.pi * response.frequency[kept]
    weight = response.coherence[kept] * omega
    if not omega.size or not (weight @ omega) > 0.0:
        return nan
    return float(-(weight @ response.phase[kept]) / (weight @ omega))


def response_figure(
    responses: Mapping[str, FrequencyResponse],
    title: str = "",
    *,
    marks: Mapping[str, tuple[FloatArray, FloatArray]] | None = None,
) -> Any:
    """Return a plotly figure of responses: magnitude [dB], phase [deg], coherence (measured ones).

    Args:
        responses: by name.
        title: above the figure.
        marks: name -> frequencies [Hz] and magnitudes [dB] of single points, such as printed ones.

    Raises:
        InputError: no responses.
        MissingDependencyError: plotly is not installed.
    """
    if not responses:
        raise InputError("responses", "must hold at least one")
    shown = {name: response.trusted for name, response in responses.items()}
    panels = [
        Axes(
            "magnitude [dB]",
            [
                *(Line(name, one.frequency, one.magnitude) for name, one in shown.items()),
                *(Line(name, x, y, "markers") for name, (x, y) in (marks or {}).items()),
            ],
        ),
        Axes(
            "phase [deg]",
            [Line(name, one.frequency, np.degrees(one.phase)) for name, one in shown.items()],
        ),
    ]
    # Calculated responses have none to show.
    if any((one.coherence < 1.0).any() for one in responses.values()):
        lines = [Line(name, one.frequency, one.coherence) for name, one in responses.items()]
        panels.append(Axes("coherence", lines))
    return panels_figure(panels, "frequency [Hz]", log_x=True, title=title)
