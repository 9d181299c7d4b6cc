"""Base of the reference motions: functions of time to pose, twist and acceleration.

A window with smooth transitions from 0 to 1 fades a motion in and out. The axes of a motion have
the names x, y, z and those of angles; the numbers that describe it have bounds, within which no
result can overflow.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from math import factorial
from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import (
    FloatArray,
    as_floats,
    as_pose,
    bounded,
    cross,
    flatten_batch,
    quaternion_product,
    read_only,
)
from twin.errors import InputError, brief
from twin.rotations import convention, times_unit

POSITION_AXES = ("x", "y", "z")

MIN_TIME = 1e-6
"""[s] Shortest time, below the step of any engine."""

MAX_TIME = 1e6
"""[s] Longest time, above eleven days."""

MAX_FREQUENCY = 1e4
"""[Hz] Largest frequency, above what any platform of this kind can follow."""

MAX_AMPLITUDE = 1e6
"""[m] or [rad] Largest amplitude; it keeps amplitude times frequency squared finite."""

MAX_SAMPLE = 1e30
"""Largest number in recorded columns of any unit; it keeps sums, integrals and conversions finite.
"""

SERIES_BELOW = 1.0
"""Squared angle [rad2] below which series replace the closed forms, which lose digits near zero."""

SERIES_TERMS = 11
"""Number of terms of the series: at a squared angle of 1 the next term is 1/24!, far below
rounding.
"""

TIME_ROUNDING = 1e-9
"""Fraction of the duration by which a time may lie outside: rounding error of summed time steps."""


class AxisSample(NamedTuple):
    """Axes of a motion at given times, one column per axis in the order of `axis_names`."""

    values: FloatArray
    """`(..., k)` displacement from the centre [m], angles [rad]"""
    rates: FloatArray
    """`(..., k)` first time derivatives"""
    accelerations: FloatArray
    """`(..., k)` second time derivatives"""


def axis_names(name: str = "yaw_pitch_roll") -> tuple[str, ...]:
    """Return the names of the axes: x, y, z, then the angles of the convention.

    Angles that a convention calls x, y or z are called angle_x, angle_y, angle_z.

    Raises:
        InputError: unknown convention.
    """
    angles = convention(name).angles
    return POSITION_AXES + tuple(f"angle_{a}" if a in POSITION_AXES else a for a in angles)


def known_axis(axis: Any, field: str, name: str) -> int:
    """Return the column of an axis; raises InputError listing the axes of the convention."""
    names = axis_names(name)
    if not isinstance(axis, str) or axis not in names:
        raise InputError(field, f"there is no axis {axis!r}; the axes are {', '.join(names)}")
    return names.index(axis)


def axis_values(value: Any, field: str, name: str, *, one_for_all: bool = False) -> FloatArray:
    """Return one number per axis.

    Args:
        value: a mapping from axis names to numbers (axes left out are zero), or a vector with one
            number per axis of the convention.
        field: name of the argument, for the message.
        name: the angle convention.
        one_for_all: whether a single number is taken for every axis.

    Raises:
        InputError: unknown axis, wrong size, not finite or too large.
    """
    names = axis_names(name)
    if isinstance(value, Mapping):
        result = np.zeros(len(names))
        for axis, axis_value in value.items():
            column = known_axis(axis, field, name)
            amplitude = as_floats(axis_value, f"{field}[{axis!r}]")
            if amplitude.ndim:
                raise InputError(
                    f"{field}[{axis!r}]", f"must be one number, got {brief(axis_value)}"
                )
            result[column] = amplitude
    else:
        array = as_floats(value, field)
        if array.ndim == 0 and one_for_all:
            array = np.full(len(names), float(array))
        if array.shape != (len(names),):
            raise InputError(
                field,
                f"must map axis names to numbers, such as {{{names[-1]!r}: 0.05}}, or hold one "
                f"number for each of {', '.join(names)}",
            )
        result = array.copy()
    if np.abs(result).max() > MAX_AMPLITUDE:
        raise InputError(field, f"must not exceed {MAX_AMPLITUDE:g}, got {brief(value)}")
    return result


class RotationSample(NamedTuple):
    """Attitude of the platform and its derivatives."""

    quaternion: FloatArray
    """`(..., 4)` platform to base, scalar first, unit norm; continuous in the angles"""
    velocity: FloatArray
    """`(..., 3)` angular velocity [rad/s], base axes"""
    acceleration: FloatArray
    """`(..., 3)` angular acceleration [rad/s2], base axes: derivative of `velocity`"""


def _euler_kinematics(
    sequence: str, angles: FloatArray, rates: FloatArray, accelerations: FloatArray
) -> RotationSample:
    """Return attitude, angular velocity and acceleration of angles about a sequence of axes."""
    # Rotations about fixed axes are those about moving axes in the opposite order.
    columns = range(len(sequence)) if sequence.isupper() else reversed(range(len(sequence)))
    quaternion = np.zeros((4, len(angles)))
    quaternion[0] = 1.0
    velocity, acceleration = np.zeros((2, 3, len(angles)))
    for i in columns:
        quaternion_rate = times_unit(quaternion, sequence[i].upper())
        # The vector of quaternion_rate * conjugate of quaternion: the axis in the base.
        axis = quaternion[0] * quaternion_rate[1:] - quaternion_rate[0] * quaternion[1:]
        axis += cross(quaternion[1:].T, quaternion_rate[1:].T).T
        # It is carried by the rotations before it, hence velocity x axis.
        acceleration += accelerations[:, i] * axis + rates[:, i] * cross(velocity.T, axis.T).T
        velocity += rates[:, i] * axis
        half_angle = 0.5 * angles[:, i]
        quaternion = np.cos(half_angle) * quaternion + np.sin(half_angle) * quaternion_rate
    return RotationSample(quaternion.T, velocity.T, acceleration.T)


def rodrigues_kinematics(
    parameters: FloatArray, rate: FloatArray, acceleration: FloatArray
) -> RotationSample:
    """Return quaternions `(m, 4)`, angular velocity and acceleration `(m, 3)` in base axes.

    velocity = 2 (c' + c x c') / (1 + c.c) for the parameters c; acceleration is its derivative.

    Args:
        parameters: `(m, 3)` Rodrigues parameters.
        rate: `(m, 3)` their first time derivatives [1/s].
        acceleration: `(m, 3)` their second time derivatives [1/s2].

    Reference:
        Shuster, A survey of attitude representations, J. Astronautical Sciences 41 (1993),
        section on the Rodrigues vector.
    """
    size = 1.0 + np.sum(parameters**2, axis=1, keepdims=True)
    quaternion = np.hstack([np.ones_like(size), parameters]) / np.sqrt(size)
    rate_vector = rate + cross(parameters, rate)
    velocity = 2.0 * rate_vector / size
    norm_rate = 2.0 * np.sum(parameters * rate, axis=1, keepdims=True)
    rate_vector_slope = acceleration + cross(parameters, acceleration)
    result = 2.0 * rate_vector_slope / size - velocity * norm_rate / size
    return RotationSample(quaternion, velocity, result)


def _coefficients(square: FloatArray, angle: FloatArray) -> tuple[FloatArray, ...]:
    """Return b = (1 - cos a) / a^2, c = (a - sin a) / a^3 and their derivatives by a^2."""
    series_argument = np.minimum(square, SERIES_BELOW)
    a = np.where(square < SERIES_BELOW, 1.0, angle)
    sine, cosine = np.sin(a), np.cos(a)
    closed_form = (
        (1.0 - cosine) / a**2,
        (a - sine) / a**3,
        (a * sine - 2.0 * (1.0 - cosine)) / (2.0 * a**4),
        (3.0 * sine - a * cosine - 2.0 * a) / (2.0 * a**5),
    )
    b = np.polynomial.Polynomial([(-1) ** k / factorial(2 * k + 2) for k in range(SERIES_TERMS)])
    c = np.polynomial.Polynomial([(-1) ** k / factorial(2 * k + 3) for k in range(SERIES_TERMS)])
    series = [polynomial(series_argument) for polynomial in (b, c, b.deriv(), c.deriv())]
    return tuple(
        np.where(square < SERIES_BELOW, s, e) for s, e in zip(series, closed_form, strict=True)
    )


def rotation_vector_kinematics(
    vector: FloatArray, rate: FloatArray, acceleration: FloatArray
) -> RotationSample:
    """Return quaternions `(m, 4)`, angular velocity and acceleration `(m, 3)` in base axes.

    velocity = r' + b r x r' + c r x (r x r') for the rotation vector r of length a, with
    b = (1 - cos a) / a^2 and c = (a - sin a) / a^3; acceleration is its derivative.

    Args:
        vector: `(m, 3)` rotation vectors [rad].
        rate: `(m, 3)` their first time derivatives [rad/s].
        acceleration: `(m, 3)` their second time derivatives [rad/s2].

    Reference:
        Barfoot, State Estimation for Robotics, section 7.1: left Jacobian of SO(3).
    """
    squared_angle = np.sum(vector**2, axis=1, keepdims=True)
    angle = np.sqrt(squared_angle)
    half_angle = 0.5 * angle
    quaternion = np.hstack([np.cos(half_angle), 0.5 * np.sinc(half_angle / np.pi) * vector])

    b, c, b_slope, c_slope = _coefficients(squared_angle, angle)
    squared_angle_rate = 2.0 * np.sum(vector * rate, axis=1, keepdims=True)
    first_cross = cross(vector, rate)
    second_cross = cross(vector, first_cross)
    velocity = rate + b * first_cross + c * second_cross
    first_cross_rate = cross(vector, acceleration)
    second_cross_rate = cross(rate, first_cross) + cross(vector, first_cross_rate)
    result = (
        acceleration
        + b * first_cross_rate
        + c * second_cross_rate
        + squared_angle_rate * (b_slope * first_cross + c_slope * second_cross)
    )
    return RotationSample(quaternion, velocity, result)


def rotational_motion(
    angles: Any, rates: Any, accelerations: Any, name: str = "yaw_pitch_roll"
) -> RotationSample:
    """Return attitude, angular velocity and angular acceleration of angles of a convention.

    With the axes u_i of the elementary rotations in base axes, velocity = sum q_i' u_i and
    acceleration = sum q_i'' u_i + q_i' (omega_i x u_i), omega_i the velocity due to the rotations
    before the i-th. Exact for every angle, also where the convention cannot be inverted.

    Args:
        angles: `(..., k)` [rad], in the order of the convention's `angles`.
        rates: `(..., k)` [rad/s].
        accelerations: `(..., k)` [rad/s2].
        name: a key of `twin.rotations.CONVENTIONS`.

    Raises:
        InputError: wrong shapes, not finite, unknown convention.

    Reference:
        Siciliano et al., Robotics: Modelling, Planning and Control, section 3.6. See also
        `rodrigues_kinematics` and `rotation_vector_kinematics`.
    """
    angle_convention = convention(name)
    inputs = {"angles": angles, "rates": rates, "accelerations": accelerations}
    size = len(angle_convention.angles)
    shape, flat_arrays = flatten_batch(
        **{field: as_floats(value, field, size) for field, value in inputs.items()}
    )
    with np.errstate(over="ignore", invalid="ignore"):
        if name == "rodrigues":
            result = rodrigues_kinematics(*flat_arrays)
        elif angle_convention.sequence:
            result = _euler_kinematics(angle_convention.sequence, *flat_arrays)
        else:
            result = rotation_vector_kinematics(*flat_arrays)
    checked_arrays = (as_floats(part, "angles, rates, accelerations") for part in result)
    return RotationSample(*(part.reshape(shape + part.shape[1:]) for part in checked_arrays))


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
    return u * u * u * (10.0 + u * (6.0 * u - 15.0))


class Fade(NamedTuple):
    """A window that fades a motion in and out; a fade of zero seconds leaves that end unchanged."""

    fade_in: float
    """[s] duration of the rise from rest"""
    fade_out: float
    """[s] duration of the return to rest"""
    duration: float
    """[s] duration of the motion"""

    def window(self, time: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the window and its first two time derivatives at `time` `(m,)` [s]."""
        value, rate, acceleration = np.ones_like(time), np.zeros_like(time), np.zeros_like(time)
        # The two transitions never overlap, so they may be added instead of multiplied.
        for fade, sign, fade_time in (
            (self.fade_in, 1.0, time),
            (self.fade_out, -1.0, self.duration - time),
        ):
            if fade:
                rise, slope, curvature = minimum_jerk(fade_time / fade)
                value += rise - 1.0
                rate += sign * slope / fade
                acceleration += curvature / fade**2
        return value, rate, acceleration

    def apply(self, time: FloatArray, sample: AxisSample) -> AxisSample:
        """Return the windowed axes `(m, k)`, derivatives by the product rule."""
        if not (self.fade_in or self.fade_out):
            return sample
        w, w1, w2 = (part[:, None] for part in self.window(time))
        x, x1, x2 = sample
        return AxisSample(w * x, w1 * x + w * x1, w2 * x + 2.0 * w1 * x1 + w * x2)


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
    values, rates, accelerations = (
        axis_array.reshape(-1, axis_array.shape[-1]) for axis_array in axes
    )
    rotation = rotational_motion(values[:, 3:], rates[:, 3:], accelerations[:, 3:], convention)
    attitude = np.broadcast_to(center[3:], (len(values), 4))
    shape = axes.values.shape[:-1]
    pose = np.hstack(
        [center[:3] + values[:, :3], quaternion_product(rotation.quaternion, attitude)]
    )
    twist = np.hstack([rates[:, :3], rotation.velocity])
    acceleration = np.hstack([accelerations[:, :3], rotation.acceleration])
    parts = (pose, twist, acceleration)
    return MotionSample(*(part.reshape((*shape, part.shape[1])) for part in parts))


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
        """Set centre, duration, convention and fades.

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
        seconds = bounded(duration, "duration", MIN_TIME, MAX_TIME)
        fade = Fade(_fade_time(fade_in, "fade_in"), _fade_time(fade_out, "fade_out"), seconds)
        if fade.fade_in + fade.fade_out > seconds * (1.0 + TIME_ROUNDING):
            raise InputError(
                "fade_in, fade_out",
                f"together {fade.fade_in + fade.fade_out:g} s, longer than the motion's "
                f"{seconds:g} s; shorten them or give a longer duration",
            )
        self._set(center=pose, duration=seconds, convention=convention, fade=fade)

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
        tolerance = TIME_ROUNDING * self.duration
        is_outside = (times < -tolerance) | (times > self.duration + tolerance)
        if is_outside.any():
            raise InputError(
                "time",
                f"{times[is_outside].flat[0]:.9g} s is outside the motion, which goes from 0 to "
                f"{self.duration:.9g} s; make it longer or stay inside",
            )
        flat_times = np.clip(times.ravel(), 0.0, self.duration)
        sample = self.fade.apply(flat_times, self._axes(flat_times))
        return AxisSample(
            *(axis_array.reshape(times.shape + axis_array.shape[1:]) for axis_array in sample)
        )

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
    seconds = bounded(value, field, 0.0, MAX_TIME)
    if 0.0 < seconds < MIN_TIME:
        raise InputError(field, f"must be 0 (no fade) or at least {MIN_TIME:g} s")
    return seconds
