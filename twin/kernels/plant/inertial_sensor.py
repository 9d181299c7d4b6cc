"""What an inertial sensor reads after a step: true motion, errors, filter, noise, output clock."""

from __future__ import annotations

from math import exp, isfinite, sqrt

from twin.basics.arrays import FloatArray
from twin.kernels.jit import compiled, device
from twin.kernels.plant.inertial_filter import noise_factor, transition
from twin.kernels.vectors import Matrix, Vector, add, cross, rotate, rotate_back, rotation, scale

BIAS, NOISE, INSTABILITY, FORGETTING, RANGE = 6, 7, 8, 9, 10
"""Columns of the model `(6, COLUMNS)` after the matrix from true quantities to read ones."""

COLUMNS = 11

FREQUENCY, DAMPING, PERIOD, GRAVITY, PLACE, AXES = 0, 1, 2, 3, 4, 7
"""Entries of the settings `(SETTINGS,)`: filter [rad/s], output period [s], gravity, mounting."""

SETTINGS = 16

VALUE, SLOPE, DRIFT, READING, TRUTH, POSE, TWIST, CLOCK = 0, 6, 12, 18, 24, 30, 37, 43
"""Entries of the states `(STATES,)`; the clock is the time and the time of the next reading."""

STATES = 45

DRAWS = 18
"""Normal numbers that one step takes."""

EARLY = 1e-6
"""Part of a step by which a reading may come early: rounding of times."""


@device
def _mounted(settings: FloatArray, pose: FloatArray, at: int) -> tuple[Matrix, Vector]:
    """Return the platform's rotation and the sensor's place from the reference point, base axes."""
    turn = rotation(pose[at], pose[at + 1], pose[at + 2], pose[at + 3])
    return turn, rotate(turn, (settings[PLACE], settings[PLACE + 1], settings[PLACE + 2]))


@device
def _in_sensor(settings: FloatArray, turn: Matrix, vector: Vector) -> Vector:
    """Return a vector in base axes along the sensor's axes."""
    axes = (
        settings[AXES],
        settings[AXES + 1],
        settings[AXES + 2],
        settings[AXES + 3],
        settings[AXES + 4],
        settings[AXES + 5],
        settings[AXES + 6],
        settings[AXES + 7],
        settings[AXES + 8],
    )
    return rotate_back(axes, rotate_back(turn, vector))


@device
def _three(array: FloatArray, start: int) -> Vector:
    return array[start], array[start + 1], array[start + 2]


@device
def _felt(
    settings: FloatArray,
    pose: FloatArray,
    twist: FloatArray,
    acceleration: FloatArray,
    out: FloatArray,
) -> None:
    """Write specific force and angular rate at one instant to `out` (6,)."""
    turn, arm = _mounted(settings, pose, 3)
    rate = _three(twist, 3)
    moved = add(_three(acceleration, 0), cross(_three(acceleration, 3), arm))
    moved = add(moved, cross(rate, cross(rate, arm)))
    moved = (moved[0], moved[1], moved[2] + settings[GRAVITY])
    out[0], out[1], out[2] = _in_sensor(settings, turn, moved)
    out[3], out[4], out[5] = _in_sensor(settings, turn, rate)


@device
def _felt_over(
    settings: FloatArray,
    states: FloatArray,
    pose: FloatArray,
    twist: FloatArray,
    interval: float,
    out: FloatArray,
) -> None:
    """Write the means over a step to `out` (6,): what changed the velocity of the sensor's point.

    The mean acceleration is turned at half the step, where the mean is, to second order.
    """
    before, arm_before = _mounted(settings, states, POSE + 3)
    after, arm_after = _mounted(settings, pose, 3)
    rate_before, rate_after = _three(states, TWIST + 3), _three(twist, 3)
    start = add(_three(states, TWIST), cross(rate_before, arm_before))
    end = add(_three(twist, 0), cross(rate_after, arm_after))
    w, x, y, z = states[POSE + 3], states[POSE + 4], states[POSE + 5], states[POSE + 6]
    sign = 1.0 if w * pose[3] + x * pose[4] + y * pose[5] + z * pose[6] >= 0.0 else -1.0
    w, x, y, z = w + sign * pose[3], x + sign * pose[4], y + sign * pose[5], z + sign * pose[6]
    size = 1.0 / sqrt(w * w + x * x + y * y + z * z)
    middle = rotation(w * size, x * size, y * size, z * size)
    mean = scale(1.0 / interval, add(end, scale(-1.0, start)))
    mean = (mean[0], mean[1], mean[2] + settings[GRAVITY])
    out[0], out[1], out[2] = _in_sensor(settings, middle, mean)
    turned = add(_in_sensor(settings, before, rate_before), _in_sensor(settings, after, rate_after))
    out[3], out[4], out[5] = scale(0.5, turned)


@device
def _latch(model: FloatArray, states: FloatArray) -> bool:
    """Take the present values as the reading, inside the ranges; tell whether it is finite."""
    good = True
    for i in range(6):
        value = states[VALUE + i]
        good = good and isfinite(value)
        states[READING + i] = max(-model[i, RANGE], min(model[i, RANGE], value))
    return good


@device
def _distorted(model: FloatArray, states: FloatArray, truth: FloatArray, i: int) -> float:
    """Return what axis i makes of the true quantities (6,)."""
    total = model[i, BIAS] + states[DRIFT + i]
    for j in range(6):
        total += model[i, j] * truth[j]
    return total


