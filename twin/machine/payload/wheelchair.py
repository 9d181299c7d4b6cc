"""A manual wheelchair as one rigid body."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from twin.basics.arrays import FloatArray, as_floats, positive
from twin.errors import InputError
from twin.machine.payload.segments import PLATFORM, Segment


@dataclass(frozen=True)
class Wheelchair:
    """A manual wheelchair: a uniform box tied to the platform.

    Mass and seat height are those from which a chair counts as a standard one in the United States
    (Medicare class K0001: more than 36 lb, seat at 19 in or more), rounded up; the box is adopted.

    Raises:
        InputError: numbers that no chair can have.
    """

    mass: float = 17.0
    """[kg]"""
    seat_height: float = 0.49
    """Top of the seat above the platform [m]"""
    length: float = 1.05
    """[m]"""
    width: float = 0.62
    """[m]"""
    height: float = 0.90
    """[m]"""
    behind: float = 0.05
    """Centre of mass behind the occupant's hips [m]"""

    def __post_init__(self) -> None:
        for field in fields(self):
            if field.name != "behind":
                positive(getattr(self, field.name), field.name)
        if as_floats(self.behind, "behind").ndim:
            raise InputError("behind", "must be one number")

    def segment(self, seat: FloatArray) -> Segment:
        """Return the chair on the platform under a seat at `(3,)` [m]."""
        squares = np.square([self.length, self.width, self.height])
        return Segment(
            "wheelchair",
            PLATFORM,
            "fixed",
            np.zeros(3),
            np.array([seat[0] - self.behind, seat[1], 0.0]),
            0.0,
            0.0,
            0.0,
            self.mass,
            np.array([0.0, 0.0, self.height / 2.0]),
            np.diag(self.mass * (squares.sum() - squares) / 12.0),
            np.array([0.0, 0.0, self.height]),
        )
