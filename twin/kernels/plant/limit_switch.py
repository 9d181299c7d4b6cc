"""Limit switches: they block what leads further out of an actuator's range, not what leads back."""

from __future__ import annotations

from twin.basics.arrays import FloatArray
from twin.kernels.jit import compiled, device


@device
def gated(command: float, at_lower: bool, at_upper: bool) -> float:
    """Return a speed or force command, zero where it leads further out at a pressed switch.

    Args:
        command: positive towards the upper limit [m/s, rad/s, N, N m].
        at_lower: whether the switch at the lower limit is pressed.
        at_upper: whether the one at the upper limit is pressed.

    Reference:
        Stewart thesis, section 4.3.2: an actuator at a limit is given zero velocity command, "but
        it is allowed to accept positive/negative velocity demands" away from it.
    """
    if (at_lower and command < 0.0) or (at_upper and command > 0.0):
        return 0.0
    return command


@compiled
def gate(command: FloatArray, at_lower: FloatArray, at_upper: FloatArray, out: FloatArray) -> None:
    """Write `gated` of every actuator to `out` `(n,)`; switches `(n,)` above zero are pressed."""
    for i in range(len(command)):
        out[i] = gated(command[i], at_lower[i] > 0.0, at_upper[i] > 0.0)
