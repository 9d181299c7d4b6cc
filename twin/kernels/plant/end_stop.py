"""End stops of the legs, which push and never pull."""

from __future__ import annotations

from twin.basics.arrays import FloatArray
from twin.kernels.jit import device
from twin.kernels.plant.columns import LOWER_STOP, STOP_DAMPING, STOP_STIFFNESS, UPPER_STOP


@device
def end_stop(drive: FloatArray, at: float, rate: float) -> float:
    """Return the force of an end stop on a leg `at` its coordinate; it pushes and never pulls."""
    if at < drive[LOWER_STOP]:
        depth = drive[LOWER_STOP] - at
        return max(drive[STOP_STIFFNESS] * depth - drive[STOP_DAMPING] * rate, 0.0)
    if at > drive[UPPER_STOP]:
        depth = drive[UPPER_STOP] - at
        return min(drive[STOP_STIFFNESS] * depth - drive[STOP_DAMPING] * rate, 0.0)
    return 0.0
