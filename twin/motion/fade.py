"""Smooth transition from 0 to 1, and the window that fades a motion in and out with it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray
from twin.motion.axes import AxisSample


def minimum_jerk(phase: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the quintic transition and its first two derivatives by `phase`.

    0 up to phase 0, 1 from phase 1 on, with zero first and second derivatives at both ends.

    Reference:
        Flash and Hogan, The coordination of arm movements, J. Neuroscience 5 (1985).
    """
    u = np.clip(phase, 0.0, 1.0)
    value = u**3 * (10.0 + u * (6.0 * u - 15.0))
    slope = 30.0 * (u * (1.0 - u)) ** 2
    curvature = 60.0 * u * (1.0 - u) * (1.0 - 2.0 * u)
    return value, slope, curvature


class Fade(NamedTuple):
    """A window over a motion: rises at the start, falls at the end, zero seconds is no fade."""

    fade_in: float
    """[s]"""
    fade_out: float
    """[s]"""
    duration: float
    """[s]"""

    def window(self, time: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the window and its first two time derivatives at `time` `(m,)` [s]."""
        value, rate, acceleration = np.ones_like(time), np.zeros_like(time), np.zeros_like(time)
        # The two transitions never overlap, so they may be added instead of multiplied.
        if self.fade_in:
            rise, slope, curvature = minimum_jerk(time / self.fade_in)
            value += rise - 1.0
            rate += slope / self.fade_in
            acceleration += curvature / self.fade_in**2
        if self.fade_out:
            rise, slope, curvature = minimum_jerk((self.duration - time) / self.fade_out)
            value += rise - 1.0
            rate -= slope / self.fade_out
            acceleration += curvature / self.fade_out**2
        return value, rate, acceleration

    def apply(self, time: FloatArray, sample: AxisSample) -> AxisSample:
        """Return the windowed axes `(m, k)`, derivatives by the product rule."""
        if not (self.fade_in or self.fade_out):
            return sample
        w, w1, w2 = (part[:, None] for part in self.window(time))
        x, x1, x2 = sample
        return AxisSample(w * x, w1 * x + w * x1, w2 * x + 2.0 * w1 * x1 + w * x2)
