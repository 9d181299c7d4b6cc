"""Sines of a base that shakes, written to tables step by step."""

from __future__ import annotations

from math import cos, pi, sin

import numpy as np

from twin.basics.arrays import FloatArray
from twin.kernels.jit import compiled, device


@device
def rise(share: float) -> tuple[float, float]:
    """Return 0 below 0, 1 above 1, smooth to the second derivative between, and its slope."""
    if share <= 0.0:
        return 0.0, 0.0
    if share >= 1.0:
        return 1.0, 0.0
    square = share * share
    slope = 30.0 * square * (1.0 - share) * (1.0 - share)
    return square * share * (10.0 - 15.0 * share + 6.0 * square), slope


@device
def window(time: float, duration: float, fade: float) -> tuple[float, float]:
    """Return how far the motion has faded in, and not yet out, and the rate of that [1/s]."""
    into, into_slope = rise(time / fade)
    out, out_slope = rise((duration - time) / fade)
    return into * out, (into_slope * out - into * out_slope) / fade


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
    ratio, count = mean.shape[1], lines.shape[1]
    away, rate, turns = np.empty(ratio), np.empty(ratio), np.empty((count, 2))
    for axis in range(3):
        before = 0.0
        for k in range(count):
            turn = 2.0 * pi * lines[axis, k, 0] * step
            turns[k, 0], turns[k, 1] = sin(turn), cos(turn)
        for period in range(mean.shape[0] + 1):
            parts = ratio if period < mean.shape[0] else 1
            away[:], rate[:] = 0.0, 0.0
            for k in range(count):
                omega = 2.0 * pi * lines[axis, k, 0]
                swing = lines[axis, k, 1] / omega
                angle = omega * period * ratio * step + lines[axis, k, 2]
                sine, cosine = sin(angle), cos(angle)
                turn_sine, turn_cosine = turns[k]
                for part in range(parts):
                    away[part] -= swing / omega * sine
                    rate[part] -= swing * cosine
                    turned = sine * turn_cosine + cosine * turn_sine
                    cosine = cosine * turn_cosine - sine * turn_sine
                    sine = turned
            for part in range(parts):
                share, slope = window((period * ratio + part) * step, duration, fade)
                speed = share * rate[part] + slope * away[part]
                if part == 0:
                    place[period, axis] = share * away[0]
                if part > 0:
                    mean[period, part - 1, axis] = (speed - before) / step
                elif period > 0:
                    mean[period - 1, ratio - 1, axis] = (speed - before) / step
                before = speed
