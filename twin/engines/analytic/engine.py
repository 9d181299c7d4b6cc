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
from twin.kernels.integrators.machine_step import adaptive_step, fixed_step
from twin.kernels.kinematics.inverse import coordinates_and_rates
from twin.kernels.machine_code import SameTypes
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
        self._lengths, self._rates = np.empty((2, platform.n_actuators))
        self._constants = self._body, self.platform.constants.legs
        self._motion = self._y, self._lengths, self._rates
        self._settings: tuple[Any, ...] = ()
        if fidelity == "accurate":
            count = LARGEST_SUBSTEPS
            substeps = np.empty(count), np.empty((count, size)), np.empty((count, 5, size))
            self._settings = TOLERANCES, substeps
        kernel: Any = fixed_step if fidelity == "fast" else adaptive_step
        self._move = SameTypes(kernel)

    def _place(
        self, pose: FloatArray, twist: FloatArray, deflection: FloatArray, legs: LegCoordinates
    ) -> None:
        self._y[:] = np.concatenate([pose, twist, deflection])
        self._measure()

    def _feel(self) -> None:
        self._body[GRAVITY : GRAVITY + 3] = self._field

    def _advance(self, forces: FloatArray, wrench: FloatArray) -> tuple[float, str]:
        if self.rolling is None:
            held = forces, wrench, self.timestep
            done = self._move(*self._constants, *held, *self._motion, *self._settings)
        else:
            load = Load(forces, np.zeros_like(forces), wrench)
            done = self.rolling.advance(*self._constants, load)
            self._measure()
        return 0.0, "" if done else "the state is singular or overflows"

    def _measure(self) -> None:
        """Fill coordinates and rates of the actuators."""
        _, legs = self._constants
        y, lengths, rates = self._motion
        coordinates_and_rates(legs, y[:7], y[7:STATE_SIZE], lengths, rates)

    def _read(self) -> State:
        y, time = self._y.copy(), self._steps * self.timestep
        lengths, rates = self._lengths.copy(), self._rates.copy()
        return State(time, y[:7], y[7:STATE_SIZE], lengths, rates, y[STATE_SIZE:])

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
        self._measure()

    def _place_ball(self, ball: Ball, pose: FloatArray, twist: FloatArray, start: Any) -> None:
        assert self.rolling is not None
        self.rolling.place(pose, twist, start)

    def _read_ball(self, ball: Ball) -> FloatArray:
        assert self.rolling is not None
        return self.rolling.read()
