"""Reward terms of `VibrationIsolation`: pure functions of what is left of the shaking."""

from __future__ import annotations

from math import log1p

from twin.kernels.jit import compiled

FINE = 0.1
"""Of the level: what already counts as still."""

COARSE = 10.0
"""Of the level: what gives nothing any more."""


@compiled
def stillness(size, level):
    """Return 1 without motion, 0 from ten times the level on, falling with its logarithm.

    A platform that moves as its base does, at the level, gets 0.48; a tenth of it 0.85.
    """
    return max(0.0, 1.0 - log1p(size / (FINE * level)) / log1p(COARSE / FINE))


@compiled
def stroke(coordinates, start, half):
    """Return minus the mean square of coordinates `(n,)` from `start`, in parts of `half` (n,)."""
    total = 0.0
    for j in range(coordinates.shape[0]):
        part = (coordinates[j] - start[j]) / half[j]
        total += part * part
    return -total / coordinates.shape[0]
