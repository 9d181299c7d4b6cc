"""Base of the cueing algorithms: samples of a manoeuvre in, axes of the platform out.

It also has the filter of the washouts: a driven oscillator, its acceleration linear between
samples.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np

from twin.basics.arrays import FloatArray, as_vector, positive
from twin.kernels.tasks.motion_cueing.car import GRAVITY
from twin.model.machine_model import MachineModel, as_model

REST = np.array([0.0, 0.0, GRAVITY])
"""[m/s2] specific force at rest"""


class CueingAlgorithm(ABC):
    """A filter stepped at an even period, from rest at the machine's home.

    Attributes:
        platform: the machine.
        period: [s].
        head: `(3,)` [m] driver's head from the platform's reference point, platform axes.
        point: `(3,)` [m] that the axes displace: the head, or the reference point.
        values: `(6,)` x, y, z [m], yaw, pitch, roll [rad] of that point about home.
        rates: `(6,)`.
        accelerations: `(6,)`.
    """

    name: ClassVar[str]
    latency: ClassVar[int] = 0
    """periods by which the sample given lies before the end of the step"""
    keeps_limits: ClassVar[bool] = False
    """whether the axes never take an actuator beyond its limits"""

    def __init__(self, platform: MachineModel, head: object, period: float) -> None:
        """Prepare the parts that all algorithms have.

        Raises:
            InputError: not a machine, no point, period not above zero.
        """
        self.platform = as_model(platform)
        self.head = as_vector(head, "head", 3)
        self.point = self.head
        self.period = positive(period, "period")
        self.values, self.rates, self.accelerations = np.zeros((3, 6))

    @abstractmethod
    def step(self, specific_force: FloatArray, angular_rate: FloatArray) -> None:
        """Advance by one period to the sample `(3,)`, `(3,)` of a manoeuvre at its end."""

    def row(self) -> FloatArray:
        """Return values, rates and accelerations `(3, 6)`."""
        return np.stack([self.values, self.rates, self.accelerations])


def saturated(
    values: FloatArray, scale: FloatArray | float, most: FloatArray | float
) -> FloatArray:
    """Return inputs scaled and cut off: `scale` times `values`, at most `most` in magnitude."""
    return np.asarray(np.clip(scale * values, -most, most))


def euler_rates(angles: FloatArray, rate: FloatArray) -> FloatArray:
    """Return the rates of yaw, pitch, roll [rad/s] for an angular rate in platform axes."""
    _, pitch, roll = angles
    turning = rate[1] * np.sin(roll) + rate[2] * np.cos(roll)
    return np.array(
        [
            turning / np.cos(pitch),
            rate[1] * np.cos(roll) - rate[2] * np.sin(roll),
            rate[0] + turning * np.tan(pitch),
        ]
    )


def to_base(angles: FloatArray, vector: FloatArray) -> FloatArray:
    """Return a vector given in platform axes in base axes, at yaw, pitch, roll [rad]."""
    (cy, cp, cr), (sy, sp, sr) = np.cos(angles), np.sin(angles)
    x, y, z = vector
    y, z = cr * y - sr * z, sr * y + cr * z
    x, z = cp * x + sp * z, -sp * x + cp * z
    return np.array([cy * x - sy * y, sy * x + cy * y, z])


APPROACH = 20.0
"""[1/s] How fast a rate may close on its limit."""


class Channel:
    """A driven oscillator on several axes, stepped through time.

        x'' = f - d x' - k x

    with forcing f, damping d and stiffness k. For a forcing f = a it is a high-pass of the
    acceleration a, for f = k c a low-pass of the value c:

        x'' / a = s^2 / (s^2 + d s + k)
        x / c   = k / (s^2 + d s + k)

    The equation holds at every sample and the acceleration is linear between two, so that value,
    rate and acceleration are one smooth curve:

        x'_1 = x' + T (x'' + x''_1) / 2,   x_1 = x + T x' + T^2 (x'' / 3 + x''_1 / 6)

    which follows the differential equation with an error of second order in T. A rate limit bounds
    the acceleration towards it by

        |x''| <= p (limit - |x'|)

    with p of `APPROACH`. Where p T is at most 2, the rate stays inside at samples and between them.

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
