"""Empty arrays of many machines: states, inputs, balls."""

from __future__ import annotations

from typing import Any

import numpy as np

from twin.kernels.ball.contact import BALL_SIZE
from twin.kernels.batched.arrays import Balls, Inputs, Machines


def empty_machines(size: int, n: int, k: int) -> Machines:
    """Return states of `size` machines with n actuators and k coordinates inside the legs."""
    widths = (7, 6, 2 * k, 6, n, n, n, n, n, n)
    arrays: list[Any] = [np.zeros((size, width)) for width in widths]
    return Machines._make([*arrays, np.zeros(size), np.zeros(size, dtype=bool)])


def empty_inputs(size: int, n: int, ratio: int) -> Inputs:
    """Return inputs of `size` machines with n actuators and `ratio` steps in a period."""
    return Inputs(
        np.zeros((size, n)), np.zeros((size, n)), np.zeros((size, 6)), np.zeros((size, ratio, 3))
    )


def empty_balls(size: int) -> Balls:
    """Return arrays for `size` machines."""
    return Balls(
        np.zeros((size, BALL_SIZE)),
        np.zeros((size, 13)),
        np.zeros(size, dtype=np.int64),
        np.zeros(size, dtype=bool),
    )
