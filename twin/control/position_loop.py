"""Position loops of all actuators, within their limits of speed and acceleration."""

from __future__ import annotations

import numpy as np

from twin.basics.arrays import FloatArray
from twin.kernels.control import position_loop as row
from twin.model.machine_model import MachineModel
from twin.plant.drives import actuator_limit


class PositionLoop:
    """Each actuator by itself: speed = share of the reference's + gain e + integral of e.

    Where the speed is limited the integral stops.

    Attributes:
        gain: [1/s].
        integral: [1/s2].
        limited: whether the last speeds were limited.
    """

    def __init__(
        self, platform: MachineModel, period: float, gain: float = 0.0, integral: float = 0.0
    ) -> None:
        """Take the limits of a machine's actuators; infinite where they are unknown."""
        self.gain, self.integral, self._period = gain, integral, period
        self._loops = np.zeros((4, platform.n_actuators))
        self._loops[row.SPEED] = actuator_limit(platform, "speed")
        self._loops[row.CHANGE] = actuator_limit(platform, "acceleration") * period
        self.limited = False

    def start(self, error: FloatArray, rates: FloatArray, feedforward: FloatArray) -> None:
        """Begin without a jump at an error, speeds and a feedforward `(n,)`."""
        speed = self._loops[row.SPEED]
        self._loops[row.INTEGRAL] = rates - feedforward - self.gain * error
        self._loops[row.COMMAND] = np.clip(rates, -speed, speed)

    def update(
        self, setpoint: FloatArray, measured: FloatArray, rates: FloatArray, share: float = 1.0
    ) -> FloatArray:
        """Return the speeds `(n,)` of a control period, with a share of the reference's `rates`."""
        command = np.empty(len(measured))
        self.limited = row.limited_speeds(
            self._loops,
            self.gain,
            self.integral * self._period,
            setpoint,
            measured,
            rates,
            share,
            command,
        )
        return command
