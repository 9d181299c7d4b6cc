"""Base of the cueing algorithms: samples of a manoeuvre in, axes of the platform out.

The module also has the filter of the washouts, a driven oscillator whose acceleration is linear
between samples; the motion of a machine that follows from axes about its home; and the travel and
speed of a machine along each axis alone, from home.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, NamedTuple

import numpy as np

from twin.basics.arrays import (
    BoolArray,
    FloatArray,
    IndexArray,
    as_floats,
    as_vector,
    cross,
    positive,
    read_only,
    rotated,
)
from twin.errors import InputError
from twin.kernels.tasks.motion_cueing.cues import GRAVITY
from twin.model.machine_base import PlatformMotion, nearest_allowed, without_compiling
from twin.model.machine_model import MachineModel, as_model
from twin.motion import motion
from twin.motion.motion import AxisSample, Motion, rotational_motion

ANGLE_CONVENTION = "yaw_pitch_roll"

AXIS_NAMES = ("x", "y", "z", "yaw", "pitch", "roll")
"""Order of all six-vectors of axes in this package."""

SEARCH_STEPS = 200
"""Number of points searched on either side, up to 1 m or 1 rad."""

FREE_TOLERANCE = 1e-9
"""Velocity along an axis per unit command below which the machine counts as locked along that axis.
"""

REST_FORCE = np.array([0.0, 0.0, GRAVITY])
"""[m/s2] Specific force at rest."""

LIMIT_APPROACH_RATE = 20.0
"""[1/s] Rate constant at which a speed may approach its limit."""


class CuedMotion(Motion):
    """Axes of a point of the platform, accelerations linear between samples at an even period.

    Twist and acceleration are exact derivatives. The axes are displacements of `point` (such as
    the driver's head) and yaw, pitch, roll; the reference point moves as the rigid platform wants.

    Attributes:
        period: [s] between samples.
        point: `(3,)` [m] from the reference point, platform axes.
        knots: the samples: values, rates and accelerations `(n, 6)`, read-only.
    """

    period: float
    point: FloatArray
    knots: AxisSample

    def __init__(self, center: Any, period: Any, knots: Any, point: Any = (0.0, 0.0, 0.0)) -> None:
        """Describe the motion.

        Args:
            center: pose `(7,)` that zero on all axes means, such as a platform's `home`.
            period: [s] between samples.
            knots: values [m], [rad], rates and accelerations, each `(n, 6)` in the order of
                `AXIS_NAMES`; rates and values must be the integrals of the linear accelerations.
            point: `(3,)` [m] point of the platform that the displacements move, platform axes.

        Raises:
            InputError: wrong shapes, not finite, samples that do not fit together.
        """
        step = positive(period, "period")
        samples = as_floats(knots, "knots", len(AXIS_NAMES))
        if samples.ndim != 3 or samples.shape[0] != 3 or samples.shape[1] < 2:
            raise InputError("knots", f"must have shape (3, n, 6), n from 2, got {samples.shape}")
        super().__init__(center, step * (samples.shape[1] - 1), ANGLE_CONVENTION)
        sample = AxisSample(*(read_only(array) for array in samples))
        _check_integrals(sample, step)
        self._set(period=step, point=read_only(as_vector(point, "point", 3)), knots=sample)

    @property
    def time(self) -> FloatArray:
        """Times `(n,)` [s] of the samples."""
        return np.arange(len(self.knots.values), dtype=np.float64) * self.period

    def scaled(self, factor: Any) -> CuedMotion:
        """Return the motion with all axes times `factor`; raises InputError."""
        scale_factor = as_floats(factor, "factor")
        if scale_factor.ndim:
            raise InputError("factor", "must be one number")
        return CuedMotion(
            self.center, self.period, float(scale_factor) * np.stack(self.knots), self.point
        )

    def axes_of_point(self, time: FloatArray) -> AxisSample:
        """Return the axes `(m, 6)` of the point at times `(m,)` [s] inside the motion."""
        count = len(self.knots.values)
        k = np.clip((time / self.period).astype(int), 0, count - 2)
        t = (time - k * self.period)[:, None]
        x, v, a = (array[k] for array in self.knots)
        jerk = (self.knots.accelerations[k + 1] - a) / self.period
        return AxisSample(*cubic_steps(x, v, a, jerk, t))

    def _axes(self, time: FloatArray) -> AxisSample:
        """Return the axes of the reference point that move `point` as demanded."""
        values, rates, accelerations = self.axes_of_point(time)
        if self.point.any():
            attitude = rotational_motion(
                values[:, 3:], rates[:, 3:], accelerations[:, 3:], ANGLE_CONVENTION
            )
            home = np.broadcast_to(self.center[3:], (len(time), 4))
            home_point = rotated(home, np.broadcast_to(self.point, (len(time), 3)))
            arm = rotated(attitude.quaternion, home_point)
            speed = cross(attitude.velocity, arm)
            values[:, :3] += home_point - arm
            rates[:, :3] -= speed
            accelerations[:, :3] -= cross(attitude.acceleration, arm) + cross(
                attitude.velocity, speed
            )
        return AxisSample(values, rates, accelerations)


def cubic_steps(
    value: FloatArray, rate: FloatArray, acceleration: FloatArray, jerk: FloatArray, time: Any
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return value, rate and acceleration after some `time` [s] of constant jerk."""
    return (
        value + time * (rate + time * (acceleration / 2.0 + time * jerk / 6.0)),
        rate + time * (acceleration + time * jerk / 2.0),
        acceleration + time * jerk,
    )


def _check_integrals(sample: AxisSample, step: float) -> None:
    """Refuse samples whose rates or values are not those of linear accelerations."""
    x, v, a = sample
    speed = v[:-1] + 0.5 * step * (a[:-1] + a[1:])
    integrated_values = x[:-1] + step * v[:-1] + step**2 * (a[:-1] / 3.0 + a[1:] / 6.0)
    for name, given_samples, expected in (
        ("rates", v[1:], speed),
        ("values", x[1:], integrated_values),
    ):
        scale = max(1.0, float(np.abs(expected).max()))
        if np.abs(given_samples - expected).max() > 1e-9 * scale:
            raise InputError(
                "knots", f"{name} are not the integrals of accelerations linear between samples"
            )


def motion_of_axes(platform: MachineModel, axes: AxisSample) -> PlatformMotion:
    """Return pose, twist and acceleration for axes `(m, 6)` under the machine's constraints."""
    return platform.constrain(*motion.motion_of_axes(axes, platform.home, ANGLE_CONVENTION))


def leg_slopes(platform: MachineModel, values: FloatArray, columns: IndexArray) -> FloatArray:
    """Return actuator rates per rate of some axes `(m, n, d)` at axes `(m, 6)`.

    Args:
        platform: the machine.
        values: `(m, 6)`.
        columns: `(d,)` numbers of the axes.
    """
    count, size = len(values), len(columns)
    unit_rates = np.tile(np.eye(6)[columns], (count, 1))
    no_acceleration = np.zeros_like(unit_rates)
    repeated_values = np.repeat(values, size, axis=0)
    sampled = motion_of_axes(platform, AxisSample(repeated_values, unit_rates, no_acceleration))
    jacobian = platform.jacobian(sampled.pose[::size])
    twists = sampled.twist.reshape(count, size, 6)
    return jacobian @ twists.transpose(0, 2, 1)


class MachineRanges(NamedTuple):
    """Travel and speed of a machine along each of the axes x, y, z, yaw, pitch, roll."""

    free: BoolArray
    """`(6,)` whether the machine can be commanded along the axis"""
    travel: FloatArray
    """`(6,)` [m], [rad] travel to either side within the actuators' limits; zero where not free"""
    speed: FloatArray
    """`(6,)` [m/s], [rad/s] speed at home within the actuators' speed; infinite without one"""


def machine_ranges(platform: MachineModel) -> MachineRanges:
    """Return travel and speed of a machine along each axis alone, from home.

    Axes are free that the machine keeps when it constrains a motion along them: all six of a
    hexapod; heave, pitch and roll of a machine on pillars.
    """
    # Yaw turns about z, pitch about y, roll about x.
    twists = np.eye(6)[[0, 1, 2, 5, 4, 3]]
    allowed_twists = platform.constrain(np.tile(platform.home, (6, 1)), twists).twist
    is_free = np.einsum("ij,ij->i", allowed_twists, twists) > FREE_TOLERANCE
    with without_compiling():
        rates = np.abs(allowed_twists @ platform.jacobian(platform.home).T).max(axis=1)
    limit = platform.parameters.leg.actuator.speed
    speed = (
        np.full(6, np.inf)
        if limit is None
        else limit / np.where(rates > FREE_TOLERANCE, rates, np.inf)
    )
    travel = np.zeros(6)
    fractions = np.arange(1, SEARCH_STEPS + 1) / SEARCH_STEPS
    for axis in np.flatnonzero(is_free):
        one_sided_travel = []
        for sign in (1.0, -1.0):
            values = np.zeros((SEARCH_STEPS, 6))
            values[:, axis] = sign * fractions
            axes = AxisSample(values, *np.zeros((2, SEARCH_STEPS, 6)))
            poses = motion.motion_of_axes(axes, platform.home, ANGLE_CONVENTION).pose
            if platform.dof < 6:
                poses = nearest_allowed(platform.constants.legs, poses)
            is_within_limits = np.append(platform.within_limits(poses), False)
            one_sided_travel.append(int(np.argmin(is_within_limits)) / SEARCH_STEPS)
        travel[axis] = min(one_sided_travel)
    return MachineRanges(is_free, travel, np.where(is_free, speed, 0.0))


class CueingAlgorithm(ABC):
    """A filter stepped at an even period, from rest at the machine's home.

    Attributes:
        platform: the machine.
        period: [s].
        head: `(3,)` [m] driver's head from the platform's reference point, platform axes.
        point: `(3,)` [m] that the axes displace: the head, or the reference point.
        state: `(3, 6)` x, y, z [m], yaw, pitch, roll [rad] of that point about home, their rates
            and accelerations.
    """

    name: ClassVar[str]
    latency = 0
    """number of periods between the input sample and the end of the step that uses it"""
    keeps_limits = False
    """whether the axes never take an actuator beyond its limits"""

    def __init__(self, platform: MachineModel, head: object, period: float) -> None:
        """Set up the attributes of all algorithms, with the axes at rest.

        Raises:
            InputError: not a machine, no point, period not above zero.
        """
        self.platform = as_model(platform)
        self.head = as_vector(head, "head", 3)
        self.point = self.head
        self.period = positive(period, "period")
        self.state = np.zeros((3, 6))

    @abstractmethod
    def step(self, specific_force: FloatArray, angular_rate: FloatArray) -> None:
        """Advance by one period, with the manoeuvre's sample `(3,)`, `(3,)` at the period's end."""

    @property
    def values(self) -> FloatArray:
        """Values `(6,)` of the axes."""
        return np.asarray(self.state[0])


def saturated(
    values: FloatArray, scale: FloatArray | float, limit: FloatArray | float
) -> FloatArray:
    """Return `scale` times `values`, clipped to `limit` in magnitude."""
    return np.clip(scale * values, -limit, limit)


def euler_rates(angles: FloatArray, rate: FloatArray) -> FloatArray:
    """Return the rates of yaw, pitch, roll [rad/s] for an angular rate in platform axes."""
    _, pitch, roll = angles
    yaw_component = rate[1] * np.sin(roll) + rate[2] * np.cos(roll)
    return np.array(
        [
            yaw_component / np.cos(pitch),
            rate[1] * np.cos(roll) - rate[2] * np.sin(roll),
            rate[0] + yaw_component * np.tan(pitch),
        ]
    )


def to_base(angles: FloatArray, vector: FloatArray) -> FloatArray:
    """Return a vector given in platform axes in base axes, at yaw, pitch, roll [rad]."""
    (cos_yaw, cos_pitch, cos_roll), (sin_yaw, sin_pitch, sin_roll) = np.cos(angles), np.sin(angles)
    x, y, z = vector
    y, z = cos_roll * y - sin_roll * z, sin_roll * y + cos_roll * z
    x, z = cos_pitch * x + sin_pitch * z, -sin_pitch * x + cos_pitch * z
    return np.array([cos_yaw * x - sin_yaw * y, sin_yaw * x + cos_yaw * y, z])


class Channel:
    """A driven oscillator on several axes, stepped through time.

        x'' = f - d x' - k x

    with forcing f, damping d and stiffness k. For a forcing f = a it is a high-pass of the
    acceleration a, for f = k c a low-pass of the value c:

        x'' / a = s^2 / (s^2 + d s + k)
        x / c   = k / (s^2 + d s + k)

    The equation holds at every sample and the acceleration is linear between two, so that value,
    rate and acceleration are one smooth curve:

        x'_1 = x' + T (x'' + x''_1) / 2,   x_1 = x + T x' + T^2 (x'' / 3 + x''_1 / 6)

    which follows the differential equation with an error of second order in T. A rate limit bounds
    the acceleration towards it by

        |x''| <= p (limit - |x'|)

    with p of `LIMIT_APPROACH_RATE`. Where p T is at most 2, the rate stays inside at samples and
    between them.

    Attributes:
        value: `(k,)`.
        rate: `(k,)`.
        acceleration: `(k,)`.

    Reference:
        Newmark, A method of computation for structural dynamics, J. Eng. Mech. Div. ASCE 85 (1959),
        linear acceleration.
    """

    def __init__(self, size: int, period: float) -> None:
        self.period = period
        self.value, self.rate, self.acceleration = np.zeros((3, size))

    @property
    def state(self) -> FloatArray:
        """Value, rate and acceleration `(3, k)`."""
        return np.array([self.value, self.rate, self.acceleration])

    def step(self, forcing: Any, damping: Any, stiffness: Any, limit: Any = None) -> FloatArray:
        """Advance by one period and return the value `(k,)` at its end.

        Args:
            forcing: `(k,)` forcing at the end of the period.
            damping: [1/s], one number or `(k,)`.
            stiffness: [1/s2], one number or `(k,)`.
            limit: limit of the rate; None: the rate is not limited.
        """
        t = self.period
        rate = self.rate + 0.5 * t * self.acceleration
        value = self.value + t * self.rate + t * t / 3.0 * self.acceleration
        inertia = 1.0 + 0.5 * t * damping + t * t / 6.0 * stiffness
        new_acceleration = (forcing - damping * rate - stiffness * value) / inertia
        if limit is not None:
            approach_rate = LIMIT_APPROACH_RATE / (1.0 + 0.5 * t * LIMIT_APPROACH_RATE)
            new_acceleration = np.clip(
                new_acceleration, -approach_rate * (limit + rate), approach_rate * (limit - rate)
            )
        self.acceleration = new_acceleration
        self.rate = rate + 0.5 * t * new_acceleration
        self.value = value + t * t / 6.0 * new_acceleration
        return self.value


class HighPass:
    """First-order high-pass s / (s + corner), bilinear."""

    def __init__(self, corner: Any, period: float) -> None:
        half_step = 0.5 * period * np.asarray(corner, dtype=np.float64)
        self.decay = (1.0 - half_step) / (1.0 + half_step)
        self.gain = 1.0 / (1.0 + half_step)
        self.input = self.output = np.zeros_like(half_step)

    def step(self, value: FloatArray) -> FloatArray:
        """Return the output for the next input."""
        self.output = self.decay * self.output + self.gain * (value - self.input)
        self.input = value
        return self.output


class Derivative:
    """Rate of change by backward differences of second order, from rest at the first sample."""

    def __init__(self, size: int, period: float) -> None:
        self.previous_values = np.zeros((2, size))
        self.period = period

    def step(self, value: FloatArray) -> FloatArray:
        """Return (3 x - 4 x_before + x_before_that) / (2 period)."""
        previous, before_previous = self.previous_values
        result = (3.0 * value - 4.0 * previous + before_previous) / (2.0 * self.period)
        self.previous_values = np.stack([value, previous])
        return result
