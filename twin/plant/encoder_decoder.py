"""Absolute coordinates from the raw counts of incremental encoders."""

from __future__ import annotations

from typing import Any

import numpy as np

from twin.basics.arrays import FloatArray, as_floats, as_vector
from twin.errors import InputError
from twin.kernels.plant.encoder_unwrapping import (
    DECODER,
    FAULT,
    FINE,
    INDEXED,
    NO_INDEX,
    RAW,
    TOO_FAST,
    TRAVEL,
    unwrap,
    unwrap_many,
)

REASONS = {
    TOO_FAST: "moves by more counts in a sample than its encoder can resolve",
    NO_INDEX: "turns without index pulse: check the encoder's cable",
}
"""Fault -> its description."""

SLOW = 64
"""Counts in a sample that are possible while homing; a larger jump is the index pulse."""


class EncoderDecoder:
    """Follows raw counts from power-up, in homing mode until an actuator's first index pulse.

    Whole counts are summed without rounding: there is no drift. A travel of less than half a turn
    in a sample is exact. More is a fault if counts show it: a remainder above `largest` after
    whole turns are taken off, or an index pulse that could not be reached. Whole turns in a sample
    show only in the drives' speeds (`expected`).

    Attributes:
        turn: `(n,)` counts over one turn.
        resolution: `(n,)` one count [m, rad].
    """

    def __init__(
        self, resolution: Any, turn: Any, *, largest: Any = None, slow: Any = SLOW
    ) -> None:
        """Describe the encoders.

        Args:
            resolution: `(n,)` one count in the actuators' coordinates [m, rad].
            turn: `(n,)` counts over one turn.
            largest: counts in a sample that are possible; default all below half a turn.
            slow: the same while homing.

        Raises:
            InputError: wrong shapes, not finite, or counts of half a turn or more.
        """
        self.resolution = as_floats(resolution, "resolution")
        n = len(np.atleast_1d(self.resolution))
        self.turn = as_vector(turn, "turn", n)
        half = np.ceil(0.5 * self.turn) - 1.0
        self._largest = half if largest is None else _counts(largest, "largest", half)
        self._slow = _counts(slow, "slow", half)
        self._states = np.zeros((n, DECODER))
        self._anchor = np.full(n, np.nan)

    @property
    def travel(self) -> FloatArray:
        """Counts `(n,)` since power-up; those around the first index pulse are estimated."""
        return self._states[:, TRAVEL].copy()

    @property
    def indexed(self) -> FloatArray:
        """`(n,)` 1 where an index pulse was seen, else 0."""
        return self._states[:, INDEXED].copy()

    @property
    def next_pulse(self) -> FloatArray:
        """Travel `(n,)` at the first index pulse above the present count; infinite before any."""
        states = self._states
        above = self.turn - np.mod(states[:, RAW], self.turn)
        return np.where(states[:, INDEXED] > 0.0, states[:, TRAVEL] + above, np.inf)

    @property
    def coordinates(self) -> FloatArray:
        """`(n,)` [m, rad]; NaN for actuators without reference."""
        return np.asarray(self._anchor + self._states[:, TRAVEL] * self.resolution)

    @property
    def fault(self) -> str:
        """Fault of the first actuator that has one; empty if none has."""
        for number, code in enumerate(self._states[:, FAULT], 1):
            if code != FINE:
                return f"leg {number} {REASONS[int(code)]}"
        return ""

    @property
    def faulty(self) -> FloatArray:
        """`(n,)` 1 where something is wrong with the counts, else 0."""
        return np.asarray(self._states[:, FAULT] != FINE, dtype=float)

    def start(self, raw: Any, coordinates: Any = None) -> None:
        """Begin at counter values `(n,)`.

        Args:
            raw: counter values; those of a power-up are zero.
            coordinates: `(n,)` of actuators that are referenced already, and have seen their index
                pulse; default: homing mode.

        Raises:
            InputError: wrong shapes, not finite.
        """
        self._states[:] = 0.0
        self._states[:, RAW] = as_vector(raw, "raw", len(self.turn))
        self._anchor[:] = np.nan
        if coordinates is not None:
            self._anchor[:] = as_vector(coordinates, "coordinates", len(self.turn))
            self._states[:, INDEXED] = 1.0

    def update(self, raw: Any, expected: Any = None) -> None:
        """Take the next sample.

        Args:
            raw: counter values `(n,)`.
            expected: `(n,)` travel over the sample [m, rad] as the drives' speeds have it, to
                compare with; default none.

        Raises:
            InputError: wrong shapes, not finite.
        """
        counts = as_vector(raw, "raw", len(self.turn))
        way = counts if expected is None else (
            as_vector(expected, "expected", len(self.turn)) / self.resolution
        )  # fmt: skip
        unwrap(
            self._states, counts, self.turn, self._largest, self._slow, way, expected is not None
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
        state, step = self._states[actuator], self.resolution[actuator]
        if not state[INDEXED] > 0.0:
            raise InputError("actuator", f"leg {actuator + 1} has not seen its index pulse")
        turn = self.turn[actuator] * step
        above = state[RAW] * step
        number = np.round((estimate - above - index_coordinate) / turn)
        present = float(index_coordinate + number * turn + above)
        self._anchor[actuator] = present - state[TRAVEL] * step
        return float(estimate - present)

    def decode(self, raw: Any) -> tuple[FloatArray, FloatArray]:
        """Return travel in counts and faults `(k, n)` along counter values `(k, n)`.

        Begins with the decoder's present state, which does not change.

        Raises:
            InputError: wrong shape, not finite.
        """
        rows = as_floats(raw, "raw", len(self.turn))
        travel, faults = np.empty_like(rows), np.empty_like(rows)
        unwrap_many(self._states.copy(), rows, self.turn, self._largest, self._slow, travel, faults)
        return travel, faults


def _counts(value: Any, field: str, half: FloatArray) -> FloatArray:
    counts = np.broadcast_to(as_floats(value, field), half.shape).copy()
    if not ((counts > 0.0) & (counts <= half)).all():
        raise InputError(field, "must be above zero and below half a turn")
    return counts
