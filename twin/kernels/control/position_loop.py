"""PI loops on positions, one per actuator, whose speeds keep the actuators' limits."""

from __future__ import annotations

from twin.basics.arrays import FloatArray
from twin.kernels.jit import compiled

SPEED, CHANGE, INTEGRAL, COMMAND = range(4)
"""Rows of the loops `(4, n)`: largest speed [m/s, rad/s], largest change of it in a control period,
integral of the error, and the last command."""


@compiled
def limited_speeds(
    loops: FloatArray,
    gain: float,
    integral_gain: float,
    setpoint: FloatArray,
    measured: FloatArray,
    rates: FloatArray,
    share: float,
    command: FloatArray,
) -> bool:
    """Fill `command` (n,) with speeds: share of `rates`, gain times error, integral; limited.

    Args:
        loops: `(4, n)`; integral and last command are overwritten.
        gain: [1/s].
        integral_gain: of an error over one control period [1/s].
        setpoint: `(n,)`.
        measured: `(n,)` coordinates.
        rates: `(n,)` of the reference.
        share: of the rates.
        command: overwritten.

    Returns:
        Whether any speed was limited. Only errors that lead back change its integral.
    """
    limited = False
    for i in range(len(command)):
        error, last, integral = setpoint[i] - measured[i], loops[COMMAND, i], loops[INTEGRAL, i]
        wanted = share * rates[i] + gain * error + integral
        low = max(-loops[SPEED, i], last - loops[CHANGE, i])
        high = min(loops[SPEED, i], last + loops[CHANGE, i])
        given = min(max(wanted, low), high) if wanted == wanted else wanted
        if given != wanted:
            limited = True
        if (wanted - given) * error <= 0.0:
            loops[INTEGRAL, i] = integral + integral_gain * error
        command[i] = loops[COMMAND, i] = given
    return limited
