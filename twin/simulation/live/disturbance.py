"""Disturbance wrench on the platform for some time."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, as_vector, positive
from twin.errors import InputError
from twin.rotations import rotated

LONGEST = 60.0
"""[s]"""


class Disturbance(NamedTuple):
    """A force at a point of the platform and a moment, held in base axes."""

    force: FloatArray
    """`(3,)` [N], base axes"""
    moment: FloatArray
    """`(3,)` [N m], base axes"""
    point: FloatArray
    """`(3,)` [m] in the platform frame, where the force acts"""
    duration: float
    """[s]"""

    def wrench(self, pose: FloatArray) -> FloatArray:
        """Return force and moment about the reference point `(6,)` at a pose `(7,)`, base axes."""
        arm = rotated(pose[None, 3:], self.point[None])[0]
        return np.concatenate([self.force, self.moment + np.cross(arm, self.force)])


def as_disturbance(force: object, moment: object, point: object, duration: object) -> Disturbance:
    """Return a checked disturbance; see `Disturbance`.

    Raises:
        InputError: wrong shapes, not finite, or a duration that is not above zero or beyond 60 s.
    """
    seconds = positive(duration, "duration")
    if seconds > LONGEST:
        raise InputError("duration", f"of a disturbance is at most {LONGEST:g} s")
    return Disturbance(
        as_vector(force, "force", 3).copy(),
        as_vector(moment, "moment", 3).copy(),
        as_vector(point, "point", 3).copy(),
        seconds,
    )
