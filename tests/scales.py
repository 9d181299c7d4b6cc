"""What is long, fast and strong for a machine: from a hexapod of a hand's size to a simulator."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from twin.platform import Platform


class Scale(NamedTuple):
    """Sizes of one machine, to draw random states and steps from."""

    length: float
    """[m] mean distance from base joint to platform joint at home"""
    time: float
    """[s] sqrt(length / gravity): what a fall over the length takes"""
    weight: float
    """[N] of platform and legs"""
    effort: float
    """[N, N m] largest actuator force that holds the machine at home"""

    @property
    def twist(self) -> NDArray[np.float64]:
        """Twist `(6,)` of one length and one radian in one time."""
        return np.repeat([self.length, 1.0], 3) / self.time

    @property
    def wrench(self) -> NDArray[np.float64]:
        """Wrench `(6,)` of the weight, and of the weight at one length."""
        return np.repeat([1.0, self.length], 3) * self.weight


def scale_of(platform: Platform) -> Scale:
    """Return the sizes of a machine."""
    length, gravity = float(platform.home_reaches.mean()), platform.parameters.gravity
    legs = sum(leg.mass for leg in platform.parameters.legs)
    held = platform.inverse_dynamics(platform.home, np.zeros(6), np.zeros(6))
    return Scale(
        length,
        float(np.sqrt(length / gravity)),
        gravity * (platform.parameters.platform.body.mass + legs),
        float(np.abs(held).max()),
    )
