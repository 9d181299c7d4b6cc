"""What is long, fast and strong for a machine: from a hexapod of a hand's size to a simulator."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from tolerance import max_abs

PERIODS = 5.0
"""Of a spring's inverse frequency: nearly one whole period."""


class Scale(NamedTuple):
    """Sizes of one machine, to draw random states and steps from."""

    length: float
    """[m] mean distance from base joint to platform joint at home"""
    time: float
    """[s] sqrt(length / gravity): what a fall over the length takes"""
    pace: float
    """[s] in which the motion changes: the same, or less where springs are stiff"""
    weight: float
    """[N] of platform and legs"""
    effort: float
    """[N, N m] largest actuator force that holds the machine at home"""

    @property
    def twist(self):
        """Twist `(6,)` of one length and one radian in one time."""
        return np.repeat([self.length, 1.0], 3) / self.time

    @property
    def wrench(self):
        """Wrench `(6,)` of the weight, and of the weight at one length."""
        return np.repeat([1.0, self.length], 3) * self.weight


def spring_time(platform):
    """Return [s] the inverse frequency of a leg's mass on its spring; infinite without springs."""
    times = [np.inf]
    for leg in platform.parameters.legs:
        if platform.kind == "strut":
            times.append(np.sqrt(leg.mass / leg.axial.stiffness))
        elif platform.kind == "viscoelastic":
            times.append(np.sqrt(leg.housing_mass / leg.stiffness))
    return float(min(times))


def scale_of(platform):
    """Return the sizes of a machine."""
    length, gravity = float(platform.home_reaches.mean()), platform.parameters.gravity
    legs = sum(leg.mass for leg in platform.parameters.legs)
    held = platform.inverse_dynamics(platform.home, np.zeros(6), np.zeros(6))
    time = float(np.sqrt(length / gravity))
    return Scale(
        length,
        time,
        min(time, PERIODS * spring_time(platform)),
        gravity * (platform.parameters.platform.body.mass + legs),
        float(max_abs(held)),
    )
