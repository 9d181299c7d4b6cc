"""Targets that a person sets for a live machine, and the references that lead to them.

The axes along which a person moves the platform have names, units and ranges about home. The
trajectory of these axes goes smoothly from one state of motion to another, no faster than the
actuators can follow. The controllers' references are cut out of it, now and for the near future.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, as_instance, as_vector
from twin.control.controller import Reference, reference_of
from twin.errors import InputError
from twin.model.machine_base import nearest_allowed
from twin.model.machine_model import MachineModel
from twin.motion import Motion, axis_names
from twin.motion.motion import AxisSample, MotionSample, motion_of_axes
from twin.motion.specification import convention_of
from twin.plant.drives import actuator_limit

SPEED_FRACTION = 0.6
"""Engineering choice: fraction of the actuators' speed limit that a transfer uses."""

DEFAULT_STROKE_TIME = 1.0
"""[s] Engineering choice: time from end to end of the stroke where no speed limit is known."""

SPEED_RISE_TIME = 0.15
"""[s] Engineering choice: time in which an actuator reaches its speed limit."""

MIN_TRANSFER_TIME = 0.25
"""[s] Engineering choice: shortest duration of a transfer, however small."""

DURATION_FACTORS = (*1.25 ** np.arange(16), *0.8 ** np.arange(1, 8))
"""Durations that are tried in turn from a moving state, as factors of the default duration."""

CHECKED_PHASES = np.linspace(0.0, 1.0, 33)
"""Phases of a transfer at which its speed is checked."""

STATE_TOLERANCE = 1e-12
"""[m, rad, and per s] Difference below which two states are the same."""

BRAKING_TIME = 0.4
"""[s] Engineering choice: time in which a motion that is interrupted comes to rest."""

POSES_PER_HALF_AXIS = 401
"""Number of poses at which each half axis is searched for the end of its range."""

LARGEST_ANGLE = np.radians(80.0)
"""Rotations are offered up to where yaw, pitch and roll are still unique."""

PATH_FRACTIONS = np.linspace(0.0, 1.0, 65)[1:]
"""Fractions of the path to a target at which it is checked."""

REFERENCE_LOOKAHEAD = 0.8
"""[s] Time by which a reference reaches ahead of the run."""

RENEWAL_LEAD_TIME = 0.3
"""[s] Remaining time of a reference at which the next one is computed."""

PERIODS_BEFORE = 8
"""Past control periods at the start of a reference: derivatives need neighbouring rows."""

MIN_LOOP_TIME = 0.1
"""[s] Shortest motion that is repeated; a reference of a shorter one has too many parts."""

CHECKED_TIMES = 500
"""Number of times along a motion at which it is checked before it is played."""


PoseCheck = Callable[[FloatArray], bool]
"""Function from axes `(m, k)` along a path to whether the path may be taken."""


class Transfer(NamedTuple):
    """Polynomials of fifth order, one per axis: values, rates and accelerations at both ends."""

    duration: float
    """[s] duration of the transfer"""
    curve: Any
    """`scipy.interpolate.BPoly` of the axes `(k,)` over the time since its start [s]"""

    def axes(self, time: FloatArray) -> AxisSample:
        """Return the axes `(m, k)` at times `(m,)` [s] since its start, inside its duration."""
        return AxisSample(*(self.curve(time, order) for order in range(3)))


def at_rest(values: FloatArray) -> AxisSample:
    """Return the state of axes `(k,)` at rest: zero rates and accelerations."""
    return AxisSample(values, np.zeros_like(values), np.zeros_like(values))


def quintic_transfer(start: AxisSample, end: AxisSample, duration: float) -> Transfer:
    """Return the transfer between two states of motion in a given time [s]."""
    from scipy.interpolate import BPoly

    return Transfer(duration, BPoly.from_derivatives([0.0, duration], [start, end]))


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
        speed_limits = actuator_limit(platform, "speed", platform.stroke / DEFAULT_STROKE_TIME)
        self.speed, self.rise = SPEED_FRACTION * speed_limits, speed_limits / SPEED_RISE_TIME
        self._actuators = actuators_per_axis

    def transfer(self, start: AxisSample, end: AxisSample, allowed: PoseCheck) -> Transfer:
        """Return a transfer that keeps the limits, or the first candidate if none does.

        Args:
            start: state at its beginning.
            end: state at its end.
            allowed: returns whether a path, axes `(m, k)`, may be taken.
        """
        travel = np.abs(self._actuators @ (end.values - start.values))
        # Of the fifth-order transition between two rests: largest slope and curvature.
        duration = max(
            MIN_TRANSFER_TIME,
            float((1.875 * travel / self.speed).max()),
            float(np.sqrt(5.774 * travel / self.rise).max()),
        )
        if not (start.rates.any() or end.rates.any()):
            return quintic_transfer(start, end, duration)
        # Prescribed end speeds may exceed the limit; 5 % margin keeps a transfer possible.
        end_speeds = np.abs(np.array([start.rates, end.rates]) @ self._actuators.T)
        speed_bound = np.maximum(self.speed, 1.05 * end_speeds.max(axis=0))
        for factor in DURATION_FACTORS:
            candidate = quintic_transfer(start, end, duration * factor)
            paths = candidate.axes(CHECKED_PHASES * candidate.duration)
            within_speed = (np.abs(paths.rates @ self._actuators.T) <= speed_bound).all()
            if within_speed and allowed(paths.values):
                return candidate
        return quintic_transfer(start, end, duration)


