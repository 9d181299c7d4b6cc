"""Balls of the analytic batch, one on every platform."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray
from twin.kernels.ball.contact import BALL_SIZE


class Balls(NamedTuple):
    """States of the balls of all rows; first axis rows."""

    state: FloatArray
    """`(N, 17)` place on the plate, angular velocity, orientation, flight"""
    place: FloatArray
    """`(N, 13)` pose and twist in the base frame"""
    status: Any
    """`(N,)` `ROLLING`, `SLIPPING`, `FLYING` or `LOST`"""
    lost: Any
    """`(N,)` True where the ball has left the plate; it stays where that was"""


def empty_balls(size: int) -> Balls:
    """Return arrays for `size` rows."""
    return Balls(
        np.zeros((size, BALL_SIZE)),
        np.zeros((size, 13)),
        np.zeros(size, dtype=np.int64),
        np.zeros(size, dtype=bool),
    )
