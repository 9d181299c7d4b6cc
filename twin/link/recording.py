"""Samples of a machine as a log: in memory, or block by block into a file."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from twin.basics.arrays import FloatArray
from twin.link.protocol import COMMAND_FIELDS, Sample
from twin.logs import Channel, Log, signal_units
from twin.logs.recorder import LogRecorder
from twin.model.machine_model import MachineModel

SIGNAL_NAMES = {"forces": "motor_forces"}
"""Fields that have another name among signals: drives know the forces of their motors."""

BLOCK_DURATION = 0.1
"""[s] Engineering choice: duration of the samples that are written to the file at once, and lost if
the process is killed.
"""


class Recording:
    """Samples of one machine, field by field; with a recorder on their way to its file.

    Attributes:
        recorder: of the file; None for samples in memory.
    """

    def __init__(
        self,
        machine: MachineModel,
        period: float,
        recorder: LogRecorder | None = None,
        units: Mapping[str, tuple[str, ...]] | None = None,
    ) -> None:
        """Start without samples, which will be added once a `period` [s].

        Args:
            machine: whose samples they are.
            period: [s] between two samples.
            recorder: of the file that they go to.
            units: field -> units of its columns, of fields that are no signals.
        """
        self.recorder, self._name, self._period = recorder, machine.name, period
        self._units = {**signal_units(machine), **(units or {})}
        self._times: dict[str, array[float]] = {}
        self._values: dict[str, array[float]] = {}
        self._written: set[str] = set()
        self._block_samples, self._count = max(1, round(BLOCK_DURATION / period)), 0

    def add(self, sample: Sample) -> None:
        """Add a sample; a full block goes to the file."""
        for name, values in sample.values.items():
            if name not in self._times:
                self._times[name], self._values[name] = array("d"), array("d")
            self._times[name].append(sample.time)
            self._values[name].extend(values.tolist())
        self._count += 1
        if self.recorder is not None and self._count >= self._block_samples:
            self.flush()

    def log(self) -> Log:
        """Return the samples in memory as a log; its channels are fields, by names of signals."""
        channels = []
        for name, times in self._times.items():
            values = np.array(self._values[name]).reshape(len(times), -1)
            units = self._units.get(name, ("1",) * values.shape[1])
            first_row = int(name in self._written)
            channels.append(
                channel_of(name, np.array(times), values, units, self._period, first_row)
            )
        return Log(tuple(channels), {"machine": self._name})

    def flush(self) -> None:
        """Write what has been added to the file, if there is one."""
        if self.recorder is None or not self._count:
            return
        self.recorder.write(self.log())
        for name, times in self._times.items():  # the last time is that of the next command
            width = len(self._values[name]) // len(times)
            del times[:-1], self._values[name][:-width]
            self._written.add(name)
        self._count = 0

    def finish(self) -> Path | None:
        """Write the log and return its path; raises InputError as `LogRecorder.finish`."""
        self.flush()
        return None if self.recorder is None else self.recorder.finish()


def channel_of(
    name: str,
    time: FloatArray,
    values: FloatArray,
    units: tuple[str, ...],
    period: float,
    first_sample: int = 0,
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
        first_sample: sample that the channel begins with; those before are in another one.
    """
    if name not in COMMAND_FIELDS:
        return Channel(
            SIGNAL_NAMES.get(name, name), time[first_sample:], values[first_sample:], units
        )
    start_times = time - period
    is_near = np.abs(time[:-1] - start_times[1:]) < 0.5 * period
    start_times[1:][is_near] = time[:-1][is_near]
    is_kept = (start_times >= 0.0) & (np.arange(len(time)) >= first_sample)
    return Channel(name, start_times[is_kept], values[is_kept], units)
