"""The course of a live run: the setpoint, now and in the near future."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray
from twin.motion import AxisSample, Motion
from twin.simulation.live.transfer import Allowed, Pace, Rest, at_rest

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

    def state(self, time: float) -> Rest:
        """Return the state of motion of the setpoint at `time` [s]."""
        return Rest(*(part[0] for part in self.sample(np.array([time]))))

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
        """Go from the state at `time` [s] to a motion's start, then along it; again and again?

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

    def _go(self, time: float, start: Rest, end: Rest) -> None:
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

    def _brake(self, time: float, start: Rest) -> None:
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


def through_rest(state: Rest) -> Callable[[FloatArray], AxisSample]:
    """Return the axes of a stretch that stays in one state."""

    def axes(time: FloatArray) -> AxisSample:
        return AxisSample(*(np.tile(part, (len(time), 1)) for part in state))

    return axes


def _state(motion: Motion, time: float) -> Rest:
    return Rest(*(np.asarray(part) for part in motion.axes(time)))