class Segment(NamedTuple):
    """A segment of a trajectory of the axes."""

    begin: float
    """[s] time at which the segment begins"""
    end: float
    """[s] time at which the segment ends"""
    axes: Callable[[FloatArray], AxisSample]
    """times `(m,)` since its beginning [s] -> axes `(m, k)`"""


class AxisTrajectory:
    """Segments one after the other, then rest; the target may change while it runs.

    Positions, rates and accelerations are continuous wherever the motions that are played are.
    """

    def __init__(self, pace: Pace, size: int, allowed: PoseCheck) -> None:
        """Rest at home.

        Args:
            pace: limits of transfers.
            size: number of axes.
            allowed: returns whether a path, axes `(m, k)`, may be taken.
        """
        self._pace, self._is_allowed = pace, allowed
        self._last = at_rest(np.zeros(size))
        self._segments: deque[Segment] = deque()
        self._repeated_motion: Motion | None = None
        self._played_until = -np.inf

    def playing(self, time: float) -> bool:
        """Return whether a motion is being played at `time` [s], or will be repeated."""
        return self._repeated_motion is not None or time < self._played_until

    @property
    def target(self) -> FloatArray:
        """Values `(k,)` of the axes [m], [rad] at which the trajectory ends at rest, if it does."""
        return self._last.values.copy()

    def state(self, time: float) -> AxisSample:
        """Return the state of motion of the setpoint at `time` [s]."""
        return AxisSample(*(values[0] for values in self.sample(np.array([time]))))

    def sample(self, times: FloatArray) -> AxisSample:
        """Return the setpoint of the axes `(m, k)` at increasing `times` `(m,)` [s].

        Times in the past give the trajectory as it was; times before the first remembered segment
        give the beginning of that segment.
        """
        self._repeat(float(times[-1]))
        sample = at_rest(np.tile(self._last.values, (len(times), 1)))
        for k, segment in enumerate(self._segments):
            in_segment = times < segment.end
            in_segment &= times >= (segment.begin if k else -np.inf)
            if in_segment.any():
                segment_time = np.clip(
                    times[in_segment] - segment.begin, 0.0, segment.end - segment.begin
                )
                parts = segment.axes(segment_time)
                for all_values, segment_values in zip(sample, parts, strict=True):
                    all_values[in_segment] = segment_values
        return sample

    def move_to(self, time: float, values: FloatArray) -> None:
        """Go from the state at `time` [s] to rest at `values` `(k,)` [m], [rad]."""
        current_state = self.state(time)
        self._cut_after(time)
        self._start_transfer(time, current_state, at_rest(np.asarray(values, dtype=float)))

    def play(self, time: float, motion: Motion, loop: bool = False) -> None:
        """Go from the state at `time` [s] to a motion's start, then along it.

        Args:
            time: [s].
            motion: about the machine's home, with the machine's axes.
            loop: repeat it until another command.
        """
        current_state = self.state(time)
        self._cut_after(time)
        self._start_transfer(time, current_state, _state(motion, 0.0))
        self._append(motion)
        if loop:
            self._repeated_motion = motion
        else:
            self._come_to_rest()

    def stop(self, time: float) -> None:
        """End the motion that is played, if any, and come to rest soon after `time` [s]."""
        if not self.playing(time):
            return
        current_state = self.state(time)
        self._cut_after(time)
        self._brake(time, current_state)

    def forget(self, time: float) -> None:
        """Drop the segments that ended before `time` [s]."""
        while self._segments and self._segments[0].end < time:
            self._segments.popleft()

    def _cut_after(self, time: float) -> None:
        """End the trajectory at `time` [s]; its past is kept, as slopes need it."""
        past_segments = [segment for segment in self._segments if segment.begin < time]
        if past_segments and past_segments[-1].end < time:
            past_segments.append(Segment(past_segments[-1].end, time, held_state(self._last)))
        self._segments = deque(
            segment._replace(end=min(segment.end, time)) for segment in past_segments
        )
        self._repeated_motion, self._played_until = None, -np.inf

    def _start_transfer(self, time: float, start: AxisSample, end: AxisSample) -> None:
        """Append the transfer between two states, if they differ."""
        self._last = end
        if _is_same(start, end):
            self._segments.append(Segment(time, time, held_state(end)))
            return
        transfer = self._pace.transfer(start, end, self._is_allowed)
        self._segments.append(Segment(time, time + transfer.duration, transfer.axes))

    def _append(self, motion: Motion) -> None:
        begin_time = self._segments[-1].end
        self._segments.append(Segment(begin_time, begin_time + motion.duration, motion.axes))
        self._played_until = begin_time + motion.duration
        self._last = _state(motion, motion.duration)

    def _come_to_rest(self) -> None:
        """Come to rest after the last segment."""
        if self._last.rates.any() or self._last.accelerations.any():
            self._brake(self._segments[-1].end, self._last)

    def _brake(self, time: float, start: AxisSample) -> None:
        self._start_transfer(time, start, at_rest(start.values + 0.5 * BRAKING_TIME * start.rates))

    def _repeat(self, until: float) -> None:
        """Append repetitions of the looped motion until the trajectory ends after `until` [s]."""
        motion = self._repeated_motion
        while motion is not None and self._segments[-1].end <= until:
            motion_start = _state(motion, 0.0)
            if not _is_same(self._last, motion_start):
                self._start_transfer(self._segments[-1].end, self._last, motion_start)
            self._append(motion)


