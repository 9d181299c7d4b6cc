"""Runs that a page shows, and the thread that advances one in real time."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any, Protocol

from twin.basics.arrays import positive
from twin.model.ball import Ball
from twin.model.machine_model import MachineModel
from twin.simulation.live.machine_charts import History
from twin.simulation.trajectory import Scene


class Source(Protocol):
    """A live run, an environment with its policy, or a recording that is played."""

    period: float
    """[s] smallest advance, which is also that of a single step"""
    real_time_factor: float
    """seconds of the run per second of the clock, set by the runner"""

    @property
    def platform(self) -> MachineModel:
        """The machine that is shown."""
        ...

    @property
    def ball(self) -> Ball | None:
        """Ball on the platform; None without one."""
        ...

    @property
    def history(self) -> History:
        """The charts' values, a row per `HISTORY_INTERVAL`; a new object after some resets."""
        ...

    @property
    def stopped(self) -> str:
        """Reason for a stop until a reset; empty without one."""
        ...

    @property
    def time(self) -> float:
        """[s] since the last reset."""
        ...

    @property
    def scene(self) -> Scene:
        """Present scene; the ghost is at the setpoint."""
        ...

    def advance(self, duration: float) -> None:
        """Advance by `duration` [s] in whole periods; the remainder is added to the next call.

        Ends early where the run stops; `stopped` then says why. Never raises for what a run does.
        """
        ...

    def reset(self) -> None:
        """Restart the run."""
        ...

    def close(self) -> None:
        """Free everything; more calls do nothing."""
        ...


HISTORY_INTERVAL = 1.0 / 30.0
"""[s] Time of the run between two rows of its history."""

HISTORY_LENGTH = 30.0
"""[s] Time of a run that its history covers."""


UPDATE_RATE = 30.0
"""[Hz] Advances of a run per second of the clock."""

MAX_CATCH_UP = 0.1
"""[s] Largest simulated time of one advance. A slower computer falls behind real time."""

FACTOR_SMOOTHING = 0.1
"""Weight of the newest real-time factor in the mean."""

MIN_SPEED = 0.001
"""Slowest speed of a run, relative to real time."""

MAX_SPEED = 10.0
"""Fastest speed of a run, relative to real time."""

UNWATCHED_TIMEOUT = 10.0
"""[s] Time without a viewer or a request after which a run pauses until the next one."""

IDLE_POLL_INTERVAL = 0.2
"""[s] Time between two checks for a viewer or a request while the run pauses."""

CLOSE_TIMEOUT = 10.0
"""[s] Longest wait for the thread to end."""

LOG = logging.getLogger(__name__)


class Runner:
    """Advances a `Source` on a thread of its own, the only one that touches it.

    Attributes:
        source: that runs.
        paused: whether it is paused.
        waiting: whether the run waits because nobody looks.
        speed: of the run relative to real time.
        real_time_factor: seconds of the run per second of the clock, lately.
    """

    def __init__(
        self,
        source: Source,
        *,
        shown: Callable[[], None] | None = None,
        watched: Callable[[], bool] | None = None,
        rate: float = UPDATE_RATE,
    ) -> None:
        """Prepare the thread; `start` starts it.

        Args:
            source: that shall run.
            shown: called on the thread after every advance, also while paused.
            watched: returns whether somebody looks. A run that nobody looks at, and of which nobody
                asks anything, waits after `UNWATCHED_TIMEOUT` seconds; default: always.
            rate: advances per second.
        """
        self.source = source
        self.paused = self.waiting = False
        self.speed = 1.0
        self.real_time_factor = float("nan")
        self._shown = shown or (lambda: None)
        self._watched = watched or (lambda: True)
        self._period = 1.0 / positive(rate, "rate")
        self._requests: SimpleQueue[Callable[[], Any]] = SimpleQueue()
        self._ending = threading.Event()
        self._thread: threading.Thread | None = None
        self._steps = 0

    def start(self) -> None:
        """Start the thread that advances the source."""
        self._thread = threading.Thread(target=self._run, name="twin-runner", daemon=True)
        self._thread.start()

    def do(self, function: Callable[[], Any]) -> None:
        """Let the thread call a function before the next advance; its errors are logged."""
        self._requests.put(function)

    def single_step(self) -> None:
        """Pause, and advance by one period of the source."""
        self.paused = True
        self._steps += 1

    def set_speed(self, speed: Any) -> None:
        """Set the speed of the run relative to real time, 0.001 to 10.

        Raises:
            InputError: no number above zero.
        """
        self.speed = min(max(positive(speed, "speed"), MIN_SPEED), MAX_SPEED)

    def close(self, patience: float = CLOSE_TIMEOUT) -> bool:
        """End the thread, then the source; more calls do nothing.

        Args:
            patience: [s] to wait for the thread, which may be compiling.

        Returns:
            Whether the thread has ended. One that goes on keeps its source.
        """
        self._ending.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(patience)
            if self._thread.is_alive():
                return False
        self._thread = None
        self.source.close()
        return True

    def _run(self) -> None:
        last_tick = next_due = last_watched = time.perf_counter()
        while not self._ending.is_set():
            tick_time = time.perf_counter()
            if self._watched() or not self._requests.empty():
                last_watched = tick_time
            self.waiting = tick_time - last_watched > UNWATCHED_TIMEOUT
            if self.waiting:
                self._ending.wait(IDLE_POLL_INTERVAL)
                last_tick = next_due = time.perf_counter()
                continue
            elapsed_time, last_tick = tick_time - last_tick, tick_time
            self._guarded(self._serve)
            self._guarded(partial(self._advance, elapsed_time))
            self._guarded(self._shown)
            current_time = time.perf_counter()
            next_due = max(next_due + self._period, current_time)
            self._ending.wait(next_due - current_time)

    def _serve(self) -> None:
        while True:
            try:
                request = self._requests.get_nowait()
            except Empty:
                return
            self._guarded(request)

    def _advance(self, passed: float) -> None:
        """Advance by what has `passed` on the clock [s], at most `MAX_CATCH_UP`."""
        source, time_before = self.source, self.source.time
        if self.paused or source.stopped:
            steps, self._steps = self._steps, 0
            if steps and not source.stopped:
                source.advance(steps * source.period)
            self.real_time_factor = float("nan")
            return
        self._steps = 0
        source.advance(self.speed * min(passed, MAX_CATCH_UP))
        # A run that was reset, or a recording that restarts, goes back.
        factor = max(0.0, source.time - time_before) / passed
        previous_factor = self.real_time_factor
        self.real_time_factor = (
            factor
            if previous_factor != previous_factor
            else previous_factor + FACTOR_SMOOTHING * (factor - previous_factor)
        )
        source.real_time_factor = self.real_time_factor

    def _guarded(self, function: Callable[[], Any]) -> None:
        """Call a function; its errors are logged and do not stop the run."""
        try:
            function()
        except Exception:
            LOG.exception("a live run goes on after an error")
