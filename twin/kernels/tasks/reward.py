"""Reward terms that tasks share: pure functions of errors, actions and efforts."""

from __future__ import annotations

from math import log1p

from twin.basics.arrays import FloatArray
from twin.kernels.jit import device
from twin.kernels.tasks.arrays import Results

FINE = 0.1
"""Of the level: motion that already counts as still."""

COARSE = 10.0
"""Of the level: motion from which `stillness` is zero."""


@device
def closeness(error: float, scale: float, largest: float) -> float:
    """Return 1 without error, 0 at `largest`, falling with the logarithm of 1 + error / scale.

    So an error of a tenth of the scale still matters, and one of a hundred times the scale too.
    """
    return max(0.0, 1.0 - log1p(error / scale) / log1p(largest / scale))


@device
def stillness(size: float, level: float) -> float:
    """Return 1 without motion, 0 from ten times the level on, falling with its logarithm.

    A platform that moves as its base does, at the level, gets 0.48; a tenth of it 0.85.
    """
    return closeness(size / level, FINE, COARSE)


@device
def calmness(speed: float, usual: float) -> float:
    """Return minus the square of a speed [m/s] in parts of `usual`, no less than -1."""
    part = speed / usual
    return -min(part * part, 1.0)


@device
def smoothness(action: FloatArray, before: FloatArray) -> float:
    """Return minus the mean square change of an action `(a,)` since the one before, 0 to -4."""
    total = 0.0
    for j in range(action.shape[0]):
        change = action[j] - before[j]
        total += change * change
    return -total / action.shape[0]


@device
def economy(effort: FloatArray, largest: FloatArray) -> float:
    """Return minus the mean square of efforts `(n,)` in parts of the `largest` `(n,)`."""
    total = 0.0
    for j in range(effort.shape[0]):
        part = effort[j] / largest[j]
        total += part * part
    return -total / effort.shape[0]


@device
def stroke(coordinates: FloatArray, start: FloatArray, half: FloatArray) -> float:
    """Return minus the mean square of coordinates `(n,)` from `start`, in parts of `half` (n,)."""
    total = 0.0
    for j in range(coordinates.shape[0]):
        part = (coordinates[j] - start[j]) / half[j]
        total += part * part
    return -total / coordinates.shape[0]


@device
def add_terms(results: Results, i: int) -> None:
    """Fill the reward of environment i with the weighted sum of its terms."""
    total = 0.0
    for j in range(results.weights.shape[0]):
        total += results.weights[j] * results.term[i, j]
    results.reward[i] = total
