"""Encoders of a machine's drives: readings in whole counts, and counters with an index pulse."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from twin.analysis.platform import Platform
from twin.basics.arrays import FloatArray
from twin.kernels.plant import columns as column
from twin.kernels.plant import reading
from twin.kernels.plant.reading import read_actuators
from twin.plant.encoder import machine_encoders
from twin.plant.plant import Plant
from twin.validation.cases.plant.data_sheet import DriveNumbers
from twin.validation.cases.plant.trials import STEP
from twin.validation.results import Entry, Measure

READINGS = 400
"""Places of the motor at which an encoder is read."""

INTERVAL = 1e-3
"""[s] between two readings of every place."""

NEAREST = 0.5 + 1e-6
"""Counts: half a count, and the rounding of coordinates of a million counts and more."""


def encoder_measures(
    machine: Platform, drive: FloatArray, numbers: DriveNumbers
) -> Iterator[Entry]:
    """Yield errors of readings, rates and counters over the stroke, in counts."""
    if not numbers.resolution:
        return
    random = np.random.default_rng(4096)
    plant = Plant(machine)
    plant.prepare(STEP)
    drives = np.tile(drive, (READINGS, 1))
    states, before = np.zeros((READINGS, column.STATES)), np.zeros(READINGS)
    counts = np.full(READINGS, plant.drives.resolution[0])
    read, places = [], random.uniform(*numbers.limits, (2, READINGS))
    for number, at in enumerate(places):
        states[:, column.POSITION] = at
        found = np.empty((reading.ROWS, READINGS))
        span = INTERVAL * number
        read_actuators(drives, states, counts, before, span, at, np.zeros(READINGS), found)
        read.append(found)
    shown = np.array([found[reading.COORDINATE] for found in read]) / numbers.resolution
    yield Measure(
        "coordinate read by the encoder against the motor's, in counts",
        np.abs(shown - places / numbers.resolution).max(),
        NEAREST,
        "the nearest count is half a count away at most; a floor is up to one away",
        at_bound=True,
    )
    yield Measure(
        "readings of the encoder off whole counts",
        np.abs(shown - np.rint(shown)).max(),
        1e-6,
        "an encoder has no others; rounding of a million counts and more",
    )
    rate = read[1][reading.RATE] * INTERVAL / numbers.resolution
    yield Measure(
        "rates read by the encoder against the counts between two readings, in counts",
        np.abs(rate - np.diff(shown, axis=0)[0]).max(),
        1e-6,
        "the difference of two readings over the time between them; rounding",
    )
    yield _counters(machine, numbers, random)


def _counters(machine: Platform, numbers: DriveNumbers, random: np.random.Generator) -> Measure:
    """Return the largest error of the counters on a way up and down over their index pulses."""
    bank = machine_encoders(machine, seed=7)
    up = np.sort(random.uniform(0.01, 1.4, READINGS))
    down = np.sort(random.uniform(-0.9, 1.4, READINGS))[::-1]
    turns = np.concatenate([[-0.5], up, down])[:, None]
    raw = bank.readings(bank.index_coordinates + turns * numbers.turn * numbers.resolution)
    whole = np.rint(turns * numbers.turn) / numbers.turn
    # A pulse counts when it is entered: from below on the way up, from above on the way down.
    pulse = np.concatenate(
        [np.floor(whole[: READINGS + 1]), np.minimum(np.ceil(whole[READINGS + 1 :]), 1.0)]
    )
    return Measure(
        "counter against the way from the last index pulse, up and down over two, in counts",
        np.abs(raw - (turns - pulse) * numbers.turn)[1:].max(),
        NEAREST,
        "the counter is zero in the middle of the pulse's count, half a count wide to both sides",
        at_bound=True,
    )
