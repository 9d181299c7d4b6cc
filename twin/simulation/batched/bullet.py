"""Batched plants in PyBullet: one engine after the other, each with physics clients of its own.

Each machine is an engine without the step history that its guard would keep.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from twin.basics.arrays import FloatArray
from twin.engines.base import LARGEST_GAP, check_timestep
from twin.engines.bullet.engine import RICHARDSON_WEIGHTS, BulletEngine
from twin.errors import InputError
from twin.kernels.batched.analytic import drive_all, read_all
from twin.model.engine import Fidelity, State
from twin.model.machine_model import MachineModel
from twin.plant.signals import COMMAND_MODES
from twin.simulation.batched.batched_plant import BatchedPlant, place_drives

MAX_WORLDS = 256
"""Largest number of machines in one batch: each needs its own physics client of about 30 MB."""


def check_size(size: int, fidelity: str) -> None:
    """Refuse a batched plant that would take too much memory.

    Raises:
        InputError: more machines than `MAX_WORLDS` allow.
    """
    copies = len(RICHARDSON_WEIGHTS[cast(Fidelity, fidelity)])
    if size * copies > MAX_WORLDS:
        raise InputError(
            "size",
            f"Bullet takes 30 MB for each world, and fidelity {fidelity!r} {copies} of them for a "
            f"machine: at most {MAX_WORLDS // copies} machines, not {size}; use the engine "
            "'mujoco' or 'analytic' for more",
        )


class BulletRow(BulletEngine):
    """A `BulletEngine` in a batched plant: it returns faults in place of errors and messages."""

    @property
    def has_failed(self) -> bool:
        """Whether the last step has failed and only a reset helps."""
        return not self._worlds

    def advance(self, forces: FloatArray, wrench: FloatArray, shaking: FloatArray) -> float:
        """Take one step of the engine.

        Args:
            forces: `(n,)` on the legs.
            wrench: `(6,)` on the platform.
            shaking: `(3,)` acceleration of the base [m/s2].

        Returns:
            The largest loop gap [m]; NaN where the state is not finite.
        """
        if (shaking != self._shaking).any():
            self._shaking[:] = shaking
            self._apply_field()
        loop_gap, _ = self._advance(forces, wrench)
        self._steps += 1
        if np.isfinite(self._reading).all():
            return loop_gap
        self._free()  # what has gone wrong stays in Bullet's memory
        return np.nan

    def read(self) -> tuple[FloatArray, ...]:
        """Return views of pose, twist, actuator coordinates from home on, rates, and deflection."""
        return tuple(self._reading[part] for part in self._parts[:5])

    def _begin(self, steps: int) -> State:
        self._steps, self._ready = steps, True
        return self._read()


class BulletBatchedPlant(BatchedPlant):
    """Machines in PyBullet, which knows no batches and one core.

    The fidelity "fast" takes one Bullet step per time step, "accurate" extrapolates from three
    copies of a machine; see the engine. Results are those of `BulletEngine`.
    """

    name = "bullet"
    default_fidelity = "fast"

    def _prepare(self) -> None:
        """Load an engine for every machine."""
        platform, size = self.platform, self.size
        check_size(size, self.fidelity)
        self._home = np.tile(platform.home_coordinates, (size, 1))
        self._previous_twists, self._no_shaking = np.zeros((size, 6)), np.zeros(3)
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
        fidelity = cast(Fidelity, self.fidelity)
        return BulletRow(platform, self.timestep, fidelity, ball=self.rolling_ball)

    def _check_step(self, platform: MachineModel, timestep: float) -> None:
        check_timestep(platform, timestep, self.name, "explicit")

    def _adopt(self, index: int, platform: MachineModel) -> None:
        super()._adopt(index, platform)
        self._engines[index].close()  # first, so that no more clients are open than machines
        self._engines[index] = self._load(platform)
        self._home[index] = platform.home_coordinates

    def _place(self, index: int, state: State, ball: Any) -> None:
        engine = self._engines[index]
        state = engine.reset(state.pose, state.twist, state.deflection, ball=ball)
        # The drives start where Bullet's joints are, to the last bit.
        place_drives(self._drive_arrays, index, self._plants[index], self._gains, state)
        self._sense(index)
        if self.rolling_ball is not None:
            self.ball[index], self.ball_lost[index] = engine.ball, False

    def _advance(self) -> None:
        arrays, machines = self._drive_arrays, self.machines
        self._issue()
        mode = COMMAND_MODES.index(self.mode)
        running = np.flatnonzero(~machines.failed).tolist()
        for substep in range(self.ratio):
            drive_all(arrays, machines, self.ratio, mode, self.timestep)
            for index in running:
                if not machines.failed[index]:
                    self._step(index, substep)
        for index in running:
            self._copy_state(index)
        read_all(arrays, machines, self.period)
        self._note_lost_balls()

    def _step(self, index: int, substep: int) -> None:
        """Step a machine; it fails if its state is no longer valid."""
        engine, machines, inputs = self._engines[index], self.machines, self._inputs
        base_acceleration = inputs.shaking[index, substep] if self._is_shaken else self._no_shaking
        self._previous_twists[index] = engine.read()[1]
        loop_gap = engine.advance(machines.forces[index], inputs.wrench[index], base_acceleration)
        machines.failed[index] = not loop_gap <= LARGEST_GAP
        if engine.has_failed:
            return
        machines.gap[index] = engine.loop_gap
        self._sense(index)

    def _sense(self, index: int) -> None:
        """Read coordinates and rates at the actuators, without springs in series."""
        _, _, lengths, rates, deflection = self._engines[index].read()
        k, machines = self.platform.n_deflections, self.machines
        machines.coordinates[index], machines.rates[index] = self._home[index] + lengths, rates
        if k:
            machines.coordinates[index] -= deflection[:k]
            machines.rates[index] -= deflection[k:]

    def _copy_state(self, index: int) -> None:
        """Copy an engine's state to its row at the end of a period, if the state is valid."""
        engine, machines = self._engines[index], self.machines
        if engine.has_failed:
            return
        pose, twist, _, _, machines.deflection[index] = engine.read()
        machines.pose[index], machines.twist[index] = pose, twist
        machines.acceleration[index] = (twist - self._previous_twists[index]) / self.timestep
        if self.rolling_ball is not None:
            self.ball[index] = engine.ball
