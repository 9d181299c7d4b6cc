"""Targets that a person sets for a live machine, and the references that lead to them.

The axes along which a person moves the platform have names, units and ranges about home. The
trajectory of these axes goes smoothly from one state of motion to another, no faster than the
actuators can follow. The controllers' references are cut out of it, now and for the near future.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, as_vector
from twin.control.controller import Reference, reference_of
from twin.errors import InputError, brief
from twin.model.machine_model import MachineModel
from twin.motion import Motion, axis_names
from twin.motion.motion import AxisSample, MotionSample, motion_of_axes
from twin.motion.specification import convention_of
from twin.plant.drives import actuator_limit

SPEED_FRACTION = 0.6
"""Adopted: fraction of the actuators' speed limit that a transfer uses."""

DEFAULT_STROKE_TIME = 1.0
"""[s] Adopted: time from end to end of the stroke where no speed limit is known."""

SPEED_RISE_TIME = 0.15
"""[s] Adopted: time in which an actuator reaches its speed limit."""

MIN_TRANSFER_TIME = 0.25
"""[s] Adopted: shortest duration of a transfer, however small."""

DURATION_FACTORS = (*1.25 ** np.arange(16), *0.8 ** np.arange(1, 8))
"""Durations that are tried in turn from a moving state, as factors of the default duration."""

CHECKED_PHASES = np.linspace(0.0, 1.0, 33)
"""Phases of a transfer at which its speed is checked."""

STATE_TOLERANCE = 1e-12
"""[m, rad, and per s] Difference below which two states are the same."""

BRAKING_TIME = 0.4
"""[s] Adopted: time in which a motion that is interrupted comes to rest."""

POSES_PER_HALF_AXIS = 401
"""Poses tried along each half axis."""

LARGEST_ANGLE = np.radians(80.0)
"""Rotations are offered up to where yaw, pitch and roll are still unique."""

PATH_FRACTIONS = np.linspace(0.0, 1.0, 65)[1:]
"""Fractions of the path to a target at which it is checked."""

REFERENCE_LOOKAHEAD = 0.8
"""[s] Time by which a reference reaches ahead of the run."""

RENEWAL_LEAD_TIME = 0.3
"""[s] Rest of a reference at which the next one is made."""

PERIODS_BEFORE = 8
"""Control periods of the past with which a reference begins: slopes need neighbours."""

MIN_LOOP_TIME = 0.1
"""[s] Shortest motion that is repeated; a reference of a shorter one has too many parts."""

CHECKED_TIMES = 500
"""Number of times along a motion at which it is checked before it is played."""


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
    return Transfer(duration, END_CONDITIONS_INVERSE @ np.array(rows))


def _ends() -> FloatArray:
    """Return the matrix `(6, 6)` from values and derivatives at both ends to coefficients."""
    order = np.arange(6.0)
    first = [np.eye(6)[0], np.eye(6)[1], 2.0 * np.eye(6)[2]]
    last = [np.ones(6), order, order * (order - 1.0)]
    return np.linalg.inv(np.array(first + last))


END_CONDITIONS_INVERSE = _ends()
"""Matrix `(6, 6)` from both ends' values and derivatives to the coefficients of a quintic."""


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
        known = actuator_limit(platform, "speed", stroke / DEFAULT_STROKE_TIME)
        self.speed, self.rise = SPEED_FRACTION * known, known / SPEED_RISE_TIME
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
        travel = np.abs(self._actuators @ (end.values - start.values))
        # Of the fifth-order transition between two rests: largest slope and curvature.
        duration = max(
            MIN_TRANSFER_TIME,
            float((1.875 * travel / self.speed).max()),
            float(np.sqrt(5.774 * travel / self.rise).max()),
        )
        if not (start.rates.any() or end.rates.any()):
            return through(start, end, duration)
        bound = np.maximum(self.speed, 1.05 * self._fastest(start, end))
        for factor in DURATION_FACTORS:
            found = through(start, end, duration * factor)
            paths = found.axes(CHECKED_PHASES * found.duration)
            slow = (np.abs(paths.rates @ self._actuators.T) <= bound).all()
            if slow and (allowed is None or allowed(paths.values)):
                return found
        return through(start, end, duration)

    def _fastest(self, start: AxisSample, end: AxisSample) -> FloatArray:
        """Return the actuators' speeds `(n,)` at the faster of both ends: they are given."""
        both = np.abs(np.array([start.rates, end.rates]) @ self._actuators.T)
        return np.asarray(both.max(axis=0))


