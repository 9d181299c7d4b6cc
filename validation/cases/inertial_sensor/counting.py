"""Encoders of the thesis: random motion is decoded, and a machine is homed near its switches."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from twin.analysis.platform import Platform
from twin.plant.encoder import EncoderDecoder, Encoders
from twin.plant.homing import Homing, HomingInputs
from twin.plant.homing_settings import homing_settings
from twin.validation.measures.metrics import largest
from twin.validation.results import Entry, Measure, Quantity

COUNTS_PER_TURN = 4096
"""Counts over one turn."""

COUNT_LENGTH = 5.08e-3 / COUNTS_PER_TURN
"""[m] Travel of one count."""

CONTROL_PERIOD = 1e-3
"""[s] Control period of the homing."""


def counting_measures(platform: Platform) -> Iterator[Entry]:
    """Yield errors of encoders on a machine's six actuators, in motion and after homing."""
    random = np.random.default_rng(5)
    bank = Encoders(np.full(6, COUNT_LENGTH), COUNTS_PER_TURN, platform.minimum_coordinates, seed=2)
    moves = random.integers(-2047, 2048, size=(2000, 6))
    travel = np.concatenate([-np.ones((1, 6)), np.zeros((1, 6)), np.cumsum(moves, axis=0)])
    raw = bank.readings(bank.index_coordinates + COUNT_LENGTH * travel)[1:]
    decoder = EncoderDecoder(bank.resolution, bank.turn)
    decoder.start(raw[0], bank.index_coordinates)
    found, faults = decoder.decode(raw)
    error = largest(found - travel[1:]) + faults.sum()
    reason = "steps of less than half a turn are decoded exactly and without a fault"
    yield Measure("decoded counts against the travel, and faults", error, 0.0, reason)
    settings = homing_settings(platform, bank.resolution, bank.turn, bank.index_coordinates)
    homing = Homing(settings)
    place = platform.minimum_coordinates + np.linspace(-1e-3, 8e-3, 6)
    switch = platform.minimum_coordinates + random.uniform(-1.5e-3, 1.5e-3, 6)
    bank.power_up(place)
    time, done, error = 0.0, False, np.inf
    while not done and time < 20.0:
        output = homing.update(HomingInputs(time, bank.raw, (place <= switch).astype(float)))
        error = largest(output.coordinates - place) / COUNT_LENGTH
        place = place + CONTROL_PERIOD * output.speeds
        bank.count(place)
        done, time = output.ready or bool(output.fault), time + CONTROL_PERIOD
    yield Measure(
        "coordinates after homing against the actuators', in counts",
        error,
        0.5 + 1e-6,
        "the index pulse is one count wide; rounding of a million counts. Switches are up to 1.5 "
        "mm off, which is less than half a turn",
        at_bound=True,
    )
    yield Measure(
        "switch errors found by homing against the true ones, in counts",
        largest(homing.corrections - (settings.switch - switch)) / COUNT_LENGTH,
        CONTROL_PERIOD * float(settings.search.max()) / COUNT_LENGTH + 1.0,
        "a switch is seen up to one period of 1 ms late; two readings are off by half a count",
    )
    yield Quantity(
        "time to home from near the switches", time, note="homing speeds are adopted", unit="s"
    )
