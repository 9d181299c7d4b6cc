"""The condition of a machine: residuals, their normal laws, and alarms on changes."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from twin.basics.arrays import FloatArray
from twin.shadow.alarm import Alarm
from twin.shadow.detectors import SlowDetectors
from twin.shadow.evidence import WINDOW, Evidence, Sizes
from twin.shadow.model import ShadowModel
from twin.shadow.residuals import Baseline, Residuals
from twin.shadow.thresholds import Thresholds

REFERENCE = 1.0
"""[s] Adopted: over which the force that drives begin with is taken anew after a gap."""

BLOCK = 10
"""Samples between two looks of slow detectors."""


class MachineWatch:
    """Learns what is normal for a machine, then compares.

    Attributes:
        learned: samples of motion that were taken for normal.
        wrench: `(6,)` disturbance wrench on the platform, mean over the window.
        ratios: `(n,)` largest residual of each leg per its threshold.
    """

    def __init__(self, model: ShadowModel, thresholds: Thresholds, learning: int) -> None:
        """Watch the machine beside a model; `learning`: samples that are taken for normal."""
        n = model.machine.n_actuators
        self._model, self._learning = model, learning
        self._residuals = Residuals(model)
        self._baseline, self._evidence = Baseline(n), Evidence(n, model.period)
        self._detectors = SlowDetectors(model.machine, thresholds)
        self.learned = self._watched = self._reference = 0
        self._force, self._references = np.zeros(n), np.zeros(n)
        self.wrench, self.ratios = np.zeros(6), np.zeros(n)

    @property
    def learning(self) -> bool:
        """Whether it still learns."""
        return self.learned < self._learning

    @property
    def active(self) -> list[Alarm]:
        """Alarms whose causes last."""
        return list(self._detectors.active.values())

    @property
    def sizes(self) -> Sizes:
        """Sizes of faults over the last moments, whatever the thresholds are."""
        return self._evidence.sizes()

    def clear(self) -> None:
        """Forget the evidence, as of a sensor that turned out to be dead."""
        self._evidence.clear()

    def disturbed(self) -> None:
        """Go on after a gap: the force that the drives began with is no longer known."""
        self._residuals.start()
        self._reference = round(REFERENCE / self._model.period)
        self._references[:] = 0.0

    def update(self, time: float, values: Mapping[str, FloatArray]) -> list[Alarm]:
        """Return the alarms that are new with the fields of a sample at `time` [s]."""
        residuals = self._residuals
        residuals.read(values, self._force)
        fresh = self._reference > 0 and "forces" not in values
        if self.learned < self._learning:
            self._learn(fresh)
            return []
        unexplained = self._baseline.unexplained(residuals.regressors, residuals.values)
        if fresh:
            self._refer(unexplained[:, 0])
            return []
        due = self._watched % BLOCK == 0
        if due:
            jacobian = residuals.refresh()
        direction = residuals.regressors[:, 1]
        self._evidence.add(
            unexplained, direction, residuals.load, residuals.side, self._model.efforts
        )
        self._watched += 1
        if due and self._watched > 3.0 * WINDOW / self._model.period:
            sizes = self._evidence.sizes()
            self._force, self.wrench = sizes.force, -jacobian.T @ sizes.force
            self.ratios = self._detectors.ratios(sizes)
            return self._detectors.update(time, sizes, jacobian)
        return []

    def _learn(self, fresh: bool) -> None:
        """Add a sample to what is normal; after a gap from the beginning. Rest teaches nothing."""
        if fresh:
            self._baseline, self.learned, self._reference = Baseline(len(self._force)), 0, 0
        if np.abs(self._residuals.regressors[:, 1]).max() < 1.0:
            return
        self._baseline.add(self._residuals.regressors, self._residuals.values)
        self.learned += 1
        if self.learned == self._learning:
            self._baseline.fit()

    def _refer(self, force: FloatArray) -> None:
        """Take the unexplained force to be what it was before the gap, in the mean."""
        count = round(REFERENCE / self._model.period)
        self._references += force / count
        self._reference -= 1
        if self._reference == 0:
            self._baseline.shift(self._references - self._force)
            self._evidence.clear()
            self._watched = 0
