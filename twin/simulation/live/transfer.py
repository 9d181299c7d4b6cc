"""A smooth way from one state of motion to another, no faster than the actuators can follow."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray
from twin.motion.axes import AxisSample
from twin.simulation.platform import Platform

SPEED_SHARE = 0.6
"""Adopted: of the actuators' speed limit that a transfer uses."""

USUAL_TIME = 1.0
"""[s] Adopted: from end to end of the stroke where no speed limit is known."""

RISING = 0.15
"""[s] Adopted: in which an actuator reaches its speed limit."""

SHORTEST = 0.25
"""[s] Adopted: of a transfer, however small."""

FACTORS = (*1.25 ** np.arange(16), *0.8 ** np.arange(1, 8))
"""Durations that are tried in turn, in parts of the usual one, from a state that moves."""

TRIED = np.linspace(0.0, 1.0, 33)
"""Phases at which a transfer's speed is looked at."""

Allowed = Callable[[FloatArray], bool]
"""Axes `(m, k)` along a way -> whether it may be taken."""


class Rest(NamedTuple):
    """A state of motion of all axes."""

    values: FloatArray
    """`(k,)` [m], [rad] from home"""
    rates: FloatArray
    """`(k,)`"""
    accelerations: FloatArray
    """`(k,)`"""


class Transfer(NamedTuple):
    """Polynomials of fifth order, one per axis: values, rates and accelerations at both ends."""

    duration: float
    """[s]"""
    coefficients: FloatArray
    """`(6, k)` by powers of the phase, the lowest first"""

    def axes(self, time: FloatArray) -> AxisSample:
        """Return the axes `(m, k)` at times `(m,)` [s] since its start, inside its duration."""
        phase = time / self.duration
        powers = phase[:, None] ** np.arange(6)
        order = np.arange(6.0)
        rates, accelerations = np.zeros_like(powers), np.zeros_like(powers)
        rates[:, 1:] = order[1:] * powers[:, :5]
        accelerations[:, 2:] = order[2:] * (order[2:] - 1.0) * powers[:, :4]
        return AxisSample(
            powers @ self.coefficients,
            rates @ self.coefficients / self.duration,
            accelerations @ self.coefficients / self.duration**2,
        )


def at_rest(values: FloatArray) -> Rest:
    """Return the state of axes at rest."""
    return Rest(values, np.zeros_like(values), np.zeros_like(values))


def through(start: Rest, end: Rest, duration: float) -> Transfer:
    """Return the transfer between two states of motion in a given time [s]."""
    rows = [start.values, start.rates * duration, start.accelerations * duration**2]
    rows += [end.values, end.rates * duration, end.accelerations * duration**2]
    return Transfer(duration, ENDS @ np.array(rows))


def _ends() -> FloatArray:
    """Return what turns both ends' values and derivatives into coefficients `(6, 6)`."""
    order = np.arange(6.0)
    first = [np.eye(6)[0], np.eye(6)[1], 2.0 * np.eye(6)[2]]
    last = [np.ones(6), order, order * (order - 1.0)]
    return np.linalg.inv(np.array(first + last))


ENDS = _ends()


class Pace:
    """Speed limits of a machine's axes, from its actuators' limits at home.

    Attributes:
        speed: `(n,)` of the actuators that a transfer may use [m/s, rad/s].
        rise: `(n,)` largest accelerations [m/s2, rad/s2].
    """

    def __init__(self, platform: Platform, actuators_per_axis: FloatArray) -> None:
        """Take the limits of a machine.

        Args:
            platform: the machine.
            actuators_per_axis: `(n, k)` rates of the actuators per rate of an axis, at home.
        """
        stroke = platform.maximum_coordinates - platform.minimum_coordinates
        limits = [leg.actuator.speed for leg in platform.parameters.legs]
        known = [
            travel / USUAL_TIME if limit is None else limit
            for limit, travel in zip(limits, stroke, strict=True)
        ]
        self.speed = SPEED_SHARE * np.array(known)
        self.rise = np.array(known) / RISING
        self._actuators = actuators_per_axis

    def transfer(self, start: Rest, end: Rest, allowed: Allowed | None = None) -> Transfer:
        """Return a transfer that keeps the limits, or the first candidate if none does.

        Args:
            start: state at its beginning.
            end: state at its end.
            allowed: returns whether a path, axes `(m, k)`, may be taken; default: every path may.
        """
        way = np.abs(self._actuators @ (end.values - start.values))
        # Of the fifth-order transition between two rests: largest slope and curvature.
        usual = max(
            SHORTEST,
            float((1.875 * way / self.speed).max()),
            float(np.sqrt(5.774 * way / self.rise).max()),
        )
        if not (start.rates.any() or end.rates.any()):
            return through(start, end, usual)
        bound = np.maximum(self.speed, 1.05 * self._fastest(start, end))
        for factor in FACTORS:
            found = through(start, end, usual * factor)
            ways = found.axes(TRIED * found.duration)
            slow = (np.abs(ways.rates @ self._actuators.T) <= bound).all()
            if slow and (allowed is None or allowed(ways.values)):
                return found
        return through(start, end, usual)

    def _fastest(self, start: Rest, end: Rest) -> FloatArray:
        """Return the actuators' speeds `(n,)` at the faster of both ends: they are given."""
        both = np.abs(np.array([start.rates, end.rates]) @ self._actuators.T)
        return np.asarray(both.max(axis=0))
