"""Readings of encoders and limit switches at one instant."""

from __future__ import annotations

from twin.basics.arrays import FloatArray
from twin.kernels.jit import compiled
from twin.kernels.plant.columns import (
    COMMANDED_POSITION,
    INERTIA,
    LOWER_SWITCH,
    POSITION,
    POSITIONING,
    SPEED,
    UPPER_SWITCH,
)

COORDINATE_ROW, RATE_ROW, AT_MINIMUM_ROW, AT_MAXIMUM_ROW = range(4)
"""Rows of a reading: coordinate, rate, and 1 where the lower or the upper switch is pressed."""

ROW_COUNT = 4


@compiled
def read_actuators(
    drives: FloatArray,
    states: FloatArray,
    resolution: FloatArray,
    last_coordinates: FloatArray,
    span: float,
    coordinates: FloatArray,
    rates: FloatArray,
    out: FloatArray,
) -> None:
    """Fill `out` (ROW_COUNT, n) with coordinates, rates and switches as the sensors measure them.

    Args:
        drives: `(n, CONSTANTS)`.
        states: `(n, STATES)`; sensors sit on the motors. Those without inertia are where their legs
            are, and are put there.
        resolution: `(n,)` one count in the actuator's coordinate; 0 for an exact sensor. Position
            drives have no exact one: they report the commanded position, at rest.
        last_coordinates: `(n,)` the last reading of the encoders, overwritten by this one.
        span: [s] since then; 0 for none: rates of encoders are then zero.
        coordinates: `(n,)` of the legs.
        rates: `(n,)` of the actuators.
        out: overwritten.
    """
    for i in range(drives.shape[0]):
        if drives[i, INERTIA] == 0.0:
            states[i, POSITION], states[i, SPEED] = coordinates[i], rates[i]
        coordinate, speed = states[i, POSITION], states[i, SPEED]
        if resolution[i] > 0.0:
            coordinate = resolution[i] * round(coordinate / resolution[i])
            speed = (coordinate - last_coordinates[i]) / span if span > 0.0 else 0.0
            last_coordinates[i] = coordinate
        elif drives[i, POSITIONING] > 0.0:
            coordinate, speed = states[i, COMMANDED_POSITION], 0.0
        out[COORDINATE_ROW, i], out[RATE_ROW, i] = coordinate, speed
        out[AT_MINIMUM_ROW, i] = 1.0 if coordinate <= drives[i, LOWER_SWITCH] else 0.0
        out[AT_MAXIMUM_ROW, i] = 1.0 if coordinate >= drives[i, UPPER_SWITCH] else 0.0
