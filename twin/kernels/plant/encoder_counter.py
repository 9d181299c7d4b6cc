"""Counting of incremental encoders with an index pulse, for one actuator after the other.

Positions are whole counts from an origin of their own. The counter holds the counts since the last
index pulse; since power-up before the first one.
"""

from __future__ import annotations

from math import ceil, floor

from twin.basics.arrays import FloatArray
from twin.kernels.jit import compiled, device

POSITION, LAST = 0, 1
"""Columns of the states `(n, COUNTER)`: position, and where the counter was last set to zero."""

COUNTER = 2

ORIGIN, RESOLUTION, INDEX, TURN = 0, 1, 2, 3
"""Columns of the scales `(n, SCALE)`: coordinate at which count 0 begins, one count [m, rad],
position of one index pulse, counts over one turn."""

SCALE = 4


@device
def counted(scales: FloatArray, i: int, coordinate: float) -> float:
    """Return the position of actuator i at its coordinate."""
    return floor((coordinate - scales[i, ORIGIN]) / scales[i, RESOLUTION])


@device
def zeroed(old: float, new: float, index: float, turn: float, last: float) -> float:
    """Return where the last index pulse came on the way from `old` to `new`, else `last`.

    The pulse comes at the count `index` plus whole turns, when it is entered from either side.
    """
    if new > old:
        pulse = index + turn * floor((new - index) / turn)
        return pulse if pulse > old else last
    pulse = index + turn * ceil((new - index) / turn)
    return pulse if pulse < old else last


@compiled
def power_up(scales: FloatArray, states: FloatArray, coordinates: FloatArray) -> None:
    """Set all counters to zero at coordinates `(n,)`."""
    for i in range(len(coordinates)):
        states[i, POSITION] = states[i, LAST] = counted(scales, i, coordinates[i])


@compiled
def count(scales: FloatArray, states: FloatArray, coordinates: FloatArray) -> None:
    """Take the counters straight to new coordinates `(n,)`, over the pulses on the way."""
    for i in range(len(coordinates)):
        old, new = states[i, POSITION], counted(scales, i, coordinates[i])
        states[i, LAST] = zeroed(old, new, scales[i, INDEX], scales[i, TURN], states[i, LAST])
        states[i, POSITION] = new


@compiled
def count_many(
    scales: FloatArray, states: FloatArray, coordinates: FloatArray, raw: FloatArray
) -> None:
    """Take the counters along rows `(k, n)` of coordinates; fill their values `(k, n)`."""
    for k in range(len(coordinates)):
        count(scales, states, coordinates[k])
        for i in range(coordinates.shape[1]):
            raw[k, i] = states[i, POSITION] - states[i, LAST]
