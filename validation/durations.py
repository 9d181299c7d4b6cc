"""How long motions last: seconds in a simulator that carries people, less in a desktop machine."""

from __future__ import annotations

import math

import numpy as np

from twin.platform import Platform

FULL_FALL = 0.3
"""[s] Machines that take longer to fall over the length of their legs get the full durations."""

GRID = 0.02
"""[s] Durations are multiples of it, so that every time step that is compared divides them."""


def time_scale(platform: Platform) -> float:
    """Return the time to fall over the mean leg length per `FULL_FALL`, at most 1.

    Motions under gravity and under forces in proportion to it are similar in machines of any size
    when time is measured in sqrt(length / gravity). Legs longer than 0.88 m have 1.
    """
    length = float(np.mean(platform.home_lengths))
    gravity = platform.parameters.gravity
    return min(1.0, math.sqrt(length / gravity) / FULL_FALL) if gravity > 0 else 1.0


def duration_for(platform: Platform, longest: float) -> float:
    """Return `longest` [s] times the machine's time scale, down to a multiple of `GRID`."""
    cells = math.floor(longest * time_scale(platform) / GRID + 1e-9)
    return round(max(cells, 1) * GRID, 9)


def step_for(platform: Platform, longest: float) -> float:
    """Return `longest` [s], halved until it is within the machine's time scale times `longest`.

    Gaps of loops grow with different powers of the step, so that settings of an engine compare
    alike on machines of any size only at like steps.
    """
    halvings = math.ceil(-math.log2(time_scale(platform)) - 1e-9)
    return longest / 2.0**halvings
