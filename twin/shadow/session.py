"""A shadow that follows a source of samples: ring buffer, telemetry, durations of the updates."""

from __future__ import annotations

import time as clock
from collections import deque
from pathlib import Path

import numpy as np

from twin.basics.arrays import FloatArray, positive
from twin.errors import InputError
from twin.link.emulation import BLOCK_DURATION, channel_of
from twin.link.protocol import Sample
from twin.link.transport.source import Source, Telemetry
from twin.logs import Log, signal_units
from twin.logs.log import POSE_UNITS
from twin.logs.recorder import LogRecorder
from twin.model.machine_model import MachineModel
from twin.shadow.detectors import ALARM_KINDS, Alarm
from twin.shadow.shadow import Shadow, ShadowState

MAX_RING_SIZE = 1 << 28
"""Maximum number of values that a ring may hold: 2 GiB."""


class Ring:
    """Ring buffer of the last samples and states, allocated once.

    The machine's channels keep their names, so that the log can be replayed; those of the shadow
    are `estimated_coordinates`, `estimated_pose`, `estimated_forces`, `innovation`, `disturbance`
    and `residuals`.
    """

    def __init__(self, machine: MachineModel, first: Sample, seconds: float, period: float) -> None:
        """Allocate memory for `seconds` of samples with the fields of the first one.

        Raises:
            InputError: too long for the memory.
        """
        n, unit, force = machine.n_actuators, machine.coordinate_unit, machine.force_unit
        known_units = signal_units(machine)
        self._read = {name: known_units[name] for name in first.values if name in known_units}
        self._units = self._read | {
            "estimated_coordinates": (unit,) * n,
            "estimated_pose": POSE_UNITS,
            "estimated_forces": (force,) * n,
            "innovation": (unit,) * n,
            "disturbance": (force,) * n,
            "residuals": ("1",) * n,
        }
        rows = max(1, round(seconds / period))
        if rows * sum(map(len, self._units.values())) > MAX_RING_SIZE:
            raise InputError("ring", f"{seconds:g} s are too long for the memory; take fewer")
        self._time: FloatArray = np.empty(rows)
        self._values: dict[str, FloatArray] = {
            name: np.zeros((rows, len(units))) for name, units in self._units.items()
        }
        self._name, self._period, self._count, self._taken = machine.name, period, 0, 0

    def add(self, sample: Sample, state: ShadowState) -> None:
        """Add a sample with the state that follows from it; missing fields keep their values."""
        row, values = self._count % len(self._time), self._values
        self._time[row] = sample.time
        for name in self._read:
            row_values = sample.values.get(name)
            values[name][row] = values[name][row - 1] if row_values is None else row_values
        values["estimated_coordinates"][row] = state.coordinates
        values["estimated_pose"][row] = state.pose
        values["estimated_forces"][row] = state.forces
        values["innovation"][row] = state.innovation
        values["disturbance"][row] = state.disturbance
        values["residuals"][row] = state.residuals
        self._count += 1

    def log(self) -> Log:
        """Return the content of the ring, oldest first."""
        return self._log(max(0, self._count - len(self._time)), 0)

    @property
    def fresh(self) -> int:
        """Number of samples since the last `take`."""
        return self._count - self._taken

    def take(self) -> Log:
        """Return the samples since the last call as a log."""
        start_row = max(0, self._taken - 1, self._count - len(self._time))
        skipped, self._taken = max(0, self._taken - start_row), self._count
        return self._log(start_row, skipped)

    def _log(self, start: int, first: int) -> Log:
        rows = np.arange(start, self._count) % len(self._time)
        time, units, period = self._time[rows], self._units, self._period
        channels = [
            channel_of(name, time, table[rows], units[name], period, first)
            for name, table in self._values.items()
        ]
        return Log(tuple(channels), metadata_of(self._name))


def metadata_of(machine: str) -> dict[str, str]:
    """Return the metadata of a shadow's log."""
    return {"machine": machine, "engine": "shadow"}


DURATIONS_KEPT = 10_000
"""Number of the latest durations that are kept."""

SHORT_STREAM_FRACTION = 0.5
"""Engineering choice: fraction of a stream shorter than its learning time that is assumed to be
healthy.
"""

MIN_LEARNING_TIME = 1.0
"""[s] Engineering choice: duration of motion below which only encoders and dead sensors are judged.
"""

SILENCE_TIMEOUT = 1.0
"""[s] Engineering choice: time without a sample after which a live source is silent."""

MAX_CLOCK_STEP = 10.0
"""[s] Engineering choice: longest time between two samples; a longer one is a clock that was set.
"""


