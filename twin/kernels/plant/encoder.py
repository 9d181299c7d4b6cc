"""Incremental encoders with an index pulse: counting, and the way back from counter to position.

Positions are whole counts from an origin of their own. The counter holds the counts since the last
index pulse; before the first pulse, those since power-up.

The decoder has the two modes of the thesis. While homing, the counter runs from power-up and one
jump in it marks the first index pulse; from then on it is a sawtooth over one turn.
"""

from __future__ import annotations

from math import ceil, floor

from twin.basics.arrays import FloatArray
from twin.kernels.jit import compiled, device

COUNTER_SIZE = 2

SCALE_SIZE = 4

DECODER_SIZE = 5

MAX_DISAGREEMENT = 0.25
"""Largest difference of counted and expected travel in turns; beyond it, whole turns were lost."""


COUNTER_POSITION, COUNTER_ZERO = 0, 1
"""Columns of the counters' states `(n, COUNTER_SIZE)`: position, and the position at which the
counter was last set to zero."""


SCALE_ORIGIN, SCALE_RESOLUTION, SCALE_INDEX, SCALE_TURN = 0, 1, 2, 3
"""Columns of the scales `(n, SCALE_SIZE)`: coordinate at which count 0 begins, one count [m, rad],
position of one index pulse, counts over one turn."""


@device
def counted(scales: FloatArray, i: int, coordinate: float) -> float:
    """Return the position of actuator i at its coordinate."""
    return floor((coordinate - scales[i, SCALE_ORIGIN]) / scales[i, SCALE_RESOLUTION])


@device
def zeroed(old: float, new: float, index: float, turn: float, last: float) -> float:
    """Return the position of the last index pulse between `old` and `new`, else `last`.

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
        states[i, COUNTER_POSITION] = states[i, COUNTER_ZERO] = counted(scales, i, coordinates[i])


@compiled
def count(scales: FloatArray, states: FloatArray, coordinates: FloatArray) -> None:
    """Move the counters straight to new coordinates `(n,)`, over the pulses in between."""
    for i in range(len(coordinates)):
        old, new = states[i, COUNTER_POSITION], counted(scales, i, coordinates[i])
        states[i, COUNTER_ZERO] = zeroed(
            old, new, scales[i, SCALE_INDEX], scales[i, SCALE_TURN], states[i, COUNTER_ZERO]
        )
        states[i, COUNTER_POSITION] = new


@compiled
def count_many(
    scales: FloatArray, states: FloatArray, coordinates: FloatArray, raw: FloatArray
) -> None:
    """Take the counters along rows `(k, n)` of coordinates; fill their values `(k, n)`."""
    for k in range(len(coordinates)):
        count(scales, states, coordinates[k])
        for i in range(coordinates.shape[1]):
            raw[k, i] = states[i, COUNTER_POSITION] - states[i, COUNTER_ZERO]


DECODER_RAW, DECODER_TRAVEL, DECODER_SPEED, DECODER_INDEXED, DECODER_FAULT = 0, 1, 2, 3, 4
"""Columns of the decoders' states `(n, DECODER_SIZE)`: last counter value, counts since power-up,
counts over the last sample, whether an index pulse was seen, and the first fault."""


NO_FAULT, TOO_FAST, NO_INDEX = 0, 1, 2
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
    change = raw - state[DECODER_RAW]
    if abs(change) <= slow:
        return change
    state[DECODER_INDEXED] = 1.0
    if abs(raw) > slow:
        state[DECODER_FAULT] = TOO_FAST
    return state[DECODER_SPEED]


@device
def sawtooth_step(state: FloatArray, raw: float, turn: float, largest: float) -> float:
    """Return the counts over a sample after the first index pulse.

    Travel below half a turn is exact. The counter is zero at a pulse, which must lie on the
    way or be the one before.
    """
    change = _nearest(raw - state[DECODER_RAW], turn)
    pulse = change - raw + state[DECODER_RAW]
    place = pulse - state[DECODER_RAW]
    reached = min(0.0, change) - largest <= place <= max(0.0, change) + largest
    if abs(change) > largest or (pulse != 0.0 and not reached):
        state[DECODER_FAULT] = TOO_FAST
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
        states: `(n, DECODER_SIZE)`.
        raw: counter values `(n,)`.
        turns: counts over one turn `(n,)`.
        largest: counts in a sample `(n,)` that are possible, below half a turn.
        slow: counts in a sample `(n,)` that are possible while homing.
        expected: `(n,)` counts over the sample as the drives' speeds have them.
        expecting: whether to compare with them.
    """
    for i in range(len(raw)):
        state, turn = states[i], turns[i]
        before = state[DECODER_FAULT]
        if state[DECODER_INDEXED] > 0.0:
            change = sawtooth_step(state, raw[i], turn, largest[i])
        else:
            change = homing_step(state, raw[i], slow[i])
        if expecting and abs(change - expected[i]) > MAX_DISAGREEMENT * turn:
            state[DECODER_FAULT] = TOO_FAST
        if abs(raw[i]) >= turn:
            state[DECODER_FAULT] = NO_INDEX
        if before > 0.0:
            state[DECODER_FAULT] = before
        state[DECODER_TRAVEL] += change
        state[DECODER_SPEED] = change
        state[DECODER_RAW] = raw[i]


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
            travel[k, i] = states[i, DECODER_TRAVEL]
            faults[k, i] = states[i, DECODER_FAULT]
