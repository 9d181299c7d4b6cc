"""A shadow beside a source of samples: ring, telemetry, durations of the updates."""

from __future__ import annotations

import time as clock

import numpy as np

from twin.basics.arrays import positive
from twin.link.protocol import Sample
from twin.link.transport.source import Source, Telemetry
from twin.shadow.alarm import KINDS
from twin.shadow.ring import Ring
from twin.shadow.shadow import Shadow, ShadowState

KEPT = 10_000
"""Durations that are kept."""


class ShadowSession:
    """Feeds a shadow from a source, and hands its estimates on.

    Attributes:
        shadow: that is fed.
        source: of the samples.
        ring: of the last samples; None before the first one.
        sample: the last one; None before the first.
        state: that follows from it.
        last: duration of the last update [s].
    """

    def __init__(
        self,
        shadow: Shadow,
        source: Source,
        *,
        ring: float = 120.0,
        telemetry: Telemetry | None = None,
    ) -> None:
        """Put the parts together; `ring`: seconds that are kept.

        Raises:
            InputError: a ring that is not above zero.
        """
        self.shadow, self.source = shadow, source
        self.ring: Ring | None = None
        self.sample: Sample | None = None
        self.state: ShadowState | None = None
        self._seconds, self._telemetry = positive(ring, "ring"), telemetry
        self._spent, self._count, self.last = np.zeros(KEPT), 0, 0.0

    @property
    def updates(self) -> int:
        """Number of updates so far."""
        return self._count

    def durations(self, *percentiles: float) -> list[float]:
        """Return percentiles of the last updates' durations [s]; zeros before the first."""
        if not self._count:
            return [0.0] * len(percentiles)
        kept = self._spent[: min(self._count, KEPT)]
        return [float(value) for value in np.percentile(kept, percentiles)]

    def receive(self, timeout: float) -> bool:
        """Take the next sample; False where none came within `timeout` [s] or the source ended."""
        sample = self.source.receive(timeout)
        if sample is not None:
            self.take(sample)
        return sample is not None

    def take(self, sample: Sample) -> ShadowState:
        """Return the state at a sample, kept and sent on."""
        begin = clock.perf_counter()
        state = self.shadow.update(sample)
        self.last = clock.perf_counter() - begin
        self._spent[self._count % KEPT] = self.last
        self._count += 1
        if self.ring is None:
            self.ring = Ring(self.shadow.machine, sample, self._seconds, self.shadow.period)
        self.ring.add(sample, state)
        if self._telemetry is not None:
            self._telemetry.send(self._estimate(sample, state))
        self.sample, self.state = sample, state
        return state

    def _estimate(self, sample: Sample, state: ShadowState) -> Sample:
        active = {alarm.kind for alarm in self.shadow.active}
        values = {
            "coordinates": state.coordinates,
            "pose": state.pose,
            "twist": state.twist,
            "forces": state.forces,
            "wrench": state.wrench,
            "residuals": state.residuals,
            "alarms": np.array([float(kind in active) for kind in KINDS]),
        }
        return Sample("estimate", sample.time, values, sample.sequence, sample.sequence)
