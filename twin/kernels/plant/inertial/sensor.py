"""Steps of an inertial sensor: its motion, errors, filter and noise to readings at its rate."""

from __future__ import annotations

from math import isfinite
from typing import NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray
from twin.kernels.jit import compiled, device
from twin.kernels.plant.inertial.columns import (
    CLOCK,
    DRIFT,
    EARLY,
    FREQUENCY,
    INSTABILITY,
    NOISE,
    PERIOD,
    POSE,
    RANGE,
    READING,
    SLOPE,
    TRUTH,
    TWIST,
    VALUE,
)
from twin.kernels.plant.inertial.filter import distorted, filtered
from twin.kernels.plant.inertial.motion import fill_instant, fill_mean, fill_sampled_mean


class MotionSamples(NamedTuple):
    """Motion of a platform, one row per time."""

    time: FloatArray
    """`(k,)` [s]"""
    pose: FloatArray
    """`(k, 7)`"""
    twist: FloatArray
    """`(k, 6)`"""
    acceleration: FloatArray
    """`(k, 6)`"""


@device
def latch(model: FloatArray, states: FloatArray) -> bool:
    """Take the present values as the reading, inside the ranges; return whether it is finite."""
    good = True
    for i in range(6):
        value = states[VALUE + i]
        good = good and isfinite(value)
        states[READING + i] = max(-model[i, RANGE], min(model[i, RANGE], value))
    return good


@device
def remember(states: FloatArray, pose: FloatArray, twist: FloatArray) -> None:
    """Keep pose and twist for the next step."""
    for i in range(7):
        states[POSE + i] = pose[i]
    for i in range(6):
        states[TWIST + i] = twist[i]


@compiled
def begin(
    model: FloatArray,
    settings: FloatArray,
    states: FloatArray,
    pose: FloatArray,
    twist: FloatArray,
    acceleration: FloatArray,
    draws: FloatArray,
) -> bool:
    """Set the states after a long motion like this one; return whether the reading is finite."""
    truth = states[TRUTH : TRUTH + 6]
    fill_instant(settings, pose, twist, acceleration, truth)
    for i in range(6):
        states[DRIFT + i] = model[i, INSTABILITY] * draws[i]
    for i in range(6):
        noise = model[i, NOISE]
        states[VALUE + i] = distorted(model, states, truth, i) + noise * draws[6 + i]
        states[SLOPE + i] = noise * settings[FREQUENCY] * draws[12 + i]
    remember(states, pose, twist)
    states[CLOCK], states[CLOCK + 1] = 0.0, settings[PERIOD]
    return latch(model, states)


@device
def clocked(model: FloatArray, settings: FloatArray, states: FloatArray, interval: float) -> int:
    """Move the clock and take a reading when one is due: 1, 0 if none is, -1 if not finite."""
    states[CLOCK] += interval
    if states[CLOCK] < states[CLOCK + 1] - EARLY * interval:
        return 0
    while states[CLOCK + 1] <= states[CLOCK] + EARLY * interval and settings[PERIOD] > 0.0:
        states[CLOCK + 1] += settings[PERIOD]
    return 1 if latch(model, states) else -1


@compiled
def advance(
    model: FloatArray,
    settings: FloatArray,
    states: FloatArray,
    pose: FloatArray,
    twist: FloatArray,
    interval: float,
    truth: FloatArray,
    draws: FloatArray,
) -> int:
    """Advance the sensor by a step that ends with `pose` and `twist`; return as `clocked`."""
    fill_mean(settings, states, pose, twist, interval, truth)
    remember(states, pose, twist)
    filtered(model, settings, states, truth, interval, draws)
    return clocked(model, settings, states, interval)


@compiled
def advance_many(
    model: FloatArray,
    settings: FloatArray,
    states: FloatArray,
    motion: MotionSamples,
    given: bool,
    draws: FloatArray,
    readings: FloatArray,
    fresh: FloatArray,
) -> int:
    """Advance the sensor from each row of a motion to the next, as `advance` for every one.

    Args:
        model: `(6, COLUMNS)`.
        settings: `(SETTINGS,)`.
        states: `(STATES,)` after the first row; overwritten.
        motion: `MotionSamples`.
        given: whether accelerations are given, rather than differences of the twist.
        draws: `(k - 1, DRAWS)` normal numbers.
        readings: `(k, 6)` to be filled from row 1 on.
        fresh: `(k,)` 1 where the row has a new reading, filled from row 1 on.

    Returns:
        The first row that is not finite, or -1.
    """
    time, pose, twist, acceleration = motion
    truth, now = np.empty(6), np.empty(6)
    for k in range(1, len(time)):
        interval = time[k] - time[k - 1]
        if given:
            fill_sampled_mean(settings, states, pose[k], twist[k], acceleration[k], truth, now)
            filtered(model, settings, states, truth, interval, draws[k - 1])
            ready = clocked(model, settings, states, interval)
        else:
            ready = advance(
                model, settings, states, pose[k], twist[k], interval, truth, draws[k - 1]
            )
        if ready < 0:
            return k
        fresh[k] = ready
        for i in range(6):
            readings[k, i] = states[READING + i]
    return -1
