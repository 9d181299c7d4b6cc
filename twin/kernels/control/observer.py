"""One period of all legs' Kalman observers, compiled."""

from __future__ import annotations

from twin.kernels.jit import compiled


@compiled
def observe(transition, drive, output, direct, gain, force, position, state, innovation):
    """Predict over one period under `force` (n,), then correct with `position` (n,), in place.

    Args:
        transition: `(n, 3, 3)`.
        drive: `(n, 3)`, what the force does to the state.
        output: `(n, 3)`.
        direct: `(n,)`.
        gain: `(n, 3)`.
        force: `(n,)` held over the past period.
        position: `(n,)` measured now.
        state: `(n, 3)`, overwritten.
        innovation: `(n,)`, overwritten with what the prediction missed.
    """
    for i in range(state.shape[0]):
        a, b, c = state[i, 0], state[i, 1], state[i, 2]
        missed = position[i] - direct[i] * force[i]
        for k in range(3):
            state[i, k] = (
                transition[i, k, 0] * a
                + transition[i, k, 1] * b
                + transition[i, k, 2] * c
                + drive[i, k] * force[i]
            )
            missed -= output[i, k] * state[i, k]
        for k in range(3):
            state[i, k] += gain[i, k] * missed
        innovation[i] = missed
