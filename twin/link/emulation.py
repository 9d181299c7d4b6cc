"""Emulation: a link to an emulated machine, in real time or step by step."""

from __future__ import annotations

import gc
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from math import inf

import numpy as np

from twin.link.emulated import EmulatedMachine, LinkFault
from twin.link.pace import Pace
from twin.link.protocol import Encoder, Sample
from twin.link.recording import Recording
from twin.link.transport.address import Address
from twin.link.transport.source import UdpLink
from twin.plant.signals import seed_sequence

POLL_INTERVAL = 0.1
"""[s] Interval between two checks for a request to end, while no command comes."""

MAX_COMMANDS_PER_PERIOD = 16
"""Maximum number of commands of one period that are looked at; the newest is in force."""


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
        recording: Recording | None = None,
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
        self._delayed: deque[tuple[float, bytes]] = deque()

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
            elif self.recording is not None:
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
        """Send a sample, unless a fault of the link drops or delays it."""
        if self.recording is not None:
            self.recording.add(sample)
        data = self._encoder.encode(sample)
        send_time = None
        for fault in self._faults:
            if fault.active(sample.time) and self._random.random() < fault.fraction:
                if fault.kind == "drop":
                    return
                send_time = sample.time + fault.time
        if send_time is None:
            self._send_bytes(data)
        else:
            self._delayed.append((send_time, bytes(data)))
        while self._delayed and self._delayed[0][0] <= sample.time:
            self._send_bytes(self._delayed.popleft()[1])

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
