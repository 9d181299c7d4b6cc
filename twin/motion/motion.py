"""Base of the reference motions: functions of time to pose, twist and acceleration.

A window with smooth transitions from 0 to 1 fades a motion in and out.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, as_floats, as_pose, bounded, read_only
from twin.basics.quaternions import quaternion_product
from twin.errors import InputError
from twin.motion.axes import LONGEST_TIME, SHORTEST_TIME, AxisSample, axis_names
from twin.motion.rotational_motion import rotational_motion


def minimum_jerk(phase: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the quintic transition and its first two derivatives by `phase`.

    0 up to phase 0, 1 from phase 1 on, with zero first and second derivatives at both ends.

    Reference:
        Flash and Hogan, The coordination of arm movements, J. Neuroscience 5 (1985).
    """
    u = np.clip(phase, 0.0, 1.0)
    value = smooth_rise(u)
    slope = 30.0 * (u * (1.0 - u)) ** 2
    curvature = 60.0 * u * (1.0 - u) * (1.0 - 2.0 * u)
    return value, slope, curvature


def smooth_rise(phase: FloatArray) -> FloatArray:
    """Return the transition of `minimum_jerk` alone, without derivatives."""
    u = np.minimum(np.maximum(phase, 0.0), 1.0)
    return np.asarray(u * u * u * (10.0 + u * (6.0 * u - 15.0)))


