"""The course of a live run: the setpoint, now and in the near future.

It goes smoothly from one state of motion to another, no faster than the actuators can follow.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray
from twin.model.machine_model import MachineModel
from twin.motion import Motion
from twin.motion.axes import AxisSample
from twin.plant.drives import actuator_limit

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


def at_rest(values: FloatArray) -> AxisSample:
    """Return the state of axes at rest."""
    return AxisSample(values, np.zeros_like(values), np.zeros_like(values))


def through(start: AxisSample, end: AxisSample, duration: float) -> Transfer:
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

    def __init__(self, platform: MachineModel, actuators_per_axis: FloatArray) -> None:
        """Take the limits of a machine.

        Args:
            platform: the machine.
            actuators_per_axis: `(n, k)` rates of the actuators per rate of an axis, at home.
        """
        stroke = platform.maximum_coordinates - platform.minimum_coordinates
        known = actuator_limit(platform, "speed", stroke / USUAL_TIME)
        self.speed, self.rise = SPEED_SHARE * known, known / RISING
        self._actuators = actuators_per_axis

    def transfer(
        self, start: AxisSample, end: AxisSample, allowed: Allowed | None = None
    ) -> Transfer:
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

    def _fastest(self, start: AxisSample, end: AxisSample) -> FloatArray:
        """Return the actuators' speeds `(n,)` at the faster of both ends: they are given."""
        both = np.abs(np.array([start.rates, end.rates]) @ self._actuators.T)
        return np.asarray(both.max(axis=0))


TINY = 1e-12
"""[m, rad, and per s] Differences of states that count as none."""

BRAKING = 0.4
"""[s] Adopted: in which a motion that ends on the way comes to rest."""


class Stretch(NamedTuple):
    """A part of the course."""

    begin: float
    """[s]"""
    end: float
    """[s]"""
    axes: Callable[[FloatArray], AxisSample]
    """times `(m,)` since its beginning [s] -> axes `(m, k)`"""


class Course:
    """Stretches one after the other, rest after the last; steered while it runs.

    Positions, rates and accelerations are continuous wherever the motions that are played are.
    """

    def __init__(self, pace: Pace, size: int, allowed: Allowed | None = None) -> None:
        """Rest at home.

        Args:
            pace: limits of transfers.
            size: number of axes.
            allowed: returns whether a path, axes `(m, k)`, may be taken.
        """
        self._pace, self._allowed = pace, allowed
        self._last = at_rest(np.zeros(size))
        self._stretches: deque[Stretch] = deque()
        self._repeated: Motion | None = None
        self._played_until = -np.inf

    def playing(self, time: float) -> bool:
        """Return whether a motion is being played at `time` [s], or will be repeated."""
        return self._repeated is not None or time < self._played_until

    @property
    def target(self) -> FloatArray:
        """Values `(k,)` of the axes [m], [rad] at which the course comes to rest, if it does."""
        return self._last.values.copy()

    def state(self, time: float) -> AxisSample:
        """Return the state of motion of the setpoint at `time` [s]."""
        return AxisSample(*(part[0] for part in self.sample(np.array([time]))))

    def sample(self, times: FloatArray) -> AxisSample:
        """Return the setpoint of the axes `(m, k)` at increasing `times` `(m,)` [s].

        Times in the past give the course as it was; those before the first stretch that is kept,
        the beginning of that stretch.
        """
        self._repeat(float(times[-1]))
        values = np.tile(self._last.values, (len(times), 1))
        rates, accelerations = np.zeros_like(values), np.zeros_like(values)
        for k, stretch in enumerate(self._stretches):
            inside = times < stretch.end
            inside &= times >= (stretch.begin if k else -np.inf)
            if inside.any():
                local = np.clip(times[inside] - stretch.begin, 0.0, stretch.end - stretch.begin)
                parts = stretch.axes(local)
                for whole, part in zip((values, rates, accelerations), parts, strict=True):
                    whole[inside] = part
        return AxisSample(values, rates, accelerations)

    def move_to(self, time: float, values: FloatArray) -> None:
        """Go from the state at `time` [s] to rest at `values` `(k,)` [m], [rad]."""
        start = self.state(time)
        self._cut(time)
        self._go(time, start, at_rest(np.asarray(values, dtype=float)))

    def play(self, time: float, motion: Motion, loop: bool = False) -> None:
        """Go from the state at `time` [s] to a motion's start, then along it.

        Args:
            time: [s].
            motion: about the machine's home, with the machine's axes.
            loop: repeat it until another command.
        """
        start = self.state(time)
        self._cut(time)
        self._go(time, start, _state(motion, 0.0))
        self._append(motion)
        if loop:
            self._repeated = motion
        else:
            self._settle()

    def stop(self, time: float) -> None:
        """End the motion that is played, if any, and come to rest soon after `time` [s]."""
        if not self.playing(time):
            return
        start = self.state(time)
        self._cut(time)
        self._brake(time, start)

    def forget(self, time: float) -> None:
        """Drop the stretches that ended before `time` [s]."""
        while self._stretches and self._stretches[0].end < time:
            self._stretches.popleft()

    def _cut(self, time: float) -> None:
        """End the course at `time` [s]; slopes at it need what lies before."""
        past = [each for each in self._stretches if each.begin < time]
        if past and past[-1].end < time:
            past.append(Stretch(past[-1].end, time, through_rest(self._last)))
        self._stretches = deque(each._replace(end=min(each.end, time)) for each in past)
        self._repeated, self._played_until = None, -np.inf

    def _go(self, time: float, start: AxisSample, end: AxisSample) -> None:
        """Append the transfer between two states, if they differ."""
        self._last = end
        if all(np.abs(a - b).max() <= TINY for a, b in zip(start, end, strict=True)):
            self._stretches.append(Stretch(time, time, through_rest(end)))
            return
        transfer = self._pace.transfer(start, end, self._allowed)
        self._stretches.append(Stretch(time, time + transfer.duration, transfer.axes))

    def _append(self, motion: Motion) -> None:
        begin = self._stretches[-1].end
        self._stretches.append(Stretch(begin, begin + motion.duration, motion.axes))
        self._played_until = begin + motion.duration
        self._last = _state(motion, motion.duration)

    def _settle(self) -> None:
        """Come to rest after the last stretch."""
        if self._last.rates.any() or self._last.accelerations.any():
            self._brake(self._stretches[-1].end, self._last)

    def _brake(self, time: float, start: AxisSample) -> None:
        self._go(time, start, at_rest(start.values + 0.5 * BRAKING * start.rates))

    def _repeat(self, until: float) -> None:
        """Append repetitions of the looped motion until the course reaches beyond `until` [s]."""
        motion = self._repeated
        while motion is not None and self._stretches[-1].end <= until:
            first, end = _state(motion, 0.0), self._stretches[-1].end
            gap = max(float(np.abs(a - b).max()) for a, b in zip(self._last, first, strict=True))
            if gap > TINY:
                self._go(end, self._last, first)
            self._append(motion)


def through_rest(state: AxisSample) -> Callable[[FloatArray], AxisSample]:
    """Return the axes of a stretch that stays in one state."""

    def axes(time: FloatArray) -> AxisSample:
        return AxisSample(*(np.tile(part, (len(time), 1)) for part in state))

    return axes


def _state(motion: Motion, time: float) -> AxisSample:
    return AxisSample(*(np.asarray(part) for part in motion.axes(time)))