@device
def _remember(states: FloatArray, pose: FloatArray, twist: FloatArray) -> None:
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
    """Set the states of a sensor that has felt this motion for long; tell whether it is finite."""
    truth = states[TRUTH : TRUTH + 6]
    _felt(settings, pose, twist, acceleration, truth)
    for i in range(6):
        states[DRIFT + i] = model[i, INSTABILITY] * draws[i]
    for i in range(6):
        noise = model[i, NOISE]
        states[VALUE + i] = _distorted(model, states, truth, i) + noise * draws[6 + i]
        states[SLOPE + i] = noise * settings[FREQUENCY] * draws[12 + i]
    _remember(states, pose, twist)
    states[CLOCK], states[CLOCK + 1] = 0.0, settings[PERIOD]
    return _latch(model, states)


@device
def _filtered(
    model: FloatArray,
    settings: FloatArray,
    states: FloatArray,
    felt: FloatArray,
    interval: float,
    draws: FloatArray,
) -> None:
    """Take the filters over a step in which the sensor felt `felt` (6,) on the mean."""
    frequency = settings[FREQUENCY]
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    first, mixed, second = 1.0, 0.0, 0.0
    if frequency > 0.0:
        a, b, c, d = transition(frequency, settings[DAMPING], interval)
        first, mixed, second = noise_factor(frequency, (a, b, c, d))
    for i in range(6):
        kept = exp(-interval * model[i, FORGETTING])
        fresh = model[i, INSTABILITY] * sqrt(max(1.0 - kept * kept, 0.0))
        states[DRIFT + i] = kept * states[DRIFT + i] + fresh * draws[i]
    for i in range(6):
        target = _distorted(model, states, felt, i)
        apart, slope, noise = states[VALUE + i] - target, states[SLOPE + i], model[i, NOISE]
        states[VALUE + i] = target + a * apart + b * slope + noise * first * draws[6 + i]
        states[SLOPE + i] = (
            c * apart + d * slope + noise * (mixed * draws[6 + i] + second * draws[12 + i])
        )


@device
def _clocked(model: FloatArray, settings: FloatArray, states: FloatArray, interval: float) -> int:
    """Move the clock and take a reading when one is due: 1, 0 if none is, -1 if not finite."""
    states[CLOCK] += interval
    if states[CLOCK] < states[CLOCK + 1] - EARLY * interval:
        return 0
    while states[CLOCK + 1] <= states[CLOCK] + EARLY * interval and settings[PERIOD] > 0.0:
        states[CLOCK + 1] += settings[PERIOD]
    return 1 if _latch(model, states) else -1


@compiled
def advance(
    model: FloatArray,
    settings: FloatArray,
    states: FloatArray,
    pose: FloatArray,
    twist: FloatArray,
    interval: float,
    felt: FloatArray,
    draws: FloatArray,
) -> int:
    """Take the sensor over a step that ends with `pose` and `twist`; answers as `_clocked`."""
    _felt_over(settings, states, pose, twist, interval, felt)
    _remember(states, pose, twist)
    _filtered(model, settings, states, felt, interval, draws)
    return _clocked(model, settings, states, interval)


@device
def _sampled(
    settings: FloatArray,
    states: FloatArray,
    pose: FloatArray,
    twist: FloatArray,
    acceleration: FloatArray,
    felt: FloatArray,
    now: FloatArray,
) -> None:
    """Write to `felt` (6,) the mean of what is felt at both ends of a step, accelerations given."""
    _felt(settings, pose, twist, acceleration, now)
    for i in range(6):
        # Without a filter there is nothing to average for: the reading is that of the instant.
        mean = 0.5 * (states[TRUTH + i] + now[i])
        felt[i] = mean if settings[FREQUENCY] > 0.0 else now[i]
        states[TRUTH + i] = now[i]


@compiled
def advance_many(
    model: FloatArray,
    settings: FloatArray,
    states: FloatArray,
    time: FloatArray,
    pose: FloatArray,
    twist: FloatArray,
    acceleration: FloatArray,
    given: bool,
    work: FloatArray,
    draws: FloatArray,
    readings: FloatArray,
    fresh: FloatArray,
) -> int:
    """Take the sensor over the steps from each row to the next, as `advance` for every one.

    Args:
        model: `(6, COLUMNS)`.
        settings: `(SETTINGS,)`.
        states: `(STATES,)` after the first row; overwritten.
        time: `(k,)` [s].
        pose: `(k, 7)`.
        twist: `(k, 6)`.
        acceleration: `(k, 6)`; used only where `given`.
        given: whether accelerations are given, rather than differences of the twist.
        work: `(2, 6)`.
        draws: `(k - 1, DRAWS)` normal numbers.
        readings: `(k, 6)` to be filled from row 1 on.
        fresh: `(k,)` 1 where the row has a new reading, filled from row 1 on.

    Returns:
        The first row that is not finite, or -1.
    """
    for k in range(1, len(time)):
        interval = time[k] - time[k - 1]
        if given:
            _sampled(settings, states, pose[k], twist[k], acceleration[k], work[0], work[1])
            _filtered(model, settings, states, work[0], interval, draws[k - 1])
            told = _clocked(model, settings, states, interval)
        else:
            told = advance(
                model, settings, states, pose[k], twist[k], interval, work[0], draws[k - 1]
            )
        if told < 0:
            return k
        fresh[k] = told
        for i in range(6):
            readings[k, i] = states[READING + i]
    return -1
