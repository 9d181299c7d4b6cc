"""Recording of a live run: its last minutes at every control period, as a trajectory."""

from __future__ import annotations

from collections import deque

import numpy as np

from twin.basics.arrays import FloatArray
from twin.basics.optional import library_versions
from twin.model.engine import Engine, State
from twin.model.machine_model import MachineModel
from twin.simulation.trajectory import Trajectory

ROWS = 5_000
"""Control periods in one block of memory."""

BLOCKS = 60
"""Blocks that are kept: five minutes at 1 kHz."""


class Recorder:
    """Blocks of states, forces and setpoints; the oldest is dropped when all are full."""

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
            name: slice(int(first), int(last))
            for name, first, last in zip(widths, ends[:-1], ends[1:], strict=True)
        }
        self._width = int(ends[-1])
        self._blocks: deque[FloatArray] = deque(maxlen=BLOCKS)
        self._filled = ROWS

    def __len__(self) -> int:
        return max(0, len(self._blocks) - 1) * ROWS + self._filled if self._blocks else 0

    def clear(self) -> None:
        """Forget everything."""
        self._blocks.clear()
        self._filled = ROWS

    def append(self, state: State, forces: FloatArray, signals: dict[str, FloatArray]) -> None:
        """Keep one control period.

        Args:
            state: at its beginning.
            forces: `(n,)` on the legs from then on.
            signals: "setpoint", "measured", "command", "limited" `(n,)`, "reference_pose" `(7,)`.
        """
        if self._filled == ROWS:
            self._blocks.append(np.empty((ROWS, self._width)))
            self._filled = 0
        row = self._blocks[-1][self._filled]
        for name in ("time", "pose", "twist", "lengths", "rates", "deflection"):
            row[self._columns[name]] = getattr(state, name)
        row[self._columns["forces"]] = forces
        for name, value in signals.items():
            row[self._columns[name]] = value
        self._filled += 1

    def rows(self) -> FloatArray:
        """Return all rows that are kept, the oldest first."""
        if not self._blocks:
            return np.empty((0, self._width))
        return np.concatenate([*list(self._blocks)[:-1], self._blocks[-1][: self._filled]])

    def trajectory(self, platform: MachineModel, engine: Engine, stopped: str) -> Trajectory:
        """Return what is kept.

        Args:
            platform: the machine.
            engine: that computed it.
            stopped: why it was stopped; empty where it was not.
        """
        rows = self.rows()
        parts = {name: rows[:, columns] for name, columns in self._columns.items()}
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
