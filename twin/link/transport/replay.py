"""Replay: a log as the stream of samples that the machine sent when it was recorded."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from twin.basics.arrays import FloatArray
from twin.errors import InputError
from twin.link.protocol import COMMANDS, FIELDS, Sample
from twin.link.transport.arrivals import Counts
from twin.logs import Log, LogMapping, read_windows, signal_units
from twin.model.machine_model import MachineModel

WINDOW = 1.0
"""[s] of the log that are in memory at once."""

BEGUN = 1e-9
"""[s] by which the times of two channels may be rounded apart."""

PREFERRED = {"coordinates": "measured", "forces": "motor_forces"}
"""Signals that fields take where a log has them; simulated logs have forces of the legs alone."""


class Replay:
    """Measurements at the times of the encoders, each with the last values of other channels.

    A command is in force from its time on: the sample at that time still holds the one before.
    The encoders are the channel `measured`, or `coordinates` where the log has no such channel.
    Channels that are no fields of the protocol are left out. Samples come as fast as they are
    taken.

    Attributes:
        counts: of the samples.
        ended: whether the log is over.
    """

    def __init__(
        self, path: str | Path, machine: MachineModel, mapping: LogMapping | None = None
    ) -> None:
        """Open a log.

        Args:
            path: of any file that `twin.logs.read_log` reads.
            machine: whose log it is.
            mapping: of the channels to signals; default: they are named so, in SI.

        Raises:
            InputError: no such log, without coordinates, or in other units; names the channel.
        """
        self.counts, self.ended = Counts(), False
        self._units = signal_units(machine)
        self._last: dict[str, FloatArray] = {}
        self._samples = self._read(
            read_windows(path, WINDOW, mapping, machine if mapping else None)
        )
        self._next = next(self._samples, None)
        if self._next is None:
            raise InputError("source", f"{path} has no channel 'coordinates' with samples")

    def receive(self, timeout: float = 0.0) -> Sample | None:
        """Return the next sample; None at the end of the log.

        Raises:
            InputError: a fault in the file, where it is reached.
        """
        found = self._next
        self._next = next(self._samples, None)
        self.ended = self._next is None
        self.counts.received += found is not None
        return found

    def close(self) -> None:
        """Close the log."""
        self._samples.close()

    def _read(self, windows: Iterator[Log]) -> Generator[Sample, None, None]:
        sequence = 0
        for window in windows:
            signals = self._signals(window)
            main = signals.pop("coordinates", None)
            if main is None:
                continue
            rows = {name: _rows(name, time, main[0]) for name, (time, _) in signals.items()}
            for k, time in enumerate(main[0].tolist()):
                values = {"coordinates": main[1][k]}
                for name, (_, table) in signals.items():
                    row = rows[name][k]
                    if row >= 0:
                        values[name] = table[row]
                    elif name in self._last:
                        values[name] = self._last[name]
                yield Sample("measurement", time, values, sequence)
                sequence += 1
            self._last |= {name: table[-1] for name, (_, table) in signals.items() if len(table)}

    def _signals(self, window: Log) -> dict[str, tuple[FloatArray, FloatArray]]:
        """Return times and values of the fields that a window has.

        Raises:
            InputError: a channel in other units than SI.
        """
        found = {}
        for name in FIELDS:
            channel = PREFERRED.get(name, name)
            channel = channel if channel in window else name
            if channel in window and name in self._units:
                read = window[channel]
                if read.units != self._units[name]:
                    units = (
                        f"[{', '.join(read.units)}] in place of [{', '.join(self._units[name])}]"
                    )
                    raise InputError(channel, f"has {units}; give a mapping")
                found[name] = read.time, read.values
        return found


def _rows(name: str, time: FloatArray, main: FloatArray) -> NDArray[np.intp]:
    """Return which of a field's values each sample at times `main` holds; -1 for none."""
    if name in COMMANDS:  # at the end of the period over which it was in force
        return np.searchsorted(time, main - BEGUN, side="left") - 1
    return np.searchsorted(time, main + BEGUN, side="right") - 1
