"""The incremental encoders of a machine: raw counts as its data acquisition reads them."""

from __future__ import annotations

from typing import Any

import numpy as np

from twin.basics.arrays import FloatArray, as_floats, as_vector, read_only
from twin.errors import InputError
from twin.kernels.plant.encoder_counter import (
    COUNTER,
    INDEX,
    LAST,
    ORIGIN,
    POSITION,
    RESOLUTION,
    SCALE,
    TURN,
    count,
    count_many,
    power_up,
)
from twin.model.machine_model import MachineModel, as_model
from twin.plant.signals import seed_sequence

FEWEST_COUNTS = 4
"""Over one turn: with fewer, the direction is unknown."""


class Encoders:
    """One encoder per actuator, with an index pulse once a turn at a place that the seed draws.

    The counter is zero at power-up, counts in both directions, and is set to zero at every index
    pulse: over several turns a sawtooth, from -turn to turn. Nothing is lost between two readings,
    since the counting is done in hardware.

    Attributes:
        turn: `(n,)` counts over one turn.
        resolution: `(n,)` one count in the actuators' coordinates [m, rad].
        index_coordinates: `(n,)` coordinate of the middle of one index pulse per actuator; the
            others are whole turns away. What a calibration of the machine finds out once.

    Reference:
        Stewart thesis, section 4.3.2: 4096 counts over 5.08 mm.
    """

    def __init__(self, resolution: Any, turn: Any, origin: Any, *, seed: int = 0) -> None:
        """Draw where the counts and the index pulses lie.

        Args:
            resolution: `(n,)` one count in the actuators' coordinates [m, rad].
            turn: counts over one turn, one number or `(n,)`.
            origin: `(n,)` coordinates near which to put the first pulses, such as the shortest.
            seed: of the places.

        Raises:
            InputError: wrong shapes, not finite, not above zero, turns that are no whole counts.
        """
        steps = as_floats(resolution, "resolution")
        if steps.ndim != 1 or not (steps > 0.0).all():
            raise InputError("resolution", "must have shape (n,) and be above zero")
        n = len(steps)
        turns = np.broadcast_to(as_floats(turn, "turn"), (n,)) if np.ndim(turn) == 0 else (
            as_vector(turn, "turn", n)
        )  # fmt: skip
        if not (turns >= FEWEST_COUNTS).all() or (turns != np.floor(turns)).any():
            raise InputError("turn", f"must be whole numbers, {FEWEST_COUNTS} or more")
        random = np.random.default_rng(seed_sequence(seed, "encoders"))
        scales = np.empty((n, SCALE))
        scales[:, RESOLUTION], scales[:, TURN] = steps, turns
        scales[:, ORIGIN] = as_vector(origin, "origin", n) - random.random(n) * steps
        scales[:, INDEX] = np.floor(random.random(n) * turns)
        self._scales, self._states = scales, np.zeros((n, COUNTER))
        self.turn, self.resolution = read_only(turns), read_only(steps)
        middle = scales[:, ORIGIN] + (scales[:, INDEX] + 0.5) * steps
        self.index_coordinates = read_only(middle)

    @property
    def raw(self) -> FloatArray:
        """Present values `(n,)` of the counters, whole numbers."""
        return np.asarray(self._states[:, POSITION] - self._states[:, LAST])

    def power_up(self, coordinates: Any) -> None:
        """Switch on at coordinates `(n,)`: all counters are zero.

        Raises:
            InputError: wrong shape, not finite.
        """
        power_up(self._scales, self._states, as_vector(coordinates, "coordinates", len(self.turn)))

    def count(self, coordinates: FloatArray) -> None:
        """Move straight to coordinates `(n,)`, finite; called at every step of an engine."""
        count(self._scales, self._states, coordinates)

    def readings(self, coordinates: Any) -> FloatArray:
        """Return the counters' values `(k, n)` along coordinates `(k, n)`; power-up at row 0.

        Raises:
            InputError: wrong shape, not finite.
        """
        rows = as_floats(coordinates, "coordinates", len(self.turn))
        if rows.ndim != 2 or not len(rows):
            raise InputError("coordinates", f"must have shape (k, {len(self.turn)})")
        states, raw = np.zeros_like(self._states), np.empty_like(rows)
        power_up(self._scales, states, rows[0])
        count_many(self._scales, states, rows, raw)
        return raw


def machine_encoders(platform: MachineModel, seed: int = 0) -> Encoders:
    """Return the encoders of a machine whose every leg has one.

    Raises:
        InputError: a leg without an encoder, or whose drive has no travel per turn.
    """
    legs = as_model(platform).parameters.legs
    steps, turns = [], []
    for number, leg in enumerate(legs, 1):
        travel = None if leg.drive is None else leg.drive.turn
        if leg.encoder is None or travel is None:
            raise InputError("leg.encoder", f"leg {number} has no encoder that counts turns")
        steps.append(leg.encoder.resolution(travel))
        turns.append(leg.encoder.counts)
    return Encoders(steps, turns, platform.minimum_coordinates, seed=seed)
