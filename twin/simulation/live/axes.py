"""The axes a person moves a platform along: names, units, ranges about home."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray
from twin.motion import AxisSample, axis_names
from twin.motion.motion import MotionSample, motion_of_axes
from twin.motion.specification import convention_of
from twin.simulation.platform import Platform

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

    def __init__(self, platform: Platform) -> None:
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
