"""Tank-track motion: heave, pitch and roll of a tracked vehicle crossing barriers.

The vehicle is a sprung body over two contact patches, in the frequency domain.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import ComplexArray, FloatArray, as_floats, bounded, read_only, whole_number
from twin.errors import InputError
from twin.motion.motion import Motion
from twin.motion.profiles import FourierMotion

MAX_BARRIERS = 2_000
"""Maximum number of barriers on one course: ten minutes at any reasonable speed."""


class Barriers(NamedTuple):
    """Barriers along a course. Build with `barrier_course`.

    A barrier is a raised cosine: height (1 + cos(2 pi s / length)) / 2 within half a length of its
    middle (engineering choice: real ones have edges, which the contact patch of a track smooths).
    """

    left_heights: FloatArray
    """heights `(b,)` [m] under the left track, repeated along the course"""
    right_heights: FloatArray
    """heights `(b,)` [m] under the right track, repeated along the course"""
    spacings: FloatArray
    """`(b,)` [m] distances from each barrier to the next"""
    length: float
    """[m] length of a barrier along the course, at the ground"""
    stagger: float
    """[m] distance by which the right barriers come after the left ones"""

    def positions(self, distance: float) -> FloatArray:
        """Return the positions `(n,)` [m] of the left barriers' centres along a `distance` [m].

        The first is half its spacing behind the start of the course.

        Raises:
            InputError: no barrier or far too many on it.
        """
        lap = float(self.spacings.sum())
        if distance / lap * len(self.spacings) > MAX_BARRIERS:
            raise InputError(
                "spacings", f"give more than {MAX_BARRIERS} barriers; wider, or shorter"
            )
        laps = int(distance // lap) + 1
        repeated_spacings = np.tile(self.spacings, laps)
        middles = 0.5 * self.spacings[0] + np.concatenate(
            [[0.0], np.cumsum(repeated_spacings)[:-1]]
        )
        middles = np.asarray(middles[middles < distance], dtype=np.float64)
        if not middles.size:
            raise InputError(
                "spacings",
                f"the first barrier is at {0.5 * self.spacings[0]:g} m, beyond the end of the "
                f"course at {distance:g} m (speed times duration); drive longer or closer spacings",
            )
        return middles

    def amplitudes(
        self, wavenumbers: FloatArray, distance: float
    ) -> tuple[ComplexArray, ComplexArray]:
        """Return the Fourier amplitudes `(m,)` [m] of the left and the right profile.

        The course is taken as periodic: profile(s) = sum Re(amplitude exp(i wavenumber s)) plus
        its mean, with wavenumbers 2 pi k / distance.

        Args:
            wavenumbers: `(m,)` [rad/m].
            distance: [m] length of the course.
        """
        positions = self.positions(distance)
        u = 0.5 * self.length * wavenumbers / np.pi
        shape = 0.5 * self.length * (np.sinc(u) + 0.5 * np.sinc(u - 1.0) + 0.5 * np.sinc(u + 1.0))
        profiles = []
        for heights, offset in ((self.left_heights, 0.0), (self.right_heights, self.stagger)):
            repeated_heights = np.resize(heights, len(positions))
            phase_sum = np.zeros(len(wavenumbers), dtype=np.complex128)
            for middle, height in zip(positions, repeated_heights, strict=True):
                phase_sum += height * np.exp(-1j * wavenumbers * (middle + offset))
            profiles.append(2.0 / distance * shape * phase_sum)
        return profiles[0], profiles[1]


def barrier_course(
    heights: Any = (0.10, 0.15, 0.20, 0.15, 0.10),
    spacings: Any = (4.0, 5.5, 4.5, 6.0, 5.0),
    *,
    right_heights: Any = None,
    length: Any = 1.0,
    stagger: Any = 0.0,
) -> Barriers:
    """Return a course of barriers, repeated for as long as the vehicle drives.

    The defaults are engineering choices: the thesis says only that heights, distances and speed
    follow military standards.

    Args:
        heights: `(b,)` [m] under the left track, from 0 to 2.
        spacings: `(b,)` [m] from each barrier to the next, or one for all; at least `length`.
        right_heights: `(b,)` [m] under the right track; default as left. 0 leaves one out.
        length: [m] of a barrier along the course.
        stagger: [m] by which the right barriers come after the left ones, at most 1000.

    Raises:
        InputError: wrong shape, not finite, out of range.

    Reference:
        Albayrak, thesis, METU 2005, section 1.1: Aberdeen Proving Ground track.
    """
    left_heights = as_floats(heights, "heights")
    if left_heights.ndim != 1 or not left_heights.size:
        raise InputError("heights", f"must be a list (b,) [m], got shape {left_heights.shape}")
    right_values = (
        left_heights if right_heights is None else as_floats(right_heights, "right_heights")
    )
    gaps = as_floats(spacings, "spacings")
    if gaps.ndim == 0:
        gaps = np.full(left_heights.shape, float(gaps))
    for field, values in (("right_heights", right_values), ("spacings", gaps)):
        if values.shape != left_heights.shape:
            raise InputError(
                field,
                f"must hold one number per height, {left_heights.size}, got shape {values.shape}",
            )
    for field, values in (("heights", left_heights), ("right_heights", right_values)):
        if values.min() < 0.0 or values.max() > 2.0:
            raise InputError(field, "must be from 0 to 2 m; unit metres?")
    size = bounded(length, "length", 0.01, 100.0)
    if gaps.min() < size or gaps.max() > 1e5:
        raise InputError("spacings", f"must be from the length of a barrier, {size:g} m, to 1e5 m")
    return Barriers(
        read_only(left_heights),
        read_only(right_values),
        read_only(gaps),
        size,
        bounded(stagger, "stagger", -1e3, 1e3),
    )


@dataclass(frozen=True, kw_only=True)
class TrackedVehicle:
    """A rigid hull on springs and dampers spread evenly along two tracks.

    Even spreading decouples the hull: it heaves after the mean height under the tracks, pitches
    after the least-squares slope under them, and rolls after the height difference of the two,
    each as an oscillator driven through its spring and damper. The hull moves at constant speed;
    tracks keep contact.

    All values are engineering choices, in the range of main battle tanks of 50 to 60 t: the thesis
    names no vehicle. Frequencies in Hz, damping ratios without unit.
    """

    contact_length: float = 4.6
    """[m] length of track on the ground"""
    track_gauge: float = 2.8
    """[m] distance between the middles of the tracks"""
    link_pitch: float = 0.194
    """[m] length of a track link"""
    bounce_frequency: float = 1.3
    bounce_damping: float = 0.35
    pitch_frequency: float = 1.0
    pitch_damping: float = 0.3
    roll_frequency: float = 1.5
    roll_damping: float = 0.3

    def __post_init__(self) -> None:
        """Check the numbers; raises InputError for one that is out of range."""
        for field in fields(self):
            low, high = (0.01, 100.0) if field.name.endswith("frequency") else (0.01, 50.0)
            value = bounded(getattr(self, field.name), field.name, low, high)
            object.__setattr__(self, field.name, value)

    def hull_motion(
        self,
        frequencies: FloatArray,
        speed: float,
        left: ComplexArray,
        right: ComplexArray,
    ) -> ComplexArray:
        """Return the amplitudes `(m, 3)` of heave [m], pitch and roll [rad] over a profile.

        Pitch is positive nose down and roll positive left side up, as rotations about y (left)
        and x (forward).

        Args:
            frequencies: `(m,)` [Hz] at which the profile passes.
            speed: [m/s].
            left: `(m,)` amplitudes [m] of the profile under the left track, at the hull's middle.
            right: `(m,)` the same under the right track.
        """
        wavenumbers = 2.0 * np.pi * frequencies / speed
        half_angle = 0.5 * self.contact_length * wavenumbers
        mean_filter = np.sinc(half_angle / np.pi)
        # 12 / L^3 times the integral of s exp(i k s) over the patch: the least-squares slope.
        slope_filter = (
            3j
            * wavenumbers
            * (np.sin(half_angle) - half_angle * np.cos(half_angle))
            / half_angle**3
        )
        mean_profile = 0.5 * (left + right)
        inputs = (
            mean_filter * mean_profile,
            -slope_filter * mean_profile,
            mean_filter * (left - right) / self.track_gauge,
        )
        oscillators = (
            (self.bounce_frequency, self.bounce_damping),
            (self.pitch_frequency, self.pitch_damping),
            (self.roll_frequency, self.roll_damping),
        )
        columns = []
        for input_amplitudes, (natural, damping) in zip(inputs, oscillators, strict=True):
            ratio = frequencies / natural
            spring_damper = 1.0 + 2j * damping * ratio
            columns.append(input_amplitudes * spring_damper / (spring_damper - ratio**2))
        return np.stack(columns, axis=1)


FREQUENCY_BAND = (0.5, 70.0)
"""[Hz] Frequency content of tank motion in pitch (thesis, section 4.5)."""

HULL_AXES = ("z", "pitch", "roll")
"""Axes that move: heave, pitch, roll of the hull."""

LINK_HARMONICS = 3
"""Lines of the link ripple; the n-th has 1/n of the first one's acceleration (engineering choice).
"""

LINK_RIPPLE = {"z": 0.5, "pitch": 0.5, "roll": 0.25}
"""[m/s2], [rad/s2] Engineering choice: peak acceleration of the first line of the link ripple."""

DEFAULT_ROUGHNESS = {"z": 0.3, "pitch": 0.3, "roll": 0.2}
"""[m/s2], [rad/s2] Engineering choice: root-mean-square acceleration of the broad-band part."""

MIN_DURATION = 4.0
"""[s] Two periods of the lowest frequency."""

MAX_DURATION = 600.0
"""[s] Longest duration, beyond which the series has more than 40,000 lines."""


class TankTrackMotion(FourierMotion):
    """Hull of a tracked vehicle on an Aberdeen-type barrier course.

    Three parts, each a sum of lines at multiples of 1 / duration from 0.5 to 70 Hz: the response
    of the sprung hull to the barriers, the ripple of track links running over the road wheels
    (speed / link pitch and harmonics, put on the nearest lines), and a broad band of flat
    acceleration density. A window then fades the sum in and out, so that the motion starts and
    ends at rest at the centre; it spreads each line by a few times 1 / fade time.

    Attributes:
        speed: [m/s].
        barriers: the course.
        vehicle: the vehicle.
        seed: of the phases.
    """

    speed: float
    barriers: Barriers
    vehicle: TrackedVehicle
    seed: int

    def __init__(
        self,
        center: Any,
        *,
        speed: Any = 5.6,
        duration: Any = 20.0,
        barriers: Barriers | None = None,
        vehicle: TrackedVehicle | None = None,
        link_ripple: Mapping[str, Any] | None = None,
        roughness: Mapping[str, Any] | None = None,
        peak_pitch: Any = None,
        peak_heave: Any = None,
        peak_roll: Any = None,
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
            barriers: the course; default `barrier_course()`.
            vehicle: default `TrackedVehicle()`.
            link_ripple: z [m/s2], pitch, roll [rad/s2] -> peak acceleration of the first line;
                default `LINK_RIPPLE`.
            roughness: z [m/s2], pitch, roll [rad/s2] -> root-mean-square acceleration of the
                broad band; default `DEFAULT_ROUGHNESS`.
            peak_pitch: [rad] scales the whole run to this largest pitch.
            peak_heave: [m] scales heave alone, after `peak_pitch`; 0 leaves it out.
            peak_roll: [rad] scales roll alone, after `peak_pitch`; 0 leaves it out.
            seed: of the phases of ripple and broad band; same seed, same motion.
            convention: one with axes pitch and roll.
            fade_in: [s].
            fade_out: [s].

        Raises:
            InputError: not finite, out of range, unknown axis, convention without pitch and roll,
                a peak for an axis that does not move.

        Reference:
            Albayrak, thesis, METU 2005, sections 1.1 and 4.5. The model is adopted.
        """
        seconds = bounded(duration, "duration", MIN_DURATION, MAX_DURATION)
        super().__init__(center, seconds, convention, fade_in, fade_out)
        if not set(HULL_AXES) <= set(self.axis_names):
            raise InputError(
                "convention", f"{convention} has no pitch and roll; use yaw_pitch_roll"
            )
        self._set(
            speed=bounded(speed, "speed", 0.1, 100.0),
            barriers=barrier_course() if barriers is None else barriers,
            vehicle=TrackedVehicle() if vehicle is None else vehicle,
            seed=whole_number(seed, "seed", 0),
        )
        if not isinstance(self.barriers, Barriers):
            raise InputError("barriers", "must come from barrier_course(...)")
        if not isinstance(self.vehicle, TrackedVehicle):
            raise InputError("vehicle", "must be a TrackedVehicle")
        ripple_levels = _levels(LINK_RIPPLE if link_ripple is None else link_ripple, "link_ripple")
        broad_levels = _levels(DEFAULT_ROUGHNESS if roughness is None else roughness, "roughness")
        line_numbers = _line_numbers(self.duration)
        hull = self._hull(line_numbers / self.duration, ripple_levels, broad_levels)
        self._scale(line_numbers, hull, peak_heave, peak_pitch, peak_roll)
        amplitudes = np.zeros((len(line_numbers), len(self.axis_names)), dtype=complex)
        amplitudes[:, [self.axis_names.index(axis) for axis in HULL_AXES]] = hull
        self._set_series(line_numbers / self.duration, amplitudes)

    def _hull(
        self, frequencies: FloatArray, ripple_levels: FloatArray, broad_levels: FloatArray
    ) -> ComplexArray:
        generator = np.random.default_rng(self.seed)
        distance = self.speed * self.duration
        left_profile, right_profile = self.barriers.amplitudes(
            2.0 * np.pi * frequencies / self.speed, distance
        )
        hull = self.vehicle.hull_motion(frequencies, self.speed, left_profile, right_profile)
        omega = 2.0 * np.pi * frequencies[:, None]
        phases = generator.uniform(0.0, 2.0 * np.pi, (LINK_HARMONICS, len(HULL_AXES)))
        for n in range(1, LINK_HARMONICS + 1):
            ripple_frequency = n * self.speed / self.vehicle.link_pitch
            if FREQUENCY_BAND[0] <= ripple_frequency <= FREQUENCY_BAND[1]:
                i = int(np.abs(frequencies - ripple_frequency).argmin())
                hull[i] -= ripple_levels / n * np.exp(1j * phases[n - 1]) / omega[i] ** 2
        phases = generator.uniform(0.0, 2.0 * np.pi, hull.shape)
        # A line of amplitude a has the mean square a^2 / 2; all lines share it evenly.
        hull -= broad_levels * np.sqrt(2.0 / len(frequencies)) * np.exp(1j * phases) / omega**2
        return hull

    def _scale(
        self, line_numbers: FloatArray, hull: ComplexArray, heave: Any, pitch: Any, roll: Any
    ) -> None:
        """Scale `hull` `(m, 3)` in place to the given peaks."""
        if pitch is not None:
            target_peak = bounded(pitch, "peak_pitch", 1e-9, np.pi / 2)
            hull *= self._factor(line_numbers, hull[:, 1], target_peak, "peak_pitch")
        for column, field, value, max_peak in (
            (0, "peak_heave", heave, 10.0),
            (2, "peak_roll", roll, np.pi / 2),
        ):
            if value is not None:
                target_peak = bounded(value, field, 0.0, max_peak)
                hull[:, column] *= self._factor(line_numbers, hull[:, column], target_peak, field)

    def _factor(
        self, line_numbers: FloatArray, amplitudes: ComplexArray, target_peak: float, field: str
    ) -> float:
        if target_peak == 0.0:
            return 0.0
        peak = _peak(self, line_numbers, amplitudes)
        if not peak > 1e-12:
            raise InputError(field, "this axis does not move, so it cannot be scaled to a peak")
        return target_peak / peak


