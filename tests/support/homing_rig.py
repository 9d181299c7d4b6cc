"""Actuators without a machine around them: they follow speeds with a lag, counted and switched."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

import twin
from twin.plant.encoder import Encoders
from twin.plant.homing import HomingInputs, homing_settings

PERIOD = 2e-3
LAG = 4e-3
TURN = 4096
STEP = 5.08e-3 / TURN

Fault = Callable[[float, NDArray[np.float64]], NDArray[np.float64]]


class Rig:
    """Six actuators of the thesis between their stops."""

    def __init__(self, start, seed, switch_error):
        self.machine = twin.load("stewart")
        self.encoders = Encoders(np.full(6, STEP), TURN, np.full(6, 0.8644), seed=seed)
        random = np.random.default_rng(seed)
        self.switch = 0.8644 + switch_error * random.uniform(-1.0, 1.0, 6)
        self.coordinates = start.copy()
        self.rates = np.zeros(6)
        self.time = 0.0
        self.encoders.power_up(start)
        self.seen = []

    def settings(self, **options):
        """Return settings with the calibration of these encoders."""
        return homing_settings(
            self.machine, np.full(6, STEP), np.full(6, float(TURN)),
            self.encoders.index_coordinates, period=PERIOD, **options,
        )  # fmt: skip

    def run(self, homing, longest, broken=None):
        """Home until ready, given up or out of time; `broken` changes what drives do."""
        while True:
            pressed = (self.coordinates <= self.switch).astype(float)
            told = homing.update(HomingInputs(self.time, self.encoders.raw, pressed))
            if not self.seen or told.phases != self.seen[-1]:
                self.seen.append(told.phases)
            if told.ready or told.fault or self.time >= longest:
                return told
            command = told.speeds if broken is None else broken(self.time, told.speeds)
            self.rates += (command - self.rates) * (1.0 - np.exp(-PERIOD / LAG))
            self.coordinates = np.clip(
                self.coordinates + self.rates * PERIOD, 0.8644 - 5e-3, 1.0944 + 5e-3
            )
            self.encoders.count(self.coordinates)
            self.time += PERIOD
