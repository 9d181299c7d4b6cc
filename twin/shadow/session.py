"""A shadow that follows a source of samples: recording, telemetry, durations of the updates."""

from __future__ import annotations

import time as clock
from collections import deque
from pathlib import Path

import numpy as np

from twin.errors import InputError
from twin.link.protocol import Sample
from twin.link.recording import Recording
from twin.link.transport.source import Source, Telemetry
from twin.logs.log import POSE_UNITS
from twin.logs.recorder import LogRecorder
from twin.shadow.detectors import ALARM_KINDS, Alarm
from twin.shadow.shadow import Shadow, ShadowState

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

SHORT_STREAM_TIME = 120.0
"""[s] Duration of the samples that are kept to judge a stream that ends while the shadow learns."""

MAX_CLOCK_STEP = 10.0
"""[s] Engineering choice: longest time between two samples; a longer one is a clock that was set.
"""


class ShadowSession:
    """Feeds a shadow from a source, and sends its estimates on.

    Attributes:
        shadow: that is fed.
        source: of the samples.
        telemetry: to which the estimates go; None without one.
        recorder: of the file of samples and estimates; None without one. The machine's channels
            keep their names, so that the log can be replayed.
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
        telemetry: Telemetry | None = None,
        recorder: LogRecorder | None = None,
    ) -> None:
        """Put the parts together; `recorder`: of the file of the samples."""
        self.shadow, self.source, self.telemetry = shadow, source, telemetry
        self.recorder = recorder
        machine = shadow.machine
        units = {
            "estimated_coordinates": (machine.coordinate_unit,) * machine.n_actuators,
            "estimated_pose": POSE_UNITS,
            "estimated_forces": (machine.force_unit,) * machine.n_actuators,
            "innovation": (machine.coordinate_unit,) * machine.n_actuators,
            "disturbance": (machine.force_unit,) * machine.n_actuators,
        }
        self._recording: Recording | None = None
        if recorder is not None:
            self._recording = Recording(machine, shadow.period, recorder, units)
        self.sample: Sample | None = None
        self.state: ShadowState | None = None
        self.alarms: list[Alarm] = []
        self.elapsed = 0.0
        self._spent, self._count, self.last = np.zeros(DURATIONS_KEPT), 0, 0.0
        self._heard, self._silent, self._told = clock.monotonic(), False, 0
        self.shortened = False
        self._early: deque[Sample] = deque(maxlen=round(SHORT_STREAM_TIME / shadow.period))

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
        if self._recording is not None:
            self._recording.flush()
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
        if self._recording is not None:
            estimates = {
                "estimated_coordinates": state.coordinates,
                "estimated_pose": state.pose,
                "estimated_forces": state.forces,
                "innovation": state.innovation,
                "disturbance": state.disturbance,
                "residuals": state.residuals,
            }
            self._recording.add(accepted._replace(values={**accepted.values, **estimates}))
        self._send(self._estimate(accepted, state))
        step = 0.0 if self.sample is None else accepted.time - self.sample.time
        self.elapsed += step if 0.0 < step < MAX_CLOCK_STEP else 0.0
        self.sample, self.state = accepted, state
        return state

    def finish(self) -> Path | None:
        """Write the log and return its path; raises InputError as `LogRecorder.finish`."""
        return None if self._recording is None else self._recording.finish()

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
        """Return the sample of what the twin estimates, with the alarms that last."""
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
