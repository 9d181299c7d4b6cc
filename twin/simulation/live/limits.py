"""What the actuators of a machine can do, and how near to it they are."""

from __future__ import annotations

from math import inf
from typing import NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, read_only
from twin.simulation.platform import Platform


class ActuatorLimits(NamedTuple):
    """Limits of each actuator, infinite where none is known. Read-only arrays."""

    low: FloatArray
    """`(n,)` smallest coordinates [m, rad]"""
    high: FloatArray
    """`(n,)` largest"""
    speed: FloatArray
    """`(n,)` largest rates [m/s, rad/s]"""
    force: FloatArray
    """`(n,)` largest forces [N, N m], of actuators and drives"""

    def stroke_margin(self, lengths: FloatArray) -> FloatArray:
        """Return the share of the stroke left to the nearer end `(n,)`: 1 in the middle, 0 at it.

        Args:
            lengths: `(n,)` actuator coordinates [m, rad].
        """
        left = np.minimum(lengths - self.low, self.high - lengths)
        return np.asarray(np.clip(2.0 * left / (self.high - self.low), 0.0, 1.0))

    def utilisation(self, forces: FloatArray) -> FloatArray:
        """Return forces `(n,)` in parts of the largest ones; NaN where none is known."""
        return np.where(np.isfinite(self.force), np.abs(forces) / self.force, np.nan)


def actuator_limits(platform: Platform) -> ActuatorLimits:
    """Return the limits of a machine's actuators."""
    legs = platform.parameters.legs
    speeds = [inf if leg.actuator.speed is None else leg.actuator.speed for leg in legs]
    forces = []
    for leg in legs:
        known = [leg.actuator.effort, None if leg.drive is None else leg.drive.reflected().peak]
        forces.append(min((value for value in known if value is not None), default=inf))
    return ActuatorLimits(
        read_only(platform.minimum_coordinates),
        read_only(platform.maximum_coordinates),
        read_only(speeds),
        read_only(forces),
    )
