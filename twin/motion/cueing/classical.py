"""Classical and adaptive washout.

The classical washout is high-passed translation, tilt coordination and high-passed rotation. The
settings of its filters follow from how far and how fast the machine moves.

The gains of the adaptive washout follow the steepest descent of a cost, channel by channel. The
channels are surge with pitch, sway with roll, heave, and yaw.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from twin.basics.arrays import FloatArray, as_floats, as_instance, bounded, read_only
from twin.errors import InputError
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
        return cls(**(_default_settings(ranges) | changes))


def _default_settings(ranges: MachineRanges) -> dict[str, Any]:
    """Return default settings for the travel and speed of a machine."""
    with np.errstate(divide="ignore"):
        travel, speed = INPUT_FRACTION * ranges.travel, INPUT_FRACTION * ranges.speed
        translation_frequency = np.maximum(
            np.sqrt(EXPECTED_FORCE / travel[:3]), EXPECTED_FORCE / (np.e * speed[:3])
        )
        rotation_frequency = np.maximum(
            EXPECTED_RATE / (np.e * travel[3:]), [0.0, *[MIN_LEAN_FREQUENCY] * 2]
        )
    frequencies = np.concatenate([translation_frequency, rotation_frequency])
    frequencies = np.where(ranges.free, np.clip(frequencies, MIN_WASHOUT_FREQUENCY, 50.0), 1.0)
    tilts = ranges.travel[4:][ranges.free[4:]]
    return {
        "free": ranges.free.astype(np.float64),
        "force_scale": np.ones(3),
        "force_limit": np.array([6.0, 6.0, 4.0]),
        "rate_scale": np.array(RATE_SCALE),
        "rate_limit": np.full(3, 0.5),
        "translation_frequency": frequencies[:3],
        "rotation_frequency": frequencies[3:],
        "tilt_limit": float(tilts.min()) if tilts.size else 1e-3,
    }


DEFAULT_PERIOD = 5e-3
"""[s] Default period of the algorithm."""


class Washout(CueingAlgorithm):
    """Base of the washouts. A machine without surge or sway turns about its reference point.

    Attributes:
        settings: see `WashoutSettings`.
    """

    def __init__(
        self,
        platform: MachineModel,
        head: Any = (0.0, 0.0, 0.0),
        *,
        settings: WashoutSettings | None = None,
        period: float = DEFAULT_PERIOD,
    ) -> None:
        """Check the settings, by default designed for the machine.

        Raises:
            InputError: not a machine, no settings, no point, period too long for the filters.
        """
        super().__init__(platform, head, period)
        s = WashoutSettings.of(self.platform) if settings is None else settings
        self.settings = as_instance(s, "settings", WashoutSettings)
        frequencies = (*s.translation_frequency, *s.rotation_frequency, s.tilt_frequency)
        max_frequency = max(frequencies)
        if self.period * max(max_frequency, 20.0) > 0.5:
            raise InputError(
                "period", f"too long for a filter of {max_frequency:g} rad/s and tilt limiting"
            )
        if not s.free[:2].all():
            self.point = np.zeros(3)


class ClassicalWashout(Washout):
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

    name = "classical"

    def __init__(self, platform: MachineModel, head: Any = (0.0, 0.0, 0.0), **options: Any) -> None:
        """Prepare the filters at rest; arguments and errors are those of `Washout`."""
        super().__init__(platform, head, **options)
        self.tilt = Channel(2, self.period)
        self.rotation, self.translation = Channel(3, self.period), Channel(3, self.period)
        self.washout = HighPass(np.full(3, self.settings.return_frequency), self.period)
        self.derivative = Derivative(3, self.period)

    def step(self, specific_force: FloatArray, angular_rate: FloatArray) -> None:
        """Advance by one period; the sample `(3,)`, `(3,)` of the manoeuvre is that at its end."""
        s = self.settings
        force = saturated(specific_force - REST_FORCE, s.force_scale, s.force_limit) + REST_FORCE
        rate = saturated(angular_rate, s.rate_scale, s.rate_limit)
        tilt_command = gravity_tilt(force, s.tilt_limit) * s.free[4:]
        lean = s.tilt_frequency
        self.tilt.step(lean * lean * tilt_command, 2.0 * lean, lean * lean, s.tilt_rate)
        w = s.rotation_frequency
        rotation_forcing = self.derivative.step(euler_rates(self.values[3:], rate)) * s.free[3:]
        self.rotation.step(rotation_forcing, 2.0 * w, w * w)
        self.state[:, 3:] = self.rotation.state
        self.state[:, 4:] += self.tilt.state
        acceleration = self.washout.step(to_base(self.values[3:], force) - REST_FORCE) * s.free[:3]
        w = s.translation_frequency
        self.translation.step(acceleration, 2.0 * w, w * w)
        self.state[:, :3] = self.translation.state


def gravity_tilt(force: FloatArray, limit: float) -> FloatArray:
    """Return the pitch and roll [rad] whose gravity feels like a specific force along x and y."""
    sines = np.clip(force[:2] / GRAVITY, -1.0, 1.0)
    return np.asarray(np.clip(np.arcsin(sines) * [-1.0, 1.0], -limit, limit))


TILT_MASK = np.array([1.0, 1.0, 0.0])
"""1 for surge and sway, which the platform imitates by leaning, 0 for heave."""


@dataclass(frozen=True, kw_only=True)
class AdaptiveSettings:
    """Gains at rest, weights of the cost, rate of the descent; all engineering choices."""

    translation_gain: float = 1.0
    """[1] p1 at rest"""
    tilt_gain: float = 0.2
    """[rad s/m] p2 at rest; g p2 is the corner of tilt coordination in rad/s"""
    rotation_gain: float = 1.0
    """[1] p3 at rest, also of yaw"""
    force_weight: float = 1.0
    """[s4/m2] weight of the squared error of specific force"""
    rate_weight: float = 20.0
    """[s2] weight of the squared error of angular rate"""
    place_weight: float = 4.0
    """[1] weight of the squared displacement, relative to that in a step of `EXPECTED_FORCE`"""
    speed_weight: float = 2.0
    """[1] weight of the squared speed, relative to that in a step of `EXPECTED_FORCE`"""
    return_weight: float = 4.0
    """[1] weight of the squared relative departure of a gain from its value at rest"""
    descent: float = 1.0
    """[1/s] relative rate of change of a gain per unit of the cost's gradient"""
    largest: float = 1.5
    """[1] largest gain, relative to its value at rest"""

    def __post_init__(self) -> None:
        """Check the numbers; raises InputError."""
        for setting in fields(self):
            value = bounded(getattr(self, setting.name), setting.name, 0.0, 1e3)
            object.__setattr__(self, setting.name, value)


