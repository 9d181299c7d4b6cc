"""Runs that a page shows, recorded or live, and the thread that advances one in real time."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from functools import partial
from math import isnan
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, Protocol

import numpy as np

from twin.basics.arrays import FloatArray, as_floats, positive
from twin.errors import InputError
from twin.machine.payload import Occupant
from twin.model.ball import Ball
from twin.model.engine import Engine, State
from twin.model.machine_model import MachineModel
from twin.simulation.live.live_machine import RECORDED_SIGNALS
from twin.simulation.live.machine_charts import History, MachineCharts, oldest_first
from twin.simulation.live.steering import Axes
from twin.simulation.recorded.files import check_machine, machine_of
from twin.simulation.simulate import (
    RecordedScenes,
    Scene,
    Trajectory,
    origin_of,
    row_at,
    rows_around,
)


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
        source: the run that is advanced.
        paused: whether the user has paused it.
        waiting: whether it waits because nobody looks.
        speed: wanted speed of the run, relative to real time.
        real_time_factor: reached speed, seconds of the run per second of the clock, a running
            mean; NaN while the run is paused or stopped.
    """

    def __init__(
        self,
        source: Source,
        *,
        after_advance: Callable[[], None] | None = None,
        is_watched: Callable[[], bool] | None = None,
    ) -> None:
        """Prepare the thread; `start` starts it.

        Args:
            source: that shall run.
            after_advance: called on the thread after every advance, also while paused.
            is_watched: returns whether somebody looks. A run that nobody looks at, and of which
                nobody asks anything, waits after `UNWATCHED_TIMEOUT` seconds; default: always.
        """
        self.source = source
        self.paused = self.waiting = False
        self.speed = 1.0
        self.real_time_factor = float("nan")
        self._after_advance = after_advance or (lambda: None)
        self._is_watched = is_watched or (lambda: True)
        self._period = 1.0 / UPDATE_RATE
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
            if self._is_watched() or not self._requests.empty():
                last_watched = tick_time
            self.waiting = tick_time - last_watched > UNWATCHED_TIMEOUT
            if self.waiting:
                self._ending.wait(IDLE_POLL_INTERVAL)
                last_tick = next_due = time.perf_counter()
                continue
            elapsed_time, last_tick = tick_time - last_tick, tick_time
            self._guarded(self._serve)
            self._guarded(partial(self._advance, elapsed_time))
            self._guarded(self._after_advance)
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

    def _advance(self, elapsed: float) -> None:
        """Advance by what has `elapsed` on the clock [s], at most `MAX_CATCH_UP`."""
        source, time_before = self.source, self.source.time
        if self.paused or source.stopped:
            steps, self._steps = self._steps, 0
            if steps and not source.stopped:
                source.advance(steps * source.period)
            self.real_time_factor = source.real_time_factor = float("nan")
            return
        self._steps = 0
        source.advance(self.speed * min(elapsed, MAX_CATCH_UP))
        # A run that was reset, or a recording that restarts, goes back.
        factor, previous = max(0.0, source.time - time_before) / elapsed, self.real_time_factor
        if not isnan(previous):
            factor = previous + FACTOR_SMOOTHING * (factor - previous)
        self.real_time_factor = source.real_time_factor = factor

    def _guarded(self, function: Callable[[], Any]) -> None:
        """Call a function; its errors are logged and do not stop the run."""
        try:
            function()
        except Exception:
            LOG.exception("a live run goes on after an error")


MAX_ROWS = 300_000
"""Control periods that are kept: five minutes at 1 kHz."""


class Recorder:
    """A ring of states, forces and setpoints: the oldest row gives way to the newest."""

    def __init__(self, n: int, deflection: int) -> None:
        """Make room for a machine with `n` actuators and `deflection` numbers inside its legs."""
        names = (*State._fields, "forces", *RECORDED_SIGNALS)
        widths = dict.fromkeys(names, n) | {"time": 1, "pose": 7, "twist": 6}
        widths |= {"deflection": deflection, "reference_pose": 7}
        # Memory that nothing was written to costs nothing.
        self._columns = {name: np.empty((MAX_ROWS, width)) for name, width in widths.items()}
        self._count = 0

    def __len__(self) -> int:
        return min(self._count, MAX_ROWS)

    def clear(self) -> None:
        """Forget everything."""
        self._count = 0

    def append(self, state: State, forces: FloatArray, signals: dict[str, FloatArray]) -> None:
        """Keep one control period.

        Args:
            state: at its beginning.
            forces: `(n,)` on the legs from then on.
            signals: "setpoint", "measured", "command", "limited" `(n,)`, "reference_pose" `(7,)`.
        """
        for name, value in (state._asdict() | signals | {"forces": forces}).items():
            self._columns[name][self._count % MAX_ROWS] = value
        self._count += 1

    def trajectory(self, engine: Engine, stopped: str) -> Trajectory:
        """Return the recorded motion.

        Args:
            engine: that computed it.
            stopped: why it was stopped; empty where it was not.
        """
        parts = {name: oldest_first(rows, self._count) for name, rows in self._columns.items()}
        time = parts.pop("time")[:, 0]
        signals = {name: parts.pop(name) for name in RECORDED_SIGNALS} | {"time": time}
        return Trajectory(
            time=time,
            signals=signals,
            stopped=stopped,
            limits=engine.platform.limits,
            **(origin_of(engine) | parts),
        )


