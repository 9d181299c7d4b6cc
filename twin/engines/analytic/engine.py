"""The analytic reference as an engine: task-space equations, integrated over each step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from twin.basics.arrays import FloatArray
from twin.engines.base import BaseEngine
from twin.engines.guard import LARGEST_GAP
from twin.engines.stability import check_timestep
from twin.kernels.dynamics.assembly import GRAVITY
from twin.kernels.dynamics.state import STATE_SIZE, Load
from twin.kernels.integrators.dormand_prince import DONE, dormand_prince
from twin.kernels.integrators.runge_kutta import runge_kutta
from twin.kernels.kinematics.inverse import coordinates_and_rates
from twin.model.ball.ball import Ball
from twin.model.engine import Fidelity, State
from twin.model.machine_model import MachineModel
from twin.model.motions import LegCoordinates

if TYPE_CHECKING:
    from twin.engines.analytic.ball import RollingBall

TOLERANCES = (1e-13, 1e-13)
"""Relative and absolute tolerance of the accurate fidelity: the last digits float64 can hold."""

LARGEST_SUBSTEPS = 4096


class AnalyticEngine(BaseEngine):
    """Forward dynamics in task space; loops are closed by construction.

    Fidelities: "accurate" integrates each step with Dormand-Prince to 1e-13, "fast" with one
    Runge-Kutta step of order four. With a ball "accurate" takes eight Runge-Kutta steps.

    Attributes:
        rolling: what is known of the ball, its status included; None without one.
    """

    name = "analytic"

    def __init__(
        self,
        platform: MachineModel,
        timestep: float = 1e-3,
        fidelity: Fidelity = "accurate",
        *,
        ball: Any = None,
        largest_gap: float = LARGEST_GAP,
    ) -> None:
        """Prepare the engine; `largest_gap` is accepted for symmetry, its loops cannot open.

        `ball` rolls on the platform: a `Ball`, or True for one in proportion to the machine.

        Raises:
            InputError: an argument that cannot be used, or a time step too long for the machine.
        """
        super().__init__(platform, timestep, fidelity, largest_gap, ball)
        if fidelity == "fast":
            check_timestep(self.platform, self.timestep, self.name, "rk4")
        self._identify()
        self._body = self.platform.constants.body.copy()
        size = STATE_SIZE + 2 * platform.n_deflections
        self._y = np.empty(size)
        self.rolling: RollingBall | None = None
        if self._ball is not None:
            from twin.engines.analytic.ball import RollingBall

            self.rolling = RollingBall(self._ball, size, self.timestep, fidelity)
            self._y = self.rolling.y[:size]
        self._constant = np.zeros(platform.n_actuators)
        self._clock = np.empty(2)
        self._step_buffers = (np.empty(1), np.empty((1, size)), np.empty((2, size)))
        count = 1 if fidelity == "fast" else LARGEST_SUBSTEPS
        self._substeps = (np.empty(count), np.empty((count, size)), np.empty((count, 5, size)))

    def _place(
        self, pose: FloatArray, twist: FloatArray, deflection: FloatArray, legs: LegCoordinates
    ) -> None:
        self._y[:] = np.concatenate([pose, twist, deflection])

    def _feel(self) -> None:
        self._body[GRAVITY : GRAVITY + 3] = self._field

    def _advance(self, forces: FloatArray, wrench: FloatArray) -> tuple[float, str]:
        body, legs, y = self._body, self.platform.constants.legs, self._y
        load = forces, self._constant, wrench
        if self.rolling is not None:
            done = self.rolling.advance(body, legs, Load(*load))
        elif self.fidelity == "fast":
            times, states, rates = self._step_buffers
            done = runge_kutta(body, legs, y, load, self.timestep, times, states, rates) == 1
        else:
            self._clock[:] = 0.0, self.timestep
            reason, _ = dormand_prince(
                body, legs, y, load, self._clock, self.timestep, TOLERANCES, self._substeps
            )
            done = reason == DONE
        return 0.0, "" if done else "the state is singular or overflows"

    def _read(self) -> State:
        n = self.platform.n_actuators
        y, lengths, rates = self._y.copy(), np.empty(n), np.empty(n)
        pose, twist, deflection = y[:7], y[7:STATE_SIZE], y[STATE_SIZE:]
        coordinates_and_rates(self.platform.constants.legs, pose, twist, lengths, rates)
        return State(self._steps * self.timestep, pose, twist, lengths, rates, deflection)

    def _gap(self) -> float:
        """Return zero: leg states follow from the pose."""
        return 0.0

    def _content(self) -> bytes:
        return self._y.tobytes() if self.rolling is None else self.rolling.content()

    def _load(self, content: bytes) -> None:
        if self.rolling is None:
            self._y[:] = np.frombuffer(content)
        else:
            self.rolling.load(content)

    def _place_ball(self, ball: Ball, pose: FloatArray, twist: FloatArray, start: Any) -> None:
        assert self.rolling is not None
        self.rolling.place(pose, twist, start)

    def _read_ball(self, ball: Ball) -> FloatArray:
        assert self.rolling is not None
        return self.rolling.read()
