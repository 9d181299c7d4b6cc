"""The result of an integration: the steps taken and continuous output between them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from twin.arrays import FloatArray, as_floats
from twin.errors import InputError


@dataclass(frozen=True, eq=False, repr=False)
class Solution:
    """Motion over `[0, time[-1]]`, to be called at any time inside.

    `method` "dormand_prince" interpolates with its own polynomial of order four, "rk4" with the
    cubic through states and rates at both ends of a step.
    """

    method: str
    time: FloatArray
    """`(k,)` ends of the steps [s], the first is 0"""
    pose: FloatArray
    """`(k, 7)`"""
    twist: FloatArray
    """`(k, 6)`"""
    coefficients: FloatArray
    """`(k - 1, 5, 13)` of the polynomial of each step"""

    def __repr__(self) -> str:
        steps, end = len(self.time) - 1, float(self.time[-1])
        return f"<Solution by {self.method}: {steps} steps over {end:.6g} s>"

    def __call__(self, time: Any) -> tuple[FloatArray, FloatArray]:
        """Return pose `(..., 7)` and twist `(..., 6)` at times `(...)` [s].

        Raises:
            InputError: a time that is not finite or outside the solution.
        """
        from twin.dynamics.dormand_prince import evaluate

        queries = as_floats(time, "time")
        end = float(self.time[-1])
        slack = 1e-12 * end
        if queries.size and not (-slack <= queries.min() and queries.max() <= end + slack):
            raise InputError("time", f"must be between 0 and {end:.9g} s, where the solution is")
        flat = queries.reshape(-1)
        order = np.argsort(flat, kind="stable")
        out = np.empty((flat.size, 13))
        evaluate(flat[order], self.time[1:], 0.0, self.coefficients, out)
        result = np.empty_like(out)
        result[order] = out
        result = result.reshape((*queries.shape, 13))
        return result[..., :7], result[..., 7:]