class ShadowSession:
    """Feeds a shadow from a source, and sends its estimates on.

    Attributes:
        shadow: that is fed.
        source: of the samples.
        telemetry: to which the estimates go; None without one.
        recorder: of the samples, into a file; None without one.
        ring: of the last samples; None before the first one.
        sample: the last one that could be used; None before the first.
        state: that follows from it.
        alarms: of the shadow and of silence, in the order in which they were raised.
        elapsed: [s] of the machine's clock, without the steps by which it was set.
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
        recorder: LogRecorder | None = None,
    ) -> None:
        """Put the parts together; `ring`: seconds that are kept.

        Raises:
            InputError: a ring that is not above zero.
        """
        self.shadow, self.source, self.recorder = shadow, source, recorder
        self.ring: Ring | None = None
        self.sample: Sample | None = None
        self.state: ShadowState | None = None
        self.alarms: list[Alarm] = []
        self.elapsed = 0.0
        self._seconds, self.telemetry = positive(ring, "ring"), telemetry
        self._spent, self._count, self.last = np.zeros(DURATIONS_KEPT), 0, 0.0
        self._heard, self._silent, self._told = clock.monotonic(), False, 0
        self.shortened = False
        rows = max(1, round(self._seconds / shadow.period))
        self._block = max(1, round(BLOCK_DURATION / shadow.period))
        self._early: deque[Sample] = deque(maxlen=rows)

    @property
    def updates(self) -> int:
        """Number of updates so far."""
        return self._count

    def durations(self, *percentiles: float) -> list[float]:
        """Return percentiles of the last updates' durations [s]; zeros before the first."""
        if not self._count:
            return [0.0] * len(percentiles)
        recent = self._spent[: min(self._count, DURATIONS_KEPT)]
        return [float(value) for value in np.percentile(recent, percentiles)]

    def receive(self, timeout: float) -> bool:
        """Take the next sample; False where none came within `timeout` [s] or the source ended."""
        sample = self.source.receive(timeout)
        if sample is not None:
            self.take(sample)
            return True
        self._record(1)
        silence = clock.monotonic() - self._heard
        if silence >= SILENCE_TIMEOUT and not (self._silent or self.source.ended):
            self._silent = True
            last_time = 0.0 if self.sample is None else self.sample.time
            note = f"no samples since {last_time:.3f} s"
            self.alarms.append(Alarm(last_time, "silence", None, silence, "s", note))
        return False

    def take(self, sample: Sample) -> ShadowState | None:
        """Update, record and send the state; return it, or the last one after a bad sample."""
        start_time, shadow = clock.perf_counter(), self.shadow
        state, accepted = shadow.update(sample), shadow.taken
        self._heard, self._silent = clock.monotonic(), False
        if accepted is None:
            return self.state
        self.last = clock.perf_counter() - start_time
        self._spent[self._count % DURATIONS_KEPT] = self.last
        self._count += 1
        self.alarms += shadow.alarms[self._told :]
        self._told = len(shadow.alarms)
        if shadow.is_learning:
            self._early.append(accepted)
        else:
            self._early.clear()
        if self.ring is None:
            self.ring = Ring(shadow.machine, accepted, self._seconds, shadow.period)
        self.ring.add(accepted, state)
        self._record(self._block)
        self._send(self._estimate(accepted, state))
        step = 0.0 if self.sample is None else accepted.time - self.sample.time
        self.elapsed += step if 0.0 < step < MAX_CLOCK_STEP else 0.0
        self.sample, self.state = accepted, state
        return state

    def finish(self) -> Path | None:
        """Write the log and return its path; raises InputError as `LogRecorder.finish`."""
        if self.recorder is None:
            return None
        self._record(1)
        return self.recorder.finish(None if self.ring is None else self.ring.log())

    def _record(self, least: int) -> None:
        """Write the new samples into the file once there are enough for a block."""
        if self.recorder is not None and self.ring is not None and self.ring.fresh >= least:
            self.recorder.write(self.ring.take())

    def _send(self, estimate: Sample) -> None:
        if self.telemetry is not None:
            try:
                self.telemetry.send(estimate)
            except InputError as error:
                reason = f"estimates that cannot be sent, by their {error.field}"
                self.telemetry.counts.refuse(reason)

    def judge_short(self) -> bool:
        """Evaluate a stream that ended while the shadow learned; return whether it was long enough.

        The shadow takes the samples that are kept once more, with the first half of their motion
        for healthy.
        """
        shadow, half_learned = self.shadow, SHORT_STREAM_FRACTION * self.shadow.learned
        if not shadow.is_learning or half_learned < MIN_LEARNING_TIME:
            return False
        shadow.reset(learning=half_learned)
        for sample in self._early:
            shadow.update(sample)
        known_alarms = {(alarm.time, alarm.kind, alarm.leg) for alarm in self.alarms}
        new_alarms = (
            candidate
            for candidate in shadow.alarms
            if (candidate.time, candidate.kind, candidate.leg) not in known_alarms
        )
        self.alarms += new_alarms
        self._told = len(shadow.alarms)
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
            "alarms": np.array([float(kind in active) for kind in ALARM_KINDS]),
        }
        return Sample("estimate", sample.time, values, sample.sequence, sample.sequence)
