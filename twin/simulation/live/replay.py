"""A recorded run that is played again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from twin.basics.arrays import FloatArray, as_floats
from twin.basics.optional import library_versions
from twin.errors import InputError
from twin.machine.payload import Occupant
from twin.model.engine import Engine, State
from twin.model.machine_model import MachineModel
from twin.simulation.live.machine_charts import History, MachineCharts
from twin.simulation.live.runner import HISTORY_INTERVAL, HISTORY_LENGTH
from twin.simulation.live.steering import Axes
from twin.simulation.recorded.files import check_machine, machine_of
from twin.simulation.trajectory import RecordedScenes, Scene, Trajectory, row_at, rows_around

MAX_ROWS = 300_000
"""Control periods that are kept: five minutes at 1 kHz."""


class Recorder:
    """A ring of states, forces and setpoints: the oldest row gives way to the newest."""

    def __init__(self, n: int, deflection: int) -> None:
        """Make room for a machine with `n` actuators and `deflection` numbers inside its legs."""
        widths = {
            "time": 1,
            "pose": 7,
            "twist": 6,
            "lengths": n,
            "rates": n,
            "deflection": deflection,
        }
        names = ("forces", "setpoint", "measured", "command", "limited")
        widths |= dict.fromkeys(names, n) | {"reference_pose": 7}
        ends = np.cumsum([0, *widths.values()])
        self._columns = {
            name: slice(int(first_column), int(end_column))
            for name, first_column, end_column in zip(widths, ends[:-1], ends[1:], strict=True)
        }
        # Memory that nothing was written to costs nothing.
        self._rows = np.empty((MAX_ROWS, int(ends[-1])))
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
        row = self._rows[self._count % MAX_ROWS]
        for name in ("time", "pose", "twist", "lengths", "rates", "deflection"):
            row[self._columns[name]] = getattr(state, name)
        row[self._columns["forces"]] = forces
        for name, value in signals.items():
            row[self._columns[name]] = value
        self._count += 1

    def rows(self) -> FloatArray:
        """Return all rows that are kept, the oldest first."""
        if self._count <= MAX_ROWS:
            return self._rows[: self._count].copy()
        return np.roll(self._rows, -(self._count % MAX_ROWS), axis=0)

    def trajectory(self, platform: MachineModel, engine: Engine, stopped: str) -> Trajectory:
        """Return the recorded motion.

        Args:
            platform: the machine.
            engine: that computed it.
            stopped: why it was stopped; empty where it was not.
        """
        recorded_rows = self.rows()
        parts = {name: recorded_rows[:, columns] for name, columns in self._columns.items()}
        time = parts.pop("time")[:, 0]
        signals = {name: parts.pop(name) for name in ("setpoint", "measured", "command", "limited")}
        signals |= {"reference_pose": parts.pop("reference_pose"), "time": time}
        return Trajectory(
            time=time,
            machine=platform.name,
            engine=engine.name,
            fidelity=engine.fidelity,
            timestep=engine.timestep,
            parameters_hash=platform.hash,
            versions=library_versions(),
            coordinate_unit=platform.coordinate_unit,
            signals=signals,
            stopped=stopped,
            limits=platform.limits,
            **parts,
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
            self._note()

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
            self._note()

    def reset(self) -> None:
        """Go back to the first row."""
        self.seek(self.start)

    def close(self) -> None:
        """Do nothing, because a replay holds no resources."""

    def _row(self, time: float) -> int:
        """Return the last row of the charts up to a time [s]."""
        return int((time - self.start) / HISTORY_INTERVAL + 1e-9)

    def _note(self) -> None:
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
