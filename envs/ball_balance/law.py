"""A linear law for `BallBalance`: what a trained policy has to beat."""

from __future__ import annotations

import numpy as np

from twin.basics.arrays import positive
from twin.envs.ball_balance.task import BallBalance
from twin.envs.linear_law import LinearLaw
from twin.errors import InputError

FREE = {"frequency": 2.7, "damping": 0.8, "share": 0.06}
BELOW = {"frequency": 0.7, "damping": 1.0, "share": 0.05}
"""Usual numbers: found by trial on `stewart`, and on `driving_simulator`, whose plate turns about a
point far below it."""

TILTS = np.array([[0.0, -1.0], [1.0, 0.0]])
"""Roll and pitch [rad] of slopes along x and y."""


class BalanceLaw(LinearLaw):
    """Balance law: the plate's slope from the error of the ball, by its own equation of motion.

    A plate tilted by s accelerates the ball by g s / (1 + k). The wanted slope is therefore

        s = (frequency^2 error - 2 damping frequency velocity) (1 + k) / g

    with error and velocity against the target. Only a share of the way to it is done in a period: a
    plate that turns about a point below it moves under the ball, which the law would take for the
    ball's own speed. It needs tilts as actions.
    """

    def __init__(
        self,
        task: BallBalance,
        *,
        frequency: float | None = None,
        damping: float | None = None,
        share: float | None = None,
    ) -> None:
        """Compute the gains for the spaces of a task.

        Args:
            task: of an environment, `env.unwrapped.task`.
            frequency: of the response [rad/s]; default 2.7, of platforms without all six degrees of
                freedom 0.7.
            damping: ratio of the response; default 0.8, or 1.
            share: of the way to the wanted slope in a period; default 0.06, or 0.05.

        Raises:
            InputError: another task, other actions than tilts, a number not above zero.
        """
        if not isinstance(task, BallBalance):
            raise InputError("task", f"must be of BallBalance, not {type(task).__name__}")
        if task.settings.action != "tilt":
            raise InputError("task", "the law commands tilts; make it with action='tilt'")
        usual = FREE if task.platform.dof == 6 else BELOW
        given = {"frequency": frequency, "damping": damping, "share": share}
        chosen = {
            name: positive(usual[name] if value is None else value, name)
            for name, value in given.items()
        }
        share, frequency = chosen["share"], chosen["frequency"]
        pull = task.platform.parameters.gravity / (1.0 + task.ball.inertia_factor)
        stiffness = share * frequency**2 / pull
        damping = share * 2.0 * chosen["damping"] * frequency / pull
        parts = {
            "target error": stiffness * TILTS,
            "ball velocity": -damping * TILTS,
            "target velocity": damping * TILTS,
            "displacement": -share * np.eye(2),
        }
        super().__init__(task, parts)
