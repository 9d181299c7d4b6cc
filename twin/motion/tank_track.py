"""Tank-track motion: heave, pitch and roll of a tracked vehicle crossing barriers.

The vehicle is a rigid hull on springs and dampers spread evenly along two tracks, in the frequency
domain. Even spreading decouples the hull: it heaves after the mean height under the tracks and
pitches after the least-squares slope under them, each as an oscillator driven through its spring
and damper. The barriers lie across both tracks, so that they do not roll it. It moves at constant
speed; tracks keep contact.

A barrier is a raised cosine: height (1 + cos(2 pi s / length)) / 2 within half a length of its
middle. Real ones have edges, which the contact patch of a track smooths.

All numbers are engineering choices, those of the vehicle in the range of main battle tanks of 50 to
60 t: the thesis names no vehicle, and says of heights, distances and speed only that they follow
military standards.

Reference:
    Albayrak, thesis, METU 2005, sections 1.1 (Aberdeen Proving Ground track) and 4.5. The model is
    adopted.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from twin.basics.arrays import ComplexArray, FloatArray, IndexArray, bounded, whole_number
from twin.errors import InputError
from twin.motion.motion import Motion
from twin.motion.profiles import FourierMotion

BARRIER_HEIGHTS = np.array([0.10, 0.15, 0.20, 0.15, 0.10])
"""[m] Heights of the barriers, repeated along the course."""

BARRIER_SPACINGS = np.array([4.0, 5.5, 4.5, 6.0, 5.0])
"""[m] Distances from each barrier to the next, repeated along the course; the first barrier is half
the first distance from the start."""

BARRIER_LENGTH = 1.0
"""[m] Length of a barrier along the course, at the ground."""

MAX_DISTANCE = 1e4
"""[m] Longest course: two thousand barriers."""

CONTACT_LENGTH = 4.6
"""[m] Length of track on the ground."""

LINK_PITCH = 0.194
"""[m] Length of a track link."""

HEAVE_MODE = (1.3, 0.35)
"""Natural frequency [Hz] and damping ratio of the hull in heave."""

PITCH_MODE = (1.0, 0.3)
"""Natural frequency [Hz] and damping ratio of the hull in pitch."""

FREQUENCY_BAND = (0.5, 70.0)
"""[Hz] Frequency content of tank motion in pitch (thesis, section 4.5)."""

HULL_AXES = ("z", "pitch", "roll")
"""Axes that move: heave, pitch, roll of the hull."""

LINK_HARMONICS = 3
"""Lines of the link ripple; the n-th has 1/n of the first one's acceleration."""

LINK_RIPPLE = np.array([0.5, 0.5, 0.25])
"""[m/s2], [rad/s2] Peak acceleration of the first line of the link ripple."""

BROAD_BAND_RMS = np.array([0.3, 0.3, 0.2])
"""[m/s2], [rad/s2] Root-mean-square acceleration of the broad-band part."""

MIN_DURATION = 4.0
"""[s] Two periods of the lowest frequency."""

MAX_DURATION = 600.0
"""[s] Longest duration, for which the series has 41,701 lines."""


