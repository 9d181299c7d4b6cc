"""Encoders: quantisation, the sawtooth of the counter, index pulses from either side."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from refusals import assert_all_refused, refused

import twin
from twin.plant.encoder import Encoders, machine_encoders

TURN = 4096
LEAD = 5.08e-3
STEP = LEAD / TURN


def bank(n=1, seed=0, turn=TURN):
    """Return encoders of the thesis' actuators."""
    return Encoders(np.full(n, LEAD / turn), turn, np.full(n, 0.8644), seed=seed)


def counter_by_hand(path, index, turn):
    """Return the counter along a path of positions, one count after the other."""
    last, place, values = path[0], path[0], []
    for goal in path:
        while place != goal:
            place += 1 if goal > place else -1
            if (place - index) % turn == 0:
                last = place
        values.append(place - last)
    return values


@given(
    path=st.lists(st.integers(-70, 70), min_size=1, max_size=25),
    seed=st.integers(0, 100),
)
def test_counter_is_that_of_single_counts(path, seed):
    turn = 16
    encoders = bank(seed=seed, turn=turn)
    step, first = encoders.resolution[0], encoders.index_coordinates[0]
    raw = encoders.readings(first + step * np.array(path)[:, None])
    assert raw[:, 0].tolist() == counter_by_hand(path, 0, turn)


def test_running_counts_are_those_of_the_rows():
    encoders = bank(6, seed=3)
    rows = 0.9 + 0.02 * np.cumsum(np.random.default_rng(1).normal(size=(400, 6)), axis=0) / 20
    raw = encoders.readings(rows)
    encoders.power_up(rows[0])
    for row, values in zip(rows, raw, strict=True):
        encoders.count(row)
        assert_array_equal(encoders.raw, values)


def test_places_of_the_pulses_follow_from_the_seed():
    first, again, other = bank(6, 1), bank(6, 1), bank(6, 2)
    assert_array_equal(first.index_coordinates, again.index_coordinates)
    assert (first.index_coordinates != other.index_coordinates).all()
    assert len(set(first.index_coordinates)) == 6
    away = first.index_coordinates - 0.8644
    assert ((away > -STEP) & (away < LEAD)).all()


def test_bad_encoders_are_refused():
    assert_all_refused(
        lambda arguments: Encoders(*arguments),
        [
            ((STEP, TURN, [0.8]), "resolution"),
            (([-STEP], TURN, [0.8]), "resolution"),
            (([STEP], 3, [0.8]), "counts_per_turn"),
            (([STEP], 4096.5, [0.8]), "counts_per_turn"),
            (([STEP], [TURN, TURN], [0.8]), "counts_per_turn"),
            (([STEP], TURN, [0.8, 0.8]), "origin"),
            (([STEP], TURN, [np.nan]), "origin"),
        ],
    )


def test_bad_use_is_refused():
    with refused("seed"):
        bank(seed=-1)
    with refused("coordinates"):
        bank(2).readings(np.zeros(2))
    with refused("coordinates"):
        bank(2).power_up(np.zeros(3))
    with refused("encoder"):
        machine_encoders(twin.load("srspm"))
