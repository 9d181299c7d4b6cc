"""Encoders of a machine's drives: coordinates in whole counts, rates, and the index pulse."""

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
from twin.validation.cases.plant.trials import ENGINE_STEP
from twin.validation.measures.metrics import largest
from twin.validation.results import Entry, Measure

READING_COUNT = 400
"""Coordinates of the motor at which its encoder is read."""

SAMPLE_TIME = 1e-3
"""[s] Time between two readings."""

HALF_COUNT = 0.5 + 1e-6
"""[counts] Half a count, and the rounding of coordinates of more than a million counts."""


def encoder_measures(
    machine: Platform, drive: FloatArray, numbers: DriveNumbers
) -> Iterator[Entry]:
    """Yield errors of coordinates, rates and counters over the stroke, in counts."""
    if not numbers.resolution:
        return
    random = np.random.default_rng(4096)
    plant = Plant(machine)
    plant.prepare(ENGINE_STEP)
    drives = np.tile(drive, (READING_COUNT, 1))
    states, last = np.zeros((READING_COUNT, column.STATES)), np.zeros(READING_COUNT)
    resolution = np.full(READING_COUNT, plant.drives.resolution[0])
    still = np.zeros(READING_COUNT)
    # Encoders sit on the motors, so that legs elsewhere change nothing.
    offset = 100.0 * numbers.resolution if numbers.inertia else 0.0
    samples, coordinates = [], random.uniform(*numbers.limits, (2, READING_COUNT))
    for number, at in enumerate(coordinates):
        states[:, column.POSITION] = at
        sample = np.empty((reading.ROWS, READING_COUNT))
        span, legs = SAMPLE_TIME * number, at + offset
        read_actuators(drives, states, resolution, last, span, legs, still, sample)
        samples.append(sample)
    counts = np.array([sample[reading.COORDINATE] for sample in samples]) / numbers.resolution
    yield Measure(
        "encoder coordinate against the motor's, in counts",
        largest(counts - coordinates / numbers.resolution),
        HALF_COUNT,
        "the encoder rounds to the nearest count; rounding down would leave up to one count",
        at_bound=True,
    )
    yield Measure(
        "encoder coordinate, distance from a whole count",
        largest(counts - np.rint(counts)),
        1e-6,
        "an encoder shows whole counts only; rounding of more than a million counts",
        unit="counts",
    )
    change = samples[1][reading.RATE] * SAMPLE_TIME / numbers.resolution
    yield Measure(
        "encoder rate times the sample time against the change of the coordinate, in counts",
        largest(change - np.diff(counts, axis=0)[0]),
        1e-6,
        "the rate is the difference of two readings over the time between them; rounding",
    )
    yield _counters(machine, numbers, random)


def _counters(machine: Platform, numbers: DriveNumbers, random: np.random.Generator) -> Measure:
    """Return the largest error of the counters as they move up and down over two index pulses."""
    bank = machine_encoders(machine, seed=7)
    up = np.sort(random.uniform(0.01, 1.4, READING_COUNT))
    down = np.sort(random.uniform(-0.9, 1.4, READING_COUNT))[::-1]
    turns = np.concatenate([[-0.5], up, down])[:, None]
    raw = bank.readings(
        bank.index_coordinates + turns * numbers.counts_per_turn * numbers.resolution
    )
    whole = np.rint(turns * numbers.counts_per_turn) / numbers.counts_per_turn
    # A pulse resets the counter where it is entered: from below on the way up, else from above.
    pulse = np.concatenate(
        [np.floor(whole[: READING_COUNT + 1]), np.minimum(np.ceil(whole[READING_COUNT + 1 :]), 1.0)]
    )
    return Measure(
        "counter against the travel from the last index pulse, up and down over two, in counts",
        np.abs(raw - (turns - pulse) * numbers.counts_per_turn)[1:].max(),
        HALF_COUNT,
        "the pulse is one count wide, and the counter is zero in its middle",
        at_bound=True,
    )
