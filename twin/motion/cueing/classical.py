"""Classical washout: high-passed translation, tilt coordination, high-passed rotation."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from twin.basics.arrays import FloatArray
from twin.errors import InputError
from twin.kernels.tasks.motion_cueing.car import GRAVITY
from twin.model.machine_model import MachineModel
from twin.motion.cueing.algorithm import (
    REST,
    CueingAlgorithm,
    euler_rates,
    saturated,
    to_base,
)
from twin.motion.cueing.channel import Channel, Derivative, HighPass
from twin.motion.cueing.washout_settings import WashoutSettings

PERIOD = 5e-3
"""[s]"""


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
        period: float = PERIOD,
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
        """Advance by one period to the sample `(3,)`, `(3,)` of a manoeuvre at its end."""
        s = self.settings
        force = saturated(specific_force - REST, s.force_scale, s.force_limit) + REST
        rate = saturated(angular_rate, s.rate_scale, s.rate_limit)
        slow = s.tilt_frequency
        lean = gravity_tilt(force, s.tilt_limit) * s.free[4:]
        self.tilt.step(slow * slow * lean, 2.0 * slow, slow * slow, s.tilt_rate)
        w = s.rotation_frequency
        turning = self.derivative.step(euler_rates(self.values[3:], rate)) * s.free[3:]
        self.rotation.step(turning, 2.0 * w, w * w)
        for mine, tilt, turn in (
            (self.values, self.tilt.value, self.rotation.value),
            (self.rates, self.tilt.rate, self.rotation.rate),
            (self.accelerations, self.tilt.acceleration, self.rotation.acceleration),
        ):
            mine[3:] = turn
            mine[4:] += tilt
        acceleration = self.washout.step(to_base(self.values[3:], force) - REST) * s.free[:3]
        w = s.translation_frequency
        self.values[:3] = self.translation.step(acceleration, 2.0 * w, w * w)
        self.rates[:3] = self.translation.rate
        self.accelerations[:3] = self.translation.acceleration


def gravity_tilt(force: FloatArray, most: float) -> FloatArray:
    """Return the pitch and roll [rad] whose gravity feels like a specific force along x and y."""
    share = np.clip(force[:2] / GRAVITY, -1.0, 1.0)
    return np.asarray(np.clip(np.arcsin(share) * [-1.0, 1.0], -most, most))


def washout_settings(
    algorithm: CueingAlgorithm, settings: WashoutSettings | None
) -> WashoutSettings:
    """Return checked settings, by default those laid out for the machine; sets the point.

    A machine without surge or sway turns about its reference point instead of the head.

    Raises:
        InputError: no settings, or a period too long for the filters.
    """
    chosen = WashoutSettings.of(algorithm.platform) if settings is None else settings
    if not isinstance(chosen, WashoutSettings):
        raise InputError("settings", f"must be WashoutSettings, not {chosen!r}")
    fastest = max(
        chosen.translation_frequency.max(), chosen.rotation_frequency.max(), chosen.tilt_frequency
    )
    if algorithm.period * max(fastest, 20.0) > 0.5:
        raise InputError("period", f"too long for a filter of {fastest:g} rad/s and tilt limiting")
    if not chosen.free[:2].all():
        algorithm.point = np.zeros(3)
    return chosen
