"""The analytic engine: the reference behind the protocol of engines."""

from __future__ import annotations

from typing import Any

import numpy as np

from twin.basics.arrays import FloatArray
from twin.engines.base import LARGEST_GAP, BaseEngine, check_timestep
from twin.kernels.ball import BALL_ROLLING, BALL_SIZE, fill_balls, put_balls, rolling_steps
from twin.kernels.dynamics.assembly import BODY_GRAVITY
from twin.kernels.dynamics.forward import STATE_SIZE, Load
from twin.kernels.integrators import adaptive_step, fixed_step
from twin.kernels.jit import SameTypes
from twin.kernels.kinematics import coordinates_and_rates
from twin.kernels.legs.interface import Legs
from twin.model.ball import CENTERED_STATE, Ball
from twin.model.engine import Fidelity, State
from twin.model.machine_base import LegCoordinates
from twin.model.machine_model import MachineModel

RUNGE_KUTTA_SUBSTEPS = {"fast": 1, "accurate": 8}
"""Runge-Kutta steps within one of the engine, by fidelity: eight leave rounding errors at 1 ms."""

ACCURATE_TOLERANCES = (1e-13, 1e-13)
"""Relative and absolute tolerance of the accurate fidelity: the last digits float64 can hold."""

MAX_SUBSTEPS = 4096


class RollingBall:
    """A ball on a machine, under the exact coupling of both.

    Attributes:
        y: `(m + 17,)` state of the machine, then that of the ball.
        status: `BALL_ROLLING`, `BALL_SLIPPING`, `BALL_FLYING` or `BALL_LOST`; a lost ball stays
            where it was on the plate.
    """

    def __init__(self, ball: Ball, size: int, timestep: float, fidelity: str) -> None:
        """Prepare a ball on a machine whose state has `size` entries."""
        self._constants, self._size = ball.constants, size
        self._count = RUNGE_KUTTA_SUBSTEPS[fidelity]
        self._step = timestep / self._count
        self.y = np.zeros(size + BALL_SIZE)
        self.status = BALL_ROLLING

    def place(self, pose: FloatArray, twist: FloatArray, start: FloatArray | None) -> None:
        """Put the ball at a start `(4,)` on the plate, the machine at `pose` and `twist`."""
        ball_state, ball_motion = self.y[None, self._size :], np.empty((1, 13))
        start_state = CENTERED_STATE if start is None else start
        put_balls(
            self._constants,
            pose[None],
            twist[None],
            start_state[None].copy(),
            ball_state,
            ball_motion,
        )
        self.status = BALL_ROLLING

    def advance(self, body: FloatArray, legs: Legs, load: Load) -> bool:
        """Advance machine and ball by one step of the engine; False where it cannot.

        Args:
            body: constants of the platform.
            legs: constants of the legs.
            load: constant forces on the machine.
        """
        ball, substep, n_substeps = self._constants, self._step, self._count
        succeeded, self.status = rolling_steps(
            body, legs, ball, self.status, self.y, load, substep, n_substeps
        )
        return bool(succeeded == self._count)

    def read(self) -> FloatArray:
        """Return pose and twist `(13,)` of the ball in the base frame."""
        y, ball_motion = self.y[None], np.empty((1, 13))
        ball_pose_twist: FloatArray = ball_motion[0]
        fill_balls(self._constants, y[:, :7], y[:, 7:13], y[:, self._size :], ball_motion)
        return ball_pose_twist

    def content(self) -> bytes:
        """Return everything that determines the future."""
        return np.append(self.y, float(self.status)).tobytes()

    def load(self, content: bytes) -> None:
        """Restore the state from what `content` returned."""
        values = np.frombuffer(content)
        self.y[:], self.status = values[:-1], int(values[-1])


class AnalyticEngine(BaseEngine):
    """Forward dynamics in task space; loops are closed by construction.

    Fidelities: "accurate" integrates each step with Dormand-Prince to 1e-13, "fast" with one
    Runge-Kutta step of order four. With a ball "accurate" takes eight Runge-Kutta steps.

    Attributes:
        rolling: state and status of the ball; None without one.
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
            self.rolling = RollingBall(self._ball, size, self.timestep, fidelity)
            self._y = self.rolling.y[:size]
        self._lengths, self._rates = np.empty((2, platform.n_actuators))
        self._constants = self._body, self.platform.constants.legs
        self._motion = self._y, self._lengths, self._rates
        self._settings: tuple[Any, ...] = ()
        if fidelity == "accurate":
            n_substeps = MAX_SUBSTEPS
            substeps = (
                np.empty(n_substeps),
                np.empty((n_substeps, size)),
                np.empty((n_substeps, 5, size)),
            )
            self._settings = ACCURATE_TOLERANCES, substeps
        kernel: Any = fixed_step if fidelity == "fast" else adaptive_step
        self._move = SameTypes(kernel)

    def _place(
        self, pose: FloatArray, twist: FloatArray, deflection: FloatArray, legs: LegCoordinates
    ) -> None:
        self._y[:] = np.concatenate([pose, twist, deflection])
        self._measure()

    def _apply_field(self) -> None:
        self._body[BODY_GRAVITY : BODY_GRAVITY + 3] = self._field

    def _advance(self, forces: FloatArray, wrench: FloatArray) -> tuple[float, str]:
        if self.rolling is None:
            inputs = forces, wrench, self.timestep
            succeeded = self._move(*self._constants, *inputs, *self._motion, *self._settings)
        else:
            load = Load(forces, np.zeros_like(forces), wrench)
            succeeded = self.rolling.advance(*self._constants, load)
            self._measure()
        return 0.0, "" if succeeded else "the state is singular or overflows"

    def _measure(self) -> None:
        """Fill coordinates and rates of the actuators."""
        _, legs = self._constants
        y, lengths, rates = self._motion
        coordinates_and_rates(legs, y[:7], y[7:STATE_SIZE], lengths, rates)

    def _read(self) -> State:
        y, time = self._y.copy(), self._steps * self.timestep
        lengths, rates = self._lengths.copy(), self._rates.copy()
        return State(time, y[:7], y[7:STATE_SIZE], lengths, rates, y[STATE_SIZE:])

    def _is_finite(self, state: State) -> bool:
        """Return whether all numbers are finite; kernels without a ball fail where one is not."""
        return self.rolling is None or super()._is_finite(state)

    def _gap(self) -> float:
        """Return zero: leg states follow from the pose, so that loops cannot open."""
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
