"""Numbers that carry their first two time derivatives through a formula.

A closed form written once for arrays then also gives velocities and accelerations, exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from twin.basics.arrays import FloatArray


@dataclass(frozen=True)
class Jet:
    """A quantity `(...)` with its rate and acceleration of the same shape."""

    value: FloatArray
    rate: FloatArray
    acceleration: FloatArray

    __array_ufunc__ = None
    """Arrays on the left of an operator leave it to this class"""

    def __add__(self, other: Any) -> Jet:
        if isinstance(other, Jet):
            return Jet(
                self.value + other.value,
                self.rate + other.rate,
                self.acceleration + other.acceleration,
            )
        return Jet(self.value + other, self.rate, self.acceleration)

    __radd__ = __add__

    def __neg__(self) -> Jet:
        return Jet(-self.value, -self.rate, -self.acceleration)

    def __sub__(self, other: Any) -> Jet:
        return self.__add__(-other)

    def __rsub__(self, other: Any) -> Jet:
        return (-self).__add__(other)

    def __mul__(self, other: Any) -> Jet:
        if isinstance(other, Jet):
            twice = 2.0 * self.rate * other.rate
            return Jet(
                self.value * other.value,
                self.rate * other.value + self.value * other.rate,
                self.acceleration * other.value + twice + self.value * other.acceleration,
            )
        return Jet(self.value * other, self.rate * other, self.acceleration * other)

    __rmul__ = __mul__

    def through(self, value: FloatArray, slope: FloatArray, curvature: FloatArray) -> Jet:
        """Return f(self), given f and its first two derivatives at `self.value`."""
        acceleration = slope * self.acceleration + curvature * self.rate**2
        return Jet(value, slope * self.rate, acceleration)


def tangent(angle: Any) -> Any:
    """Return the tangent of an angle [rad], an array or a Jet."""
    if not isinstance(angle, Jet):
        return np.tan(angle)
    value = np.tan(angle.value)
    slope = 1.0 + value**2
    return angle.through(value, slope, 2.0 * value * slope)


def secant(angle: Any) -> Any:
    """Return one over the cosine of an angle [rad], an array or a Jet."""
    if not isinstance(angle, Jet):
        return 1.0 / np.cos(angle)
    value, slope = 1.0 / np.cos(angle.value), np.tan(angle.value)
    return angle.through(value, value * slope, value * (1.0 + 2.0 * slope**2))


def cosine(angle: Any) -> Any:
    """Return the cosine of an angle [rad], an array or a Jet."""
    if not isinstance(angle, Jet):
        return np.cos(angle)
    value = np.cos(angle.value)
    return angle.through(value, -np.sin(angle.value), -value)


def arctangent(slope: Any) -> Any:
    """Return the angle [rad] of a slope, an array or a Jet."""
    if not isinstance(slope, Jet):
        return np.arctan(slope)
    first = 1.0 / (1.0 + slope.value**2)
    return slope.through(np.arctan(slope.value), first, -2.0 * slope.value * first**2)
