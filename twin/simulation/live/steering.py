"""Targets of a live machine, set by a person, and the controllers' references to them."""

from __future__ import annotations

import numpy as np

from twin.basics.arrays import FloatArray, as_vector
from twin.control.reference import Reference, reference_of
from twin.errors import InputError
from twin.motion import Motion
from twin.simulation.live.axes import Axes
from twin.simulation.live.course import Course
from twin.simulation.live.transfer import Pace
from twin.simulation.platform import Platform

AHEAD = 0.8
"""[s] that a reference reaches ahead of the run."""

RENEWED = 0.3
"""[s] of a reference that are left when the next is made."""

BEFORE = 8
"""Control periods before the present one with which a reference begins: slopes need neighbours."""

SHORTEST_LOOP = 0.1
"""[s] of a motion that is repeated: references of shorter ones would be made of too many parts."""

CHECKED = 500
"""Times along a motion at which it is checked before it is played."""


class Steering:
    """Axes and course of one machine.

    Attributes:
        axes: of the machine.
        period: of the controller [s].
    """

    def __init__(self, platform: Platform, period: float) -> None:
        """Rest at home."""
        self.platform, self.period = platform, period
        self.axes = Axes(platform)
        self._pace = Pace(platform, self.axes.actuators_per_axis())
        self.reset()

    def reset(self) -> None:
        """Rest at home again."""
        self._course = Course(self._pace, len(self.axes.names), self._inside)
        self._until = -np.inf

    @property
    def target(self) -> FloatArray:
        """Target at which the platform comes to rest `(k,)`, in the units of the shown axes."""
        return self.axes.shown_values(self._course.target)

    def playing(self, time: float) -> bool:
        """Return whether a motion is being played at `time` [s]."""
        return self._course.playing(time)

    def setpoint(self, time: float) -> FloatArray:
        """Return the setpoint of the axes `(k,)` at `time` [s], in the units of the shown axes."""
        return self.axes.shown_values(self._course.state(time).values)

    def move_to(self, time: float, values: object) -> None:
        """Go to `values` `(k,)` of the shown axes, or as far on the straight way as the legs reach.

        Raises:
            InputError: wrong shape or not finite.
        """
        target = self.axes.whole(as_vector(values, "values", len(self.axes.shown)))
        start = self._course.state(time).values
        self._course.move_to(time, self.axes.reachable(start, target))
        self._until = -np.inf

    def play(self, time: float, motion: Motion, loop: bool) -> None:
        """Go to the start of a motion about home and along it, again and again with `loop`.

        Raises:
            InputError: no motion, one about another centre or with other axes, one that leaves the
                actuators' limits, or one too short to be repeated.
        """
        if not isinstance(motion, Motion):
            raise InputError("motion", f"must be a motion of twin.motion, not {motion!r}")
        if motion.convention != self.axes.convention:
            raise InputError("motion", f"must have the axes {', '.join(self.axes.names)}")
        if np.abs(motion.center - self.platform.home).max() > 1e-9:
            raise InputError("motion", "must be about the machine's home pose")
        if loop and motion.duration < SHORTEST_LOOP:
            raise InputError("motion", f"must last at least {SHORTEST_LOOP:g} s to be repeated")
        times = np.linspace(0.0, motion.duration, CHECKED)
        inside = self.platform.within_limits(self.axes.poses(motion.axes(times).values))
        if not inside.all():
            lost = float(times[int(np.argmin(inside))])
            raise InputError(
                "motion", f"leaves the actuators' limits at {lost:.3g} s; give a smaller amplitude"
            )
        self._course.play(time, motion, loop)
        self._until = -np.inf

    def stop(self, time: float) -> None:
        """End a motion that is played and come to rest."""
        self._course.stop(time)
        self._until = -np.inf

    def due(self, time: float) -> bool:
        """Return whether controllers need a new reference at `time` [s]."""
        return time + RENEWED > self._until

    def reference(self, step: int) -> Reference:
        """Return the reference around control period `step`, counted from the last reset."""
        begin = step - BEFORE
        rows = BEFORE + round(AHEAD / self.period)
        times: FloatArray = self.period * np.arange(begin, begin + rows, dtype=np.float64)
        self._course.forget(float(times[0]))
        motion = self.axes.motion(self._course.sample(times))
        self._until = float(times[-1])
        made = reference_of(self.platform, self.period, times, *motion)
        return made._replace(begin=begin)

    def _inside(self, values: FloatArray) -> bool:
        return bool(self.platform.within_limits(self.axes.poses(values)).all())
