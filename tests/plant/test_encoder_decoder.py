"""Decoders: exact below half a turn a sample, and nothing wrong without a word above it."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from refusals import refused

from twin.plant.encoder import EncoderDecoder, Encoders

TURN = 4096
HALF = TURN // 2 - 1
STEP = 5.08e-3 / TURN
FAST = 205
"""Counts in a sample of 1 ms at 0.254 m/s, the largest speed of the thesis' actuators."""


def bank(seed=0):
    """Return one encoder of the thesis."""
    return Encoders([STEP], TURN, [0.8644], seed=seed)


def decoder(**options):
    """Return its decoder."""
    return EncoderDecoder([STEP], [TURN], **options)


def indexed_counts(encoders, moves):
    """Return true travel and counter values after the first index pulse, one row per sample."""
    travel = np.concatenate([[-1, 0], np.cumsum(moves)])
    raw = encoders.readings(encoders.index_coordinates[0] + STEP * travel[:, None])
    return travel[1:], raw[1:]


@given(st.lists(st.integers(-HALF, HALF), min_size=1, max_size=60), st.integers(0, 50))
def test_motion_below_half_a_turn_a_sample_is_exact(moves, seed):
    travel, raw = indexed_counts(bank(seed), np.array(moves))
    decoding = decoder()
    decoding.start(raw[0], [0.9])
    found, faults = decoding.decode(raw[1:])
    assert_array_equal(found[:, 0], travel[1:])
    assert not faults.any()


@given(
    st.lists(st.floats(-0.49, 0.49), min_size=1, max_size=40),
    st.floats(0.0, 1.0, exclude_max=True),
    st.integers(0, 50),
)
def test_error_is_half_a_count_at_any_coordinate(moves, start, seed):
    encoders = bank(seed)
    turn = TURN * STEP
    path = encoders.index_coordinates[0] + turn * (start + np.cumsum([0.0, 1.0, *moves]))
    raw = encoders.readings(path[:, None])
    decoding = decoder()
    decoding.start(raw[1], [path[1]])
    decoding.refer(0, encoders.index_coordinates[0], path[1] + 0.4 * turn)
    assert abs(decoding.coordinates[0] - path[1]) <= 0.5001 * STEP
    for sample, true in zip(raw[2:], path[2:], strict=True):
        decoding.update(sample)
        assert abs(decoding.coordinates[0] - true) <= 0.5001 * STEP
    assert decoding.fault == ""


@given(
    st.lists(st.integers(-FAST, FAST), max_size=20),
    st.integers(FAST + 1, TURN - FAST - 1),
    st.sampled_from([-1, 1]),
    st.integers(0, 50),
)
def test_impossible_motion_is_reported(slow, jump, sign, seed):
    moves = np.array([*slow, sign * jump, 0])
    _, raw = indexed_counts(bank(seed), moves)
    decoding = decoder(max_counts=FAST)
    decoding.start(raw[0], [0.9])
    _, faults = decoding.decode(raw[1:])
    assert not faults[: len(slow)].any()
    assert faults[len(slow) :].all()


def test_a_pulse_that_could_not_be_reached_is_reported():
    """A turn upwards from below the last pulse: no net counts, but the counter jumped."""
    _, raw = indexed_counts(bank(), np.array([-100, TURN]))
    decoding = decoder(max_counts=FAST)
    decoding.start(raw[0], [0.9])
    _, faults = decoding.decode(raw[1:])
    assert faults[:, 0].tolist() == [0.0, 1.0]


def test_first_pulse_while_homing(subtests):
    for away in [300, 2000, 4000]:
        for sign in [-1, 1]:
            for speed in [1, 4, 33]:
                with subtests.test(f"{away}, {sign}, {speed}"):
                    encoders = bank()
                    moves = sign * speed * np.arange(int(1.2 * TURN / speed))
                    path = encoders.index_coordinates[0] + STEP * (moves - sign * away)
                    raw = encoders.readings(path[:, None])
                    decoding = decoder()
                    decoding.start(raw[0])
                    assert np.isnan(decoding.coordinates[0])
                    for k, sample in enumerate(raw[1:], 1):
                        decoding.update(sample)
                        assert decoding.indexed[0] == float(speed * k >= away)
                        assert abs(decoding.travel[0] - moves[k]) <= speed
                    # An estimate wrong by half a turn may take a pulse for one a turn away.
                    decoding.refer(
                        0,
                        encoders.index_coordinates[0] + 7 * TURN * STEP,
                        path[-1] - 0.45 * TURN * STEP,
                    )
                    assert abs(decoding.coordinates[0] - path[-1]) <= 0.5001 * STEP
                    assert decoding.fault == ""


def test_a_pulse_just_beside_power_up_is_noticed_a_turn_later():
    encoders = bank()
    path = encoders.index_coordinates[0] + STEP * (np.arange(-10, 2 * TURN, 4.0))
    raw = encoders.readings(path[:, None])
    decoding = decoder()
    decoding.start(raw[0])
    for sample in raw[1:]:
        decoding.update(sample)
    assert decoding.fault == ""
    decoding.refer(0, encoders.index_coordinates[0], path[-1] + 0.3 * TURN * STEP)
    assert abs(decoding.coordinates[0] - path[-1]) <= 0.5001 * STEP


def test_a_missing_pulse_is_reported():
    decoding = decoder()
    decoding.start([0.0])
    for raw in np.arange(0.0, TURN + 1.0, 32.0):
        decoding.update([raw])
    assert decoding.fault == "leg 1 turns without index pulse: check the encoder's cable"


def test_next_pulse_lies_above():
    encoders = bank()
    decoding = decoder()
    decoding.start([0.0])
    assert np.isinf(decoding.next_pulse[0])
    travel, raw = indexed_counts(encoders, np.array([10, -30, -2000, 5]))
    decoding.start(raw[0], [0.9])
    for value, sample in zip(travel[1:], raw[1:], strict=True):
        decoding.update(sample)
        pulse = decoding.next_pulse[0]
        assert pulse % TURN == 0
        assert 0 < pulse - value <= TURN


def test_bad_use_is_refused():
    for options in ({"max_counts": 2048}, {"max_counts": 0}, {"max_counts": np.nan}):
        with refused(next(iter(options))):
            decoder(**options)
    for resolution in (STEP, [0.0], [-STEP]):
        with refused("resolution"):
            EncoderDecoder(resolution, [TURN])
    EncoderDecoder([STEP], [129.0])
    with refused("counts_per_turn.*above 128"):
        EncoderDecoder([STEP], [128.0])
    decoding = decoder()
    decoding.start([0.0])
    with refused("has not seen"):
        decoding.refer(0, 0.9, 0.9)
    with refused("raw"):
        decoding.update([np.nan])
    with refused("raw"):
        decoding.start([0.0, 1.0])
