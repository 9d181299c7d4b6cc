"""Reward terms of `BallBalance`: pure functions of distances, speeds and actions."""

from __future__ import annotations

from math import log1p

from twin.kernels.jit import compiled


@compiled
def nearness(distance, fine, largest):
    """Return 1 on the target, 0 at `largest` [m], falling with the logarithm of 1 + way / fine."""
    return max(0.0, 1.0 - log1p(distance / fine) / log1p(largest / fine))


@compiled
def calmness(speed, usual):
    """Return minus the square of a speed [m/s] in parts of `usual`, no less than -1."""
    part = speed / usual
    return -min(part * part, 1.0)


@compiled
def evenness(action, last):
    """Return minus the mean square change of an action `(a,)` since the `last`, 0 to -4."""
    total = 0.0
    for j in range(action.shape[0]):
        change = action[j] - last[j]
        total += change * change
    return -total / action.shape[0]


@compiled
def loss(lost):
    """Return -1 for a ball that has left the plate, else 0."""
    return -1.0 if lost else 0.0
