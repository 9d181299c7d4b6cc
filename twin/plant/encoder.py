"""The incremental encoders of a machine: raw counts as its data acquisition reads them.

A decoder finds absolute coordinates from the raw counts.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from twin.basics.arrays import FloatArray, as_floats, as_vector, read_only
from twin.errors import InputError
from twin.kernels.plant.encoder import (
    COUNTER_POSITION,
    COUNTER_SIZE,
    COUNTER_ZERO,
    DECODER_FAULT,
    DECODER_INDEXED,
    DECODER_RAW,
    DECODER_SIZE,
    DECODER_TRAVEL,
    NO_FAULT,
    NO_INDEX,
    SCALE_COUNTS_PER_TURN,
    SCALE_INDEX,
    SCALE_ORIGIN,
    SCALE_RESOLUTION,
    SCALE_SIZE,
    TOO_FAST,
    count,
    count_many,
    power_up,
    unwrap,
    unwrap_many,
)
from twin.model.machine_model import MachineModel, as_model
from twin.plant.signals import seed_sequence

MIN_COUNTS_PER_TURN = 4
"""Smallest number of counts in one turn; with fewer, the direction is unknown."""


class Encoders:
    """One encoder per actuator, with an index pulse once a turn at a place that the seed draws.

    The counter is zero at power-up, counts in both directions, and is set to zero at every index
    pulse: over several turns it is a sawtooth, from minus to plus the counts of a turn. Nothing is
    lost between two readings, since the counting is done in hardware.

    Attributes:
        counts_per_turn: `(n,)` counts over one turn.
        resolution: `(n,)` one count in the actuators' coordinates [m, rad].
        index_coordinates: `(n,)` coordinate of the middle of one index pulse per actuator; the
            others are whole turns away. A calibration of the real machine determines them once.

    Reference:
        Stewart thesis, section 4.3.2: 4096 counts over 5.08 mm.
    """

    def __init__(
        self, resolution: Any, counts_per_turn: Any, origin: Any, *, seed: int = 0
    ) -> None:
        """Draw where the counts and the index pulses lie.

        Args:
            resolution: `(n,)` one count in the actuators' coordinates [m, rad].
            counts_per_turn: counts over one turn, one number or `(n,)`.
            origin: `(n,)` coordinates near which to put the first pulses, such as the shortest.
            seed: of the places.

        Raises:
            InputError: wrong shapes, not finite, not above zero, turns that are no whole counts.
        """
        self.resolution = _resolution(resolution)
        n = len(self.resolution)
        counts = as_floats(counts_per_turn, "counts_per_turn")
        counts = np.full(n, counts) if counts.ndim == 0 else as_vector(counts, "counts_per_turn", n)
        if not (counts >= MIN_COUNTS_PER_TURN).all() or (counts != np.floor(counts)).any():
            raise InputError(
                "counts_per_turn", f"must be whole numbers, {MIN_COUNTS_PER_TURN} or more"
            )
        self.counts_per_turn = read_only(counts)
        random = np.random.default_rng(seed_sequence(seed, "encoders"))
        scales = np.empty((n, SCALE_SIZE))
        scales[:, SCALE_RESOLUTION], scales[:, SCALE_COUNTS_PER_TURN] = self.resolution, counts
        scales[:, SCALE_ORIGIN] = (
            as_vector(origin, "origin", n) - random.random(n) * self.resolution
        )
        scales[:, SCALE_INDEX] = np.floor(random.random(n) * counts)
        self._scales, self._states = scales, np.zeros((n, COUNTER_SIZE))
        pulse_middle = scales[:, SCALE_ORIGIN] + (scales[:, SCALE_INDEX] + 0.5) * self.resolution
        self.index_coordinates = read_only(pulse_middle)

    @property
    def raw(self) -> FloatArray:
        """Present values `(n,)` of the counters, whole numbers."""
        return np.asarray(self._states[:, COUNTER_POSITION] - self._states[:, COUNTER_ZERO])

    def __copy__(self) -> Encoders:
        """Return encoders with the same places of counts, and counters of their own."""
        duplicate = Encoders.__new__(Encoders)
        duplicate.__dict__.update(self.__dict__, _states=self._states.copy())
        return duplicate

    def power_up(self, coordinates: Any) -> None:
        """Switch on at coordinates `(n,)`: all counters are zero.

        Raises:
            InputError: wrong shape, not finite.
        """
        power_up(
            self._scales,
            self._states,
            as_vector(coordinates, "coordinates", len(self.counts_per_turn)),
        )

    def count(self, coordinates: FloatArray) -> None:
        """Count along a straight path to finite coordinates `(n,)`; called at every engine step."""
        count(self._scales, self._states, coordinates)

    def readings(self, coordinates: Any) -> FloatArray:
        """Return the counters' values `(k, n)` along coordinates `(k, n)`; power-up at row 0.

        Raises:
            InputError: wrong shape, not finite.
        """
        coordinate_rows = as_floats(coordinates, "coordinates", len(self.counts_per_turn))
        if coordinate_rows.ndim != 2 or not len(coordinate_rows):
            raise InputError("coordinates", f"must have shape (k, {len(self.counts_per_turn)})")
        states, raw = np.zeros_like(self._states), np.empty_like(coordinate_rows)
        power_up(self._scales, states, coordinate_rows[0])
        count_many(self._scales, states, coordinate_rows, raw)
        return raw


def machine_encoders(platform: MachineModel, seed: int = 0) -> Encoders:
    """Return the encoders of a machine whose every leg has one.

    Raises:
        InputError: a leg without an encoder, or whose drive has no travel per turn.
    """
    legs = as_model(platform).parameters.legs
    resolutions, counts_per_turn = [], []
    for leg_number, leg in enumerate(legs, 1):
        travel = None if leg.drive is None else leg.drive.travel_per_turn
        if leg.encoder is None or travel is None:
            raise InputError("leg.encoder", f"leg {leg_number} has no encoder that counts turns")
        resolutions.append(leg.encoder.resolution(travel))
        counts_per_turn.append(leg.encoder.counts)
    return Encoders(resolutions, counts_per_turn, platform.minimum_coordinates, seed=seed)


FAULT_REASONS = {
    TOO_FAST: "moves by more counts in a sample than can be decoded, or its drive can make",
    NO_INDEX: "turns without index pulse: check the encoder's cable",
}
"""Fault -> its description."""

MAX_HOMING_COUNTS = 64
"""Counts in a sample that are possible while homing; a larger jump is the index pulse."""


class EncoderDecoder:
    """Follows raw counts from power-up, in homing mode until an actuator's first index pulse.

    Whole counts are summed without rounding: there is no drift. A travel of less than half a turn
    in a sample is exact. More is a fault if counts show it: a remainder above `max_counts` after
    whole turns are taken off, or an index pulse that could not be reached. Whole turns in a sample
    do not show.

    Attributes:
        counts_per_turn: `(n,)` counts over one turn.
        resolution: `(n,)` one count [m, rad].
    """

    def __init__(self, resolution: Any, counts_per_turn: Any, *, max_counts: Any = None) -> None:
        """Describe the encoders.

        Args:
            resolution: `(n,)` one count in the actuators' coordinates [m, rad].
            counts_per_turn: `(n,)` counts over one turn.
            max_counts: counts in a sample that are possible; default all below half a turn.

        Raises:
            InputError: wrong shapes, not finite, too few counts over a turn, or `max_counts` of
                half a turn or more.
        """
        self.resolution = _resolution(resolution)
        n = len(self.resolution)
        self.counts_per_turn = as_vector(counts_per_turn, "counts_per_turn", n)
        if not (self.counts_per_turn > 2 * MAX_HOMING_COUNTS).all():
            raise InputError(
                "counts_per_turn",
                f"must be above {2 * MAX_HOMING_COUNTS}: a jump of more than {MAX_HOMING_COUNTS} "
                "counts is the index pulse",
            )
        largest_jump = np.ceil(0.5 * self.counts_per_turn) - 1.0
        self._max_counts = (
            largest_jump if max_counts is None else _counts(max_counts, "max_counts", largest_jump)
        )
        self._max_homing_counts = np.full(n, float(MAX_HOMING_COUNTS))
        self._states = np.zeros((n, DECODER_SIZE))
        self._zero_coordinates = np.full(n, np.nan)

    @property
    def travel(self) -> FloatArray:
        """Counts `(n,)` since power-up; those around the first index pulse are estimated."""
        return self._states[:, DECODER_TRAVEL].copy()

    @property
    def indexed(self) -> FloatArray:
        """`(n,)` 1 where an index pulse was seen, else 0."""
        return self._states[:, DECODER_INDEXED].copy()

    @property
    def next_pulse(self) -> FloatArray:
        """Travel `(n,)` at the first index pulse above the present count; infinite before any."""
        states = self._states
        counts_to_pulse = self.counts_per_turn - np.mod(
            states[:, DECODER_RAW], self.counts_per_turn
        )
        return np.where(
            states[:, DECODER_INDEXED] > 0.0, states[:, DECODER_TRAVEL] + counts_to_pulse, np.inf
        )

    @property
    def coordinates(self) -> FloatArray:
        """`(n,)` [m, rad]; NaN for actuators without reference."""
        return np.asarray(
            self._zero_coordinates + self._states[:, DECODER_TRAVEL] * self.resolution
        )

    @property
    def fault(self) -> str:
        """Fault of the first actuator that has one; empty if none has."""
        for actuator_number, code in enumerate(self._states[:, DECODER_FAULT], 1):
            if code != NO_FAULT:
                return f"leg {actuator_number} {FAULT_REASONS[int(code)]}"
        return ""

    def start(self, raw: Any, coordinates: Any = None) -> None:
        """Start decoding at counter values `(n,)`.

        Args:
            raw: counter values; those of a power-up are zero.
            coordinates: `(n,)` of actuators that are referenced already, and have seen their index
                pulse; default: homing mode.

        Raises:
            InputError: wrong shapes, not finite.
        """
        self._states[:] = 0.0
        self._states[:, DECODER_RAW] = as_vector(raw, "raw", len(self.counts_per_turn))
        self._zero_coordinates[:] = np.nan
        if coordinates is not None:
            self._zero_coordinates[:] = as_vector(
                coordinates, "coordinates", len(self.counts_per_turn)
            )
            self._states[:, DECODER_INDEXED] = 1.0

    def update(self, raw: Any) -> None:
        """Decode the next sample of the counters, their values `(n,)`.

        Raises:
            InputError: wrong shape, not finite.
        """
        unwrap(
            self._states,
            as_vector(raw, "raw", len(self.counts_per_turn)),
            self.counts_per_turn,
            self._max_counts,
            self._max_homing_counts,
        )

    def refer(self, actuator: int, index_coordinate: float, estimate: float) -> float:
        """Give one actuator its reference: the index pulse that its counter was last zeroed by.

        Args:
            actuator: number from 0; must be indexed.
            index_coordinate: of one of its index pulses, from calibration [m, rad].
            estimate: of its present coordinate, within half a turn: gives the number of the turn.

        Returns:
            Error of the estimate [m, rad].

        Raises:
            InputError: an actuator that has not seen its index pulse.
        """
        decoder_state, count_size = self._states[actuator], self.resolution[actuator]
        if not decoder_state[DECODER_INDEXED] > 0.0:
            raise InputError("actuator", f"leg {actuator + 1} has not seen its index pulse")
        turn_length = self.counts_per_turn[actuator] * count_size
        distance_above_pulse = decoder_state[DECODER_RAW] * count_size
        turn_number = np.round((estimate - distance_above_pulse - index_coordinate) / turn_length)
        coordinate = float(index_coordinate + turn_number * turn_length + distance_above_pulse)
        self._zero_coordinates[actuator] = coordinate - decoder_state[DECODER_TRAVEL] * count_size
        return float(estimate - coordinate)

    def decode(self, raw: Any) -> tuple[FloatArray, FloatArray]:
        """Return travel in counts and faults `(k, n)` along counter values `(k, n)`.

        Begins with the decoder's present state, which does not change.

        Raises:
            InputError: wrong shape, not finite.
        """
        raw_rows = as_floats(raw, "raw", len(self.counts_per_turn))
        travel, fault_codes = np.empty_like(raw_rows), np.empty_like(raw_rows)
        unwrap_many(
            self._states.copy(),
            raw_rows,
            self.counts_per_turn,
            self._max_counts,
            self._max_homing_counts,
            travel,
            fault_codes,
        )
        return travel, fault_codes


def _resolution(value: Any) -> FloatArray:
    """Return the size of one count `(n,)` [m, rad]; raises InputError if it is not above zero."""
    resolution = as_floats(value, "resolution")
    if resolution.ndim != 1 or not (resolution > 0.0).all():
        raise InputError("resolution", "must have shape (n,) and be above zero")
    return read_only(resolution)


def _counts(value: Any, field: str, largest_counts: FloatArray) -> FloatArray:
    counts = np.broadcast_to(as_floats(value, field), largest_counts.shape).copy()
    if not ((counts > 0.0) & (counts <= largest_counts)).all():
        raise InputError(field, "must be above zero and below half a turn")
    return counts
