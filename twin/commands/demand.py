"""A motion as options of commands ask for it."""

from __future__ import annotations

from typing import NamedTuple

from twin.basics.arrays import positive
from twin.motion import Motion
from twin.motion.words import motion_of
from twin.simulation.platform import Platform


class Demand(NamedTuple):
    """Which motion, and how large."""

    motion: str
    """word or file"""
    axis: str
    """that moves"""
    amplitude: float | None
    """[m] or [rad]"""
    frequency: float
    """[Hz]"""
    duration: float
    """[s]"""

    def motion_of(self, platform: Platform) -> Motion | None:
        """Return the motion of a machine; None where it shall stand still.

        Raises:
            InputError: an option that cannot be used.
        """
        length = positive(self.duration, "duration")
        return motion_of(platform, self.motion, self.axis, self.amplitude, self.frequency, length)
