"""A tracked vehicle as a sprung body over two contact patches, in the frequency domain."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from twin.basics.arrays import FloatArray
from twin.motion.checks import bounded

ComplexArray = NDArray[np.complex128]


@dataclass(frozen=True, kw_only=True)
class TrackedVehicle:
    """A rigid hull on springs and dampers spread evenly along two tracks.

    Even spreading decouples the hull: it heaves after the mean height under the tracks, pitches
    after the least-squares slope under them, and rolls after the height difference of the two,
    each as an oscillator driven through its spring and damper. The hull moves at constant speed;
    tracks keep contact.

    All values are adopted, in the range of main battle tanks of 50 to 60 t: the thesis names no
    vehicle. Frequencies in Hz, damping ratios without unit.
    """

    contact_length: float = 4.6
    """[m] of track on the ground"""
    track_gauge: float = 2.8
    """[m] between the middles of the tracks"""
    link_pitch: float = 0.194
    """[m] of a track link"""
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
        half = 0.5 * self.contact_length * wavenumbers
        mean_filter = np.sinc(half / np.pi)
        # 12 / L^3 times the integral of s exp(i k s) over the patch: the least-squares slope.
        slope_filter = 3j * wavenumbers * (np.sin(half) - half * np.cos(half)) / half**3
        middle = 0.5 * (left + right)
        inputs = (
            mean_filter * middle,
            -slope_filter * middle,
            mean_filter * (left - right) / self.track_gauge,
        )
        oscillators = (
            (self.bounce_frequency, self.bounce_damping),
            (self.pitch_frequency, self.pitch_damping),
            (self.roll_frequency, self.roll_damping),
        )
        columns = []
        for driven, (natural, damping) in zip(inputs, oscillators, strict=True):
            ratio = frequencies / natural
            spring_damper = 1.0 + 2j * damping * ratio
            columns.append(driven * spring_damper / (spring_damper - ratio**2))
        return np.stack(columns, axis=1)
