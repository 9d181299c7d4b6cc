"""The inertial sensor: the layout of its arrays, and the step from its motion to its readings."""

from __future__ import annotations

from math import cos, exp, isfinite, sin, sqrt
from typing import NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray
from twin.kernels.jit import compiled, device
from twin.kernels.linear_algebra import (
    Matrix,
    Vector,
    add,
    cross,
    rotate,
    rotate_back,
    rotation,
    rotation_at,
    scale,
    vector_at,
)

BIAS, NOISE, INSTABILITY, DRIFT_DECAY_RATE, RANGE = 6, 7, 8, 9, 10
"""Columns of the model `(6, COLUMN_COUNT)` after the matrix from true quantities to read ones."""

COLUMN_COUNT = 11

FREQUENCY, DAMPING, PERIOD, GRAVITY, POSITION, AXES = 0, 1, 2, 3, 4, 7
"""Entries of the settings `(SETTING_COUNT,)`: natural frequency [rad/s] and damping ratio of the
filter, output period [s], gravity [m/s2], position and axes of the mounting."""

SETTING_COUNT = 16

FILTER_VALUE, FILTER_RATE, BIAS_DRIFT, READING, TRUE_INPUT, POSE, TWIST, CLOCK = (
    0,
    6,
    12,
    18,
    24,
    30,
    37,
    43,
)
"""Entries of the states `(STATE_COUNT,)`; the clock is the time and that of the next reading."""

STATE_COUNT = 45

DRAW_COUNT = 18
"""Normal numbers that one step takes."""

EARLY_FRACTION = 1e-6
"""Fraction of a step by which a reading may come early: rounding of times."""


@device
def mounted(settings: FloatArray, pose: FloatArray, entry: int) -> tuple[Matrix, Vector]:
    """Return the platform's rotation and the sensor's place from the reference point, base axes."""
    platform_rotation = rotation_at(pose, entry)
    return platform_rotation, rotate(platform_rotation, vector_at(settings, POSITION))


@device
def in_sensor(settings: FloatArray, turn: Matrix, vector: Vector) -> Vector:
    """Return a vector in base axes along the sensor's axes."""
    x, y = vector_at(settings, AXES), vector_at(settings, AXES + 3)
    axes = x + y + vector_at(settings, AXES + 6)
    return rotate_back(axes, rotate_back(turn, vector))


@device
def fill_instant(
    settings: FloatArray,
    pose: FloatArray,
    twist: FloatArray,
    acceleration: FloatArray,
    out: FloatArray,
) -> None:
    """Write specific force and angular rate at one instant to `out` (6,)."""
    platform_rotation, arm = mounted(settings, pose, 3)
    rate = vector_at(twist, 3)
    sensor_acceleration = add(vector_at(acceleration, 0), cross(vector_at(acceleration, 3), arm))
    sensor_acceleration = add(sensor_acceleration, cross(rate, cross(rate, arm)))
    sensor_acceleration = (
        sensor_acceleration[0],
        sensor_acceleration[1],
        sensor_acceleration[2] + settings[GRAVITY],
    )
    out[0], out[1], out[2] = in_sensor(settings, platform_rotation, sensor_acceleration)
    out[3], out[4], out[5] = in_sensor(settings, platform_rotation, rate)


@device
def fill_mean(
    settings: FloatArray,
    states: FloatArray,
    pose: FloatArray,
    twist: FloatArray,
    interval: float,
    out: FloatArray,
) -> None:
    """Write mean specific force and angular rate over a step to `out` (6,), sensor axes.

    The mean acceleration is turned at half the step, where the mean is, to second order.
    """
    rotation_before, arm_before = mounted(settings, states, POSE + 3)
    rotation_after, arm_after = mounted(settings, pose, 3)
    rate_before, rate_after = vector_at(states, TWIST + 3), vector_at(twist, 3)
    velocity_before = add(vector_at(states, TWIST), cross(rate_before, arm_before))
    velocity_after = add(vector_at(twist, 0), cross(rate_after, arm_after))
    w, x, y, z = states[POSE + 3], states[POSE + 4], states[POSE + 5], states[POSE + 6]
    quaternion_sign = 1.0 if w * pose[3] + x * pose[4] + y * pose[5] + z * pose[6] >= 0.0 else -1.0
    w, x, y, z = (
        w + quaternion_sign * pose[3],
        x + quaternion_sign * pose[4],
        y + quaternion_sign * pose[5],
        z + quaternion_sign * pose[6],
    )
    size = 1.0 / sqrt(w * w + x * x + y * y + z * z)
    mean_rotation = rotation(w * size, x * size, y * size, z * size)
    mean = scale(1.0 / interval, add(velocity_after, scale(-1.0, velocity_before)))
    mean = (mean[0], mean[1], mean[2] + settings[GRAVITY])
    out[0], out[1], out[2] = in_sensor(settings, mean_rotation, mean)
    rate_sum = add(
        in_sensor(settings, rotation_before, rate_before),
        in_sensor(settings, rotation_after, rate_after),
    )
    out[3], out[4], out[5] = scale(0.5, rate_sum)


