"""Rest-to-rest motion: from the centre to a displaced pose by one of the usual transition laws."""

from __future__ import annotations

from math import pi, sqrt
from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, bounded, one_of, positive, read_only
from twin.motion.axes import LONGEST_TIME, SHORTEST_TIME, AxisSample, axis_values
from twin.motion.motion import Motion, minimum_jerk

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
    chosen = LAWS[one_of(law, "law", LAWS)]
    size = positive(distance, "distance")
    return sqrt(chosen.peak * size / positive(peak_acceleration, "peak_acceleration"))


class RestToRestMotion(Motion):
    """From rest at the centre to rest at the displacement; the transition is the whole motion.

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
        super().__init__(center, bounded(rise, "rise", SHORTEST_TIME, LONGEST_TIME), convention)
        self._set(
            displacement=read_only(axis_values(displacement, "displacement", convention)),
            law=one_of(law, "law", LAWS),
        )

    def _axes(self, time: FloatArray) -> AxisSample:
        value, slope, curvature = LAWS[self.law].transition(time / self.duration)
        scaled = (value, slope / self.duration, curvature / self.duration**2)
        return AxisSample(*(part[:, None] * self.displacement for part in scaled))