class Replay:
    """Plays a trajectory, straight between its rows; times are those of the recording.

    Attributes:
        trajectory: that is played.
        platform: the machine.
        payload: person on it; None without one, or if unknown.
        ball: None: trajectories have none.
        history: of the charts, the 30 s before the present time.
        period: mean time between two rows [s].
        start: [s] of the first row.
        end: [s] of the last row.
        loop: whether it restarts at its end.
        real_time_factor: seconds of the recording per second of the clock, set by the runner.
    """

    ball = None

    def __init__(
        self, trajectory: Trajectory, machine: MachineModel | str | Path | None = None
    ) -> None:
        """Prepare the replay at the first row.

        Args:
            trajectory: a run of any engine.
            machine: that it was made with, or its name or file, whose fidelities and payloads are
                tried; default: the shipped one of the trajectory's name.

        Raises:
            InputError: no trajectory, one without rows, or not of this machine; says of which.
            MachineNotFoundError: not a known name and not a file.
            ParameterError: the file cannot be used.
        """
        self._scenes = RecordedScenes(trajectory)
        self.payload: Occupant | None = None
        if isinstance(machine, MachineModel):
            self.platform = machine
        else:
            self.platform, self.payload, _ = machine_of(trajectory, machine)
        check_machine(trajectory, self.platform)
        self.trajectory = trajectory
        self.start, self.end = self._scenes.start, self._scenes.end
        duration = self.end - self.start
        self.period = duration / (len(trajectory) - 1) if duration > 0.0 else HISTORY_INTERVAL
        self.loop = False
        self.real_time_factor = float("nan")
        self._charts = MachineCharts(Axes(self.platform))
        self.history = History(self._charts.charts, round(HISTORY_LENGTH / HISTORY_INTERVAL))
        self._rows: dict[int, dict[str, FloatArray]] = {}
        self._time, self._next = self.start, 0
        self.reset()

    @property
    def time(self) -> float:
        """[s] as recorded."""
        return self._time

    @property
    def scene(self) -> Scene:
        """Recorded scene at the present time, with a ghost if a setpoint pose was recorded."""
        return self._scenes.at(self._time)

    @property
    def ended(self) -> bool:
        """Whether the last row is reached."""
        return self._time >= self.end

    @property
    def stopped(self) -> str:
        """Reason for the stop of the recorded run, at its end; empty before."""
        return self.trajectory.stopped if self.ended else ""

    @property
    def message(self) -> str:
        """Message at the end of the recording; empty before."""
        return "end of the recording" if self.ended else ""

    def advance(self, duration: float) -> None:
        """Advance by `duration` [s] of the recording; at its end stop, or restart with `loop`."""
        if self.ended and self.loop:
            self.reset()
            return
        self._time = min(self._time + max(duration, 0.0), self.end)
        while self._next <= self._row(self._time):
            self._append_history()

    def seek(self, time: Any) -> None:
        """Go to a time [s] of the recording, or the nearest it has; the charts go along.

        Raises:
            InputError: no number.
        """
        target_time = as_floats(time, "time")
        if target_time.ndim:
            raise InputError("time", f"must be one number, got shape {target_time.shape}")
        self._time = float(np.clip(target_time, self.start, self.end))
        self.history.clear()
        last_row = self._row(self._time)
        self._next = max(0, last_row - self.history.capacity + 1)
        while self._next <= last_row:
            self._append_history()

    def reset(self) -> None:
        """Go back to the first row."""
        self.seek(self.start)

    def close(self) -> None:
        """Do nothing, because a replay holds no resources."""

    def _row(self, time: float) -> int:
        """Return the last row of the charts up to a time [s]."""
        return int((time - self.start) / HISTORY_INTERVAL + 1e-9)

    def _append_history(self) -> None:
        """Append the next recorded row to the charts."""
        row_index = self._next
        time = self.start + row_index * HISTORY_INTERVAL
        if row_index not in self._rows:
            self._rows[row_index] = self._values(time)
        self.history.append(time, self._rows[row_index])
        self._next = row_index + 1

    def _values(self, time: float) -> dict[str, FloatArray]:
        run = self.trajectory
        row_before, row_after, fraction = rows_around(run.time, time)
        # Forces hold from each row to the next.
        forces = run.forces[row_after if fraction >= 1.0 else row_before]
        scene = self._scenes.at(time)
        spring_state = np.zeros(2 * self.platform.n_deflections)
        state = State(
            time,
            scene.pose,
            row_at(run.time, run.twist, time),
            row_at(run.time, run.lengths, time),
            row_at(run.time, run.rates, time),
            spring_state if scene.deflection is None else scene.deflection,
        )
        return self._charts.values(state, scene.ghost, forces)
