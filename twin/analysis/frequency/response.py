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
    """frequencies `(k,)` [Hz]"""
    gain: ComplexArray
    """`(k,)` complex gain, output over input"""
    coherence: FloatArray
    """`(k,)` fraction of the output power that follows linearly from the input, 0 to 1"""
    deviation: FloatArray
    """`(k,)` relative standard deviation of the gain"""

    @property
    def magnitude(self) -> FloatArray:
        """Magnitude `(k,)` [dB]."""
        with np.errstate(divide="ignore"):
            return np.asarray(20.0 * np.log10(np.abs(self.gain)))

    @property
    def phase(self) -> FloatArray:
        """Phase `(k,)` [rad], unwrapped."""
        return np.asarray(np.unwrap(np.angle(self.gain)))

    @property
    def trusted(self) -> FrequencyResponse:
        """The points whose coherence is at least one half."""
        return self.only(self.coherence >= MIN_COHERENCE)

    def only(self, kept: Any) -> FrequencyResponse:
        """Return the points selected by indices or by a mask `(k,)`."""
        return FrequencyResponse(
            self.frequency[kept], self.gain[kept], self.coherence[kept], self.deviation[kept]
        )

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
    """largest magnitude [dB]"""
    peak_frequency: float
    """frequency of the largest magnitude [Hz]"""
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
    trusted_response = response.trusted
    if len(trusted_response.frequency) < 2:
        raise InputError(
            "response",
            f"has fewer than two points of coherence {MIN_COHERENCE:g} or more; excite it more "
            "strongly",
        )
    magnitude = trusted_response.magnitude
    peak_index = int(magnitude.argmax())
    bandwidth = nan
    below = np.flatnonzero(magnitude[peak_index:] < CUT_OFF)
    if below.size and below[0] > 0:
        last_above = peak_index + int(below[0]) - 1
        low, high = magnitude[last_above], magnitude[last_above + 1]
        crossing_fraction = (CUT_OFF - low) / (high - low)
        step = trusted_response.frequency[last_above + 1] - trusted_response.frequency[last_above]
        bandwidth = float(trusted_response.frequency[last_above] + crossing_fraction * step)
    high_end = 0.5 * bandwidth if np.isfinite(bandwidth) else float(trusted_response.frequency[-1])
    return ResponseFigures(
        bandwidth,
        float(magnitude[peak_index]),
        float(trusted_response.frequency[peak_index]),
        delay_of(trusted_response, high_end),
    )


def delay_of(response: FrequencyResponse, high: float) -> float:
    """Return the delay [s] whose phase is nearest to that of the points up to `high` [Hz].

    A line through the origin, weighted by coherence. Not-a-number without points.

    Raises:
        InputError: a frequency that is not above zero.
    """
    is_in_band = response.frequency <= positive(high, "high")
    omega = 2.0 * np.pi * response.frequency[is_in_band]
    weight = response.coherence[is_in_band] * omega
    if not omega.size or not (weight @ omega) > 0.0:
        return nan
    return float(-(weight @ response.phase[is_in_band]) / (weight @ omega))


def response_figure(responses: Mapping[str, FrequencyResponse], title: str = "") -> Any:
    """Return a plotly figure of responses: magnitude [dB], phase [deg], coherence (measured ones).

    Args:
        responses: by name.
        title: above the figure.

    Raises:
        InputError: no responses.
        MissingDependencyError: plotly is not installed.
    """
    if not responses:
        raise InputError("responses", "must hold at least one")
    trusted = {name: response.trusted for name, response in responses.items()}
    panels = [
        Axes(
            "magnitude [dB]",
            [Line(name, item.frequency, item.magnitude) for name, item in trusted.items()],
        ),
        Axes(
            "phase [deg]",
            [Line(name, item.frequency, np.degrees(item.phase)) for name, item in trusted.items()],
        ),
    ]
    # Calculated responses have none to show.
    if any((item.coherence < 1.0).any() for item in responses.values()):
        lines = [Line(name, item.frequency, item.coherence) for name, item in responses.items()]
        panels.append(Axes("coherence", lines))
    return panels_figure(panels, "frequency [Hz]", log_x=True, title=title)
