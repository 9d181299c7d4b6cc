"""Motion laws that figure 16 may have been drawn for: transitions from rest to rest."""

from __future__ import annotations

from math import sqrt

import numpy as np

from twin.basics.arrays import FloatArray
from twin.motion.rest_to_rest import LAWS, Law, Transition

LOW, HIGH = 0.3, 0.4
"""[m] section 6.1, initial and final pose."""

PEAK = 0.8
"""[g] section 6.1."""


def septic(phase: FloatArray) -> Transition:
    """Return the polynomial of degree seven, without acceleration and jerk at both ends."""
    u = phase
    value = u**4 * (35.0 - 84.0 * u + 70.0 * u**2 - 20.0 * u**3)
    slope = 140.0 * (u * (1.0 - u)) ** 3
    return value, slope, 420.0 * (u * (1.0 - u)) ** 2 * (1.0 - 2.0 * u)


def trapezoidal(phase: FloatArray) -> Transition:
    """Return a trapezium of the rate: a third each of acceleration, constant rate, braking."""
    return _piecewise(phase, 1.0 / 3.0)


def triangular(phase: FloatArray) -> Transition:
    """Return constant acceleration over the first half and constant braking over the second."""
    return _piecewise(phase, 0.5)


def _piecewise(phase: FloatArray, part: float) -> Transition:
    acceleration = 1.0 / (part * (1.0 - part))
    begin, end = np.minimum(phase, part), np.maximum(phase - 1.0 + part, 0.0)
    slope = acceleration * (begin - end)
    value = acceleration * (begin * (phase - 0.5 * begin) - 0.5 * end**2)
    return value, slope, acceleration * ((phase < part) * 1.0 - (phase >= 1.0 - part) * 1.0)


CANDIDATES = {
    **LAWS,
    "septic": Law(septic, 84.0 / (5.0 * sqrt(5.0))),
    "trapezoidal": Law(trapezoidal, 4.5),
    "triangular": Law(triangular, 4.0),
}
"""Laws by name."""


def stroke(law: Law, time: FloatArray, gravity: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return height [m] and two derivatives at `time` [s] of the paper's stroke upwards.

    Its duration is that at which the law just reaches the peak acceleration; at rest after it.
    """
    distance = HIGH - LOW
    rise = sqrt(law.peak * distance / (PEAK * gravity))
    value, slope, curvature = law.transition(np.minimum(time / rise, 1.0))
    return LOW + distance * value, distance * slope / rise, distance * curvature / rise**2
