"""Chirp motion: a sine whose frequency sweeps, linearly or logarithmically."""

from __future__ import annotations

from typing import Any

import numpy as np

from twin.basics.arrays import FloatArray, bounded, one_of, read_only
from twin.motion.axes import LARGEST_FREQUENCY, AxisSample, axis_values
from twin.motion.motion import Motion

SWEEPS = ("linear", "logarithmic")
LOWEST_FREQUENCY = 1e-6
"""[Hz] One period in eleven days."""


class ChirpMotion(Motion):
    """amplitude sin(phase of the sweep) on every axis, in step.

    Attributes:
        amplitude: `(k,)` [m], [rad], read-only.
        start_frequency: [Hz] at time 0.
        end_frequency: [Hz] at the end; below the start for a downward sweep.
        sweep: 'linear' (Hz per second constant) or 'logarithmic' (octaves per second constant).
    """

    amplitude: FloatArray
    start_frequency: float
    end_frequency: float
    sweep: str

    def __init__(
        self,
        center: Any,
        *,
        amplitude: Any,
        start_frequency: Any,
        end_frequency: Any,
        duration: Any,
        sweep: str = "linear",
        convention: str = "yaw_pitch_roll",
        fade_in: Any = 0.0,
        fade_out: Any = 0.0,
    ) -> None:
        """Describe the sweep.

        Args:
            center: pose `(7,)`, such as a platform's `home`, or position `(3,)` [m].
            amplitude: per axis [m], [rad]: a mapping such as {"pitch": 0.01}, or `(k,)`.
            start_frequency: [Hz], above zero.
            end_frequency: [Hz], above zero.
            duration: [s] of the sweep.
            sweep: 'linear' or 'logarithmic'.
            convention: angle convention, which names the axes.
            fade_in: [s] over which the motion rises from rest; without it, it starts at speed.
            fade_out: [s] over which it returns to rest.

        Raises:
            InputError: wrong shape, unknown axis or sweep, not finite, out of range.
        """
        super().__init__(center, duration, convention, fade_in, fade_out)
        limits = (LOWEST_FREQUENCY, LARGEST_FREQUENCY)
        self._set(
            amplitude=read_only(axis_values(amplitude, "amplitude", convention)),
            start_frequency=bounded(start_frequency, "start_frequency", *limits),
            end_frequency=bounded(end_frequency, "end_frequency", *limits),
            sweep=one_of(sweep, "sweep", SWEEPS),
        )

    def frequency(self, time: FloatArray) -> FloatArray:
        """Return the frequency `(m,)` [Hz] of the sweep at times `(m,)` [s]."""
        return self._phase(time)[1] / (2.0 * np.pi)

    def _phase(self, time: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        first, last = 2.0 * np.pi * self.start_frequency, 2.0 * np.pi * self.end_frequency
        octaves = np.log(last / first) / self.duration
        if self.sweep == "linear" or octaves == 0.0:
            slope = (last - first) / self.duration
            return (
                time * (first + 0.5 * slope * time),
                first + slope * time,
                np.full_like(time, slope),
            )
        omega = first * np.exp(octaves * time)
        return first * np.expm1(octaves * time) / octaves, omega, octaves * omega

    def _axes(self, time: FloatArray) -> AxisSample:
        phase, omega, slope = self._phase(time)
        sine, cosine = np.sin(phase), np.cos(phase)
        parts = (sine, omega * cosine, slope * cosine - omega**2 * sine)
        return AxisSample(*(part[:, None] * self.amplitude for part in parts))
