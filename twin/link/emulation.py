"""Emulation: a link to an emulated machine, in real time or step by step."""

from __future__ import annotations

import gc
import os
import time
from bisect import insort
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from math import inf

import numpy as np

from twin.basics.arrays import positive
from twin.errors import InputError
from twin.link.emulated import EmulatedMachine, LinkFault
from twin.link.protocol import Encoder, Sample
from twin.link.recording import Recording
from twin.link.transport.address import Address
from twin.link.transport.source import UdpLink
from twin.plant.signals import seed_sequence

SPIN_TIME = 2e-4
"""[s] Engineering choice: time before a period begins for which the loop spins instead of sleeping,
as sleep is less exact.
"""

MAX_BACKLOG = 1.0
"""[s] Delay behind the clock above which the loop restarts its schedule instead of catching up."""

DELAY_RESOLUTION = 1e-6
"""[s] Resolution of the delays that are kept."""

DELAY_BINS = 10_000


REALTIME_PRIORITY = 10
"""Engineering choice: priority among real-time processes, of 1 to 99; what the system itself needs
is above.
"""

POLL_INTERVAL = 0.1
"""[s] Interval between two checks for a request to end, while no command comes."""

MAX_COMMANDS_PER_PERIOD = 16
"""Maximum number of commands of one period that are looked at; the newest is in force."""


@contextmanager
def priority(is_wanted: bool) -> Iterator[None]:
    """Run this process with real-time priority, if `is_wanted`.

    Raises:
        InputError: the system does not permit it.
    """
    previous = os.sched_getscheduler(0), os.sched_getparam(0)
    if is_wanted:
        try:
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(REALTIME_PRIORITY))
        except OSError as error:
            reason = f"is not permitted ({error.strerror}); it needs the right CAP_SYS_NICE"
            raise InputError("priority", reason) from None
    try:
        yield
    finally:
        os.sched_setscheduler(0, *previous)


class Pace:
    """Periods of equal length on a clock that does not go back.

    A loop that is late goes on at once until it has caught up, so that its time is that of the
    clock.

    Attributes:
        period: [s].
        periods: number of periods that have begun.
        missed: number of periods that began late: the work before them missed its deadline.
        worst: [s] longest delay of a beginning.
    """

    def __init__(
        self,
        period: float,
        clock: Callable[[], float] = time.perf_counter,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """Prepare; `start` begins the first period."""
        self.period = positive(period, "period")
        self._clock, self._sleep = clock, sleep
        self._delays = np.zeros(DELAY_BINS, dtype=np.int64)
        self.start()

    def start(self) -> None:
        """Begin the first period now."""
        self.periods, self.missed, self.worst = 1, 0, 0.0
        self._delays[:] = 0
        self._due = self._clock()

    def wait(self) -> None:
        """Wait for the next period; it begins at once where its time has passed."""
        self._due += self.period
        remaining = self._due - self._clock()
        self.missed += remaining < 0.0
        if remaining > SPIN_TIME:
            self._sleep(remaining - SPIN_TIME)
        while (present := self._clock()) < self._due:
            pass
        delay = present - self._due
        self.periods += 1
        self.worst = max(self.worst, delay)
        self._delays[min(int(delay / DELAY_RESOLUTION), DELAY_BINS - 1)] += 1
        if delay > MAX_BACKLOG:
            self._due = present

    def delay(self, fraction: float) -> float:
        """Return the quantile [s] of the delays of all periods for a fraction; at most 10 ms."""
        counted = np.cumsum(self._delays)
        return DELAY_RESOLUTION * float(np.searchsorted(counted, fraction * counted[-1]) + 1)


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
            machine: just reset.
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
            insort(self._delayed, (send_time, bytes(data)), key=lambda delayed: delayed[0])
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
