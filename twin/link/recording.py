"""A recording of samples, as a log."""

from __future__ import annotations

from array import array

import numpy as np

from twin.basics.arrays import FloatArray
from twin.link.protocol import COMMANDS, Sample, width_of
from twin.logs import Channel, Log, signal_units
from twin.model.machine_model import MachineModel


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
        """Return all samples so far as a log; fields are its channels.

        Commands have the times from which on they were in force.
        """
        units = signal_units(self._machine)
        channels = []
        for name, stamps in self._times.items():
            times = np.array(stamps)
            if name in COMMANDS:
                times = begun(times, self._period)
            width = width_of(name, self._machine.n_actuators)
            values = np.array(self._values[name]).reshape(-1, width)
            channels.append(Channel(name, times, values, units.get(name, ("1",) * width)))
        return Log(tuple(channels), {"machine": self._machine.name})


def begun(time: FloatArray, period: float) -> FloatArray:
    """Return when the periods `(k,)` [s] began that end at `time` `(k,)` [s].

    That is the time before to the last bit where it is a period before, so that the tables of
    commands and readings have rows in common.
    """
    found = time - period
    near = np.abs(time[:-1] - found[1:]) < 0.5 * period
    found[1:][near] = time[:-1][near]
    return found
