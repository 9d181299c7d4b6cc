"""Commanded accelerations of a controller that have not acted yet."""

from __future__ import annotations

import numpy as np

from twin.basics.arrays import FloatArray
from twin.control.drive_model import DriveModel


class Prediction:
    """The last commanded accelerations `(6,)` and the remaining time of each.

    A command acts from delay plus lag after it was given, for one period. It is computed for the
    middle of that span, so that the state is needed `lead` after the readings.

    Attributes:
        lead: [s] by which state and reference are moved on; zero where nothing is predicted.
    """

    def __init__(self, drives: DriveModel, period: float, enabled: bool = True) -> None:
        whole = int(drives.lead / period + 1e-9)
        rest = drives.lead - whole * period
        self.lead = drives.lead + 0.5 * period if enabled else 0.0
        # The last half period belongs to the next command; the last one is taken for it.
        spans = [rest, *[period] * whole, 0.5 * period]
        self._reading_age = 0.5 * period if enabled and drives.resolution.any() else 0.0
        self._spans = np.array(spans) if enabled else np.zeros(0)
        self._kept = np.zeros((whole + 1, 6))
        self._pending = np.zeros((len(self._spans), 6))

    def start(self) -> None:
        """Begin at rest: nothing is on its way."""
        self._kept[:] = 0.0

    def keep(self, acceleration: FloatArray) -> None:
        """Add the acceleration `(6,)` commanded now."""
        self._kept[:-1] = self._kept[1:]
        self._kept[-1] = acceleration

    def caught_up(self) -> FloatArray:
        """Return what the twist `(6,)` gained since the middle of the readings it comes from.

        Rates of encoders are differences over the past period.
        """
        return np.asarray(self._reading_age * self._kept[0])

    def pending(self) -> tuple[FloatArray, FloatArray]:
        """Return spans `(d,)` [s] and the accelerations `(d, 6)` in them, the next one first."""
        if len(self._pending):
            self._pending[:-1] = self._kept
            self._pending[-1] = self._kept[-1]
        return self._spans, self._pending