@device
def fill_sampled_mean(
    settings: FloatArray,
    states: FloatArray,
    pose: FloatArray,
    twist: FloatArray,
    acceleration: FloatArray,
    truth: FloatArray,
    present: FloatArray,
) -> None:
    """Write the mean of both ends of a step to `truth` (6,), accelerations given."""
    fill_instant(settings, pose, twist, acceleration, present)
    for i in range(6):
        # Without a filter there is nothing to average for: the reading is that of the instant.
        mean = 0.5 * (states[TRUE_INPUT + i] + present[i])
        truth[i] = mean if settings[FREQUENCY] > 0.0 else present[i]
        states[TRUE_INPUT + i] = present[i]


@device
def transition(
    frequency: float, damping: float, interval: float
) -> tuple[float, float, float, float]:
    """Return the transition matrix over `interval` [s] of x'' = w^2 (u - x) - 2 d w x'.

    Args:
        frequency: natural frequency w [rad/s], where the phase is -90 degrees.
        damping: ratio d, below one.
        interval: [s].

    Returns:
        Entries 11, 12, 21, 22 for the state (x - u, x') with u constant over the interval.
    """
    decay_rate = damping * frequency
    ringing = frequency * sqrt(1.0 - damping * damping)
    envelope = exp(-decay_rate * interval)
    even, odd = envelope * cos(ringing * interval), envelope * sin(ringing * interval) / ringing
    return even + decay_rate * odd, odd, -frequency * frequency * odd, even - decay_rate * odd


@device
def noise_factor(
    frequency: float, step: tuple[float, float, float, float]
) -> tuple[float, float, float]:
    """Return the lower Cholesky factor 11, 21, 22 of the covariance of a step's noise.

    White noise at the input that makes x have unit variance makes x' have the variance w^2, and
    the two are uncorrelated; the step's share is what the transition loses of that.

    Args:
        frequency: natural frequency w [rad/s].
        step: entries of `transition`.
    """
    a, b, c, d = step
    squared_frequency = frequency * frequency
    first_variance = max(1.0 - a * a - b * b * squared_frequency, 0.0)
    cross_covariance = -(a * c + b * d * squared_frequency)
    second_variance = max(squared_frequency - c * c - d * d * squared_frequency, 0.0)
    root = sqrt(first_variance)
    lower = cross_covariance / root if root > 0.0 else 0.0
    return root, lower, sqrt(max(second_variance - lower * lower, 0.0))


@device
def distorted(model: FloatArray, states: FloatArray, truth: FloatArray, i: int) -> float:
    """Return the true quantities (6,) with the errors of axis i, before filter and noise."""
    total = model[i, BIAS] + states[BIAS_DRIFT + i]
    for j in range(6):
        total += model[i, j] * truth[j]
    return total


@device
def filtered(
    model: FloatArray,
    settings: FloatArray,
    states: FloatArray,
    truth: FloatArray,
    interval: float,
    draws: FloatArray,
) -> None:
    """Advance the filters by a step over which the true quantities have the mean `truth` (6,)."""
    frequency = settings[FREQUENCY]
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    first_gain, cross_gain, second_gain = 1.0, 0.0, 0.0
    if frequency > 0.0:
        a, b, c, d = transition(frequency, settings[DAMPING], interval)
        first_gain, cross_gain, second_gain = noise_factor(frequency, (a, b, c, d))
    for i in range(6):
        drift_decay = exp(-interval * model[i, DRIFT_DECAY_RATE])
        drift_noise = model[i, INSTABILITY] * sqrt(max(1.0 - drift_decay * drift_decay, 0.0))
        states[BIAS_DRIFT + i] = drift_decay * states[BIAS_DRIFT + i] + drift_noise * draws[i]
    for i in range(6):
        distorted_input = distorted(model, states, truth, i)
        deviation, slope, noise = (
            states[FILTER_VALUE + i] - distorted_input,
            states[FILTER_RATE + i],
            model[i, NOISE],
        )
        states[FILTER_VALUE + i] = (
            distorted_input + a * deviation + b * slope + noise * first_gain * draws[6 + i]
        )
        states[FILTER_RATE + i] = (
            c * deviation
            + d * slope
            + noise * (cross_gain * draws[6 + i] + second_gain * draws[12 + i])
        )


