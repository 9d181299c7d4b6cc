"""Batched plants of the analytic reference: compiled kernels on all cores."""

from __future__ import annotations

from typing import Any

import numpy as np

from twin.basics.arrays import as_vector
from twin.errors import InputError
from twin.kernels.batched.analytic import Constants, advance_rows
from twin.kernels.bundle import Bundle
from twin.kernels.jit import SameTypes
from twin.model.batch import chunk_bounds, lane_count, on_threads, usable_cores
from twin.model.engine import State
from twin.model.machine_model import MachineModel
from twin.plant.signals import COMMAND_MODES
from twin.simulation.batched.batched_plant import BatchedPlant, empty_balls

MIN_MACHINES_PER_THREAD = 2
"""Smallest number of machines per thread. A machine takes about 40 us, less than a thread costs."""


class AnalyticBatchedPlant(BatchedPlant):
    """Machines in the analytic reference: Runge-Kutta of order four, loops closed by construction.

    Both fidelities are the same here.
    """

    name = "analytic"
    default_fidelity = "fast"

    def _prepare(self) -> None:
        """Stack the constants of all machines."""
        platform, size = self.platform, self.size
        body, legs = platform.constants[:2]
        self._kind: Any = type(legs)
        self._bodies = np.tile(body, (size, 1))
        self._leg_rows = np.tile(legs.rows, (size, 1, 1))
        self._balls = empty_balls(0 if self.rolling_ball is None else size)
        self.ball, self.ball_lost = self._balls.motion, self._balls.is_lost
        self._adopt_arrays()

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Cut the arrays of a copy into chunks again, because copies of views share no memory."""
        self.__dict__.update(state)
        self._adopt_arrays()

    def _adopt(self, index: int, platform: MachineModel) -> None:
        body, legs = platform.constants[:2]
        if type(legs) is not self._kind:
            raise InputError("platforms", f"{platform.name} has legs of another kind")
        super()._adopt(index, platform)
        self._bodies[index], self._leg_rows[index] = body, legs.rows

    def _adopt_arrays(self) -> None:
        """Cut the machines into chunks, one per core."""
        chunks = max(1, min(usable_cores(), self.size // MIN_MACHINES_PER_THREAD))
        lanes, ball = lane_count(), self.rolling_ball
        fills_lanes = ball is None and 1 < lanes <= self.size // chunks
        self._width = (0,) * lanes if fills_lanes else ()
        extra_constants = () if ball is None else (ball.constants,)
        command_arguments = (
            COMMAND_MODES.index(self.mode),
            self.timestep,
            *([self._width] if fills_lanes else []),
        )
        self._calls = [
            (Bundle(*self._chunk(slice(*edge)), *extra_constants, *command_arguments),)
            for edge in chunk_bounds(self.size, chunks)
        ]
        self._run: Any = SameTypes(self._kernel(len(self._width)))

    def _chunk(self, rows: slice) -> tuple[Any, ...]:
        parts = [
            type(group)(*(array[rows] for array in group))
            for group in (self.machines, self._inputs, self._balls)
        ]
        arrays = self._drive_arrays._replace(
            **{
                name: value[rows]
                for name, value in self._drive_arrays._asdict().items()
                if name != "zeros"
            }
        )
        if self.rolling_ball is None:
            del parts[2:]
        return Constants(self._bodies[rows], self._kind(self._leg_rows[rows])), arrays, *parts

    def _place(self, index: int, state: State, ball: Any) -> None:
        """Put the ball at its start; the machine's state lies in the engine's arrays already."""
        if self.rolling_ball is None:
            if ball is not None:
                raise InputError("ball", "this batch was made without one")
            return
        from twin.kernels.batched.analytic import start_ball
        from twin.model.ball import as_start

        ball_start = as_vector(as_start(ball, self.rolling_ball), "ball", 4)
        start_ball(
            self.rolling_ball.constants, self.machines, self._balls, index, ball_start.copy()
        )

    def _advance(self) -> None:
        on_threads(self._run, self._calls)

    def _kernel(self, lanes: int) -> Any:
        """Return the kernel that advances this number of machines, in `lanes`; 0: one by one."""
        if self.rolling_ball is not None:
            from twin.kernels.batched.analytic import advance_rolling_rows

            return advance_rolling_rows
        if not lanes:
            return advance_rows
        from twin.kernels.lanes import advance_groups

        return advance_groups
