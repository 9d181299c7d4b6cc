"""Sizes of a machine that kernels of a graphics card are made for: loops over them are unrolled."""

from __future__ import annotations

from typing import NamedTuple

from twin.kernels.dynamics.assembly import BODY_SIZE
from twin.kernels.legs.dispatch import attribute

BODY = (BODY_SIZE,)
"""Shape of the constants of the platform's body."""


class Sizes(NamedTuple):
    """Kind and number of the legs of a machine."""

    kind: type
    """of the constants of the legs"""
    legs: int
    leg_size: int
    """entries of a leg's constants"""

    @property
    def constraints(self) -> int:
        """Number of constraints that the legs put on the platform."""
        return int(attribute(self.kind, "CONSTRAINT_COUNT", 0))

    @property
    def deflection(self) -> int:
        """Entries 2k of deflections and their rates."""
        return 2 * self.legs * int(attribute(self.kind, "DEFLECTION_COUNT", 0))

    @property
    def state(self) -> int:
        """Entries of a state: pose, twist, deflection."""
        return 13 + self.deflection
