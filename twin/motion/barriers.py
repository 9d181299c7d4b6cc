"""A course of barriers under the two tracks of a vehicle."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import ComplexArray, FloatArray, as_floats, bounded, read_only
from twin.errors import InputError

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
        middles = self.positions(distance)
        u = 0.5 * self.length * wavenumbers / np.pi
        shape = 0.5 * self.length * (np.sinc(u) + 0.5 * np.sinc(u - 1.0) + 0.5 * np.sinc(u + 1.0))
        profiles = []
        for heights, offset in ((self.left_heights, 0.0), (self.right_heights, self.stagger)):
            repeated_heights = np.resize(heights, len(middles))
            phase_sum = np.zeros(len(wavenumbers), dtype=np.complex128)
            for middle, height in zip(middles, repeated_heights, strict=True):
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
    right = left_heights if right_heights is None else as_floats(right_heights, "right_heights")
    gaps = as_floats(spacings, "spacings")
    if gaps.ndim == 0:
        gaps = np.full(left_heights.shape, float(gaps))
    for field, values in (("right_heights", right), ("spacings", gaps)):
        if values.shape != left_heights.shape:
            raise InputError(
                field,
                f"must hold one number per height, {left_heights.size}, got shape {values.shape}",
            )
    for field, values in (("heights", left_heights), ("right_heights", right)):
        if values.min() < 0.0 or values.max() > 2.0:
            raise InputError(field, "must be from 0 to 2 m; unit metres?")
    size = bounded(length, "length", 0.01, 100.0)
    if gaps.min() < size or gaps.max() > 1e5:
        raise InputError("spacings", f"must be from the length of a barrier, {size:g} m, to 1e5 m")
    return Barriers(
        read_only(left_heights),
        read_only(right),
        read_only(gaps),
        size,
        bounded(stagger, "stagger", -1e3, 1e3),
    )