class CoordinatedChannels:
    """Surge, sway and heave with the lean that gives the steady part of the first two.

    Attributes:
        position: the channel of x, y, z.
        gains: `(3, 3)` relative to values at rest; rows p1, p2, p3, columns surge, sway, heave.
        lean_rate: `(3,)` [rad/s] reference; gravity then acts along +x, +y. The last is zero.
    """

    def __init__(
        self, frequency: FloatArray, limit: float, cost: AdaptiveSettings, period: float
    ) -> None:
        self.frequency, self.limit, self.cost, self.period = frequency, limit, cost, period
        self.position, self.slopes = Channel(3, period), [Channel(3, period) for _ in range(3)]
        self.gains = np.ones((3, 3))
        self.lean_rate = np.zeros(3)
        self.lean_slopes = np.zeros((3, 3))
        self.gains_at_rest = np.array([cost.translation_gain, cost.tilt_gain, cost.rotation_gain])
        self.displacement_scale = EXPECTED_FORCE / frequency**2
        self.speed_scale = EXPECTED_FORCE / (np.e * frequency)

    def step(
        self, missing_force: FloatArray, lean_force: FloatArray, rate: FloatArray, free: FloatArray
    ) -> None:
        """Advance by one period.

        Args:
            missing_force: `(3,)` [m/s2] specific force that the lean does not give yet.
            lean_force: `(3,)` [m/s2] part of the missing force that lean may still give.
            rate: `(3,)` [rad/s] reference rate of lean.
            free: `(3,)` 1 where the machine can translate.
        """
        p1, p2, p3 = self.gains_at_rest[:, None] * self.gains
        p2, p3 = p2 * TILT_MASK, p3 * TILT_MASK
        tilt = p2 * lean_force
        is_unsaturated = (np.abs(tilt) < self.limit) * TILT_MASK
        self.lean_rate = np.clip(tilt, -self.limit, self.limit) + p3 * rate
        frequency = self.frequency
        self.position.step(p1 * missing_force * free, 2.0 * frequency, frequency * frequency)
        gravity_feedback = GRAVITY * p2 * is_unsaturated * self.lean_slopes
        lean_rate_slopes = (
            np.stack([np.zeros(3), lean_force * is_unsaturated, rate * TILT_MASK])
            - gravity_feedback
        )
        self.lean_slopes = self.lean_slopes + self.period * lean_rate_slopes
        slope_forcings = np.stack([missing_force, *(-p1 * GRAVITY * self.lean_slopes[1:])]) * free
        for slope, forcing in zip(self.slopes, slope_forcings, strict=True):
            slope.step(forcing, 2.0 * frequency, frequency * frequency)
        self._descend(missing_force, rate, lean_rate_slopes)

    def _descend(
        self, missing_force: FloatArray, rate: FloatArray, lean_rate_slopes: FloatArray
    ) -> None:
        """Move the gains one period along the steepest descent of the cost."""
        c = self.cost
        force_error = missing_force - self.position.acceleration
        rate_error = (rate - self.lean_rate) * TILT_MASK
        value, speed, acceleration = (
            np.stack([getattr(slope, name) for slope in self.slopes])
            for name in ("value", "rate", "acceleration")
        )
        slope = (
            -c.force_weight * force_error * (acceleration + GRAVITY * self.lean_slopes)
            - c.rate_weight * rate_error * lean_rate_slopes
            + c.place_weight * self.position.value * value / self.displacement_scale**2
            + c.speed_weight * self.position.rate * speed / self.speed_scale**2
        )
        descent_direction = self.gains_at_rest[:, None] * slope + c.return_weight * (
            self.gains - 1.0
        )
        new_gains = self.gains - self.period * c.descent * descent_direction
        self.gains = np.clip(new_gains, 0.0, c.largest)


