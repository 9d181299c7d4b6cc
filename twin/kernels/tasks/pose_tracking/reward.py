"""Reward terms of `PoseTracking`: pure functions of errors, actions and efforts."""

from __future__ import annotations

from math import log1p

from twin.kernels.jit import compiled


@compiled
def closeness(error, scale, largest):
    """Return 1 without error, 0 at `largest`, falling with the logarithm of 1 + error / scale.

    So an error of a tenth of the scale still matters, and one of a hundred times the scale too.
    """
    return max(0.0, 1.0 - log1p(error / scale) / log1p(largest / scale))


@compiled
def smoothness(action, last):
    """Return minus the mean square change of an action `(a,)` since the `last`, 0 to -4."""
    total = 0.0
    for j in range(action.shape[0]):
        change = action[j] - last[j]
        total += change * change
    return -total / action.shape[0]


@compiled
def economy(effort, most):
    """Return minus the mean square of efforts `(n,)` in parts of `most` `(n,)`."""
    total = 0.0
    for j in range(effort.shape[0]):
        part = effort[j] / most[j]
        total += part * part
    return -total / effort.shape[0]
