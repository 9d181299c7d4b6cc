"""One filter of a washout: a driven oscillator, its acceleration linear between samples."""

from __future__ import annotations

from typing import Any

import numpy as np

from twin.basics.arrays import FloatArray

APPROACH = 20.0
"""[1/s] How fast a rate may close on its limit."""


class Channel:
    """x'' = input - damping x' - stiffness x on several axes, stepped through time.

    With input a it is the high-pass s^2 / (s^2 + damping s + stiffness) of an acceleration a; with
    input stiffness c the low-pass of a value c. The equation holds at every sample and the
    acceleration is linear between two, so that value, rate and acceleration are one smooth curve:

        x'_1 = x' + T (x'' + x''_1) / 2,   x_1 = x + T x' + T^2 (x'' / 3 + x''_1 / 6)

    which follows the differential equation with an error of second order in T. With a rate limit,
    |x'| never exceeds it: |x''| <= APPROACH (limit - |x'|) towards it, which for APPROACH T <= 2
    keeps samples and what lies between inside.

    Attributes:
        value: `(k,)`.
        rate: `(k,)`.
        acceleration: `(k,)`.

    Reference:
        Newmark, A method of computation for structural dynamics, J. Eng. Mech. Div. ASCE 85 (1959),
        linear acceleration.
    """

    def __init__(self, size: int, period: float) -> None:
        self.period = period
        self.value, self.rate, self.acceleration = np.zeros((3, size))

    def step(self, forcing: Any, damping: Any, stiffness: Any, limit: Any = None) -> FloatArray:
        """Advance by one period to where `forcing` `(k,)` acts; return the value there.

        Args:
            forcing: at the end of the period.
            damping: [1/s], one number or `(k,)`.
            stiffness: [1/s2], likewise.
            limit: of the rate; None for none.
        """
        t = self.period
        rate = self.rate + 0.5 * t * self.acceleration
        value = self.value + t * self.rate + t * t / 3.0 * self.acceleration
        inertia = 1.0 + 0.5 * t * damping + t * t / 6.0 * stiffness
        new = (forcing - damping * rate - stiffness * value) / inertia
        if limit is not None:
            pull = APPROACH / (1.0 + 0.5 * t * APPROACH)
            new = np.clip(new, -pull * (limit + rate), pull * (limit - rate))
        self.acceleration = new
        self.rate = rate + 0.5 * t * new
        self.value = value + t * t / 6.0 * new
        return self.value


class HighPass:
    """First-order high-pass s / (s + corner), bilinear."""

    def __init__(self, corner: Any, period: float) -> None:
        half = 0.5 * period * np.asarray(corner, dtype=np.float64)
        self.forget = (1.0 - half) / (1.0 + half)
        self.gain = 1.0 / (1.0 + half)
        self.input = np.zeros_like(half)
        self.output = np.zeros_like(half)

    def step(self, value: FloatArray) -> FloatArray:
        """Return the output for the next input."""
        self.output = self.forget * self.output + self.gain * (value - self.input)
        self.input = value
        return self.output


class Derivative:
    """Rate of change by backward differences of second order, from rest at the first sample."""

    def __init__(self, size: int, period: float) -> None:
        self.before = np.zeros((2, size))
        self.period = period

    def step(self, value: FloatArray) -> FloatArray:
        """Return (3 x - 4 x_before + x_before_that) / (2 period)."""
        last, older = self.before
        result = (3.0 * value - 4.0 * last + older) / (2.0 * self.period)
        self.before = np.stack([value, last])
        return np.asarray(result)
