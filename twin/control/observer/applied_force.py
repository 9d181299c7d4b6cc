"""The force that drives make of a controller's commands: delayed, lagging, mean over a period."""

from __future__ import annotations

from math import exp

import numpy as np

from twin.basics.arrays import FloatArray
from twin.control.drive_model import DriveModel


class AppliedForce:
    """Follows commanded forces `(n,)` through the drives' delay and current loops.

    An observer takes them as the forces over the past period; drives do not measure them in time.
    """

    def __init__(self, drives: DriveModel, period: float) -> None:
        whole = int(drives.delay / period + 1e-9)
        rest = drives.delay - whole * period
        self._spans = [span for span in (rest, period - rest) if span > 1e-9 * period]
        self._first = whole + (1 if len(self._spans) == 2 else 0)
        self._period, self._lag = period, drives.lag
        self._kept: list[FloatArray] = []
        self._effort: FloatArray = np.zeros(len(drives.inertia))

    def start(self, force: FloatArray) -> None:
        """Begin with drives that have given `force` `(n,)` for long."""
        self._effort = np.array(force)
        self._kept = [self._effort] * (self._first + 1)

    def over_period(self, command: FloatArray) -> FloatArray:
        """Return the mean force over the period that begins with a `command` `(n,)`."""
        self._kept = [*self._kept[1:], np.array(command)]
        mean = np.zeros_like(self._effort)
        for place, span in enumerate(self._spans):
            target = self._kept[place]
            if self._lag == 0.0:
                self._effort = target
                mean += target * (span / self._period)
                continue
            rest = exp(-span / self._lag)
            off = self._effort - target
            mean += target * (span / self._period) + off * (self._lag * (1 - rest) / self._period)
            self._effort = target + off * rest
        return mean