def _is_same(one: AxisSample, other: AxisSample) -> bool:
    """Return whether two states of motion are the same but for rounding."""
    return bool((np.abs(np.subtract(one, other)) <= STATE_TOLERANCE).all())


def held_state(state: AxisSample) -> Callable[[FloatArray], AxisSample]:
    """Return the axes of a segment that stays in one state."""

    def axes(time: FloatArray) -> AxisSample:
        return AxisSample(*(np.tile(values, (len(time), 1)) for values in state))

    return axes


def _state(motion: Motion, time: float) -> AxisSample:
    return AxisSample(*(np.asarray(values) for values in motion.axes(time)))


class Axis(NamedTuple):
    """One axis of a platform, in display units."""

    name: str
    unit: str
    """"mm" or "deg\""""
    low: float
    high: float
    """upper end of the range about home, with the other axes at home"""


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
        full_motion = motion_of_axes(sample, self.platform.home, self.convention)
        return MotionSample(*self.platform.constrain(*full_motion))

    def poses(self, values: FloatArray) -> FloatArray:
        """Return poses `(m, 7)` at axes `(m, k)` [m], [rad]; the nearest where legs allow none."""
        poses = motion_of_axes(at_rest(values), self.platform.home, self.convention).pose
        return (
            poses
            if self.platform.dof == 6
            else nearest_allowed(self.platform.constants.legs, poses)
        )

    def all_axes(self, shown_values: FloatArray) -> FloatArray:
        """Return all axes `(k,)` [m], [rad] from the shown ones in their units."""
        values = np.zeros(len(self.names))
        values[self.shown] = shown_values * self.units
        return values

    def shown_values(self, values: FloatArray) -> FloatArray:
        """Return the shown axes in their units from all axes `(..., k)` [m], [rad]."""
        return np.asarray(values[..., self.shown] / self.units)

    def reachable(self, start: FloatArray, end: FloatArray) -> FloatArray:
        """Return the last axes `(k,)` on the straight path to `end` within actuator limits."""
        path_values = start + PATH_FRACTIONS[:, None] * (end - start)
        outside_rows = np.flatnonzero(~self.platform.within_limits(self.poses(path_values)))
        if not outside_rows.size:
            return end
        lower, upper = np.append(0.0, PATH_FRACTIONS)[outside_rows[0] : outside_rows[0] + 2]
        for _ in range(20):
            middle = 0.5 * (lower + upper)
            trial_values = start + middle * (end - start)
            if self.platform.within_limits(self.poses(trial_values[None]))[0]:
                lower = middle
            else:
                upper = middle
        return np.asarray(start + lower * (end - start))

    def actuators_per_axis(self) -> FloatArray:
        """Return the actuators' rates per rate of an axis `(n, k)` at home."""
        size = len(self.names)
        no_displacement = np.zeros((size, size))
        twists = self.motion(AxisSample(no_displacement, np.eye(size), no_displacement)).twist
        jacobian = np.asarray(self.platform.jacobian(self.platform.home))
        return jacobian @ twists.T

    def _range(self, column: int, unit: float) -> Axis:
        search_range = (
            LARGEST_ANGLE if column >= 3 else 2.0 * float(self.platform.home_reaches.max())
        )
        ends = []
        for direction in (-1.0, 1.0):
            values = np.zeros((POSES_PER_HALF_AXIS, len(self.names)))
            values[:, column] = direction * np.linspace(0.0, search_range, POSES_PER_HALF_AXIS)
            outside_rows = np.flatnonzero(~self.platform.within_limits(self.poses(values)))
            last_inside = values[max(outside_rows[0] - 1, 0) if outside_rows.size else -1]
            first_outside = values[outside_rows[0]] if outside_rows.size else last_inside
            ends.append(float(self.reachable(last_inside, first_outside)[column] / unit))
        name = self.names[column]
        return Axis(name, "deg" if column >= 3 else "mm", *_round_range(*ends))


