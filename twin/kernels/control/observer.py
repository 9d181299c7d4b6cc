"""One period of all legs' Kalman observers, compiled."""

from __future__ import annotations

from typing import NamedTuple

from twin.basics.arrays import FloatArray
from twin.kernels.jit import compiled


class LegModels(NamedTuple):
    """Discrete state-space models of n legs: x' = A x + B u, y = C x + D u."""

    A: FloatArray
    """`(n, 3, 3)`"""
    B: FloatArray
    """`(n, 3)`"""
    C: FloatArray
    """`(n, 3)`"""
    D: FloatArray
    """`(n,)`"""


@compiled
def observe(
    model: LegModels,
    gain: FloatArray,
    force: FloatArray,
    position: FloatArray,
    state: FloatArray,
    innovation: FloatArray,
) -> None:
    """Predict over one period under `force` (n,), then correct with `position` (n,), in place.

    Args:
        model: of the legs.
        gain: `(n, 3)`.
        force: `(n,)` held over the past period.
        position: `(n,)` measured now.
        state: `(n, 3)`, overwritten.
        innovation: `(n,)`, overwritten with the error of the prediction.
    """
    for i in range(state.shape[0]):
        a, b, c = state[i, 0], state[i, 1], state[i, 2]
        missed = position[i] - model.D[i] * force[i]
        for k in range(3):
            state[i, k] = (
                model.A[i, k, 0] * a
                + model.A[i, k, 1] * b
                + model.A[i, k, 2] * c
                + model.B[i, k] * force[i]
            )
            missed -= model.C[i, k] * state[i, k]
        for k in range(3):
            state[i, k] += gain[i, k] * missed
        innovation[i] = missed
