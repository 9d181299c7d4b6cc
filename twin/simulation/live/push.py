"""A push: a force and a moment on the platform for a while."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, as_vector, positive
from twin.errors import InputError
from twin.motion.quaternions import rotated

LONGEST = 60.0
"""[s]"""


class Push(NamedTuple):
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


def as_push(force: object, moment: object, point: object, duration: object) -> Push:
    """Return a checked push; see `Push`.

    Raises:
        InputError: wrong shapes, not finite, or a duration that is not above zero or beyond 60 s.
    """
    seconds = positive(duration, "duration")
    if seconds > LONGEST:
        raise InputError("duration", f"of a push is at most {LONGEST:g} s")
    return Push(
        as_vector(force, "force", 3).copy(),
        as_vector(moment, "moment", 3).copy(),
        as_vector(point, "point", 3).copy(),
        seconds,
    )
