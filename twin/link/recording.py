"""A recording of samples, as a log."""

from __future__ import annotations

from array import array

import numpy as np

from twin.link.protocol import Sample, width_of
from twin.logs import Channel, Log, signal_units
from twin.model.machine_model import MachineModel


class Recording:
    """Samples of one machine, field by field."""

    def __init__(self, machine: MachineModel) -> None:
        """Begin without samples."""
        self._machine = machine
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
        """Return all samples so far as a log; fields are its channels."""
        units = signal_units(self._machine)
        channels = []
        for name, times in self._times.items():
            width = width_of(name, self._machine.n_actuators)
            values = np.array(self._values[name]).reshape(-1, width)
            channels.append(Channel(name, np.array(times), values, units.get(name, ("1",) * width)))
        return Log(tuple(channels), {"machine": self._machine.name})
