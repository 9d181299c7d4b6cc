"""Derivatives of analytic functions by Cauchy's integral: to rounding, without a step to choose."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

POINTS = 16
"""On the circle: what is left out is of the order (radius / distance of the singularity)^16."""


class Taylor(NamedTuple):
    """A function and its first two derivatives at t = 0."""

    value: NDArray[np.float64]
    rate: NDArray[np.float64]
    acceleration: NDArray[np.float64]


def taylor(function, radius):
    """Return value and derivatives at t = 0 of an analytic function, real for real t.

    Args:
        function: maps complex times `(k,)` to values `(k, ...)`.
        radius: of the circle, well inside the region without singularities.
    """
    around = np.exp(2j * np.pi * np.arange(POINTS) / POINTS)
    values = np.asarray(function(radius * around))
    parts = [np.tensordot(around**-order, values, 1) / POINTS for order in range(3)]
    value, rate, half = (part.real / radius**order for order, part in enumerate(parts))
    return Taylor(value, rate, 2.0 * half)