class Segment(NamedTuple):
    """A segment of a trajectory of the axes."""

    begin: float
    """[s]"""
    end: float
    """[s]"""
    axes: Callable[[FloatArray], AxisSample]
    """times `(m,)` since its beginning [s] -> axes `(m, k)`"""


class AxisTrajectory:
    """Segments one after the other, then rest; the target may change while it runs.

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
        self._segments: deque[Segment] = deque()
        self._repeated: Motion | None = None
        self._played_until = -np.inf

    def playing(self, time: float) -> bool:
        """Return whether a motion is being played at `time` [s], or will be repeated."""
        return self._repeated is not None or time < self._played_until

    @property
    def target(self) -> FloatArray:
        """Values `(k,)` of the axes [m], [rad] at which the trajectory ends at rest, if it does."""
        return self._last.values.copy()

    def state(self, time: float) -> AxisSample:
        """Return the state of motion of the setpoint at `time` [s]."""
        return AxisSample(*(part[0] for part in self.sample(np.array([time]))))

    def sample(self, times: FloatArray) -> AxisSample:
        """Return the setpoint of the axes `(m, k)` at increasing `times` `(m,)` [s].

        Times in the past give the trajectory as it was; times before the first remembered segment
        give the beginning of that segment.
        """
        self._repeat(float(times[-1]))
        values = np.tile(self._last.values, (len(times), 1))
        rates, accelerations = np.zeros_like(values), np.zeros_like(values)
        for k, segment in enumerate(self._segments):
            inside = times < segment.end
            inside &= times >= (segment.begin if k else -np.inf)
            if inside.any():
                local = np.clip(times[inside] - segment.begin, 0.0, segment.end - segment.begin)
                parts = segment.axes(local)
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
            self._come_to_rest()

    def stop(self, time: float) -> None:
        """End the motion that is played, if any, and come to rest soon after `time` [s]."""
        if not self.playing(time):
            return
        start = self.state(time)
        self._cut(time)
        self._brake(time, start)

    def forget(self, time: float) -> None:
        """Drop the segments that ended before `time` [s]."""
        while self._segments and self._segments[0].end < time:
            self._segments.popleft()

    def _cut(self, time: float) -> None:
        """End the trajectory at `time` [s]; its past is kept, as slopes need it."""
        past = [segment for segment in self._segments if segment.begin < time]
        if past and past[-1].end < time:
            past.append(Segment(past[-1].end, time, through_rest(self._last)))
        self._segments = deque(segment._replace(end=min(segment.end, time)) for segment in past)
        self._repeated, self._played_until = None, -np.inf

    def _go(self, time: float, start: AxisSample, end: AxisSample) -> None:
        """Append the transfer between two states, if they differ."""
        self._last = end
        if all(np.abs(a - b).max() <= STATE_TOLERANCE for a, b in zip(start, end, strict=True)):
            self._segments.append(Segment(time, time, through_rest(end)))
            return
        transfer = self._pace.transfer(start, end, self._allowed)
        self._segments.append(Segment(time, time + transfer.duration, transfer.axes))

    def _append(self, motion: Motion) -> None:
        begin = self._segments[-1].end
        self._segments.append(Segment(begin, begin + motion.duration, motion.axes))
        self._played_until = begin + motion.duration
        self._last = _state(motion, motion.duration)

    def _come_to_rest(self) -> None:
        """Come to rest after the last segment."""
        if self._last.rates.any() or self._last.accelerations.any():
            self._brake(self._segments[-1].end, self._last)

    def _brake(self, time: float, start: AxisSample) -> None:
        self._go(time, start, at_rest(start.values + 0.5 * BRAKING_TIME * start.rates))

    def _repeat(self, until: float) -> None:
        """Append repetitions of the looped motion until the trajectory ends after `until` [s]."""
        motion = self._repeated
        while motion is not None and self._segments[-1].end <= until:
            first, end = _state(motion, 0.0), self._segments[-1].end
            gap = max(float(np.abs(a - b).max()) for a, b in zip(self._last, first, strict=True))
            if gap > STATE_TOLERANCE:
                self._go(end, self._last, first)
            self._append(motion)


def through_rest(state: AxisSample) -> Callable[[FloatArray], AxisSample]:
    """Return the axes of a segment that stays in one state."""

    def axes(time: FloatArray) -> AxisSample:
        return AxisSample(*(np.tile(part, (len(time), 1)) for part in state))

    return axes


def _state(motion: Motion, time: float) -> AxisSample:
    return AxisSample(*(np.asarray(part) for part in motion.axes(time)))


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
        ways = start + PATH_FRACTIONS[:, None] * (end - start)
        outside = np.flatnonzero(~self.platform.within_limits(self.poses(ways)))
        if not outside.size:
            return end
        low, high = (
            (0.0 if outside[0] == 0 else PATH_FRACTIONS[outside[0] - 1]),
            PATH_FRACTIONS[outside[0]],
        )
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
            values = np.zeros((POSES_PER_HALF_AXIS, len(self.names)))
            values[:, column] = side * np.linspace(0.0, span, POSES_PER_HALF_AXIS)
            outside = np.flatnonzero(~self.platform.within_limits(self.poses(values)))
            last = values[max(outside[0] - 1, 0) if outside.size else -1]
            beyond = values[outside[0]] if outside.size else last
            ends.append(float(self.reachable(last, beyond)[column] / unit))
        name = self.names[column]
        return Axis(name, "deg" if column >= 3 else "mm", *_rounded(*ends))


def _rounded(low: float, high: float) -> tuple[float, float]:
    """Return a range rounded inwards to three digits of its width, for display."""
    digits = int(2 - np.floor(np.log10(max(high - low, 1e-9))))
    unit = 10.0**-digits
    return (
        round(float(np.ceil(low / unit) * unit), digits),
        round(float(np.floor(high / unit) * unit), digits),
    )


class Steering:
    """Axes and their trajectory for one machine.

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
        self._trajectory = AxisTrajectory(self._pace, len(self.axes.names), self._inside)
        self._until = -np.inf

    @property
    def target(self) -> FloatArray:
        """Target at which the platform comes to rest `(k,)`, in the units of the shown axes."""
        return self.axes.shown_values(self._trajectory.target)

    def playing(self, time: float) -> bool:
        """Return whether a motion is being played at `time` [s]."""
        return self._trajectory.playing(time)

    def setpoint(self, time: float) -> FloatArray:
        """Return the setpoint of the axes `(k,)` at `time` [s], in the units of the shown axes."""
        return self.axes.shown_values(self._trajectory.state(time).values)

    def move_to(self, time: float, values: object) -> None:
        """Go to `values` `(k,)` of the shown axes, or as far on the straight way as the legs reach.

        Raises:
            InputError: wrong shape or not finite.
        """
        target = self.axes.whole(as_vector(values, "values", len(self.axes.shown)))
        start = self._trajectory.state(time).values
        self._trajectory.move_to(time, self.axes.reachable(start, target))
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
        if loop and motion.duration < MIN_LOOP_TIME:
            raise InputError("motion", f"must last at least {MIN_LOOP_TIME:g} s to be repeated")
        times = np.linspace(0.0, motion.duration, CHECKED_TIMES)
        inside = self.platform.within_limits(self.axes.poses(motion.axes(times).values))
        if not inside.all():
            lost = float(times[int(np.argmin(inside))])
            raise InputError(
                "motion", f"leaves the actuators' limits at {lost:.3g} s; give a smaller amplitude"
            )
        self._trajectory.play(time, motion, loop)
        self._until = -np.inf

    def stop(self, time: float) -> None:
        """End a motion that is played and come to rest."""
        self._trajectory.stop(time)
        self._until = -np.inf

    def due(self, time: float) -> bool:
        """Return whether controllers need a new reference at `time` [s]."""
        return time + RENEWAL_LEAD_TIME > self._until

    def reference(self, step: int) -> Reference:
        """Return the reference around control period `step`, counted from the last reset."""
        begin = step - PERIODS_BEFORE
        rows = PERIODS_BEFORE + round(REFERENCE_LOOKAHEAD / self.period)
        times: FloatArray = self.period * np.arange(begin, begin + rows, dtype=np.float64)
        self._trajectory.forget(float(times[0]))
        motion = self.axes.motion(self._trajectory.sample(times))
        self._until = float(times[-1])
        made = reference_of(self.platform, self.period, times, *motion)
        return made._replace(begin=begin)

    def _inside(self, values: FloatArray) -> bool:
        return bool(self.platform.within_limits(self.axes.poses(values)).all())
