"""Ends of episodes that tasks share."""

from __future__ import annotations

from twin.kernels.batched.arrays import Machines
from twin.kernels.jit import device
from twin.kernels.tasks.arrays import Scales

CONTINUES, ENGINE = 0, 1
"""Codes of all tasks: the episode continues; the engine had to give up."""


@device
def beyond_travel(machines: Machines, i: int, scales: Scales, overtravel: float) -> bool:
    """Return whether an actuator of environment i is `overtravel` of its travel out of range."""
    for j in range(scales.lower.shape[0]):
        beyond = overtravel * (scales.upper[j] - scales.lower[j])
        at = machines.coordinates[i, j]
        if at < scales.lower[j] - beyond or at > scales.upper[j] + beyond:
            return True
    return False
