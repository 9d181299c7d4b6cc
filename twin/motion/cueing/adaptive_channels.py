"""Gains that descend a cost: surge with pitch, sway with roll, heave; and yaw."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from twin.basics.arrays import FloatArray
from twin.kernels.tasks.motion_cueing.car import GRAVITY
from twin.motion.checks import bounded
from twin.motion.cueing.channel import Channel
from twin.motion.cueing.washout_settings import EXPECTED_FORCE, EXPECTED_RATE

TILTING = np.array([1.0, 1.0, 0.0])
"""Surge and sway lean, heave does not."""


@dataclass(frozen=True, kw_only=True)
class AdaptiveSettings:
    """Gains at rest, weights of the cost, speed of the descent; all adopted."""

    translation_gain: float = 1.0
    """[1] p1 at rest"""
    tilt_gain: float = 0.2
    """[rad s/m] p2 at rest; g p2 is the corner of tilt coordination in rad/s"""
    rotation_gain: float = 1.0
    """[1] p3 at rest, also of yaw"""
    force_weight: float = 1.0
    """[s4/m2] of the squared error of specific force"""
    rate_weight: float = 20.0
    """[s2] of the squared error of angular rate"""
    place_weight: float = 4.0
    """[1] of the squared displacement over what one expected step of acceleration takes"""
    speed_weight: float = 2.0
    """[1] of the squared speed, likewise"""
    return_weight: float = 4.0
    """[1] of the squared departure of a gain from its value at rest, over that value"""
    descent: float = 1.0
    """[1/s] of a gain over its value at rest, per unit of cost"""
    largest: float = 1.5
    """[1] gain over its value at rest"""

    def __post_init__(self) -> None:
        """Check the numbers; raises InputError."""
        for each in fields(self):
            value = bounded(getattr(self, each.name), each.name, 0.0, 1e3)
            object.__setattr__(self, each.name, value)


class CoordinatedChannels:
    """Surge, sway and heave with the lean that gives the steady part of the first two.

    Attributes:
        place: the channel of x, y, z.
        gains: `(3, 3)` over their values at rest; rows p1, p2, p3, columns surge, sway, heave.
        lean_rate: `(3,)` [rad/s] reference; gravity then acts along +x, +y. The last is zero.
    """

    def __init__(
        self, frequency: FloatArray, limit: float, cost: AdaptiveSettings, period: float
    ) -> None:
        self.frequency, self.limit, self.cost, self.period = frequency, limit, cost, period
        self.place, self.slopes = Channel(3, period), [Channel(3, period) for _ in range(3)]
        self.gains = np.ones((3, 3))
        self.lean_rate = np.zeros(3)
        self.lean_slopes = np.zeros((3, 3))
        self.rest = np.array([cost.translation_gain, cost.tilt_gain, cost.rotation_gain])
        self.size = EXPECTED_FORCE / frequency**2
        self.speed = EXPECTED_FORCE / (np.e * frequency)

    def step(
        self, missing: FloatArray, leaning: FloatArray, rate: FloatArray, free: FloatArray
    ) -> None:
        """Advance by one period.

        Args:
            missing: `(3,)` [m/s2] specific force that the lean does not give yet.
            leaning: `(3,)` [m/s2] the part of it that lean may still give.
            rate: `(3,)` [rad/s] reference rate of lean.
            free: `(3,)` 1 where the machine can translate.
        """
        p1, p2, p3 = self.rest[:, None] * self.gains
        p2, p3 = p2 * TILTING, p3 * TILTING
        tilt = p2 * leaning
        follows = (np.abs(tilt) < self.limit) * TILTING
        self.lean_rate = np.clip(tilt, -self.limit, self.limit) + p3 * rate
        w = self.frequency
        self.place.step(p1 * missing * free, 2.0 * w, w * w)
        drift = GRAVITY * p2 * follows * self.lean_slopes
        lean = np.stack([np.zeros(3), leaning * follows, rate * TILTING]) - drift
        self.lean_slopes = self.lean_slopes + self.period * lean
        pulls = np.stack([missing, *(-p1 * GRAVITY * self.lean_slopes[1:])]) * free
        for slope, pull in zip(self.slopes, pulls, strict=True):
            slope.step(pull, 2.0 * w, w * w)
        self._descend(missing, rate, lean)

    def _descend(self, missing: FloatArray, rate: FloatArray, lean: FloatArray) -> None:
        c = self.cost
        force_error = missing - self.place.acceleration
        rate_error = (rate - self.lean_rate) * TILTING
        value, speed, acceleration = (
            np.stack([getattr(slope, name) for slope in self.slopes])
            for name in ("value", "rate", "acceleration")
        )
        slope = (
            -c.force_weight * force_error * (acceleration + GRAVITY * self.lean_slopes)
            - c.rate_weight * rate_error * lean
            + c.place_weight * self.place.value * value / self.size**2
            + c.speed_weight * self.place.rate * speed / self.speed**2
        )
        total = self.rest[:, None] * slope + c.return_weight * (self.gains - 1.0)
        moved = self.gains - self.period * c.descent * total
        self.gains = np.clip(moved, 0.0, c.largest)


class YawChannel:
    """Yaw rate through a high-pass of first order with one gain.

    Attributes:
        gain: over its value at rest.
        rate: [rad/s] reference.
    """

    def __init__(self, frequency: float, cost: AdaptiveSettings, period: float) -> None:
        self.frequency, self.cost, self.period = frequency, cost, period
        self.gain, self.rate, self.slope = 1.0, 0.0, 0.0
        self.size = EXPECTED_RATE / frequency

    def step(self, angle: float, rate: float) -> None:
        """Advance by one period at a yaw angle [rad] and a reference rate [rad/s]."""
        c, w = self.cost, self.frequency
        self.rate = c.rotation_gain * self.gain * rate - w * angle
        slope_rate = rate - w * self.slope
        self.slope += self.period * slope_rate
        total = (
            -c.rate_weight * (rate - self.rate) * slope_rate
            + c.place_weight * angle * self.slope / self.size**2
        )
        total = c.rotation_gain * total + c.return_weight * (self.gain - 1.0)
        moved = self.gain - self.period * c.descent * total
        self.gain = min(max(moved, 0.0), c.largest)
