"""The result of an integration: the steps taken and continuous output between them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from twin.basics.arrays import FloatArray, as_floats
from twin.errors import InputError
from twin.kernels.legs.interface import Legs


@dataclass(frozen=True, eq=False, repr=False)
class Solution:
    """Motion over `[0, time[-1]]`, to be called at any time inside.

    `method` "dormand_prince" interpolates with its own polynomial of order four, "rk4" with the
    cubic through states and rates at both ends of a step.
    """

    method: str
    time: FloatArray
    """`(k,)` ends of the steps [s], the first is 0"""
    states: FloatArray
    """`(k, 13 + 2m)`: pose, twist, deflections of springs, their rates"""
    coefficients: FloatArray
    """`(k - 1, 5, 13 + 2m)` of the polynomial of each step"""
    legs: Legs
    """constants of the legs, whose constraints interpolated states are put back on"""

    @property
    def pose(self) -> FloatArray:
        """Poses `(k, 7)` at the ends of the steps."""
        return self.states[:, :7]

    @property
    def twist(self) -> FloatArray:
        """Twists `(k, 6)` at the ends of the steps."""
        return self.states[:, 7:13]

    @property
    def deflection(self) -> FloatArray:
        """Deflections of springs and their rates `(k, 2m)` at the ends of the steps."""
        return self.states[:, 13:]

    def __repr__(self) -> str:
        steps, end = len(self.time) - 1, float(self.time[-1])
        return f"<Solution by {self.method}: {steps} steps over {end:.6g} s>"

    def __call__(self, time: Any) -> tuple[FloatArray, FloatArray]:
        """Return pose `(..., 7)` and twist `(..., 6)` at times `(...)` [s].

        Raises:
            InputError: a time that is not finite or outside the solution.
        """
        states = self.at(time)
        return states[..., :7], states[..., 7:13]

    def at(self, time: Any) -> FloatArray:
        """Return states `(..., 13 + 2m)` at times `(...)` [s].

        Raises:
            InputError: a time that is not finite or outside the solution.
        """
        from twin.kernels.integrators.dormand_prince import evaluate

        queries = as_floats(time, "time")
        end = float(self.time[-1])
        slack = 1e-12 * end
        if queries.size and not (-slack <= queries.min() and queries.max() <= end + slack):
            raise InputError("time", f"must be between 0 and {end:.9g} s, where the solution is")
        flat = queries.reshape(-1)
        order = np.argsort(flat, kind="stable")
        out = np.empty((flat.size, self.states.shape[1]))
        evaluate(self.legs, flat[order], self.time[1:], 0.0, self.coefficients, out)
        result = np.empty_like(out)
        result[order] = out
        return result.reshape((*queries.shape, result.shape[1]))
