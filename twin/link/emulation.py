"""Emulation: a link to an emulated machine, in real time or step by step."""

from __future__ import annotations

import gc
from array import array
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from math import inf
from pathlib import Path

import numpy as np

from twin.basics.arrays import FloatArray
from twin.link.emulated.fault import LinkFault
from twin.link.emulated.machine import EmulatedMachine
from twin.link.pace import Pace
from twin.link.protocol import COMMAND_FIELDS, Encoder, Sample, width_of
from twin.link.transport.address import Address
from twin.link.transport.source import UdpLink
from twin.logs import Channel, Log, signal_units
from twin.logs.recorder import LogRecorder
from twin.model.machine_model import MachineModel
from twin.plant.signals import seed_sequence

SIGNAL_NAMES = {"forces": "motor_forces"}
"""Fields that have another name among signals: drives know the forces of their motors."""

BLOCK_DURATION = 0.1
"""[s] Engineering choice: duration of the samples that are written to the file at once, and lost if
the process is killed.
"""

POLL_INTERVAL = 0.1
"""[s] Interval between two checks for a request to end, while no command comes."""

MAX_COMMANDS_PER_PERIOD = 16
"""Maximum number of commands of one period that are looked at; the newest is in force."""


class Recording:
    """Samples of one machine, field by field."""

    def __init__(self, machine: MachineModel, period: float) -> None:
        """Start without samples, which will be added once a `period` [s]."""
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
        units_of_signals, channels = signal_units(self._machine), []
        for name, times in self._times.items():
            width = width_of(name, self._machine.n_actuators)
            values = np.array(self._values[name]).reshape(-1, width)
            units = units_of_signals.get(name, ("1",) * width)
            first_row = int(name in self._taken)
            channel = channel_of(name, np.array(times), values, units, self._period, first_row)
            channels.append(channel)
        return Log(tuple(channels), {"machine": self._machine.name})

    def take(self) -> Log:
        """Return the samples since the last call as a log."""
        recorded = self.log()
        for name, times in self._times.items():  # the last time is that of the next command
            width = width_of(name, self._machine.n_actuators)
            del times[:-1], self._values[name][:-width]
            self._taken.add(name)
        return recorded


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
    if name not in COMMAND_FIELDS:
        return Channel(SIGNAL_NAMES.get(name, name), time[first:], values[first:], units)
    start_times = time - period
    is_near = np.abs(time[:-1] - start_times[1:]) < 0.5 * period
    start_times[1:][is_near] = time[:-1][is_near]
    is_kept = (start_times >= 0.0) & (np.arange(len(time)) >= first)
    return Channel(name, start_times[is_kept], values[is_kept], units)


class Emulation:
    """An emulated machine that receives commands and sends measurements.

    Measurements go to the sender of the commands and to further receivers.

    Attributes:
        machine: the emulated machine.
        link: on which commands come.
        pace: periods and missed deadlines of the run in real time.
        recording: of all measurements; None without one.
    """

    def __init__(
        self,
        machine: EmulatedMachine,
        link: UdpLink,
        *,
        receivers: Iterable[Address] = (),
        recording: Recording | FileRecording | None = None,
    ) -> None:
        """Put the parts together.

        Args:
            machine: at its reset.
            link: for its commands.
            receivers: further addresses to which measurements go.
            recording: of all measurements, also of those that get lost on the way.
        """
        self.machine, self.link = machine, link
        self.pace = Pace(machine.period)
        self._receivers, self.recording = tuple(receivers), recording
        self._faults = [fault for fault in machine.faults if isinstance(fault, LinkFault)]
        self._random = np.random.default_rng(seed_sequence(machine.seed, "link"))
        self._encoder = Encoder(machine.platform.n_actuators)
        self._late: deque[tuple[float, bytes]] = deque()

    def run(self, duration: float = inf, ended: Callable[[], bool] = lambda: False) -> None:
        """Run in real time: at the start of each period, send the measurement and read commands.

        Args:
            duration: [s].
            ended: asked in every period; True ends the run.
        """
        machine = self.machine
        with _no_collection():
            self.pace.start()
            while machine.time < duration - 0.5 * machine.period and not ended():
                self._send(machine.measurement)
                machine.step(self._command())
                self.pace.wait()
            self._send(machine.measurement)

    def run_in_steps(
        self, duration: float = inf, ended: Callable[[], bool] = lambda: False
    ) -> None:
        """Run step by step: each command advances the machine by one period and gets a reply.

        Args:
            duration: [s] of the machine's time.
            ended: asked ten times a second while no command comes; True ends the run.
        """
        machine = self.machine
        while machine.time < duration - 0.5 * machine.period and not ended():
            command = self.link.receive(POLL_INTERVAL)
            if command is not None:
                self._send(machine.step(command))
            elif isinstance(self.recording, FileRecording):
                self.recording.flush()

    def _command(self) -> Sample | None:
        """Return the newest command that has come since the last period."""
        newest = None
        for _ in range(MAX_COMMANDS_PER_PERIOD):
            command = self.link.receive(0.0)
            if command is None:
                break
            newest = command
        return newest

    def _send(self, sample: Sample) -> None:
        if self.recording is not None:
            self.recording.add(sample)
        data = self._encoder.encode(sample)
        waiting = None
        for fault in self._faults:
            if fault.active(sample.time) and self._random.random() < fault.share:
                if fault.kind == "drop":
                    return
                waiting = sample.time + fault.time
        if waiting is None:
            self._send_bytes(data)
        else:
            self._late.append((waiting, bytes(data)))
        while self._late and self._late[0][0] <= sample.time:
            self._send_bytes(self._late.popleft()[1])

    def _send_bytes(self, data: bytes | memoryview) -> None:
        for receiver in self._receivers:
            self.link.send_bytes(data, receiver)
        if self.link.peer is not None and self.link.peer not in self._receivers:
            self.link.send_bytes(data, self.link.peer)


@contextmanager
def _no_collection() -> Iterator[None]:
    """Disable the garbage collector in a loop that creates no reference cycles."""
    was_enabled = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