class YawChannel:
    """Yaw rate through a high-pass of first order with one gain.

    Attributes:
        gain: gain, relative to its value at rest.
        rate: [rad/s] reference.
    """

    def __init__(self, frequency: float, cost: AdaptiveSettings, period: float) -> None:
        self.frequency, self.cost, self.period = frequency, cost, period
        self.gain, self.rate, self.slope = 1.0, 0.0, 0.0
        self.angle_scale = EXPECTED_RATE / frequency

    def step(self, angle: float, rate: float) -> None:
        """Advance by one period at a yaw angle [rad] and a reference rate [rad/s]."""
        c, w = self.cost, self.frequency
        self.rate = c.rotation_gain * self.gain * rate - w * angle
        slope_rate = rate - w * self.slope
        self.slope += self.period * slope_rate
        descent_direction = (
            -c.rate_weight * (rate - self.rate) * slope_rate
            + c.place_weight * angle * self.slope / self.angle_scale**2
        )
        descent_direction = c.rotation_gain * descent_direction + c.return_weight * (
            self.gain - 1.0
        )
        new_gain = self.gain - self.period * c.descent * descent_direction
        self.gain = min(max(new_gain, 0.0), c.largest)


RATE_GAIN = 25.0
"""[1/s] Gain with which yaw, pitch and roll rate follow their command; it keeps their curve smooth.
"""

