"""A shadow beside a source of samples: ring, telemetry, durations of the updates."""

from __future__ import annotations

import time as clock
from collections import deque

import numpy as np

from twin.basics.arrays import FloatArray, positive
from twin.errors import InputError
from twin.link.protocol import Sample
from twin.link.recording import channel_of
from twin.link.transport.source import Source, Telemetry
from twin.logs import Log, signal_units
from twin.logs.channel import POSE_UNITS
from twin.model.machine_model import MachineModel
from twin.shadow.alarm import KINDS
from twin.shadow.shadow import Shadow, ShadowState

LARGEST = 1 << 28
"""Numbers that a ring may hold: 2 GiB."""


class Ring:
    """The last samples and states, in memory that is taken once.

    The machine's channels keep their names, so that the log can be replayed; those of the shadow
    are `estimated_coordinates`, `estimated_pose`, `estimated_forces`, `innovation`, `disturbance`
    and `residuals`.
    """

    def __init__(self, machine: MachineModel, first: Sample, seconds: float, period: float) -> None:
        """Make room for `seconds` of samples with the fields of the first one.

        Raises:
            InputError: too long for the memory.
        """
        n, unit, force = machine.n_actuators, machine.coordinate_unit, machine.force_unit
        known = signal_units(machine)
        self._read = {name: known[name] for name in first.values if name in known}
        self._units = self._read | {
            "estimated_coordinates": (unit,) * n,
            "estimated_pose": POSE_UNITS,
            "estimated_forces": (force,) * n,
            "innovation": (unit,) * n,
            "disturbance": (force,) * n,
            "residuals": ("1",) * n,
        }
        rows = max(1, round(seconds / period))
        if rows * sum(map(len, self._units.values())) > LARGEST:
            raise InputError("ring", f"{seconds:g} s are too long for the memory; take fewer")
        self._time: FloatArray = np.empty(rows)
        self._values: dict[str, FloatArray] = {
            name: np.zeros((rows, len(units))) for name, units in self._units.items()
        }
        self._name, self._period, self._count = machine.name, period, 0

    def add(self, sample: Sample, state: ShadowState) -> None:
        """Add a sample with the state that follows from it; missing fields keep their values."""
        row, values = self._count % len(self._time), self._values
        self._time[row] = sample.time
        for name in self._read:
            given = sample.values.get(name)
            values[name][row] = values[name][row - 1] if given is None else given
        values["estimated_coordinates"][row] = state.coordinates
        values["estimated_pose"][row] = state.pose
        values["estimated_forces"][row] = state.forces
        values["innovation"][row] = state.innovation
        values["disturbance"][row] = state.disturbance
        values["residuals"][row] = state.residuals
        self._count += 1

    def log(self) -> Log:
        """Return what the ring holds, oldest first."""
        size = len(self._time)
        rows = np.arange(max(0, self._count - size), self._count) % size
        time, units, period = self._time[rows], self._units, self._period
        channels = [
            channel_of(name, time, table[rows], units[name], period)
            for name, table in self._values.items()
        ]
        return Log(tuple(channels), {"machine": self._name, "engine": "shadow"})


KEPT = 10_000
"""Durations that are kept."""

SHORT_SHARE = 0.5
"""Adopted: of the motion of a stream shorter than its learning time, taken for healthy."""

LEAST_LEARNING = 1.0
"""[s] Adopted: of motion, from less of which nothing is judged but encoders and dead sensors."""


class ShadowSession:
    """Feeds a shadow from a source, and hands its estimates on.

    Attributes:
        shadow: that is fed.
        source: of the samples.
        ring: of the last samples; None before the first one.
        sample: the last one; None before the first.
        state: that follows from it.
        last: duration of the last update [s].
        shortened: whether `judge_short` judged a stream shorter than its learning time.
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
        self.shortened = False
        rows = max(1, round(self._seconds / shadow.period))
        self._early: deque[Sample] = deque(maxlen=rows)

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
        if self.shadow.is_learning:
            self._early.append(sample)
        else:
            self._early.clear()
        if self.ring is None:
            self.ring = Ring(self.shadow.machine, sample, self._seconds, self.shadow.period)
        self.ring.add(sample, state)
        if self._telemetry is not None:
            self._telemetry.send(self._estimate(sample, state))
        self.sample, self.state = sample, state
        return state

    def judge_short(self) -> bool:
        """Judge a stream that ended while its shadow learned, and return whether it could.

        The shadow takes the samples that are kept once more, with the first half of their motion
        for healthy.
        """
        shadow, half = self.shadow, SHORT_SHARE * self.shadow.learned
        if not shadow.is_learning or half < LEAST_LEARNING:
            return False
        shadow.reset(learning=half)
        for sample in self._early:
            shadow.update(sample)
        self.shortened = True
        return True

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
