"""Specification of a step response: bounds in straight pieces, violations, figures."""

from __future__ import annotations

from dataclasses import dataclass, fields
from math import inf, nan
from typing import NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, as_floats, positive
from twin.errors import InputError

ON_TIME = 1e-9
"""[s] A sample this close to a corner of the bounds is on it: what sums of steps leave."""


@dataclass(frozen=True)
class StepSpecification:
    """Bounds of a response from 0 to 1, times from the step. Cannot be changed.

    The response must stay above -`undershoot` before `rise_time` and above `rise` from then on,
    below 1 + `overshoot` before `settling_time`, and within `settling` of 1 from then on.

    Raises:
        InputError: not finite, not above zero, or times in the wrong order.

    Reference:
        Albayrak, thesis, METU 2005, section 4.3.1.1.2 and figure 4.16, whose numbers are the
        defaults.
    """

    rise_time: float = 6e-3
    """[s]"""
    rise: float = 0.995
    """share of the step that counts as risen"""
    settling_time: float = 20e-3
    """[s]"""
    settling: float = 0.005
    """half the width of the band, per step"""
    overshoot: float = 0.10
    """per step"""
    undershoot: float = 0.01
    """per step"""

    def __post_init__(self) -> None:
        for field in fields(self):
            object.__setattr__(self, field.name, positive(getattr(self, field.name), field.name))
        if self.rise > 1.0:
            raise InputError("rise", f"is a share of the step, at most 1, not {self.rise:g}")
        if self.settling_time < self.rise_time:
            raise InputError("settling_time", "must not be before rise_time")

    def lower(self, time: FloatArray) -> FloatArray:
        """Return the lower bound `(k,)` at times `(k,)` [s] after the step."""
        settled = max(self.rise, 1.0 - self.settling)
        risen = np.where(time < self.settling_time - ON_TIME, self.rise, settled)
        return np.where(time < self.rise_time - ON_TIME, -self.undershoot, risen)

    def upper(self, time: FloatArray) -> FloatArray:
        """Return the upper bound `(k,)` at times `(k,)` [s] after the step."""
        settled = time >= self.settling_time - ON_TIME
        return np.where(settled, 1.0 + self.settling, 1.0 + self.overshoot)

    def violations(self, time: FloatArray, response: FloatArray) -> FloatArray:
        """Return the violations of the bounds by a response `(k,)`: lower, then upper `(2k,)`.

        Per step; negative where it is inside.

        Raises:
            InputError: shapes that differ.
        """
        times, values = _series(time, response)
        return np.concatenate([self.lower(times) - values, values - self.upper(times)])

    def violation(self, time: FloatArray, response: FloatArray) -> float:
        """Return the largest of the violations: zero or less where the specification is met.

        Raises:
            InputError: shapes that differ.
        """
        return float(self.violations(time, response).max())


VELOCITY_STEP = StepSpecification()
"""Of the thesis' velocity step."""


def position_step(settling_time: float = 2.0) -> StepSpecification:
    """Return the specification of a position step that only has to settle, within 1 percent.

    Raises:
        InputError: a time that is not above zero.

    Reference:
        Albayrak, thesis, METU 2005, section 4.3.2.2: "settles down about 2 seconds". The band and
        the overshoot are adopted: the paper gives neither.
    """
    return StepSpecification(
        rise_time=settling_time,
        rise=0.99,
        settling_time=settling_time,
        settling=0.01,
        overshoot=0.25,
        undershoot=0.02,
    )


class StepFigures(NamedTuple):
    """Figures of a step response, per step; not-a-number where a level is not reached."""

    rise_time: float
    """[s] first time at the specification's `rise`"""
    settling_time: float
    """[s] last time outside the specification's band; infinite if the record ends outside"""
    overshoot: float
    """highest value less 1; negative if 1 is not reached"""
    undershoot: float
    """depth below 0"""
    final: float
    """last value"""


def step_figures(
    time: FloatArray, response: FloatArray, specification: StepSpecification = VELOCITY_STEP
) -> StepFigures:
    """Return the figures of a response `(k,)` at times `(k,)` [s] after the step.

    Crossings lie on straight lines between the samples.

    Raises:
        InputError: shapes that differ, not finite.
    """
    times, values = _series(time, response)
    outside = np.flatnonzero(np.abs(values - 1.0) > specification.settling)
    if not outside.size:
        settled = float(times[0])
    elif outside[-1] == len(values) - 1:
        settled = inf
    else:
        last = outside[-1]
        edge = 1.0 + np.copysign(specification.settling, values[last] - 1.0)
        settled = _crossing(times, values, last, float(edge))
    risen = np.flatnonzero(values >= specification.rise)
    rise = nan
    if risen.size:
        first = risen[0]
        rise = _crossing(times, values, first - 1, specification.rise) if first else times[0]
    return StepFigures(
        float(rise),
        float(settled),
        float(values.max() - 1.0),
        float(max(0.0, -values.min())),
        float(values[-1]),
    )


def _crossing(time: FloatArray, values: FloatArray, before: int, level: float) -> float:
    """Return the time [s] at `level` on the line from sample `before` to the next."""
    low, high = values[before], values[before + 1]
    share = (level - low) / (high - low)
    return float(time[before] + share * (time[before + 1] - time[before]))


def _series(time: FloatArray, response: FloatArray) -> tuple[FloatArray, FloatArray]:
    times, values = as_floats(time, "time"), as_floats(response, "response")
    if times.ndim != 1 or values.shape != times.shape or len(times) < 2:
        raise InputError("time, response", "must be two lists of the same length, at least 2")
    return times, values
