"""Step motion: from the centre to a displaced pose, with minimum jerk or at once."""

from __future__ import annotations

from typing import Any

import numpy as np

from twin.basics.arrays import FloatArray, bounded, read_only
from twin.errors import InputError
from twin.motion.axes import LONGEST_TIME, SHORTEST_TIME, AxisSample, axis_values
from twin.motion.motion import TIME_ROUNDING, Motion, minimum_jerk


class StepMotion(Motion):
    """Rest at the centre, transition, rest at the displacement.

    Attributes:
        displacement: `(k,)` [m], [rad], read-only.
        start: [s] when the transition begins.
        rise: [s] it takes; 0 is the ideal step.
    """

    displacement: FloatArray
    start: float
    rise: float

    def __init__(
        self,
        center: Any,
        *,
        displacement: Any,
        rise: Any,
        duration: Any,
        start: Any = 0.0,
        convention: str = "yaw_pitch_roll",
    ) -> None:
        """Describe the step.

        Args:
            center: pose `(7,)`, such as a platform's `home`, or position `(3,)` [m].
            displacement: per axis [m], [rad]: a mapping such as {"z": 0.05}, or `(k,)`.
            rise: [s] of the minimum-jerk transition (quintic; starts and ends with zero velocity
                and acceleration). 0 gives the ideal step: displaced from `start` on, with zero
                twist and acceleration everywhere, as its impulses are no numbers.
            duration: [s] of the whole motion, transition included.
            start: [s] when the transition begins.
            convention: angle convention, which names the axes.

        Raises:
            InputError: wrong shape, unknown axis, not finite, out of range, transition not over
                within `duration`.
        """
        super().__init__(center, duration, convention)
        begin = bounded(start, "start", 0.0, LONGEST_TIME)
        seconds = bounded(rise, "rise", 0.0, LONGEST_TIME)
        if 0.0 < seconds < SHORTEST_TIME:
            raise InputError("rise", f"must be 0 (ideal step) or at least {SHORTEST_TIME:g} s")
        if begin + seconds > self.duration * (1.0 + TIME_ROUNDING):
            raise InputError(
                "start, rise, duration",
                f"the transition ends at {begin + seconds:g} s, after the motion's "
                f"{self.duration:g} s; give a longer duration",
            )
        self._set(
            displacement=read_only(axis_values(displacement, "displacement", convention)),
            start=begin,
            rise=seconds,
        )

    def _axes(self, time: FloatArray) -> AxisSample:
        if self.rise == 0.0:
            value = np.where(time >= self.start, 1.0, 0.0)
            slope = curvature = np.zeros_like(time)
        else:
            value, slope, curvature = minimum_jerk((time - self.start) / self.rise)
            slope, curvature = slope / self.rise, curvature / self.rise**2
        return AxisSample(
            *(part[:, None] * self.displacement for part in (value, slope, curvature))
        )
