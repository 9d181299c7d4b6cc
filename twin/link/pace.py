"""The pace of a real-time loop: it waits for the next period and counts missed deadlines."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np

from twin.basics.arrays import positive
from twin.errors import InputError

SPIN_TIME = 2e-4
"""[s] Adopted: time before a period begins for which the loop waits awake; sleep is not as exact.
"""

GIVEN_UP = 1.0
"""[s] behind the clock at which the loop no longer tries to make up for it."""

DELAY_RESOLUTION = 1e-6
"""[s] Resolution of the delays that are kept."""

DELAY_BINS = 10_000


REALTIME_PRIORITY = 10
"""Adopted: priority among real-time processes, of 1 to 99; what the system itself needs is above.
"""


@contextmanager
def priority(on: bool) -> Iterator[None]:
    """Let this process run before all that have no real-time priority, where it is `on`.

    Raises:
        InputError: the system does not permit it.
    """
    before = os.sched_getscheduler(0), os.sched_getparam(0)
    if on:
        try:
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(REALTIME_PRIORITY))
        except OSError as error:
            reason = f"is not permitted ({error.strerror}); it needs the right CAP_SYS_NICE"
            raise InputError("priority", reason) from None
    try:
        yield
    finally:
        os.sched_setscheduler(0, *before)


class Pace:
    """Periods of equal length on a clock that does not go back.

    A loop that is late goes on at once until it has caught up, so that its time is that of the
    clock.

    Attributes:
        period: [s].
        periods: how many have begun.
        missed: how many began after their time: the work before them missed its deadline.
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
        rest = self._due - self._clock()
        self.missed += rest < 0.0
        if rest > SPIN_TIME:
            self._sleep(rest - SPIN_TIME)
        while (now := self._clock()) < self._due:
            pass
        delay = now - self._due
        self.periods += 1
        self.worst = max(self.worst, delay)
        self._delays[min(int(delay / DELAY_RESOLUTION), DELAY_BINS - 1)] += 1
        if delay > GIVEN_UP:
            self._due = now

    def delay(self, share: float) -> float:
        """Return the delay [s] of the start that a fraction of all periods keep; at most 10 ms."""
        counted = np.cumsum(self._delays)
        return DELAY_RESOLUTION * float(np.searchsorted(counted, share * counted[-1]) + 1)
