"""Limits of what is commanded of actuators: speed and acceleration."""

from __future__ import annotations

from math import inf

import numpy as np

from twin.basics.arrays import FloatArray, read_only
from twin.model.machine_model import MachineModel


class SpeedLimiter:
    """Keeps commanded speeds within the actuators' limits of speed and acceleration.

    Attributes:
        speed: `(n,)` largest [m/s, rad/s], infinite where unknown.
        change: `(n,)` largest change in a control period.
    """

    def __init__(self, platform: MachineModel, period: float) -> None:
        actuators = [leg.actuator for leg in platform.parameters.legs]
        speeds = [inf if actuator.speed is None else actuator.speed for actuator in actuators]
        bounds = [getattr(actuator, "acceleration", None) for actuator in actuators]
        changes = [inf if bound is None else bound * period for bound in bounds]
        self.speed, self.change = read_only(speeds), read_only(changes)
        self._last = np.zeros(platform.n_actuators)

    def start(self, speeds: FloatArray) -> None:
        """Begin at commanded `speeds` `(n,)`."""
        self._last = np.clip(speeds, -self.speed, self.speed)

    def apply(self, command: FloatArray) -> FloatArray:
        """Return the command `(n,)` nearest to the given one that the limits allow."""
        low = np.maximum(-self.speed, self._last - self.change)
        high = np.minimum(self.speed, self._last + self.change)
        self._last = np.minimum(np.maximum(command, low), high)
        return self._last