def _round_range(low: float, high: float) -> tuple[float, float]:
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
        period: control period [s].
        trajectory: of the axes, as it is steered so far.
    """

    def __init__(self, platform: MachineModel, period: float) -> None:
        """Start at rest at home."""
        self.platform, self.period = platform, period
        self.axes = Axes(platform)
        pace = Pace(platform, self.axes.actuators_per_axis())
        self.trajectory = AxisTrajectory(pace, len(self.axes.names), self._is_inside)
        self._reference_end = -np.inf

    @property
    def target(self) -> FloatArray:
        """Target at which the platform comes to rest `(k,)`, in the units of the shown axes."""
        return self.axes.shown_values(self.trajectory.target)

    def playing(self, time: float) -> bool:
        """Return whether a motion is being played at `time` [s]."""
        return self.trajectory.playing(time)

    def setpoint(self, time: float) -> FloatArray:
        """Return the setpoint of the axes `(k,)` at `time` [s], in the units of the shown axes."""
        return self.axes.shown_values(self.trajectory.state(time).values)

    def move_to(self, time: float, values: object) -> None:
        """Go to `values` `(k,)` of the shown axes, or as far on the straight way as the legs reach.

        Raises:
            InputError: wrong shape or not finite.
        """
        target_values = self.axes.all_axes(as_vector(values, "values", len(self.axes.shown)))
        start_values = self.trajectory.state(time).values
        self.trajectory.move_to(time, self.axes.reachable(start_values, target_values))
        self._reference_end = -np.inf

    def play(self, time: float, motion: Motion, loop: bool) -> None:
        """Go to the start of a motion about home and along it, again and again with `loop`.

        Raises:
            InputError: no motion, one about another centre or with other axes, one that leaves the
                actuators' limits, or one too short to be repeated.
        """
        as_instance(motion, "motion", Motion)  # type: ignore[type-abstract]
        if motion.convention != self.axes.convention:
            raise InputError("motion", f"must have the axes {', '.join(self.axes.names)}")
        if np.abs(motion.center - self.platform.home).max() > 1e-9:
            raise InputError("motion", "must be about the machine's home pose")
        if loop and motion.duration < MIN_LOOP_TIME:
            raise InputError("motion", f"must last at least {MIN_LOOP_TIME:g} s to be repeated")
        times = np.linspace(0.0, motion.duration, CHECKED_TIMES)
        within_limits = self.platform.within_limits(self.axes.poses(motion.axes(times).values))
        if not within_limits.all():
            exit_time = float(times[int(np.argmin(within_limits))])
            raise InputError(
                "motion",
                f"leaves the actuators' limits at {exit_time:.3g} s; give a smaller amplitude",
            )
        self.trajectory.play(time, motion, loop)
        self._reference_end = -np.inf

    def stop(self, time: float) -> None:
        """End a motion that is played and come to rest."""
        self.trajectory.stop(time)
        self._reference_end = -np.inf

    def due(self, time: float) -> bool:
        """Return whether controllers need a new reference at `time` [s]."""
        return time + RENEWAL_LEAD_TIME > self._reference_end

    def reference(self, step: int) -> Reference:
        """Return the reference around control period `step`, counted from the last reset."""
        first_period = step - PERIODS_BEFORE
        n_rows = PERIODS_BEFORE + round(REFERENCE_LOOKAHEAD / self.period)
        times = self.period * np.arange(first_period, first_period + n_rows, dtype=np.float64)
        self.trajectory.forget(float(times[0]))
        motion = self.axes.motion(self.trajectory.sample(times))
        self._reference_end = float(times[-1])
        new_reference = reference_of(self.platform, self.period, times, *motion)
        return new_reference._replace(begin=first_period)

    def _is_inside(self, values: FloatArray) -> bool:
        return bool(self.platform.within_limits(self.axes.poses(values)).all())
