"""Classical washout: high-passed translation, tilt coordination, high-passed rotation.

The settings of the washout filters follow from how far and how fast the machine moves.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np

from twin.basics.arrays import FloatArray, as_floats, read_only
from twin.errors import InputError, brief
from twin.kernels.tasks.motion_cueing.cues import GRAVITY
from twin.model.machine_model import MachineModel
from twin.motion.cueing.algorithm import (
    REST_FORCE,
    Channel,
    CueingAlgorithm,
    Derivative,
    HighPass,
    MachineRanges,
    euler_rates,
    machine_ranges,
    saturated,
    to_base,
)

EXPECTED_FORCE = np.array([4.0, 4.0, 2.0])
"""[m/s2] Step of specific force that the translation filters are designed for (engineering choice).
"""

EXPECTED_RATE = 0.3
"""[rad/s] Step of angular rate that the rotation filters are designed for (engineering choice)."""

INPUT_FRACTION = 0.5
"""Fraction of travel and speed along one axis that one input may take; several act at a time."""

MIN_WASHOUT_FREQUENCY = 0.3
"""[rad/s] Lowest washout frequency; a slower washout is of no use, as tilt has taken over."""

MIN_LEAN_FREQUENCY = 1.5
"""[rad/s] Lowest frequency of pitch and roll; a slower one lets gravity along the rotated axes be
sensed (engineering choice).
"""

RATE_SCALE = (0.5, 0.5, 1.0)
"""Scale of roll, pitch and yaw rate (engineering choice), so that little gravity along the rotated
axes is sensed.
"""


@dataclass(frozen=True, eq=False, kw_only=True)
class WashoutSettings:
    """Common settings of classical and adaptive washout; axes x, y, z or yaw, pitch, roll."""

    free: FloatArray
    """`(6,)` 1 for axes x, y, z, yaw, pitch, roll that the machine has, else 0"""
    force_scale: FloatArray
    """`(3,)` scale of specific force, less gravity"""
    force_limit: FloatArray
    """`(3,)` [m/s2] limit after scaling"""
    rate_scale: FloatArray
    """`(3,)` scale of angular rate about x, y, z"""
    rate_limit: FloatArray
    """`(3,)` [rad/s] limit after scaling"""
    translation_frequency: FloatArray
    """`(3,)` [rad/s] frequency of the high-pass of translation, damping ratio 1"""
    return_frequency: float = 0.2
    """[rad/s] frequency of its third order, which brings the platform back from steady forces"""
    rotation_frequency: FloatArray
    """`(3,)` [rad/s] frequency of the high-pass of yaw, pitch, roll, damping ratio 1"""
    tilt_frequency: float = 3.0
    """[rad/s] frequency of the low-pass of tilt coordination, damping ratio 1"""
    tilt_rate: float = 0.0524
    """[rad/s] limit of tilting: 3 deg/s, the threshold of the canals"""
    tilt_limit: float
    """[rad] largest tilt of tilt coordination"""

    def __post_init__(self) -> None:
        """Check the numbers; raises InputError."""
        for setting in fields(self):
            values = as_floats(getattr(self, setting.name), setting.name)
            shape = () if setting.type == "float" else ((6,) if setting.name == "free" else (3,))
            if values.shape != shape or values.min(initial=0.0) < 0.0 or values.max() > 1e3:
                raise InputError(setting.name, f"must have shape {shape} and lie in 0 to 1000")
            object.__setattr__(self, setting.name, read_only(values) if shape else float(values))
        if not 1e-6 < self.tilt_limit < 1.2 or not self.tilt_rate > 0.0:
            raise InputError("tilt_limit, tilt_rate", "must be above 0, the limit below 1.2 rad")

    @classmethod
    def of(cls, platform: MachineModel, **changes: Any) -> WashoutSettings:
        """Return settings laid out for a machine.

        After a step a of acceleration, a high-pass of frequency w and damping ratio 1 has the
        travel a / w^2 and the speed a / (e w); after a step r of angular rate, the angle r / (e w).
        The frequency w follows from the `INPUT_FRACTION` of what the machine has along the axis.

        Args:
            platform: the machine.
            changes: settings to be used instead.

        Raises:
            InputError: unknown settings, wrong shapes, out of range.
        """
        ranges = machine_ranges(platform)
        known_settings = {setting.name for setting in fields(cls)}
        for name in changes:
            if name not in known_settings:
                raise InputError(
                    name, f"no such setting; known: {', '.join(sorted(known_settings))}"
                )
        return cls(**(_laid_out(ranges) | changes))


def _laid_out(ranges: MachineRanges) -> dict[str, Any]:
    """Return default settings for the travel and speed of a machine."""
    with np.errstate(divide="ignore"):
        travel, speed = INPUT_FRACTION * ranges.travel, INPUT_FRACTION * ranges.speed
        translation_frequency = np.maximum(
            np.sqrt(EXPECTED_FORCE / travel[:3]), EXPECTED_FORCE / (np.e * speed[:3])
        )
        rotation_frequency = np.maximum(
            EXPECTED_RATE / (np.e * travel[3:]), [0.0, *[MIN_LEAN_FREQUENCY] * 2]
        )
    free = ranges.free.astype(np.float64)
    tilts = ranges.travel[4:][ranges.free[4:]]
    return {
        "free": free,
        "force_scale": np.ones(3),
        "force_limit": np.array([6.0, 6.0, 4.0]),
        "rate_scale": np.array(RATE_SCALE),
        "rate_limit": np.full(3, 0.5),
        "translation_frequency": np.where(
            ranges.free[:3], np.clip(translation_frequency, MIN_WASHOUT_FREQUENCY, 50.0), 1.0
        ),
        "rotation_frequency": np.where(
            ranges.free[3:], np.clip(rotation_frequency, MIN_WASHOUT_FREQUENCY, 50.0), 1.0
        ),
        "tilt_limit": float(tilts.min()) if tilts.size else 1e-3,
    }


DEFAULT_PERIOD = 5e-3
"""[s] Default period of the algorithm."""


class ClassicalWashout(CueingAlgorithm):
    """Three parallel paths from specific force f and angular rate w, scaled and cut off.

    - Tilt: a low-pass of second order of the tilt whose gravity replaces f, pitch asin(-f_x / g)
      and roll asin(f_y / g); its rate never exceeds the limit.
    - Rotation: w as rates of yaw, pitch and roll through s^2 / (s + w_n)^2.
    - Translation: f in base axes, turned by the platform's whole attitude, plus gravity, through
      s^3 / ((s + w_n)^2 (s + w_b)). This takes off the part of the tilt and compensates
      gravity on a rotated driver.

    A force along the body's z axis, as in a coordinated turn, tilts nothing.

    Attributes:
        settings: see `WashoutSettings`.
        tilt: the channel of the pitch and roll of tilt coordination.

    Reference:
        Reid and Nahon, Flight simulation motion-base drive algorithms, UTIAS report 296 (1985).
    """

    name: ClassVar[str] = "classical"

    def __init__(
        self,
        platform: MachineModel,
        head: Any = (0.0, 0.0, 0.0),
        *,
        settings: WashoutSettings | None = None,
        period: float = DEFAULT_PERIOD,
    ) -> None:
        """Prepare the filters at rest.

        Raises:
            InputError: not a machine, no settings, no point, period too long for the filters.
        """
        super().__init__(platform, head, period)
        self.settings = washout_settings(self, settings)
        self.tilt = Channel(2, self.period)
        self.rotation, self.translation = Channel(3, self.period), Channel(3, self.period)
        self.washout = HighPass(np.full(3, self.settings.return_frequency), self.period)
        self.derivative = Derivative(3, self.period)

    def step(self, specific_force: FloatArray, angular_rate: FloatArray) -> None:
        """Advance by one period; the sample `(3,)`, `(3,)` of the manoeuvre is that at its end."""
        s = self.settings
        force = saturated(specific_force - REST_FORCE, s.force_scale, s.force_limit) + REST_FORCE
        rate = saturated(angular_rate, s.rate_scale, s.rate_limit)
        tilt_frequency = s.tilt_frequency
        tilt_command = gravity_tilt(force, s.tilt_limit) * s.free[4:]
        self.tilt.step(
            tilt_frequency * tilt_frequency * tilt_command,
            2.0 * tilt_frequency,
            tilt_frequency * tilt_frequency,
            s.tilt_rate,
        )
        w = s.rotation_frequency
        rotation_forcing = self.derivative.step(euler_rates(self.values[3:], rate)) * s.free[3:]
        self.rotation.step(rotation_forcing, 2.0 * w, w * w)
        for axis_state, tilt, rotation in (
            (self.values, self.tilt.value, self.rotation.value),
            (self.rates, self.tilt.rate, self.rotation.rate),
            (self.accelerations, self.tilt.acceleration, self.rotation.acceleration),
        ):
            axis_state[3:] = rotation
            axis_state[4:] += tilt
        acceleration = self.washout.step(to_base(self.values[3:], force) - REST_FORCE) * s.free[:3]
        w = s.translation_frequency
        self.values[:3] = self.translation.step(acceleration, 2.0 * w, w * w)
        self.rates[:3] = self.translation.rate
        self.accelerations[:3] = self.translation.acceleration


def gravity_tilt(force: FloatArray, most: float) -> FloatArray:
    """Return the pitch and roll [rad] whose gravity feels like a specific force along x and y."""
    sines = np.clip(force[:2] / GRAVITY, -1.0, 1.0)
    return np.asarray(np.clip(np.arcsin(sines) * [-1.0, 1.0], -most, most))


def washout_settings(
    algorithm: CueingAlgorithm, settings: WashoutSettings | None
) -> WashoutSettings:
    """Return checked settings, by default designed for the machine; sets the moved point.

    A machine without surge or sway turns about its reference point instead of the head.

    Raises:
        InputError: settings of another type, or a period too long for the filters.
    """
    checked_settings = WashoutSettings.of(algorithm.platform) if settings is None else settings
    if not isinstance(checked_settings, WashoutSettings):
        raise InputError("settings", f"must be WashoutSettings, not {brief(checked_settings)}")
    max_frequency = max(
        checked_settings.translation_frequency.max(),
        checked_settings.rotation_frequency.max(),
        checked_settings.tilt_frequency,
    )
    if algorithm.period * max(max_frequency, 20.0) > 0.5:
        raise InputError(
            "period", f"too long for a filter of {max_frequency:g} rad/s and tilt limiting"
        )
    if not checked_settings.free[:2].all():
        algorithm.point = np.zeros(3)
    return checked_settings
