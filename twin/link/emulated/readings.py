"""Readings of an emulated machine: its sensors with noise and faults."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from twin.basics.arrays import FloatArray, not_negative
from twin.errors import InputError
from twin.link.emulated.fault import CountsFault, SensorFault
from twin.model.engine import State
from twin.plant.plant import Plant
from twin.plant.signals import Measurement, seed_sequence
from twin.rotations import displaced

NOISY_SIGNALS = ("coordinates", "rates", "forces", "accelerometer", "gyroscope", "pose", "attitude")


class Readings:
    """Fields of a measurement that the sensors of a plant give.

    `forces` are those of the motors, as drives know them from their currents. Dead encoders and
    lost counts mislead the position loops; drives measure the speeds of their motors themselves.

    Attributes:
        values: fields of the last measurement.
    """

    def __init__(self, plant: Plant, period: float, seed: int, noise: Mapping[str, float]) -> None:
        """Store the plant, whose sensors are read, and the noise.

        Args:
            plant: started for every run.
            period: [s] between measurements.
            seed: of the noise.
            noise: as of `EmulatedMachine`.

        Raises:
            InputError: an unknown field, or a deviation that is not zero or more.
        """
        unknown_signals = sorted(set(noise) - set(NOISY_SIGNALS))
        if unknown_signals:
            raise InputError(
                f"noise.{unknown_signals[0]}", f"must be one of {', '.join(NOISY_SIGNALS)}"
            )
        self._noise = {name: not_negative(value, f"noise.{name}") for name, value in noise.items()}
        self._place = self._noise.pop("pose", None), self._noise.pop("attitude", None)
        self._plant, self._period = plant, period
        self._seed = seed_sequence(seed, "readings")
        self.start()

    def start(self) -> None:
        """Restart with the same noise."""
        self._random = np.random.default_rng(self._seed)
        self._lost = np.zeros(self._plant.platform.n_actuators)
        self.values: dict[str, FloatArray] = {}

    def read(self, state: State, faults: Sequence[CountsFault | SensorFault]) -> Measurement:
        """Return the coordinates that the position loops use; `values` holds what is sent.

        Args:
            state: true one.
            faults: of the sensors, that act now.
        """
        measured = self._plant.measure(state)
        lost_distance = self._lost_counts(faults)
        jump_rate, self._lost = (lost_distance - self._lost) / self._period, lost_distance
        values = {
            "coordinates": measured.coordinates - lost_distance,
            "rates": measured.rates - jump_rate,
            "forces": self._plant.efforts,
        }
        if measured.inertial.size:
            values["accelerometer"] = measured.inertial[:3]
            values["gyroscope"] = measured.inertial[3:]
        for name in self._noise.keys() & values.keys():
            deviation = self._noise[name]
            values[name] = values[name] + deviation * self._random.standard_normal(
                len(values[name])
            )
        if self._place != (None, None):
            deviations = np.repeat([self._place[0] or 0.0, self._place[1] or 0.0], 3)
            values["pose"] = displaced(state.pose, deviations * self._random.standard_normal(6))
        for fault in faults:
            if isinstance(fault, SensorFault):
                self._kill(fault, values)
        self.values = values
        return measured._replace(coordinates=values["coordinates"], rates=values["rates"])

    def _lost_counts(self, faults: Sequence[CountsFault | SensorFault]) -> FloatArray:
        lost_distance, resolution = np.zeros(len(self._lost)), self._plant.drives.resolution
        for fault in faults:
            if isinstance(fault, CountsFault):
                legs = slice(None) if fault.leg is None else fault.leg - 1
                lost_distance[legs] += fault.counts * resolution[legs]
        return lost_distance

    def _kill(self, fault: SensorFault, values: dict[str, FloatArray]) -> None:
        """Replace the reading of a dead sensor; an encoder that is stuck reads zero speed."""
        if fault.signal not in values:
            return
        per_leg = fault.signal in ("coordinates", "rates", "forces")
        legs = slice(None) if fault.leg is None or not per_leg else fault.leg - 1
        reading = values[fault.signal].copy()
        frozen = fault.reading == "frozen" and fault.signal in self.values
        reading[legs] = self.values[fault.signal][legs] if frozen else 0.0
        values[fault.signal] = reading
        if fault.signal == "coordinates":
            values["rates"] = values["rates"].copy()
            values["rates"][legs] = 0.0
