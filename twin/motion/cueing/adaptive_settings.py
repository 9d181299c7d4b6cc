"""Cost and descent of the adaptive washout filters."""

from __future__ import annotations

from dataclasses import dataclass, fields

from twin.motion.checks import bounded


@dataclass(frozen=True, kw_only=True)
class AdaptiveSettings:
    """Gains at rest, weights of the cost, speed of the descent; all adopted."""

    translation_gain: float = 1.0
    """[1] p1 at rest"""
    tilt_gain: float = 0.2
    """[rad s/m] p2 at rest; g p2 is the corner of tilt coordination in rad/s"""
    rotation_gain: float = 1.0
    """[1] p3 at rest, also of yaw"""
    force_weight: float = 1.0
    """[s4/m2] of the squared error of specific force"""
    rate_weight: float = 20.0
    """[s2] of the squared error of angular rate"""
    place_weight: float = 4.0
    """[1] of the squared displacement over what one expected step of acceleration takes"""
    speed_weight: float = 2.0
    """[1] of the squared speed, likewise"""
    return_weight: float = 4.0
    """[1] of the squared departure of a gain from its value at rest, over that value"""
    descent: float = 1.0
    """[1/s] of a gain over its value at rest, per unit of cost"""
    largest: float = 1.5
    """[1] gain over its value at rest"""

    def __post_init__(self) -> None:
        """Check the numbers; raises InputError."""
        for each in fields(self):
            value = bounded(getattr(self, each.name), each.name, 0.0, 1e3)
            object.__setattr__(self, each.name, value)
