"""Positions that servos and steppers are given along a reference."""

from __future__ import annotations

import numpy as np

from twin.basics.arrays import FloatArray
from twin.machine.hardware.electronics import Positioning
from twin.model.machine_model import MachineModel

SLOWER = 10.0
"""Adopted: by how much the correction by encoders is slower than the drives."""


class PositionCommands:
    """Setpoints, ahead by the lag of the drives; corrected slowly where there are encoders.

    Without encoders nothing is fed back. What the machine begins with stays: the lead that holds
    it at the start, as the integral of a velocity loop does.

    Attributes:
        lag: `(n,)` [s] from a position to the motion that follows it.
        measured: whether all drives have encoders.
    """

    def __init__(self, platform: MachineModel, period: float) -> None:
        """Take the drives of a machine of position drives; `period` of the controller [s]."""
        legs = platform.parameters.legs
        found = [(leg.drive, leg.drive.positioning()) for leg in legs if leg.drive is not None]
        self.lag = np.array([drive.delay + _lag(how) for drive, how in found if how is not None])
        self.measured = has_encoders(platform)
        self._share = period / (SLOWER * self.lag) if self.measured else np.zeros(len(legs))
        self._offset = np.zeros(len(legs))

    def start(self, error: FloatArray) -> None:
        """Begin with an `error` `(n,)`: setpoints less measured coordinates."""
        self._offset = -error

    def update(self, setpoint: FloatArray, rates: FloatArray, error: FloatArray) -> FloatArray:
        """Return the positions `(n,)` of a control period."""
        self._offset = self._offset + self._share * error
        return np.asarray(setpoint + self.lag * rates + self._offset)


def _lag(how: Positioning) -> float:
    """Return the time [s] from a position to the motion that follows it, without the delay."""
    if how.stepper:
        return 1.0 / how.update_rate
    return how.span / how.top_speed + 0.5 / how.update_rate


def takes_positions(platform: MachineModel) -> bool:
    """Return whether the drives of a machine take positions."""
    drives = [leg.drive for leg in platform.parameters.legs]
    return all(drive is not None and drive.positioning() is not None for drive in drives)


def has_encoders(platform: MachineModel) -> bool:
    """Return whether all actuators of a machine have encoders."""
    return all(leg.encoder is not None for leg in platform.parameters.legs)