class Fade(NamedTuple):
    """A window over a motion: rises at the start, falls at the end, zero seconds is no fade."""

    fade_in: float
    """[s]"""
    fade_out: float
    """[s]"""
    duration: float
    """[s]"""

    def window(self, time: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the window and its first two time derivatives at `time` `(m,)` [s]."""
        value, rate, acceleration = np.ones_like(time), np.zeros_like(time), np.zeros_like(time)
        # The two transitions never overlap, so they may be added instead of multiplied.
        if self.fade_in:
            rise, slope, curvature = minimum_jerk(time / self.fade_in)
            value += rise - 1.0
            rate += slope / self.fade_in
            acceleration += curvature / self.fade_in**2
        if self.fade_out:
            rise, slope, curvature = minimum_jerk((self.duration - time) / self.fade_out)
            value += rise - 1.0
            rate -= slope / self.fade_out
            acceleration += curvature / self.fade_out**2
        return value, rate, acceleration

    def apply(self, time: FloatArray, sample: AxisSample) -> AxisSample:
        """Return the windowed axes `(m, k)`, derivatives by the product rule."""
        if not (self.fade_in or self.fade_out):
            return sample
        w, w1, w2 = (part[:, None] for part in self.window(time))
        x, x1, x2 = sample
        return AxisSample(w * x, w1 * x + w * x1, w2 * x + 2.0 * w1 * x1 + w * x2)


TIME_ROUNDING = 1e-9
"""Part of the duration by which a time may lie outside: what summing time steps can add up to."""


class MotionSample(NamedTuple):
    """A motion at given times; arrays are fresh and belong to the caller."""

    pose: FloatArray
    """`(..., 7)` platform in base: position [m], unit quaternion (scalar first)"""
    twist: FloatArray
    """`(..., 6)` velocity of the reference point [m/s], angular velocity [rad/s], base axes"""
    acceleration: FloatArray
    """`(..., 6)` time derivatives of the twist [m/s2], [rad/s2]"""


def motion_of_axes(axes: AxisSample, center: FloatArray, convention: str) -> MotionSample:
    """Return pose, twist and acceleration `(..., k)` of axes of a convention about a centre `(7,)`.

    Raises:
        InputError: axes of another convention, or numbers that are not finite.
    """
    values, rates, accelerations = (part.reshape(-1, part.shape[-1]) for part in axes)
    turn = rotational_motion(values[:, 3:], rates[:, 3:], accelerations[:, 3:], convention)
    attitude = np.broadcast_to(center[3:], (len(values), 4))
    shape = axes.values.shape[:-1]
    pose = np.hstack([center[:3] + values[:, :3], quaternion_product(turn.quaternion, attitude)])
    twist = np.hstack([rates[:, :3], turn.velocity])
    acceleration = np.hstack([accelerations[:, :3], turn.acceleration])
    return MotionSample(
        pose.reshape((*shape, 7)),
        twist.reshape((*shape, 6)),
        acceleration.reshape((*shape, 6)),
    )


def as_center(value: Any) -> FloatArray:
    """Return a pose `(7,)`, read-only, of a pose or a position `(3,)` [m]; raises InputError."""
    pose = as_floats(value, "center")
    if pose.shape == (3,):
        pose = np.concatenate([pose, [1.0, 0.0, 0.0, 0.0]])
    if pose.shape != (7,):
        raise InputError(
            "center", f"must be a pose (7,) or a position (3,) [m], got shape {pose.shape}"
        )
    return read_only(as_pose(pose, "center"))


class Motion(ABC):
    """A reference motion about a centre pose, from time 0 to `duration`. Cannot be changed.

    The axes are displacements along the base axes from the centre and the angles of a
    convention; the rotation of the angles is applied, in base axes, on top of the centre's
    attitude. Derivatives are exact, not differences.

    Attributes:
        center: `(7,)` pose that zero on all axes means, read-only.
        duration: [s].
        convention: a key of `twin.rotations.CONVENTIONS`.
        fade: window over the motion; its two times are zero where nothing fades.
    """

    center: FloatArray
    duration: float
    convention: str
    fade: Fade

    def __init__(
        self,
        center: Any,
        duration: Any,
        convention: str = "yaw_pitch_roll",
        fade_in: Any = 0.0,
        fade_out: Any = 0.0,
    ) -> None:
        """Describe what all motions have.

        Args:
            center: pose `(7,)`, such as a platform's `home`, or position `(3,)` [m].
            duration: [s].
            convention: angle convention, which names the axes.
            fade_in: [s] over which the motion rises from rest.
            fade_out: [s] over which it returns to rest.

        Raises:
            InputError: wrong shape, unknown convention, not finite, out of range, fades longer
                than the motion.
        """
        pose = as_center(center)
        axis_names(convention)
        seconds = bounded(duration, "duration", SHORTEST_TIME, LONGEST_TIME)
        fade = Fade(_fade_time(fade_in, "fade_in"), _fade_time(fade_out, "fade_out"), seconds)
        if fade.fade_in + fade.fade_out > seconds * (1.0 + TIME_ROUNDING):
            raise InputError(
                "fade_in, fade_out",
                f"together {fade.fade_in + fade.fade_out:g} s, longer than the motion's "
                f"{seconds:g} s; shorten them or give a longer duration",
            )
        self._set(
            center=pose,
            duration=seconds,
            convention=convention,
            fade=fade,
        )

    def _set(self, **values: Any) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: Any) -> None:
        """Refuse changes: a motion is shared between runs that must agree."""
        raise AttributeError(f"a motion cannot be changed; make a new one with another {name}")

    def __repr__(self) -> str:
        return f"{type(self).__name__}(duration={self.duration:g}, convention={self.convention!r})"

    @property
    def axis_names(self) -> tuple[str, ...]:
        """Names of the axes, in the order of the columns of `axes`."""
        return axis_names(self.convention)

    @abstractmethod
    def _axes(self, time: FloatArray) -> AxisSample:
        """Return the axes `(m, k)` before the fade at times `(m,)` inside the motion."""

    def axes(self, time: Any) -> AxisSample:
        """Return displacements, angles and their two derivatives at `time` `(...,)` [s].

        Raises:
            InputError: not finite, or outside 0 to `duration` by more than rounding.
        """
        times = as_floats(time, "time")
        slack = TIME_ROUNDING * self.duration
        outside = (times < -slack) | (times > self.duration + slack)
        if outside.any():
            raise InputError(
                "time",
                f"{times[outside].flat[0]:.9g} s is outside the motion, which goes from 0 to "
                f"{self.duration:.9g} s; make it longer or stay inside",
            )
        flat = np.clip(times.ravel(), 0.0, self.duration)
        sample = self.fade.apply(flat, self._axes(flat))
        return AxisSample(*(part.reshape(times.shape + part.shape[1:]) for part in sample))

    def sample(self, time: Any) -> MotionSample:
        """Return pose, twist and acceleration at `time` `(...,)` [s].

        Raises:
            InputError: not finite, or outside 0 to `duration` by more than rounding.
        """
        return motion_of_axes(self.axes(time), self.center, self.convention)

    def __call__(self, time: Any) -> MotionSample:
        """Return `sample(time)`."""
        return self.sample(time)


def _fade_time(value: Any, field: str) -> float:
    seconds = bounded(value, field, 0.0, LONGEST_TIME)
    if 0.0 < seconds < SHORTEST_TIME:
        raise InputError(field, f"must be 0 (no fade) or at least {SHORTEST_TIME:g} s")
    return seconds
