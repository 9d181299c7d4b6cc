"""Adaptive washout: gains that follow the steepest descent of a cost, channel by channel."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from twin.basics.arrays import FloatArray
from twin.errors import InputError
from twin.kernels.tasks.motion_cueing.car import GRAVITY
from twin.model.machine_model import MachineModel
from twin.motion.cueing.adaptive_channels import AdaptiveSettings, CoordinatedChannels, YawChannel
from twin.motion.cueing.algorithm import REST, CueingAlgorithm, euler_rates, saturated
from twin.motion.cueing.channel import Channel
from twin.motion.cueing.classical import PERIOD, washout_settings
from twin.motion.cueing.washout_settings import WashoutSettings

FOLLOWING = 25.0
"""[1/s] at which yaw, pitch and roll rate follow their command; it keeps their curve smooth."""

LEAN = np.array([-1.0, 1.0, 0.0])
"""Pitch up (negative) makes gravity act along +x, roll along +y; heave has no lean."""


class AdaptiveWashout(CueingAlgorithm):
    """Coordinated adaptive filters for surge and pitch, sway and roll; single ones else.

    With f the specific force that the lean b does not give yet (in surge f_x - g sin b, b the
    pitch upwards), q the rate of lean of the manoeuvre, both scaled and cut off, and w the
    high-pass frequency of the axis:

        x'' = p1 f - 2 w x' - w^2 x
        b'  = clip(p2 f, tilt rate) + p3 q      (in p2 f with what the tilt limit can give)
        J = (w_f (f - x'')^2 + w_r (q - b')^2 + w_x (x/X)^2 + w_v (x'/V)^2
             + w_p sum (p/p0 - 1)^2) / 2
        p' = -descent p0^2 dJ/dp,   0 <= p <= 1.5 p0

    dx/dp and db/dp follow from the equations differentiated by p. Heave has p1 alone; yaw
    angle' = p q - w angle. What a rotation leaves of gravity enters f, which brings it back.

    Attributes:
        settings: shared with classical washout: scales, limits, frequencies.
        channels: surge, sway and heave, with their gains.
        yaw: the channel of yaw.

    Reference:
        Parrish, Dieudonne, Bowles and Martin, Coordinated adaptive washout for motion simulators,
        J. Aircraft 12 (1975); here in specific force and with tilt rate limit.
    """

    name: ClassVar[str] = "adaptive"

    def __init__(
        self,
        platform: MachineModel,
        head: Any = (0.0, 0.0, 0.0),
        *,
        settings: WashoutSettings | None = None,
        cost: AdaptiveSettings | None = None,
        period: float = PERIOD,
    ) -> None:
        """Prepare the filters at rest.

        Raises:
            InputError: not a machine, no settings, no point, period too long for the filters.
        """
        super().__init__(platform, head, period)
        self.settings = washout_settings(self, settings)
        chosen = AdaptiveSettings() if cost is None else cost
        if not isinstance(chosen, AdaptiveSettings):
            raise InputError("cost", f"must be AdaptiveSettings, not {cost!r}")
        s = self.settings
        self.channels = CoordinatedChannels(
            s.translation_frequency, s.tilt_rate, chosen, self.period
        )
        self.yaw = YawChannel(float(s.rotation_frequency[0]), chosen, self.period)
        self.turning = Channel(3, self.period)

    def step(self, specific_force: FloatArray, angular_rate: FloatArray) -> None:
        """Advance by one period to the sample `(3,)`, `(3,)` of a manoeuvre at its end."""
        s = self.settings
        force = saturated(specific_force - REST, s.force_scale, s.force_limit)
        reference = euler_rates(
            self.values[3:], saturated(angular_rate, s.rate_scale, s.rate_limit)
        )
        yaw, pitch, roll = self.values[3:]
        level = np.cos(pitch) * np.cos(roll)
        given = np.array([-np.sin(pitch), np.sin(roll) * np.cos(pitch), level - 1.0])
        rate = LEAN * [reference[1], reference[2], 0.0]
        most = GRAVITY * np.sin(s.tilt_limit)
        leaning = np.clip(force, -most, most) - GRAVITY * given
        self.channels.step(force - GRAVITY * given, leaning, rate, s.free[:3])
        self.yaw.step(float(yaw), float(reference[0]))
        command = np.array([self.yaw.rate, *(LEAN * self.channels.lean_rate)[:2]]) * s.free[3:]
        self.turning.step(FOLLOWING * command, FOLLOWING, 0.0)
        place = self.channels.place
        for mine, straight, turning in (
            (self.values, place.value, self.turning.value),
            (self.rates, place.rate, self.turning.rate),
            (self.accelerations, place.acceleration, self.turning.acceleration),
        ):
            mine[:3], mine[3:] = straight, turning