def barrier_profile(wavenumbers: FloatArray, distance: float) -> ComplexArray:
    """Return the Fourier amplitudes `(m,)` [m] of the barriers along a course.

    The course is taken as periodic: profile(s) = sum Re(amplitude exp(i wavenumber s)) plus its
    mean, with wavenumbers 2 pi k / distance.

    Args:
        wavenumbers: `(m,)` [rad/m].
        distance: [m] length of the course.
    """
    spacings = np.tile(BARRIER_SPACINGS, int(distance // BARRIER_SPACINGS.sum()) + 1)
    middles = 0.5 * BARRIER_SPACINGS[0] + np.concatenate([[0.0], np.cumsum(spacings)[:-1]])
    middles = middles[middles < distance]
    u = 0.5 * BARRIER_LENGTH * wavenumbers / np.pi
    shape = 0.5 * BARRIER_LENGTH * (np.sinc(u) + 0.5 * np.sinc(u - 1.0) + 0.5 * np.sinc(u + 1.0))
    phase_sum = np.zeros(len(wavenumbers), dtype=np.complex128)
    for middle, height in zip(middles, np.resize(BARRIER_HEIGHTS, len(middles)), strict=True):
        phase_sum += height * np.exp(-1j * wavenumbers * middle)
    return 2.0 / distance * shape * phase_sum


def hull_motion(frequencies: FloatArray, speed: float, profile: ComplexArray) -> ComplexArray:
    """Return the amplitudes `(m, 2)` of heave [m] and pitch [rad], nose down, over a profile.

    Args:
        frequencies: `(m,)` [Hz] at which the profile passes.
        speed: [m/s].
        profile: `(m,)` amplitudes [m] under both tracks, at the hull's middle.
    """
    wavenumbers = 2.0 * np.pi * frequencies / speed
    half_angle = 0.5 * CONTACT_LENGTH * wavenumbers
    mean_filter = np.sinc(half_angle / np.pi)
    # 12 / L^3 times the integral of s exp(i k s) over the patch: the least-squares slope.
    slope_filter = (
        3j * wavenumbers * (np.sin(half_angle) - half_angle * np.cos(half_angle)) / half_angle**3
    )
    columns = []
    filtered_modes = ((mean_filter, HEAVE_MODE), (-slope_filter, PITCH_MODE))
    for patch_filter, (natural, damping) in filtered_modes:
        ratio = frequencies / natural
        spring_damper = 1.0 + 2j * damping * ratio
        columns.append(patch_filter * profile * spring_damper / (spring_damper - ratio**2))
    return np.stack(columns, axis=1)


class TankTrackMotion(FourierMotion):
    """Hull of a tracked vehicle on an Aberdeen-type barrier course.

    Three parts, each a sum of lines at multiples of 1 / duration from 0.5 to 70 Hz: the response
    of the sprung hull to the barriers, the ripple of track links running over the road wheels
    (speed / link pitch and harmonics, put on the nearest lines), and a broad band of flat
    acceleration density. A window then fades the sum in and out, so that the motion starts and
    ends at rest at the centre; it spreads each line by a few times 1 / fade time.

    Attributes:
        speed: [m/s].
        seed: of the phases.
    """

    speed: float
    seed: int

    def __init__(
        self,
        center: Any,
        *,
        speed: Any = 5.6,
        duration: Any = 20.0,
        peak_pitch: Any = None,
        seed: int = 0,
        convention: str = "yaw_pitch_roll",
        fade_in: Any = 2.0,
        fade_out: Any = 2.0,
    ) -> None:
        """Describe the course.

        Args:
            center: pose `(7,)`, such as a platform's `home`, or position `(3,)` [m]; the hull's
                x axis (forward) is the base frame's.
            speed: [m/s].
            duration: [s], from 4 to 600.
            peak_pitch: [rad] scales the whole run to this largest pitch.
            seed: of the phases of ripple and broad band; same seed, same motion.
            convention: one with axes pitch and roll.
            fade_in: [s].
            fade_out: [s].

        Raises:
            InputError: not finite, out of range, convention without pitch and roll.
        """
        seconds = bounded(duration, "duration", MIN_DURATION, MAX_DURATION)
        super().__init__(center, seconds, convention, fade_in, fade_out)
        if not set(HULL_AXES) <= set(self.axis_names):
            raise InputError(
                "convention", f"{convention} has no pitch and roll; use yaw_pitch_roll"
            )
        self._set(speed=bounded(speed, "speed", 0.1, 100.0), seed=whole_number(seed, "seed", 0))
        # The margin keeps 0.5 and 70 Hz themselves when duration times frequency is inexact.
        first_line = int(np.ceil(FREQUENCY_BAND[0] * seconds - 1e-9))
        last_line = int(np.floor(FREQUENCY_BAND[1] * seconds + 1e-9))
        lines = np.arange(first_line, last_line + 1)
        hull = self._hull(lines / seconds)
        if peak_pitch is not None:
            target_peak = bounded(peak_pitch, "peak_pitch", 1e-9, np.pi / 2)
            hull *= target_peak / _peak(self, lines, hull[:, 1])
        amplitudes = np.zeros((len(lines), len(self.axis_names)), dtype=complex)
        amplitudes[:, [self.axis_names.index(axis) for axis in HULL_AXES]] = hull
        self._set_series(lines / seconds, amplitudes)

    def _hull(self, frequencies: FloatArray) -> ComplexArray:
        """Return the amplitudes `(m, 3)` of heave, pitch and roll."""
        generator = np.random.default_rng(self.seed)
        distance, start = self.speed * self.duration, 0.5 * BARRIER_SPACINGS[0]
        if not start < distance <= MAX_DISTANCE:
            raise InputError(
                "speed, duration",
                f"the course of {distance:g} m must be longer than {start:g} m, where the first "
                f"barrier is, and at most {MAX_DISTANCE:g} m",
            )
        profile = barrier_profile(2.0 * np.pi * frequencies / self.speed, distance)
        hull = np.zeros((len(frequencies), len(HULL_AXES)), dtype=complex)
        hull[:, :2] = hull_motion(frequencies, self.speed, profile)
        omega = 2.0 * np.pi * frequencies[:, None]
        phases = generator.uniform(0.0, 2.0 * np.pi, (LINK_HARMONICS, len(HULL_AXES)))
        for n in range(1, LINK_HARMONICS + 1):
            ripple_frequency = n * self.speed / LINK_PITCH
            if FREQUENCY_BAND[0] <= ripple_frequency <= FREQUENCY_BAND[1]:
                i = int(np.abs(frequencies - ripple_frequency).argmin())
                hull[i] -= LINK_RIPPLE / n * np.exp(1j * phases[n - 1]) / omega[i] ** 2
        phases = generator.uniform(0.0, 2.0 * np.pi, hull.shape)
        # A line of amplitude a has the mean square a^2 / 2; all lines share it evenly.
        hull -= BROAD_BAND_RMS * np.sqrt(2.0 / len(frequencies)) * np.exp(1j * phases) / omega**2
        return hull


def _peak(motion: Motion, lines: IndexArray, amplitudes: ComplexArray) -> float:
    """Return the largest magnitude of one axis after the window.

    From 64 points a period of the highest line: at most 1 - cos(pi / 64) = 0.12 % too low.
    """
    count = 64 * int(lines[-1])
    spectrum = np.zeros(count // 2 + 1, dtype=complex)
    spectrum[lines] = 0.5 * count * amplitudes
    signal = np.fft.irfft(spectrum, count)
    window = motion.fade.window(np.arange(count, dtype=np.float64) * (motion.duration / count))[0]
    return float(np.abs(window * signal).max())
