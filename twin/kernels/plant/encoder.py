"""Encoders: counting, unwrapping and reading.

Counting of incremental encoders with an index pulse, for one actuator after the other.

Positions are whole counts from an origin of their own. The counter holds the counts since the last
index pulse; since power-up before the first one.

From counter values back to positions: before the first index pulse, and after it.

The two modes are those of the thesis: while homing the counter runs from power-up and one jump in
it marks the first index pulse; from then on it is a sawtooth over one turn.
"""

from __future__ import annotations

from math import ceil, floor

from twin.basics.arrays import FloatArray
from twin.kernels.jit import compiled, device

COUNTER = 2

SCALE = 4

DECODER = 5

DISAGREEMENT = 0.25
"""Of a turn, between counted and expected travel: then whole turns were lost."""


COUNTED_POSITION, LAST = 0, 1
"""Columns of the states `(n, COUNTER)`: position, and where the counter was last set to zero."""


ORIGIN, RESOLUTION, INDEX, TURN = 0, 1, 2, 3
"""Columns of the scales `(n, SCALE)`: coordinate at which count 0 begins, one count [m, rad],
position of one index pulse, counts over one turn."""


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
        states[i, COUNTED_POSITION] = states[i, LAST] = counted(scales, i, coordinates[i])


@compiled
def count(scales: FloatArray, states: FloatArray, coordinates: FloatArray) -> None:
    """Take the counters straight to new coordinates `(n,)`, over the pulses on the way."""
    for i in range(len(coordinates)):
        old, new = states[i, COUNTED_POSITION], counted(scales, i, coordinates[i])
        states[i, LAST] = zeroed(old, new, scales[i, INDEX], scales[i, TURN], states[i, LAST])
        states[i, COUNTED_POSITION] = new


@compiled
def count_many(
    scales: FloatArray, states: FloatArray, coordinates: FloatArray, raw: FloatArray
) -> None:
    """Take the counters along rows `(k, n)` of coordinates; fill their values `(k, n)`."""
    for k in range(len(coordinates)):
        count(scales, states, coordinates[k])
        for i in range(coordinates.shape[1]):
            raw[k, i] = states[i, COUNTED_POSITION] - states[i, LAST]


RAW, TRAVEL, SPEED, INDEXED, FAULT = 0, 1, 2, 3, 4
"""Columns of the states `(n, DECODER)`: last counter value, counts since power-up, counts over the
last sample, whether an index pulse was seen, and the first fault."""


FINE, TOO_FAST, NO_INDEX = 0, 1, 2
"""Faults: none, more counts in a sample than can be resolved, a turn without index pulse."""


@device
def _nearest(change: float, turn: float) -> float:
    """Return the change less whole turns, from minus half a turn to below half a turn."""
    return change - turn * floor(change / turn + 0.5)


@device
def homing_step(state: FloatArray, raw: float, slow: float) -> float:
    """Return the counts over a sample before the first index pulse.

    A jump larger than `slow` counts is the pulse; the counts up to it are lost, and taken to be
    those of the sample before.
    """
    change = raw - state[RAW]
    if abs(change) <= slow:
        return change
    state[INDEXED] = 1.0
    if abs(raw) > slow:
        state[FAULT] = TOO_FAST
    return state[SPEED]


@device
def sawtooth_step(state: FloatArray, raw: float, turn: float, largest: float) -> float:
    """Return the counts over a sample after the first index pulse.

    Travel below half a turn is exact. The counter is zero at a pulse, which must lie on the
    way or be the one before.
    """
    change = _nearest(raw - state[RAW], turn)
    pulse = change - raw + state[RAW]
    place = pulse - state[RAW]
    reached = min(0.0, change) - largest <= place <= max(0.0, change) + largest
    if abs(change) > largest or (pulse != 0.0 and not reached):
        state[FAULT] = TOO_FAST
    return change


@compiled
def unwrap(
    states: FloatArray,
    raw: FloatArray,
    turns: FloatArray,
    largest: FloatArray,
    slow: FloatArray,
    expected: FloatArray,
    expecting: bool,
) -> None:
    """Take the decoders over a sample.

    Args:
        states: `(n, DECODER)`.
        raw: counter values `(n,)`.
        turns: counts over one turn `(n,)`.
        largest: counts in a sample `(n,)` that are possible, below half a turn.
        slow: counts in a sample `(n,)` that are possible while homing.
        expected: `(n,)` counts over the sample as the drives' speeds have them.
        expecting: whether to compare with them.
    """
    for i in range(len(raw)):
        state, turn = states[i], turns[i]
        before = state[FAULT]
        if state[INDEXED] > 0.0:
            change = sawtooth_step(state, raw[i], turn, largest[i])
        else:
            change = homing_step(state, raw[i], slow[i])
        if expecting and abs(change - expected[i]) > DISAGREEMENT * turn:
            state[FAULT] = TOO_FAST
        if abs(raw[i]) >= turn:
            state[FAULT] = NO_INDEX
        if before > 0.0:
            state[FAULT] = before
        state[TRAVEL] += change
        state[SPEED] = change
        state[RAW] = raw[i]


@compiled
def unwrap_many(
    states: FloatArray,
    raw: FloatArray,
    turns: FloatArray,
    largest: FloatArray,
    slow: FloatArray,
    travel: FloatArray,
    faults: FloatArray,
) -> None:
    """Take the decoders along rows `(k, n)` of counter values; fill travel and faults `(k, n)`."""
    for k in range(len(raw)):
        unwrap(states, raw[k], turns, largest, slow, raw[k], False)
        for i in range(raw.shape[1]):
            travel[k, i] = states[i, TRAVEL]
            faults[k, i] = states[i, FAULT]
