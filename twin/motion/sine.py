"""Sine motion: every axis a sine of its own amplitude, frequency and phase."""

from __future__ import annotations

from typing import Any

import numpy as np

from twin.basics.arrays import FloatArray, read_only
from twin.errors import InputError
from twin.motion.axes import LARGEST_FREQUENCY, AxisSample, axis_values
from twin.motion.motion import Motion


class SineMotion(Motion):
    """amplitude sin(2 pi frequency t + phase) on every axis.

    Attributes:
        amplitude: `(k,)` [m], [rad], read-only.
        frequency: `(k,)` [Hz], read-only.
        phase: `(k,)` [rad], read-only.
    """

    amplitude: FloatArray
    frequency: FloatArray
    phase: FloatArray

    def __init__(
        self,
        center: Any,
        *,
        amplitude: Any,
        frequency: Any,
        duration: Any,
        phase: Any = 0.0,
        convention: str = "yaw_pitch_roll",
        fade_in: Any = 0.0,
        fade_out: Any = 0.0,
    ) -> None:
        """Describe the sines.

        Args:
            center: pose `(7,)`, such as a platform's `home`, or position `(3,)` [m].
            amplitude: per axis [m], [rad]: a mapping such as {"pitch": 0.05}, or `(k,)`.
            frequency: [Hz], one for all axes or per axis.
            duration: [s].
            phase: [rad], one for all axes or per axis.
            convention: angle convention, which names the axes.
            fade_in: [s] over which the motion rises from rest.
            fade_out: [s] over which it returns to rest.

        Raises:
            InputError: wrong shape, unknown axis, not finite, out of range.
        """
        super().__init__(center, duration, convention, fade_in, fade_out)
        sizes = axis_values(amplitude, "amplitude", convention)
        rates = axis_values(frequency, "frequency", convention, one_for_all=True)
        if (rates < 0.0).any() or rates.max() > LARGEST_FREQUENCY:
            raise InputError("frequency", f"must be from 0 to {LARGEST_FREQUENCY:g} Hz")
        if (rates[sizes != 0.0] == 0.0).any():
            raise InputError("frequency", "every axis with an amplitude needs one above zero")
        self._set(
            amplitude=read_only(sizes),
            frequency=read_only(rates),
            phase=read_only(axis_values(phase, "phase", convention, one_for_all=True)),
        )

    def _axes(self, time: FloatArray) -> AxisSample:
        omega = 2.0 * np.pi * self.frequency
        argument = omega * time[:, None] + self.phase
        sine = self.amplitude * np.sin(argument)
        return AxisSample(sine, omega * self.amplitude * np.cos(argument), -(omega**2) * sine)
