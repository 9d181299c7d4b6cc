"""Size of an exciting motion: as large as all limits of a machine allow."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from twin.analysis.feasibility.feasibility import feasibility
from twin.analysis.feasibility.verdict import Feasibility
from twin.errors import InputError
from twin.model.machine_model import MachineModel
from twin.motion.fitting import LIMIT_SHARE, limit_use
from twin.motion.motion import Motion

Made = Callable[[float], Motion]
"""Size of a motion, 1 for a usual one -> the motion."""

ROUNDS = 8
"""Changes of size until a motion uses its share of the limits."""

CLOSE = 0.05
"""Relative difference of the use of the limits from its share beyond which it is judged anew."""

SMALLER, MOST_ROUNDS = 0.9, 40
"""Factor of size as long as a limit that is judged at the end is violated."""


def largest(machine: MachineModel, make: Made, size: float, timestep: float) -> float:
    """Return the size at which a motion uses its share of travel, speed and force; 0 for none.

    Args:
        machine: with limits.
        make: gives the motion of a size.
        size: to begin with.
        timestep: [s] between the times at which limits are judged.
    """
    for _ in range(ROUNDS):
        use = limit_use(machine, make(size), timestep)
        if np.isfinite(use) and abs(use / LIMIT_SHARE - 1.0) < CLOSE:
            return size * LIMIT_SHARE / use
        size *= float(np.clip(LIMIT_SHARE / use, 0.1, 10.0)) if use > 0.0 else 10.0
    return 0.0


def within_all(machine: MachineModel, make: Made, size: float) -> tuple[Motion, Feasibility]:
    """Return the motion, made smaller until no known limit is violated, and the verdict on it.

    Raises:
        InputError: there is no such motion.
    """
    for _ in range(MOST_ROUNDS):
        motion = make(size)
        found = feasibility(machine, motion)
        if found.feasible:
            return motion, found
        size *= SMALLER
    resting = feasibility(machine)
    reason = "; ".join(resting.remedies or found.remedies[:1])
    raise InputError("platform", f"{machine.name} has no motion within its limits: {reason}")
