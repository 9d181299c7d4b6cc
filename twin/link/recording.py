"""A recording of samples, as a log in memory or as a file that grows with it."""

from __future__ import annotations

from array import array
from pathlib import Path

import numpy as np

from twin.basics.arrays import FloatArray
from twin.link.protocol import COMMANDS, Sample, width_of
from twin.logs import Channel, Log, signal_units
from twin.logs.recorder import LogRecorder
from twin.model.machine_model import MachineModel

SIGNALS = {"forces": "motor_forces"}
"""Fields that have another name among signals: drives know the forces of their motors."""

BLOCK_DURATION = 0.1
"""[s] Adopted: of the samples that go to a file at once; as much is lost with a killed process."""


class Recording:
    """Samples of one machine, field by field."""

    def __init__(self, machine: MachineModel, period: float) -> None:
        """Begin without samples, which will come once a `period` [s]."""
        self._machine, self._period = machine, period
        self._times: dict[str, array[float]] = {}
        self._values: dict[str, array[float]] = {}
        self._taken: set[str] = set()

    def add(self, sample: Sample) -> None:
        """Add a sample."""
        for name, values in sample.values.items():
            if name not in self._times:
                self._times[name], self._values[name] = array("d"), array("d")
            self._times[name].append(sample.time)
            self._values[name].extend(values.tolist())

    def log(self) -> Log:
        """Return all samples so far as a log; its channels are fields, by the names of signals."""
        known, channels = signal_units(self._machine), []
        for name, times in self._times.items():
            width = width_of(name, self._machine.n_actuators)
            values = np.array(self._values[name]).reshape(-1, width)
            units = known.get(name, ("1",) * width)
            first = int(name in self._taken)
            found = channel_of(name, np.array(times), values, units, self._period, first)
            channels.append(found)
        return Log(tuple(channels), {"machine": self._machine.name})

    def take(self) -> Log:
        """Return the samples since the last call as a log."""
        found = self.log()
        for name, times in self._times.items():  # the last time is that of the next command
            width = width_of(name, self._machine.n_actuators)
            del times[:-1], self._values[name][:-width]
            self._taken.add(name)
        return found


class FileRecording:
    """Samples of one machine on their way to a log file.

    Attributes:
        recorder: of the file.
    """

    def __init__(
        self, machine: MachineModel, period: float, path: str | Path, *, replace: bool = False
    ) -> None:
        """Begin the file; raises InputError as `LogRecorder`."""
        self.recorder = LogRecorder(path, {"machine": machine.name}, replace=replace)
        self._recording = Recording(machine, period)
        self._block, self._count = max(1, round(BLOCK_DURATION / period)), 0

    def add(self, sample: Sample) -> None:
        """Add a sample."""
        self._recording.add(sample)
        self._count += 1
        if self._count >= self._block:
            self.flush()

    def flush(self) -> None:
        """Write what has been added."""
        if self._count:
            self.recorder.write(self._recording.take())
            self._count = 0

    def finish(self) -> Path | None:
        """Write the log and return its path; raises InputError as `LogRecorder.finish`."""
        self.flush()
        return self.recorder.finish()


def channel_of(
    name: str,
    time: FloatArray,
    values: FloatArray,
    units: tuple[str, ...],
    period: float,
    first: int = 0,
) -> Channel:
    """Return a field of samples as a channel, commands at the times when they came into force.

    That is a period before their sample. It is the time of the sample before to the last bit where
    there is one, so that tables of commands and readings have rows in common. A command from
    before the clock began is left out.

    Args:
        name: of the field.
        time: `(k,)` [s] of the samples.
        values: `(k, w)`.
        units: of the columns.
        period: of the samples [s].
        first: sample that the channel begins with; those before are in another one.
    """
    if name not in COMMANDS:
        return Channel(SIGNALS.get(name, name), time[first:], values[first:], units)
    begun = time - period
    near = np.abs(time[:-1] - begun[1:]) < 0.5 * period
    begun[1:][near] = time[:-1][near]
    kept = (begun >= 0.0) & (np.arange(len(time)) >= first)
    return Channel(name, begun[kept], values[kept], units)