LEAN_SIGNS = np.array([-1.0, 1.0, 0.0])
"""Sign of the lean of each axis: pitch up (negative) makes gravity act along +x, roll along +y;
heave has no lean.
"""


class AdaptiveWashout(Washout):
    """Coordinated adaptive filters for surge and pitch, sway and roll; single ones otherwise.

    With f the specific force that the lean b does not give yet (in surge f_x - g sin b, b the
    pitch upwards), q the rate of lean of the manoeuvre, both scaled and cut off, and w the
    high-pass frequency of the axis:

        x'' = p1 f - 2 w x' - w^2 x
        b' = clip(p2 f, tilt rate) + p3 q
        J = (w_f (f - x'')^2 + w_r (q - b')^2 + w_x (x/X)^2 + w_v (x'/V)^2
             + w_p sum (p/p0 - 1)^2) / 2
        p' = -descent p0^2 dJ/dp,   0 <= p <= 1.5 p0

    with what the tilt limit can give of f in p2 f. dx/dp and db/dp follow from the equations
    differentiated by p. Heave has p1 alone; yaw angle' = p q - w angle. What a rotation leaves of
    gravity enters f, which brings it back.

    Attributes:
        settings: shared with classical washout: scales, limits, frequencies.
        channels: surge, sway and heave, with their gains.
        yaw: the channel of yaw.

    Reference:
        Parrish, Dieudonne, Bowles and Martin, Coordinated adaptive washout for motion simulators,
        J. Aircraft 12 (1975); here in specific force and with tilt rate limit.
    """

    name = "adaptive"

    def __init__(
        self,
        platform: MachineModel,
        head: Any = (0.0, 0.0, 0.0),
        *,
        cost: AdaptiveSettings | None = None,
        **options: Any,
    ) -> None:
        """Prepare the filters at rest; `options` and errors are those of `Washout`.

        Raises:
            InputError: also a frequency of zero, of translations or of yaw.
        """
        super().__init__(platform, head, **options)
        cost_settings = AdaptiveSettings() if cost is None else cost
        as_instance(cost_settings, "cost", AdaptiveSettings)
        s = self.settings
        if not min(*s.translation_frequency, s.rotation_frequency[0]) > 0.0:
            raise InputError("settings", "adaptive washout needs frequencies above zero")
        self.channels = CoordinatedChannels(
            s.translation_frequency, s.tilt_rate, cost_settings, self.period
        )
        self.yaw = YawChannel(float(s.rotation_frequency[0]), cost_settings, self.period)
        self.turning = Channel(3, self.period)

    def step(self, specific_force: FloatArray, angular_rate: FloatArray) -> None:
        """Advance by one period; the sample `(3,)`, `(3,)` of the manoeuvre is that at its end."""
        s = self.settings
        force = saturated(specific_force - REST_FORCE, s.force_scale, s.force_limit)
        reference = euler_rates(
            self.values[3:], saturated(angular_rate, s.rate_scale, s.rate_limit)
        )
        yaw, pitch, roll = self.values[3:]
        vertical_cosine = np.cos(pitch) * np.cos(roll)
        tilt_force = np.array([-np.sin(pitch), np.sin(roll) * np.cos(pitch), vertical_cosine - 1.0])
        rate = LEAN_SIGNS * [reference[1], reference[2], 0.0]
        max_tilt_force = GRAVITY * np.sin(s.tilt_limit)
        tilt_demand = np.clip(force, -max_tilt_force, max_tilt_force) - GRAVITY * tilt_force
        self.channels.step(force - GRAVITY * tilt_force, tilt_demand, rate, s.free[:3])
        self.yaw.step(float(yaw), float(reference[0]))
        command = (
            np.array([self.yaw.rate, *(LEAN_SIGNS * self.channels.lean_rate)[:2]]) * s.free[3:]
        )
        self.turning.step(RATE_GAIN * command, RATE_GAIN, 0.0)
        self.state = np.hstack([self.channels.position.state, self.turning.state])