class MotionSamples(NamedTuple):
    """Motion of a platform, one row per time."""

    time: FloatArray
    """`(k,)` [s]"""
    pose: FloatArray
    """`(k, 7)` of the platform in the base: position [m], unit quaternion (scalar first)"""
    twist: FloatArray
    """`(k, 6)` of the platform, base axes [m/s, rad/s]"""
    acceleration: FloatArray
    """`(k, 6)` of the platform, base axes [m/s2, rad/s2]"""


@device
def latch(model: FloatArray, states: FloatArray) -> bool:
    """Take the present values as the reading, inside the ranges; return whether it is finite."""
    is_finite = True
    for i in range(6):
        value = states[FILTER_VALUE + i]
        is_finite = is_finite and isfinite(value)
        states[READING + i] = max(-model[i, RANGE], min(model[i, RANGE], value))
    return is_finite


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
    """Set the steady state of this motion; return whether the reading is finite."""
    truth = states[TRUE_INPUT : TRUE_INPUT + 6]
    fill_instant(settings, pose, twist, acceleration, truth)
    for i in range(6):
        states[BIAS_DRIFT + i] = model[i, INSTABILITY] * draws[i]
    for i in range(6):
        noise = model[i, NOISE]
        states[FILTER_VALUE + i] = distorted(model, states, truth, i) + noise * draws[6 + i]
        states[FILTER_RATE + i] = noise * settings[FREQUENCY] * draws[12 + i]
    remember(states, pose, twist)
    states[CLOCK], states[CLOCK + 1] = 0.0, settings[PERIOD]
    return latch(model, states)


@device
def clocked(model: FloatArray, settings: FloatArray, states: FloatArray, interval: float) -> int:
    """Move the clock and take a reading when one is due: 1, 0 if none is, -1 if not finite."""
    states[CLOCK] += interval
    if states[CLOCK] < states[CLOCK + 1] - EARLY_FRACTION * interval:
        return 0
    while states[CLOCK + 1] <= states[CLOCK] + EARLY_FRACTION * interval and settings[PERIOD] > 0.0:
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
    has_accelerations: bool,
    draws: FloatArray,
    readings: FloatArray,
    fresh: FloatArray,
) -> int:
    """Advance the sensor from each row of a motion to the next, as `advance` for every one.

    Args:
        model: `(6, COLUMN_COUNT)`.
        settings: `(SETTING_COUNT,)`.
        states: `(STATE_COUNT,)` after the first row; overwritten.
        motion: `MotionSamples`.
        has_accelerations: whether accelerations are given, rather than differences of the twist.
        draws: `(k - 1, DRAW_COUNT)` normal numbers.
        readings: `(k, 6)` to be filled from row 1 on.
        fresh: `(k,)` 1 where the row has a new reading, filled from row 1 on.

    Returns:
        The first row that is not finite, or -1.
    """
    time, pose, twist, acceleration = motion
    true_motion, present_motion = np.empty(6), np.empty(6)
    for k in range(1, len(time)):
        interval = time[k] - time[k - 1]
        if has_accelerations:
            fill_sampled_mean(
                settings, states, pose[k], twist[k], acceleration[k], true_motion, present_motion
            )
            filtered(model, settings, states, true_motion, interval, draws[k - 1])
            reading_state = clocked(model, settings, states, interval)
        else:
            reading_state = advance(
                model, settings, states, pose[k], twist[k], interval, true_motion, draws[k - 1]
            )
        if reading_state < 0:
            return k
        fresh[k] = reading_state
        for i in range(6):
            readings[k, i] = states[READING + i]
    return -1
