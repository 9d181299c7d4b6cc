"""Motions that are sums of sines: exact value, rate and acceleration from one series."""

from __future__ import annotations

from typing import Any

import numpy as np

from twin.basics.arrays import FloatArray, read_only
from twin.motion.axes import AxisSample
from twin.motion.motion import Motion

BLOCK = 2_000_000
"""Numbers held at a time while a series is evaluated: 32 MB."""


class FourierMotion(Motion):
    """Sum of Re(amplitude exp(2 pi i frequency t)) on every axis.

    Attributes:
        frequencies: `(m,)` [Hz], read-only.
        cosines: `(m, k)` amplitudes of the cosines [m], [rad], read-only.
        sines: `(m, k)` amplitudes of the sines [m], [rad], read-only.
    """

    frequencies: FloatArray
    cosines: FloatArray
    sines: FloatArray

    def _set_series(self, frequencies: FloatArray, amplitudes: Any) -> None:
        """Store the series: frequencies `(m,)` [Hz], complex amplitudes `(m, k)`."""
        self._set(
            frequencies=read_only(frequencies),
            cosines=read_only(amplitudes.real),
            sines=read_only(-amplitudes.imag),
        )

    def _axes(self, time: FloatArray) -> AxisSample:
        omega = 2.0 * np.pi * self.frequencies
        column, a, b = omega[:, None], self.cosines, self.sines
        of_cosine = np.hstack([a, column * b, -(column**2) * a])
        of_sine = np.hstack([b, -column * a, -(column**2) * b])
        result = np.empty((len(time), of_cosine.shape[1]))
        rows = max(1, BLOCK // len(omega))
        for start in range(0, len(time), rows):
            part = slice(start, start + rows)
            argument = time[part, None] * omega
            result[part] = np.cos(argument) @ of_cosine + np.sin(argument) @ of_sine
        return AxisSample(*np.split(result, 3, axis=1))
