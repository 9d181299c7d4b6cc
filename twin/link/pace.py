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
