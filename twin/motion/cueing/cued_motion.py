"""Reference motion of the platform, computed by a cueing algorithm."""

from __future__ import annotations

from typing import Any

import numpy as np

from twin.basics.arrays import FloatArray, as_floats, as_vector, positive, read_only
from twin.basics.quaternions import cross, rotated
from twin.errors import InputError
from twin.motion.axes import AxisSample
from twin.motion.motion import Motion
from twin.motion.rotational_motion import rotational_motion

"""Numbers of some axes."""

CONVENTION = "yaw_pitch_roll"
AXES = ("x", "y", "z", "yaw", "pitch", "roll")
"""Order of all six-vectors of axes in this package."""


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
                `AXES`; rates and values must be the integrals of the linear accelerations.
            point: `(3,)` [m] that the displacements are of, platform axes.

        Raises:
            InputError: wrong shapes, not finite, samples that do not fit together.
        """
        step = positive(period, "period")
        samples = as_floats(knots, "knots", len(AXES))
        if samples.ndim != 3 or samples.shape[0] != 3 or samples.shape[1] < 2:
            raise InputError("knots", f"must have shape (3, n, 6), n from 2, got {samples.shape}")
        super().__init__(center, step * (samples.shape[1] - 1), CONVENTION)
        sample = AxisSample(*(read_only(part) for part in samples))
        _check_integrals(sample, step)
        self._set(period=step, point=read_only(as_vector(point, "point", 3)), knots=sample)

    @property
    def time(self) -> FloatArray:
        """Times `(n,)` [s] of the samples."""
        return np.arange(len(self.knots.values), dtype=np.float64) * self.period

    def scaled(self, factor: Any) -> CuedMotion:
        """Return the motion with all axes times `factor`; raises InputError."""
        share = as_floats(factor, "factor")
        if share.ndim:
            raise InputError("factor", "must be one number")
        return CuedMotion(self.center, self.period, float(share) * np.stack(self.knots), self.point)

    def axes_of_point(self, time: FloatArray) -> AxisSample:
        """Return the axes `(m, 6)` of the point at times `(m,)` [s] inside the motion."""
        count = len(self.knots.values)
        k = np.clip((time / self.period).astype(int), 0, count - 2)
        t = (time - k * self.period)[:, None]
        x, v, a = (part[k] for part in self.knots)
        jerk = (self.knots.accelerations[k + 1] - a) / self.period
        return AxisSample(
            x + t * (v + t * (a / 2.0 + t * jerk / 6.0)),
            v + t * (a + t * jerk / 2.0),
            a + t * jerk,
        )

    def _axes(self, time: FloatArray) -> AxisSample:
        values, rates, accelerations = self.axes_of_point(time)
        if self.point.any():
            turn = rotational_motion(values[:, 3:], rates[:, 3:], accelerations[:, 3:], CONVENTION)
            flat = (len(time), 3)
            home = np.broadcast_to(self.center[3:], (len(time), 4))
            level = rotated(home, np.broadcast_to(self.point, flat))
            arm = rotated(turn.quaternion, level)
            speed = cross(turn.velocity, arm)
            values[:, :3] += level - arm
            rates[:, :3] -= speed
            accelerations[:, :3] -= cross(turn.acceleration, arm) + cross(turn.velocity, speed)
        return AxisSample(values, rates, accelerations)


def _check_integrals(sample: AxisSample, step: float) -> None:
    """Refuse samples whose rates or values are not those of linear accelerations."""
    x, v, a = sample
    speed = v[:-1] + 0.5 * step * (a[:-1] + a[1:])
    place = x[:-1] + step * v[:-1] + step**2 * (a[:-1] / 3.0 + a[1:] / 6.0)
    for name, found, expected in (("rates", v[1:], speed), ("values", x[1:], place)):
        scale = max(1.0, float(np.abs(expected).max()))
        if np.abs(found - expected).max() > 1e-9 * scale:
            raise InputError(
                "knots", f"{name} are not the integrals of accelerations linear between samples"
            )
