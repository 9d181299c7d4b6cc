"""Encoders of the thesis: random motion decoded, and a machine homed from beside its switches."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from twin.analysis.platform import Platform
from twin.plant.encoder import EncoderDecoder, Encoders
from twin.plant.homing import Homing, HomingInputs
from twin.plant.homing_settings import homing_settings
from twin.validation.results import Entry, Measure, Quantity

TURN, COUNT = 4096, 5.08e-3 / 4096
"""Counts over one turn, and one count [m]."""


def counting_measures(platform: Platform) -> Iterator[Entry]:
    """Yield counting errors of encoders on a machine's six actuators: in motion, and by homing."""
    random = np.random.default_rng(5)
    bank = Encoders(np.full(6, COUNT), TURN, platform.minimum_coordinates, seed=2)
    moves = random.integers(-2047, 2048, size=(2000, 6))
    travel = np.concatenate([-np.ones((1, 6)), np.zeros((1, 6)), np.cumsum(moves, axis=0)])
    raw = bank.readings(bank.index_coordinates + COUNT * travel)[1:]
    decoder = EncoderDecoder(bank.resolution, bank.turn)
    decoder.start(raw[0], bank.index_coordinates)
    found, faults = decoder.decode(raw)
    wrong = np.abs(found - travel[1:]).max() + faults.sum()
    reason = "up to half a turn between two samples is output exactly, and no fault is seen"
    yield Measure("counts decoded wrongly", wrong, 0.0, reason)
    settings = homing_settings(platform, bank.resolution, bank.turn, bank.index_coordinates)
    homing = Homing(settings)
    place = platform.minimum_coordinates + np.linspace(-1e-3, 8e-3, 6)
    switch = platform.minimum_coordinates + random.uniform(-1.5e-3, 1.5e-3, 6)
    bank.power_up(place)
    time, done, error = 0.0, False, np.inf
    while not done and time < 20.0:
        output = homing.update(HomingInputs(time, bank.raw, (place <= switch).astype(float)))
        error = np.abs(output.coordinates - place).max() / COUNT
        place = place + 1e-3 * output.speeds
        bank.count(place)
        done, time = output.ready or bool(output.fault), time + 1e-3
    reason = (
        "half a count from the middle of the index pulse, and rounding of a million counts; "
        "switches are up to 1.5 mm off, less than half a turn"
    )
    name = "coordinates after homing against the actuators', in counts"
    yield Measure(name, error, 0.5 + 1e-6, reason, at_bound=True)
    off = np.abs(homing.corrections - (settings.switch - switch)).max() / COUNT
    yield Measure(
        "errors of the switches found by homing, in counts",
        off,
        1e-3 * float(settings.search.max()) / COUNT + 1.0,
        "a switch is seen up to one period of 1 ms late, and counted to half a count twice",
    )
    yield Quantity("time to home from near the switches", time, note="speeds are adopted", unit="s")
