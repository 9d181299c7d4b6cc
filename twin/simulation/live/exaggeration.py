"""Small differences drawn large enough to be seen."""

from __future__ import annotations

from twin.basics.arrays import FloatArray
from twin.motion.displacement import displaced, displacement
from twin.simulation.platform import Platform


def exaggerated(
    platform: Platform, first: FloatArray, second: FloatArray, factor: float
) -> FloatArray:
    """Return a pose `(7,)` that differs from the `first` by `factor` times what the `second` does.

    Where that is outside the actuators' limits, the `second` itself.

    Args:
        platform: the machine.
        first: `(7,)` pose.
        second: `(7,)` pose near it.
        factor: 1 gives the `second`.
    """
    if factor == 1.0:
        return second
    wanted = displaced(first, factor * displacement(second, first))
    pose: FloatArray = platform.constrain(wanted).pose
    return pose if platform.within_limits(pose) else second
