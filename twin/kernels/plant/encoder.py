"""Incremental encoders with an index pulse: counting, and decoding counters to positions.

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


COUNTER_POSITION, COUNTER_ZERO = 0, 1
"""Columns of the counters' states `(n, COUNTER_SIZE)`: position, and the position at which the
counter was last set to zero."""


SCALE_ORIGIN, SCALE_RESOLUTION, SCALE_INDEX, SCALE_COUNTS_PER_TURN = 0, 1, 2, 3
"""Columns of the scales `(n, SCALE_SIZE)`: coordinate at which count 0 begins, one count [m, rad],
position of one index pulse, counts over one turn."""


@device
def position_of(scales: FloatArray, i: int, coordinate: float) -> float:
    """Return the position of actuator i at its coordinate."""
    return floor((coordinate - scales[i, SCALE_ORIGIN]) / scales[i, SCALE_RESOLUTION])


@device
def zeroed(
    old_count: float,
    new_count: float,
    index_count: float,
    counts_per_turn: float,
    last_pulse: float,
) -> float:
    """Return the position of the last index pulse between two counts, else `last_pulse`.

    The pulse comes at the count `index_count` plus whole turns, when it is entered from either
    side.
    """
    if new_count > old_count:
        turns = floor((new_count - index_count) / counts_per_turn)
        pulse_count = index_count + counts_per_turn * turns
        return pulse_count if pulse_count > old_count else last_pulse
    turns = ceil((new_count - index_count) / counts_per_turn)
    pulse_count = index_count + counts_per_turn * turns
    return pulse_count if pulse_count < old_count else last_pulse


@compiled
def power_up(scales: FloatArray, states: FloatArray, coordinates: FloatArray) -> None:
    """Set all counters to zero at coordinates `(n,)`."""
    for i in range(len(coordinates)):
        states[i, COUNTER_POSITION] = states[i, COUNTER_ZERO] = position_of(
            scales, i, coordinates[i]
        )


@compiled
def count(scales: FloatArray, states: FloatArray, coordinates: FloatArray) -> None:
    """Update the counters to new coordinates `(n,)`, including index pulses in between."""
    for i in range(len(coordinates)):
        old_count, new_count = states[i, COUNTER_POSITION], position_of(scales, i, coordinates[i])
        states[i, COUNTER_ZERO] = zeroed(
            old_count,
            new_count,
            scales[i, SCALE_INDEX],
            scales[i, SCALE_COUNTS_PER_TURN],
            states[i, COUNTER_ZERO],
        )
        states[i, COUNTER_POSITION] = new_count


@compiled
def count_many(
    scales: FloatArray, states: FloatArray, coordinates: FloatArray, raw: FloatArray
) -> None:
    """Update the counters along coordinates `(k, n)`; fill their values `(k, n)`."""
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
def _nearest(change: float, counts_per_turn: float) -> float:
    """Return the change less whole turns, from minus half a turn to below half a turn."""
    return change - counts_per_turn * floor(change / counts_per_turn + 0.5)


@device
def homing_step(state: FloatArray, raw: float, largest_step: float) -> float:
    """Return the counts over a sample before the first index pulse.

    A jump larger than `largest_step` counts is the pulse; the counts up to it are lost, and taken
    to be those of the sample before.
    """
    count_change = raw - state[DECODER_RAW]
    if abs(count_change) <= largest_step:
        return count_change
    state[DECODER_INDEXED] = 1.0
    if abs(raw) > largest_step:
        state[DECODER_FAULT] = TOO_FAST
    return state[DECODER_SPEED]


@device
def sawtooth_step(
    state: FloatArray, raw: float, counts_per_turn: float, largest_step: float
) -> float:
    """Return the counts over a sample after the first index pulse.

    Travel below half a turn is exact. The counter is zero at a pulse, which must lie on the
    way or be the one before.
    """
    count_change = _nearest(raw - state[DECODER_RAW], counts_per_turn)
    pulse_offset = count_change - raw + state[DECODER_RAW]
    pulse_travel = pulse_offset - state[DECODER_RAW]
    pulse_reached = (
        min(0.0, count_change) - largest_step
        <= pulse_travel
        <= max(0.0, count_change) + largest_step
    )
    if abs(count_change) > largest_step or (pulse_offset != 0.0 and not pulse_reached):
        state[DECODER_FAULT] = TOO_FAST
    return count_change


@compiled
def unwrap(
    states: FloatArray,
    raw: FloatArray,
    counts_per_turn: FloatArray,
    largest: FloatArray,
    slow: FloatArray,
) -> None:
    """Advance the decoders by one sample.

    Args:
        states: `(n, DECODER_SIZE)`.
        raw: counter values `(n,)`.
        counts_per_turn: counts over one turn `(n,)`.
        largest: counts in a sample `(n,)` that are possible, below half a turn.
        slow: counts in a sample `(n,)` that are possible while homing.
    """
    for i in range(len(raw)):
        decoder_state, turn_counts = states[i], counts_per_turn[i]
        previous_fault = decoder_state[DECODER_FAULT]
        if decoder_state[DECODER_INDEXED] > 0.0:
            travel_change = sawtooth_step(decoder_state, raw[i], turn_counts, largest[i])
        else:
            travel_change = homing_step(decoder_state, raw[i], slow[i])
        if abs(raw[i]) >= turn_counts:
            decoder_state[DECODER_FAULT] = NO_INDEX
        if previous_fault > 0.0:
            decoder_state[DECODER_FAULT] = previous_fault
        decoder_state[DECODER_TRAVEL] += travel_change
        decoder_state[DECODER_SPEED] = travel_change
        decoder_state[DECODER_RAW] = raw[i]


@compiled
def unwrap_many(
    states: FloatArray,
    raw: FloatArray,
    counts_per_turn: FloatArray,
    largest: FloatArray,
    slow: FloatArray,
    travel: FloatArray,
    faults: FloatArray,
) -> None:
    """Advance the decoders along counter values `(k, n)`; fill travel and faults `(k, n)`."""
    for k in range(len(raw)):
        unwrap(states, raw[k], counts_per_turn, largest, slow)
        for i in range(raw.shape[1]):
            travel[k, i] = states[i, DECODER_TRAVEL]
            faults[k, i] = states[i, DECODER_FAULT]
