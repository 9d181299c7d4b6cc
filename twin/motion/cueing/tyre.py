"""Lateral force of an axle's tyres over the slip angle: linear, or saturating."""

from __future__ import annotations

import math
from dataclasses import dataclass

from twin.basics.arrays import as_flag
from twin.motion.checks import bounded


@dataclass(frozen=True)
class Tyre:
    """Tyres of one axle.

    F = -mu Fz sin(C atan(B slip)) with B = stiffness / (C mu Fz), so that both kinds have the
    same slope at zero; linear: F = -stiffness slip.

    Reference:
        Pacejka, Tyre and Vehicle Dynamics, section 4.3.1, without curvature and offsets.
    """

    stiffness: float
    """[N/rad] cornering stiffness of the axle"""
    friction: float = 0.9
    """[1] mu"""
    shape: float = 1.3
    """[1] C"""
    linear: bool = False

    def __post_init__(self) -> None:
        """Check the numbers; raises InputError."""
        for field, low, high in (
            ("stiffness", 1e3, 1e6),
            ("friction", 0.05, 3.0),
            ("shape", 1.0, 2.0),
        ):
            object.__setattr__(self, field, bounded(getattr(self, field), field, low, high))
        as_flag(self.linear, "linear")

    def side_force(self, slip: float, load: float) -> float:
        """Return the force [N] to the left at a slip angle [rad] under a load [N] above zero."""
        if self.linear:
            return -self.stiffness * slip
        peak = self.friction * load
        return -peak * math.sin(self.shape * math.atan(self.stiffness * slip / (self.shape * peak)))
