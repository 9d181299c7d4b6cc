"""Multi-sine motion: given frequencies, phases chosen for a low crest or by chance.

Value, rate and acceleration of a sum of sines are exact; they come from one series.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from twin.basics.arrays import FloatArray, as_floats, one_of, read_only, whole_number
from twin.errors import InputError
from twin.motion.axes import (
    LARGEST_AMPLITUDE,
    LARGEST_FREQUENCY,
    AxisSample,
    known_axis,
)
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


PHASES = ("schroeder", "random")


def schroeder_phases(amplitudes: FloatArray) -> FloatArray:
    """Return phases `(m,)` [rad] that keep the peak of a multi-sine low.

    Args:
        amplitudes: `(m,)` of sines in the order of their frequencies.

    Reference:
        Schroeder, Synthesis of low-peak-factor signals, IEEE Trans. Information Theory 16 (1970).
    """
    power = amplitudes**2
    total = power.sum()
    share = power / total if total else power
    before = np.concatenate([[0.0], np.cumsum(share)[:-1]])
    return -2.0 * np.pi * np.cumsum(before)


class MultiSineMotion(FourierMotion):
    """Sum over the frequencies f of amplitude sin(2 pi f t + phase) on every axis."""

    def __init__(
        self,
        center: Any,
        *,
        frequencies: Any,
        amplitude: Mapping[str, Any],
        duration: Any,
        phases: str = "schroeder",
        seed: int = 0,
        convention: str = "yaw_pitch_roll",
        fade_in: Any = 0.0,
        fade_out: Any = 0.0,
    ) -> None:
        """Describe the sines.

        Args:
            center: pose `(7,)`, such as a platform's `home`, or position `(3,)` [m].
            frequencies: `(m,)` [Hz], increasing.
            amplitude: axis name -> amplitude of every sine [m], [rad], one number or `(m,)`.
            duration: [s]; for a line spectrum, a multiple of one over the largest common divisor
                of the frequencies.
            phases: 'schroeder' (low peak; the same on axes with the same spectrum) or 'random'
                (independent on every axis, uniform).
            seed: of the random phases; same seed, same motion.
            convention: angle convention, which names the axes.
            fade_in: [s] over which the motion rises from rest.
            fade_out: [s] over which it returns to rest.

        Raises:
            InputError: wrong shape, unknown axis or phases, not finite, out of range, frequencies
                not increasing.
        """
        super().__init__(center, duration, convention, fade_in, fade_out)
        lines = as_floats(frequencies, "frequencies")
        if lines.ndim != 1 or not lines.size:
            raise InputError("frequencies", f"must be a list (m,) [Hz], got shape {lines.shape}")
        if lines.min() <= 0.0 or lines.max() > LARGEST_FREQUENCY or (np.diff(lines) <= 0.0).any():
            raise InputError(
                "frequencies", f"must increase, from above 0 to at most {LARGEST_FREQUENCY:g} Hz"
            )
        one_of(phases, "phases", PHASES)
        # Drawn for every axis, so that an axis keeps its phases when others come or go.
        drawn = np.random.default_rng(whole_number(seed, "seed", 0)).uniform(
            0.0, 2.0 * np.pi, (len(self.axis_names), len(lines))
        )
        if not isinstance(amplitude, Mapping):
            raise InputError("amplitude", "must map axis names to amplitudes")
        complex_amplitudes = np.zeros((len(lines), len(self.axis_names)), dtype=complex)
        for axis, value in amplitude.items():
            column = known_axis(axis, "amplitude", convention)
            sizes = as_floats(value, f"amplitude[{axis!r}]")
            if sizes.shape not in ((), lines.shape) or np.abs(sizes).max() > LARGEST_AMPLITUDE:
                raise InputError(
                    f"amplitude[{axis!r}]",
                    f"must be one number or one per frequency, at most {LARGEST_AMPLITUDE:g}",
                )
            sizes = np.broadcast_to(sizes, lines.shape)
            phase = drawn[column] if phases == "random" else schroeder_phases(sizes)
            # sin(a) is the real part of -i exp(i a).
            complex_amplitudes[:, column] = -1j * sizes * np.exp(1j * phase)
        self._set_series(lines, complex_amplitudes)
