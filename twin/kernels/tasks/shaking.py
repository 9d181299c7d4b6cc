"""Sines of a base that shakes, written to tables step by step."""

from __future__ import annotations

from math import cos, pi, sin

import numpy as np

from twin.basics.arrays import FloatArray
from twin.kernels.jit import compiled, device
from twin.kernels.lanes.groups import lanes_memory
from twin.kernels.numbers.arrays import as_lanes
from twin.kernels.numbers.lanes import lane

AXES = (0, 0, 0, 0)
"""Lanes: three axes, and one that does not count."""

FRESH = 128
"""Steps after which sines are computed anew: a turn adds a rounding error."""


@device
def rise(share: float) -> tuple[float, float]:
    """Return 0 below 0, 1 above 1, smooth to the second derivative between, and its slope."""
    u = min(1.0, max(0.0, share))
    left = u * (1.0 - u)
    return u * u * u * (10.0 - u * (15.0 - 6.0 * u)), 30.0 * left * left


@device
def window(time: float, duration: float, fade: float) -> tuple[float, float]:
    """Return how far the motion has faded in, and not yet out, and the rate of that [1/s]."""
    into, into_slope = rise(time / fade)
    out, out_slope = rise((duration - time) / fade)
    return into * out, (into_slope * out - into * out_slope) / fade


@device
def turned_on(cosine: float, sine: float, by_cosine: float, by_sine: float) -> tuple[float, float]:
    """Return cosine and sine of an angle, larger by that of `by_cosine` and `by_sine`."""
    return cosine * by_cosine - sine * by_sine, sine * by_cosine + cosine * by_sine


@compiled
def fill_shaking(
    lines: FloatArray,
    duration: float,
    fade: float,
    step: float,
    mean: FloatArray,
    place: FloatArray,
) -> None:
    """Fill what a base does that swings as the sum of `lines`, from rest to rest.

    Each line of acceleration A sin(omega t + phi) displaces by -A sin(omega t + phi) / omega^2;
    the sum is faded in and out. Mean accelerations over steps are differences of exact velocities,
    so that a base that takes them is nowhere faster or slower than the sum.

    Args:
        lines: `(3, k, 3)` per axis: frequency [Hz], acceleration [m/s2], phase [rad].
        duration: [s], at its end the base is back at rest.
        fade: [s].
        step: of the engine [s].
        mean: `(p, ratio, 3)` filled with the mean acceleration over each step of each period.
        place: `(p + 1, 3)` filled with the displacement at the periods' ends [m].
    """
    ratio, count, width = mean.shape[1], lines.shape[1], AXES
    numbers = np.ones((7, count, len(width)))
    for axis in range(3):
        for k in range(count):
            omega = 2.0 * pi * lines[axis, k, 0]
            swing, turn = lines[axis, k, 1] / omega, omega * step
            given = (omega, lines[axis, k, 2], swing, swing / omega, sin(turn), cos(turn))
            for j in range(6):
                numbers[j, k, axis] = given[j]
    lanes = as_lanes(numbers, width)
    omegas, phases, swings, ways = lanes[0], lanes[1], lanes[2], lanes[3]
    turn_sines, turn_cosines = lanes[4], lanes[5]
    sines, cosines = lanes_memory(count, width), lanes_memory(count, width)
    before = lanes[6, 0] - 1.0
    for index in range(mean.shape[0] * ratio + 1):
        period, part = index // ratio, index % ratio
        if index % FRESH == 0:
            for k in range(count):
                angle = omegas[k] * (index * step) + phases[k]
                sines[k] = sin(angle)
                cosines[k] = cos(angle)
        away, rate = 0.0 * before, 0.0 * before
        for k in range(count):
            sine, cosine = sines[k], cosines[k]
            away -= ways[k] * sine
            rate -= swings[k] * cosine
            cosines[k], sines[k] = turned_on(cosine, sine, turn_cosines[k], turn_sines[k])
        share, slope = window(index * step, duration, fade)
        speed = share * rate + slope * away
        for axis in range(3):
            if part == 0:
                place[period, axis] = share * lane(away, axis)
            if index > 0:
                gained = lane(speed, axis) - lane(before, axis)
                mean[(index - 1) // ratio, (index - 1) % ratio, axis] = gained / step
        before = speed
