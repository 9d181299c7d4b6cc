"""Standard motions: sines, multi-sines, chirps, steps, splines and motions from rest to rest.

The phases of a multi-sine are chosen for a low crest or by chance. Value, rate and acceleration of
a sum of sines are exact; they come from one series.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import pi, sqrt
from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import (
    FloatArray,
    as_floats,
    bounded,
    one_of,
    positive,
    read_only,
    whole_number,
)
from twin.errors import InputError
from twin.motion.motion import (
    MAX_AMPLITUDE,
    MAX_FREQUENCY,
    MAX_TIME,
    MIN_TIME,
    TIME_ROUNDING,
    AxisSample,
    Motion,
    axis_values,
    known_axis,
    minimum_jerk,
)

SWEEP_TYPES = ("linear", "logarithmic")

MIN_FREQUENCY = 1e-6
"""[Hz] Lowest frequency: one period in eleven days."""

BLOCK_SIZE = 2_000_000
"""Largest number of values in memory while a series is evaluated: 32 MB."""

PHASE_CHOICES = ("schroeder", "random")


def _along(direction: FloatArray, derivatives: Iterable[FloatArray]) -> AxisSample:
    """Return a function of time `(m,)` and its two derivatives, times a direction `(k,)`."""
    return AxisSample(*(derivative[:, None] * direction for derivative in derivatives))


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
        limits = (MIN_FREQUENCY, MAX_FREQUENCY)
        self._set(
            amplitude=read_only(axis_values(amplitude, "amplitude", convention)),
            start_frequency=bounded(start_frequency, "start_frequency", *limits),
            end_frequency=bounded(end_frequency, "end_frequency", *limits),
            sweep=one_of(sweep, "sweep", SWEEP_TYPES),
        )

    def frequency(self, time: FloatArray) -> FloatArray:
        """Return the frequency `(m,)` [Hz] of the sweep at times `(m,)` [s]."""
        return self._phase(time)[1] / (2.0 * np.pi)

    def _phase(self, time: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the phase [rad] of the sweep and its first two derivatives."""
        start_omega = 2.0 * np.pi * self.start_frequency
        end_omega = 2.0 * np.pi * self.end_frequency
        log_rate = np.log(end_omega / start_omega) / self.duration
        if self.sweep == "linear" or log_rate == 0.0:
            slope = (end_omega - start_omega) / self.duration
            return (
                time * (start_omega + 0.5 * slope * time),
                start_omega + slope * time,
                np.full_like(time, slope),
            )
        omega = start_omega * np.exp(log_rate * time)
        return start_omega * np.expm1(log_rate * time) / log_rate, omega, log_rate * omega

    def _axes(self, time: FloatArray) -> AxisSample:
        phase, omega, slope = self._phase(time)
        sine, cosine = np.sin(phase), np.cos(phase)
        return _along(self.amplitude, (sine, omega * cosine, slope * cosine - omega**2 * sine))


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
        """Return the series and its derivatives, block by block of times."""
        omega = 2.0 * np.pi * self.frequencies
        column, a, b = omega[:, None], self.cosines, self.sines
        of_cosine = np.hstack([a, column * b, -(column**2) * a])
        of_sine = np.hstack([b, -column * a, -(column**2) * b])
        result = np.empty((len(time), of_cosine.shape[1]))
        rows = max(1, BLOCK_SIZE // len(omega))
        for start in range(0, len(time), rows):
            block = slice(start, start + rows)
            argument = time[block, None] * omega
            result[block] = np.cos(argument) @ of_cosine + np.sin(argument) @ of_sine
        return AxisSample(*np.split(result, 3, axis=1))


def schroeder_phases(amplitudes: FloatArray) -> FloatArray:
    """Return phases `(m,)` [rad] that keep the peak of a multi-sine low.

    Args:
        amplitudes: `(m,)` of sines in the order of their frequencies.

    Reference:
        Schroeder, Synthesis of low-peak-factor signals, IEEE Trans. Information Theory 16 (1970).
    """
    power = amplitudes**2
    total_power = power.sum()
    fractions = power / total_power if total_power else power
    power_before = np.concatenate([[0.0], np.cumsum(fractions)[:-1]])
    return -2.0 * np.pi * np.cumsum(power_before)


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
        line_frequencies = as_floats(frequencies, "frequencies")
        if line_frequencies.ndim != 1 or not line_frequencies.size:
            raise InputError(
                "frequencies", f"must be a list (m,) [Hz], got shape {line_frequencies.shape}"
            )
        if (
            line_frequencies.min() <= 0.0
            or line_frequencies.max() > MAX_FREQUENCY
            or (np.diff(line_frequencies) <= 0.0).any()
        ):
            raise InputError(
                "frequencies", f"must increase, from above 0 to at most {MAX_FREQUENCY:g} Hz"
            )
        one_of(phases, "phases", PHASE_CHOICES)
        # Drawn for every axis, so that an axis keeps its phases when others come or go.
        random_phases = np.random.default_rng(whole_number(seed, "seed", 0)).uniform(
            0.0, 2.0 * np.pi, (len(self.axis_names), len(line_frequencies))
        )
        if not isinstance(amplitude, Mapping):
            raise InputError("amplitude", "must map axis names to amplitudes")
        complex_amplitudes = np.zeros((len(line_frequencies), len(self.axis_names)), dtype=complex)
        for axis, value in amplitude.items():
            column = known_axis(axis, "amplitude", convention)
            axis_amplitudes = as_floats(value, f"amplitude[{axis!r}]")
            if (
                axis_amplitudes.shape not in ((), line_frequencies.shape)
                or np.abs(axis_amplitudes).max() > MAX_AMPLITUDE
            ):
                raise InputError(
                    f"amplitude[{axis!r}]",
                    f"must be one number or one per frequency, at most {MAX_AMPLITUDE:g}",
                )
            axis_amplitudes = np.broadcast_to(axis_amplitudes, line_frequencies.shape)
            phase = (
                random_phases[column] if phases == "random" else schroeder_phases(axis_amplitudes)
            )
            # sin(a) is the real part of -i exp(i a).
            complex_amplitudes[:, column] = -1j * axis_amplitudes * np.exp(1j * phase)
        self._set_series(line_frequencies, complex_amplitudes)


class SineMotion(Motion):
    """One sine on every axis: amplitude sin(2 pi frequency t + phase).

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
        amplitudes = axis_values(amplitude, "amplitude", convention)
        frequencies = axis_values(frequency, "frequency", convention, one_for_all=True)
        if (frequencies < 0.0).any() or frequencies.max() > MAX_FREQUENCY:
            raise InputError("frequency", f"must be from 0 to {MAX_FREQUENCY:g} Hz")
        if (frequencies[amplitudes != 0.0] == 0.0).any():
            raise InputError("frequency", "every axis with an amplitude needs one above zero")
        self._set(
            amplitude=read_only(amplitudes),
            frequency=read_only(frequencies),
            phase=read_only(axis_values(phase, "phase", convention, one_for_all=True)),
        )

    def _axes(self, time: FloatArray) -> AxisSample:
        omega = 2.0 * np.pi * self.frequency
        argument = omega * time[:, None] + self.phase
        sine = self.amplitude * np.sin(argument)
        return AxisSample(sine, omega * self.amplitude * np.cos(argument), -(omega**2) * sine)


class StepMotion(Motion):
    """A step: rest at the centre, then a transition, then rest at the displacement.

    Attributes:
        displacement: `(k,)` [m], [rad], read-only.
        start: [s] when the transition begins.
        rise: [s] it takes; 0 is the ideal step.
    """

    displacement: FloatArray
    start: float
    rise: float

    def __init__(
        self,
        center: Any,
        *,
        displacement: Any,
        rise: Any,
        duration: Any,
        start: Any = 0.0,
        convention: str = "yaw_pitch_roll",
    ) -> None:
        """Describe the step.

        Args:
            center: pose `(7,)`, such as a platform's `home`, or position `(3,)` [m].
            displacement: per axis [m], [rad]: a mapping such as {"z": 0.05}, or `(k,)`.
            rise: [s] of the minimum-jerk transition (quintic; starts and ends with zero velocity
                and acceleration). 0 gives the ideal step: displaced from `start` on, with zero
                twist and acceleration everywhere, as its impulses are no numbers.
            duration: [s] of the whole motion, transition included.
            start: [s] when the transition begins.
            convention: angle convention, which names the axes.

        Raises:
            InputError: wrong shape, unknown axis, not finite, out of range, transition not over
                within `duration`.
        """
        super().__init__(center, duration, convention)
        start_time = bounded(start, "start", 0.0, MAX_TIME)
        seconds = bounded(rise, "rise", 0.0, MAX_TIME)
        if 0.0 < seconds < MIN_TIME:
            raise InputError("rise", f"must be 0 (ideal step) or at least {MIN_TIME:g} s")
        if start_time + seconds > self.duration * (1.0 + TIME_ROUNDING):
            raise InputError(
                "start, rise, duration",
                f"the transition ends at {start_time + seconds:g} s, after the motion's "
                f"{self.duration:g} s; give a longer duration",
            )
        self._set(
            displacement=read_only(axis_values(displacement, "displacement", convention)),
            start=start_time,
            rise=seconds,
        )

    def _axes(self, time: FloatArray) -> AxisSample:
        """Return the step: a jump, or a rise of least jerk."""
        if self.rise == 0.0:
            value = np.where(time >= self.start, 1.0, 0.0)
            slope = curvature = np.zeros_like(time)
        else:
            value, slope, curvature = minimum_jerk((time - self.start) / self.rise)
            slope, curvature = slope / self.rise, curvature / self.rise**2
        return _along(self.displacement, (value, slope, curvature))


Transition = tuple[FloatArray, FloatArray, FloatArray]


def harmonic(phase: FloatArray) -> Transition:
    """Return half a cosine wave: largest acceleration at both ends, where it starts with a jump."""
    angle = pi * phase
    return 0.5 - 0.5 * np.cos(angle), 0.5 * pi * np.sin(angle), 0.5 * pi**2 * np.cos(angle)


def cubic(phase: FloatArray) -> Transition:
    """Return the cubic that position and velocity at both ends define; linear acceleration."""
    return phase**2 * (3.0 - 2.0 * phase), 6.0 * phase * (1.0 - phase), 6.0 - 12.0 * phase


def cycloidal(phase: FloatArray) -> Transition:
    """Return the transition whose acceleration is one full sine wave."""
    angle = 2.0 * pi * phase
    return phase - np.sin(angle) / (2.0 * pi), 1.0 - np.cos(angle), 2.0 * pi * np.sin(angle)


class Law(NamedTuple):
    """A transition from 0 to 1 over phase 0 to 1, at rest at both ends."""

    transition: Any
    """phase `(m,)` -> value and its two derivatives by phase, `(m,)` each"""
    peak: float
    """largest second derivative: peak acceleration = peak distance / rise^2"""


LAWS = {
    "harmonic": Law(harmonic, 0.5 * pi**2),
    "cubic": Law(cubic, 6.0),
    "cycloidal": Law(cycloidal, 2.0 * pi),
    "minimum_jerk": Law(minimum_jerk, 10.0 / sqrt(3.0)),
}
"""Transition laws by name.

Reference: Biagiotti and Melchiorri, Trajectory Planning for Automatic Machines and Robots,
chapter 2."""


def shortest_rise(distance: Any, peak_acceleration: Any, law: str = "harmonic") -> float:
    """Return the time [s] of a transition over `distance` that just reaches a peak acceleration.

    Args:
        distance: [m] or [rad].
        peak_acceleration: [m/s2] or [rad/s2].
        law: a key of `LAWS`.

    Raises:
        InputError: not above zero, or unknown law.
    """
    transition_law = LAWS[one_of(law, "law", LAWS)]
    size = positive(distance, "distance")
    return sqrt(transition_law.peak * size / positive(peak_acceleration, "peak_acceleration"))


class RestToRestMotion(Motion):
    """One transition from rest at the centre to rest at the displacement.

    Attributes:
        displacement: `(k,)` [m], [rad], read-only.
        law: a key of `LAWS`.
    """

    displacement: FloatArray
    law: str

    def __init__(
        self,
        center: Any,
        *,
        displacement: Any,
        rise: Any,
        law: str = "harmonic",
        convention: str = "yaw_pitch_roll",
    ) -> None:
        """Describe the motion.

        Args:
            center: pose `(7,)`, such as a platform's `home`, or position `(3,)` [m].
            displacement: per axis [m], [rad]: a mapping such as {"z": 0.05}, or `(k,)`.
            rise: [s] of the transition; `shortest_rise` gives it from a peak acceleration.
            law: of the transition, a key of `LAWS`: "harmonic", "cubic", "cycloidal" (no jump of
                acceleration) or "minimum_jerk".
            convention: angle convention, which names the axes.

        Raises:
            InputError: wrong shape, unknown axis, law or convention, not finite, out of range.
        """
        super().__init__(center, bounded(rise, "rise", MIN_TIME, MAX_TIME), convention)
        self._set(
            displacement=read_only(axis_values(displacement, "displacement", convention)),
            law=one_of(law, "law", LAWS),
        )

    def _axes(self, time: FloatArray) -> AxisSample:
        value, slope, curvature = LAWS[self.law].transition(time / self.duration)
        derivatives = (value, slope / self.duration, curvature / self.duration**2)
        return _along(self.displacement, derivatives)


def spline_through(time: FloatArray, values: FloatArray, field: str) -> Any:
    """Return the spline `scipy.interpolate.BSpline` through samples, not-a-knot at its ends.

    Quintic (four continuous derivatives); cubic (two) for fewer than six samples.

    Args:
        time: `(n,)` [s], increasing.
        values: `(n,)`.
        field: name of the column, for the message.

    Raises:
        InputError: samples too close in time or too large for a finite spline.
    """
    from scipy.interpolate import make_interp_spline

    try:
        with np.errstate(all="ignore"):
            spline = make_interp_spline(time, values, k=5 if len(time) >= 6 else 3)
    except (ValueError, np.linalg.LinAlgError) as error:
        raise InputError(field, f"no spline fits these samples ({error})") from None
    if not np.isfinite(spline.c).all():
        raise InputError(field, "no finite spline fits these samples; check units and time")
    return spline
