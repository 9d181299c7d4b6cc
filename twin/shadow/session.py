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
        shadow: the shadow that the source feeds.
        source: source of the samples.
        telemetry: receiver of the estimates; None without one.
        recorder: recorder of samples and estimates; None without one. The machine's channels keep
            their names, so that the log can be replayed.
        sample: the last sample that could be used; None before the first.
        state: the state at that sample; None before the first.
        alarms: alarms of the shadow and of silence, in the order in which they were raised.
        elapsed: [s] time on the machine's clock, without the steps by which the clock was set.
        last_duration: duration of the last update [s].
        is_shortened: whether `judge_short` judged a stream shorter than its learning time.
    """

    def __init__(
        self,
        shadow: Shadow,
        source: Source,
        *,
        telemetry: Telemetry | None = None,
        recorder: LogRecorder | None = None,
    ) -> None:
        """Connect the shadow to its source, its telemetry and its recorder."""
        self.shadow, self.source, self.telemetry = shadow, source, telemetry
        self.recorder = recorder
        machine = shadow.machine
        lengths, forces = (machine.coordinate_unit,), (machine.force_unit,)
        units = {
            "estimated_coordinates": lengths,
            "estimated_pose": POSE_UNITS,
            "estimated_forces": forces,
            "innovation": lengths,
            "disturbance": forces,
        }
        self._recording: Recording | None = None
        if recorder is not None:
            self._recording = Recording(machine, shadow.period, recorder, units)
        self.sample: Sample | None = None
        self.state: ShadowState | None = None
        self.alarms: list[Alarm] = []
        self.elapsed = 0.0
        self._durations, self.updates, self.last_duration = np.zeros(DURATIONS_KEPT), 0, 0.0
        self._receive_time, self._is_silent, self._reported_alarms = clock.monotonic(), False, 0
        self.is_shortened = False
        self._learning_samples: deque[Sample] = deque(
            maxlen=round(SHORT_STREAM_TIME / shadow.period)
        )

    def durations(self, *percentiles: float) -> list[float]:
        """Return percentiles of the last updates' durations [s]; zeros before the first."""
        if not self.updates:
            return [0.0] * len(percentiles)
        recent = self._durations[: min(self.updates, DURATIONS_KEPT)]
        return [float(value) for value in np.percentile(recent, percentiles)]

    def receive(self, timeout: float) -> bool:
        """Process the next sample; False where none came within `timeout` [s]."""
        sample = self.source.receive(timeout)
        if sample is not None:
            self.process(sample)
            return True
        if self._recording is not None:
            self._recording.flush()
        silence = clock.monotonic() - self._receive_time
        if silence >= SILENCE_TIMEOUT and not (self._is_silent or self.source.ended):
            self._is_silent = True
            last_time = 0.0 if self.sample is None else self.sample.time
            note = f"no samples since {last_time:.3f} s"
            self.alarms.append(Alarm(last_time, "silence", None, silence, "s", note))
        return False

    def process(self, sample: Sample) -> ShadowState | None:
        """Update, record and send the state; return it, or the last state after a bad sample.

        None is returned before the first usable sample.
        """
        start_time, shadow = clock.perf_counter(), self.shadow
        state, used_sample = shadow.update(sample), shadow.used_sample
        self._receive_time, self._is_silent = clock.monotonic(), False
        if used_sample is None:
            return self.state
        self.last_duration = clock.perf_counter() - start_time
        self._durations[self.updates % DURATIONS_KEPT] = self.last_duration
        self.updates += 1
        self.alarms += shadow.alarms[self._reported_alarms :]
        self._reported_alarms = len(shadow.alarms)
        if shadow.is_learning:
            self._learning_samples.append(used_sample)
        else:
            self._learning_samples.clear()
        if self._recording is not None:
            estimates = {
                "estimated_coordinates": state.coordinates,
                "estimated_pose": state.pose,
                "estimated_forces": state.forces,
                "innovation": state.innovation,
                "disturbance": state.disturbance,
                "residuals": state.residuals,
            }
            self._recording.add(used_sample._replace(values={**used_sample.values, **estimates}))
        self._send(self._estimate(used_sample, state))
        step = 0.0 if self.sample is None else used_sample.time - self.sample.time
        self.elapsed += step if 0.0 < step < MAX_CLOCK_STEP else 0.0
        self.sample, self.state = used_sample, state
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

        The shadow processes the stored samples once more; it learns from the first half of their
        motion.
        """
        shadow, half_learned = self.shadow, SHORT_STREAM_FRACTION * self.shadow.learned
        if not shadow.is_learning or half_learned < MIN_LEARNING_TIME:
            return False
        shadow.reset(learning=half_learned)
        for sample in self._learning_samples:
            shadow.update(sample)
        known = {alarm[:3] for alarm in self.alarms}
        self.alarms += [alarm for alarm in shadow.alarms if alarm[:3] not in known]
        self._reported_alarms = len(shadow.alarms)
        self.is_shortened = True
        return True

    def _estimate(self, sample: Sample, state: ShadowState) -> Sample:
        """Return the sample of the twin's estimates, with the active alarms."""
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
