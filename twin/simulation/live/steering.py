"""Targets of a live machine, set by a person, and the controllers' references to them.

The axes that a person moves a platform along have names, units and ranges about home.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, as_vector
from twin.control.reference import Reference, reference_of
from twin.errors import InputError, brief
from twin.model.machine_model import MachineModel
from twin.motion import AxisSample, Motion, axis_names
from twin.motion.motion import MotionSample, motion_of_axes
from twin.motion.specification import convention_of
from twin.simulation.live.course import Course, Pace

SAMPLES = 401
"""Poses tried along each half axis."""

LARGEST_ANGLE = np.radians(80.0)
"""Rotations are offered up to where yaw, pitch and roll are still unique."""

WAY = np.linspace(0.0, 1.0, 65)[1:]
"""Shares of the way to a target at which it is checked."""


class Axis(NamedTuple):
    """One axis of a platform, in the unit in which people give it."""

    name: str
    unit: str
    """"mm" or "deg\""""
    low: float
    high: float
    """range about home, the other axes at home"""


class Axes:
    """A machine's axes about home: displacements along the base axes, and angles.

    Attributes:
        convention: of the angles.
        names: of all axes of the convention.
        shown: columns of those that the machine is free to move along.
        units: `(k,)` [m], [rad] per unit of each of the shown.
        ranges: an `Axis` for each of the shown.
    """

    def __init__(self, platform: MachineModel) -> None:
        """Find the ranges of a machine."""
        self.platform = platform
        self.convention = convention_of(platform)
        self.names = axis_names(self.convention)
        fixed = ("x", "y") if platform.dof < 6 else ()
        self.shown = [k for k, name in enumerate(self.names) if name not in fixed]
        self.units = np.array([1e-3 if k < 3 else np.pi / 180.0 for k in self.shown])
        self.ranges = tuple(
            self._range(k, unit) for k, unit in zip(self.shown, self.units, strict=True)
        )

    def motion(self, sample: AxisSample) -> MotionSample:
        """Return the motion `(m, ...)` that the machine makes of axes `(m, k)`."""
        free = motion_of_axes(sample, self.platform.home, self.convention)
        return MotionSample(*self.platform.constrain(*free))

    def poses(self, values: FloatArray) -> FloatArray:
        """Return poses `(m, 7)` at axes `(m, k)` [m], [rad]."""
        still = np.zeros_like(values)
        return self.motion(AxisSample(values, still, still)).pose

    def whole(self, shown: FloatArray) -> FloatArray:
        """Return all axes `(k,)` [m], [rad] from the shown ones in their units."""
        values = np.zeros(len(self.names))
        values[self.shown] = shown * self.units
        return values

    def shown_values(self, values: FloatArray) -> FloatArray:
        """Return the shown axes in their units from all axes `(..., k)` [m], [rad]."""
        return np.asarray(values[..., self.shown] / self.units)

    def reachable(self, start: FloatArray, end: FloatArray) -> FloatArray:
        """Return the last axes `(k,)` on the straight way to `end` within the actuators' limits."""
        ways = start + WAY[:, None] * (end - start)
        outside = np.flatnonzero(~self.platform.within_limits(self.poses(ways)))
        if not outside.size:
            return end
        low, high = (0.0 if outside[0] == 0 else WAY[outside[0] - 1]), WAY[outside[0]]
        for _ in range(20):
            middle = 0.5 * (low + high)
            tried = start + middle * (end - start)
            if self.platform.within_limits(self.poses(tried[None]))[0]:
                low = middle
            else:
                high = middle
        return np.asarray(start + low * (end - start))

    def actuators_per_axis(self) -> FloatArray:
        """Return the actuators' rates per rate of an axis `(n, k)` at home."""
        size = len(self.names)
        still = np.zeros((size, size))
        twists = self.motion(AxisSample(still, np.eye(size), still)).twist
        jacobian = np.asarray(self.platform.jacobian(self.platform.home))
        return np.asarray(jacobian @ twists.T)

    def _range(self, column: int, unit: float) -> Axis:
        span = LARGEST_ANGLE if column >= 3 else 2.0 * float(self.platform.home_reaches.max())
        ends = []
        for side in (-1.0, 1.0):
            values = np.zeros((SAMPLES, len(self.names)))
            values[:, column] = side * np.linspace(0.0, span, SAMPLES)
            outside = np.flatnonzero(~self.platform.within_limits(self.poses(values)))
            last = values[max(outside[0] - 1, 0) if outside.size else -1]
            beyond = values[outside[0]] if outside.size else last
            ends.append(float(self.reachable(last, beyond)[column] / unit))
        name = self.names[column]
        return Axis(name, "deg" if column >= 3 else "mm", *_rounded(*ends))


def _rounded(low: float, high: float) -> tuple[float, float]:
    """Return a range rounded inwards to three digits of its width: what a person reads."""
    digits = int(2 - np.floor(np.log10(max(high - low, 1e-9))))
    unit = 10.0**-digits
    return (
        round(float(np.ceil(low / unit) * unit), digits),
        round(float(np.floor(high / unit) * unit), digits),
    )


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

    def __init__(self, platform: MachineModel, period: float) -> None:
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
            raise InputError("motion", f"must be a motion of twin.motion, not {brief(motion)}")
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