def _levels(value: Any, field: str) -> FloatArray:
    if not isinstance(value, Mapping) or not set(value) <= set(HULL_AXES):
        raise InputError(field, f"must map some of {', '.join(HULL_AXES)} to accelerations")
    return np.array(
        [bounded(value.get(axis, 0.0), f"{field}[{axis!r}]", 0.0, 100.0) for axis in HULL_AXES]
    )


def _line_numbers(duration: float) -> FloatArray:
    # The margin keeps 0.5 and 70 Hz themselves when duration times frequency is inexact.
    first_line = int(np.ceil(FREQUENCY_BAND[0] * duration - 1e-9))
    last_line = int(np.floor(FREQUENCY_BAND[1] * duration + 1e-9))
    return np.arange(first_line, last_line + 1, dtype=float)


def _peak(motion: Motion, line_numbers: FloatArray, amplitudes: ComplexArray) -> float:
    """Return the largest magnitude of one axis after the window.

    From 64 points a period of the highest line: at most 1 - cos(pi / 64) = 0.12 % too low.
    """
    count = 64 * int(line_numbers[-1])
    spectrum = np.zeros(count // 2 + 1, dtype=complex)
    spectrum[line_numbers.astype(int)] = 0.5 * count * amplitudes
    signal = np.fft.irfft(spectrum, count)
    window = motion.fade.window(np.arange(count, dtype=np.float64) * (motion.duration / count))[0]
    return float(np.abs(window * signal).max())
