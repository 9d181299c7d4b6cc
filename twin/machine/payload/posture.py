"""Posture of an occupant: directions of the segments in the plane of symmetry."""

from __future__ import annotations

from dataclasses import dataclass, fields
from math import pi, radians

import numpy as np

from twin.basics.arrays import FloatArray, as_floats
from twin.errors import InputError

TRUNK = ("pelvis", "abdomen", "thorax")
UPRIGHT = (*TRUNK, "head")
"""Segments whose first end is the upper one and whose joint is at the lower end."""


@dataclass(frozen=True)
class SeatedPosture:
    """Angles [rad] of a posture that is the same on both sides; adopted values.

    Raises:
        InputError: not finite, or more than half a turn.
    """

    recline: float = radians(10.0)
    """Of the trunk: from straight up, backwards"""
    head: float = 0.0
    """From straight up, backwards"""
    thigh: float = radians(90.0)
    """From straight down, forwards"""
    shank: float = radians(15.0)
    """From straight down, forwards"""
    upper_arm: float = radians(20.0)
    """From straight down, forwards"""
    forearm: float = radians(85.0)
    """From straight down, forwards; the hand goes on in its direction"""

    def __post_init__(self) -> None:
        for field in fields(self):
            value = as_floats(getattr(self, field.name), field.name)
            if value.ndim or not abs(value) <= pi:
                raise InputError(field.name, f"must be one angle of at most pi rad, got {value}")

    def direction(self, segment: str) -> FloatArray:
        """Return the unit vector `(3,)` from the first to the second end of a segment.

        Axes of the platform: x to the front, y to the left, z up.
        """
        if segment == "foot":
            return np.array([1.0, 0.0, 0.0])
        named = {"hand": "forearm"} | dict.fromkeys(TRUNK, "recline")
        angle = getattr(self, named.get(segment, segment))
        return np.array([np.sin(angle), 0.0, -np.cos(angle)])
