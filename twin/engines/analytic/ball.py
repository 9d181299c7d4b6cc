"""The rolling ball of the analytic engine: its state behind the machine's, stepped with it."""

from __future__ import annotations

import numpy as np

from twin.basics.arrays import FloatArray
from twin.kernels.ball.contact import BALL_SIZE, ROLLING
from twin.kernels.ball.position import fill_balls, put_balls
from twin.kernels.ball.steps import rolling_steps
from twin.kernels.dynamics.state import Load
from twin.kernels.legs.interface import Legs
from twin.model.ball.ball import Ball
from twin.model.ball.position import CENTERED

SUBSTEPS = {"fast": 1, "accurate": 8}
"""Runge-Kutta steps within one of the engine, by fidelity: eight leave rounding errors at 1 ms."""


class RollingBall:
    """A ball on a machine, under the exact coupling of both.

    Attributes:
        y: `(m + 17,)` state of the machine, then that of the ball.
        status: `ROLLING`, `SLIPPING`, `FLYING` or `LOST`; a lost ball stays where it was
            on the plate.
    """

    def __init__(self, ball: Ball, size: int, timestep: float, fidelity: str) -> None:
        """Prepare a ball on a machine whose state has `size` entries."""
        self._constants, self._size = ball.constants, size
        self._count = SUBSTEPS[fidelity]
        self._step = timestep / self._count
        self.y = np.zeros(size + BALL_SIZE)
        self.status = ROLLING

    def place(self, pose: FloatArray, twist: FloatArray, start: FloatArray | None) -> None:
        """Put the ball at a start `(4,)` on the plate, the machine at `pose` and `twist`."""
        own, place = self.y[None, self._size :], np.empty((1, 13))
        first = CENTERED if start is None else start
        put_balls(self._constants, pose[None], twist[None], first[None].copy(), own, place)
        self.status = ROLLING

    def advance(self, body: FloatArray, legs: Legs, load: Load) -> bool:
        """Advance machine and ball by one step of the engine; False where it cannot.

        Args:
            body: constants of the platform.
            legs: constants of the legs.
            load: constant forces on the machine.
        """
        ball, step, count = self._constants, self._step, self._count
        done, self.status = rolling_steps(body, legs, ball, self.status, self.y, load, step, count)
        return bool(done == self._count)

    def read(self) -> FloatArray:
        """Return pose and twist `(13,)` of the ball in the base frame."""
        y, place = self.y[None], np.empty((1, 13))
        own: FloatArray = place[0]
        fill_balls(self._constants, y[:, :7], y[:, 7:13], y[:, self._size :], place)
        return own

    def content(self) -> bytes:
        """Return everything that determines the future."""
        return np.append(self.y, float(self.status)).tobytes()

    def load(self, content: bytes) -> None:
        """Take over what `content` returned."""
        values = np.frombuffer(content)
        self.y[:], self.status = values[:-1], int(values[-1])
