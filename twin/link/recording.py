"""A recording of samples, as a log."""

from __future__ import annotations

from array import array

import numpy as np

from twin.basics.arrays import FloatArray
from twin.link.protocol import COMMANDS, Sample, width_of
from twin.logs import Channel, Log, signal_units
from twin.model.machine_model import MachineModel

SIGNALS = {"forces": "motor_forces"}
"""Fields that have another name among signals: drives know the forces of their motors."""


class Recording:
    """Samples of one machine, field by field."""

    def __init__(self, machine: MachineModel, period: float) -> None:
        """Begin without samples, which will come once a `period` [s]."""
        self._machine, self._period = machine, period
        self._times: dict[str, array[float]] = {}
        self._values: dict[str, array[float]] = {}

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
            channels.append(channel_of(name, np.array(times), values, units, self._period))
        return Log(tuple(channels), {"machine": self._machine.name})


def channel_of(
    name: str, time: FloatArray, values: FloatArray, units: tuple[str, ...], period: float
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
    """
    if name not in COMMANDS:
        return Channel(SIGNALS.get(name, name), time, values, units)
    begun = time - period
    near = np.abs(time[:-1] - begun[1:]) < 0.5 * period
    begun[1:][near] = time[:-1][near]
    kept = begun >= 0.0
    return Channel(name, begun[kept], values[kept], units)
