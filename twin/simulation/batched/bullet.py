"""Batched plants in PyBullet: one engine after the other, each with physics clients of its own."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from twin.engines.guard import LARGEST_GAP
from twin.engines.stability import check_timestep
from twin.kernels.batched.drives import drive_rows, issue_rows, read_rows
from twin.model.ball.position import is_lost, on_plate
from twin.model.engine import State
from twin.model.machine_model import MachineModel
from twin.simulation.batched.batched_plant import BatchedPlant
from twin.simulation.batched.bullet_row import BulletRow, check_size
from twin.simulation.batched.drive_arrays import place_row


class BulletBatchedPlant(BatchedPlant):
    """Machines in PyBullet, which knows no batches and one core.

    The fidelity "fast" takes one Bullet step per time step, "accurate" extrapolates from three
    copies of a row; see the engine. Rows give what `BulletEngine` gives.
    """

    name: ClassVar[str] = "bullet"
    own_fidelity: ClassVar[str] = "fast"

    def _prepare(self) -> None:
        """Load a machine for every row."""
        platform, size = self.platform, self.size
        check_size(size, self.fidelity)
        self._home = np.tile(platform.home_coordinates, (size, 1))
        self._before, self._still = np.zeros((size, 6)), np.zeros(3)
        self._engines: list[BulletRow] = []
        try:
            for _ in range(size):
                self._engines.append(self._load(platform))
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Disconnect all physics clients; calling it twice is allowed."""
        super().close()
        for engine in self._engines:
            engine.close()
        self._engines.clear()

    def _load(self, platform: MachineModel) -> BulletRow:
        return BulletRow(platform, self.timestep, self.fidelity, self.cargo)

    def _check_step(self, platform: MachineModel, timestep: float) -> None:
        check_timestep(platform, timestep, self.name, "explicit")

    def _adopt(self, row: int, platform: MachineModel) -> None:
        super()._adopt(row, platform)
        self._engines[row].close()  # first, so that no more clients are open than rows
        self._engines[row] = self._load(platform)
        self._home[row] = platform.home_coordinates

    def _place(self, row: int, state: State, ball: Any) -> None:
        engine = self._engines[row]
        state = engine.reset(state.pose, state.twist, state.deflection, ball=ball)
        # The drives start where Bullet's joints are, to the last bit.
        place_row(self._drive_arrays, row, self._plants[row], self._gains, state)
        self._sense(row)
        if self.cargo is not None:
            self.ball[row], self.ball_lost[row] = engine.ball, False

    def _advance(self) -> None:
        arrays, machines, inputs = self._drive_arrays, self.machines, self._inputs
        issue_rows(
            arrays.counters, arrays.queue, inputs.command, inputs.feedforward, machines.failed
        )
        mode = int(self.mode == "velocity")
        going = np.flatnonzero(~machines.failed).tolist()
        for part in range(self.ratio):
            drive_rows(arrays, machines, self.ratio, mode, self.timestep)
            for row in going:
                if not machines.failed[row]:
                    self._step(row, part)
        for row in going:
            self._take_over(row)
        read_rows(arrays, machines, self.period)
        if self.cargo is not None:
            lost = is_lost(self.cargo, on_plate(self.pose, self.twist, self.ball))
            self.ball_lost |= lost & ~machines.failed

    def _step(self, row: int, part: int) -> None:
        """Step a row; it fails where its state means nothing any more."""
        engine, machines, inputs = self._engines[row], self.machines, self._inputs
        shaking = inputs.shaking[row, part] if self._shaken else self._still
        self._before[row] = engine.read()[1]
        gap = engine.advance(machines.forces[row], inputs.wrench[row], shaking)
        machines.failed[row] = not gap <= LARGEST_GAP
        if engine.broken:
            return
        machines.gap[row] = engine.loop_gap
        self._sense(row)

    def _sense(self, row: int) -> None:
        """Read what the actuators of a row move, without springs in series."""
        _, _, lengths, rates, deflection = self._engines[row].read()
        k, machines = self.platform.n_deflections, self.machines
        machines.coordinates[row], machines.rates[row] = self._home[row] + lengths, rates
        if k:
            machines.coordinates[row] -= deflection[:k]
            machines.rates[row] -= deflection[k:]

    def _take_over(self, row: int) -> None:
        """Take over the state of a row at the end of a period, if it is one."""
        engine, machines = self._engines[row], self.machines
        if engine.broken:
            return
        pose, twist, _, _, deflection = engine.read()
        machines.pose[row], machines.twist[row], machines.deflection[row] = pose, twist, deflection
        machines.acceleration[row] = (twist - self._before[row]) / self.timestep
        if self.cargo is not None:
            self.ball[row] = engine.ball
