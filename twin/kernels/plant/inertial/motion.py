"""Specific force and angular rate of a motion, along the axes of an inertial sensor."""

from __future__ import annotations

from math import sqrt

from twin.basics.arrays import FloatArray
from twin.kernels.jit import device
from twin.kernels.plant.inertial.columns import AXES, FREQUENCY, GRAVITY, PLACE, POSE, TRUTH, TWIST
from twin.kernels.vectors import Matrix, Vector, add, cross, rotate, rotate_back, rotation, scale


@device
def mounted(settings: FloatArray, pose: FloatArray, at: int) -> tuple[Matrix, Vector]:
    """Return the platform's rotation and the sensor's place from the reference point, base axes."""
    turn = rotation(pose[at], pose[at + 1], pose[at + 2], pose[at + 3])
    return turn, rotate(turn, (settings[PLACE], settings[PLACE + 1], settings[PLACE + 2]))


@device
def in_sensor(settings: FloatArray, turn: Matrix, vector: Vector) -> Vector:
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
def three(array: FloatArray, start: int) -> Vector:
    """Return three entries of an array from `start` on."""
    return array[start], array[start + 1], array[start + 2]


@device
def fill_instant(
    settings: FloatArray,
    pose: FloatArray,
    twist: FloatArray,
    acceleration: FloatArray,
    out: FloatArray,
) -> None:
    """Write specific force and angular rate at one instant to `out` (6,)."""
    turn, arm = mounted(settings, pose, 3)
    rate = three(twist, 3)
    moved = add(three(acceleration, 0), cross(three(acceleration, 3), arm))
    moved = add(moved, cross(rate, cross(rate, arm)))
    moved = (moved[0], moved[1], moved[2] + settings[GRAVITY])
    out[0], out[1], out[2] = in_sensor(settings, turn, moved)
    out[3], out[4], out[5] = in_sensor(settings, turn, rate)


@device
def fill_mean(
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
    before, arm_before = mounted(settings, states, POSE + 3)
    after, arm_after = mounted(settings, pose, 3)
    rate_before, rate_after = three(states, TWIST + 3), three(twist, 3)
    start = add(three(states, TWIST), cross(rate_before, arm_before))
    end = add(three(twist, 0), cross(rate_after, arm_after))
    w, x, y, z = states[POSE + 3], states[POSE + 4], states[POSE + 5], states[POSE + 6]
    sign = 1.0 if w * pose[3] + x * pose[4] + y * pose[5] + z * pose[6] >= 0.0 else -1.0
    w, x, y, z = w + sign * pose[3], x + sign * pose[4], y + sign * pose[5], z + sign * pose[6]
    size = 1.0 / sqrt(w * w + x * x + y * y + z * z)
    middle = rotation(w * size, x * size, y * size, z * size)
    mean = scale(1.0 / interval, add(end, scale(-1.0, start)))
    mean = (mean[0], mean[1], mean[2] + settings[GRAVITY])
    out[0], out[1], out[2] = in_sensor(settings, middle, mean)
    turned = add(in_sensor(settings, before, rate_before), in_sensor(settings, after, rate_after))
    out[3], out[4], out[5] = scale(0.5, turned)


@device
def fill_sampled_mean(
    settings: FloatArray,
    states: FloatArray,
    pose: FloatArray,
    twist: FloatArray,
    acceleration: FloatArray,
    truth: FloatArray,
    now: FloatArray,
) -> None:
    """Write the mean of both ends of a step to `truth` (6,), accelerations given."""
    fill_instant(settings, pose, twist, acceleration, now)
    for i in range(6):
        # Without a filter there is nothing to average for: the reading is that of the instant.
        mean = 0.5 * (states[TRUTH + i] + now[i])
        truth[i] = mean if settings[FREQUENCY] > 0.0 else now[i]
        states[TRUTH + i] = now[i]
