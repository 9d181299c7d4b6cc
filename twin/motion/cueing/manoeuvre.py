"""Manoeuvres of a car: measured ones, and standard ones that a small car drives.

The small car is a planar bicycle model whose sprung mass rolls and pitches. The lateral force of an
axle's tyres is linear in the slip angle, or it saturates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from twin.basics.arrays import (
    FloatArray,
    as_flag,
    as_floats,
    as_instance,
    as_text,
    bounded,
    one_of,
    read_only,
)
from twin.errors import InputError
from twin.kernels.tasks.motion_cueing.cues import GRAVITY, drive_car
from twin.motion.motion import MAX_TIME, minimum_jerk

MAX_SPECIFIC_FORCE = 200.0
"""[m/s2] Largest specific force: twenty g."""

MAX_ANGULAR_RATE = 50.0
"""[rad/s] Largest angular rate."""

MIN_SAMPLES = 4

MIN_REST_FRACTION = 0.3
"""Fraction of g; a manoeuvre whose specific force at rest is smaller lacks gravity."""

REST_TIME = 0.2
"""[s] A specific force that is low for longer lacks gravity; a shorter one may be free fall."""

REST_RATE = 0.02
"""[rad/s] Largest angular rate of a vehicle that stands still."""

TIME_STEP = 5e-3
"""[s] Step of the integration and period of the manoeuvre."""

MANOEUVRE_DURATION = 12.0
"""[s] Duration of every manoeuvre."""

FLIGHT_SPEED = 60.0
"""[m/s] Speed of flight in the coordinated turn."""

BANK_ANGLE = np.radians(30.0)
"""[rad] Bank angle of the coordinated turn."""

BANK_TIME = 3.0
"""[s] Time of the roll-in and of the roll-out of the coordinated turn."""


@dataclass(frozen=True, eq=False)
class Manoeuvre:
    """Specific force and angular rate at the head, in vehicle axes. Cannot be changed.

    Specific force is acceleration minus gravity, what an accelerometer shows: a vehicle at rest on
    level ground has (0, 0, +9.81) m/s2. Axes: x forward, y left, z up.

    Attributes:
        name: for titles.
        time: `(n,)` [s] from 0, increasing.
        specific_force: `(n, 3)` [m/s2].
        angular_rate: `(n, 3)` [rad/s].
    """

    name: str
    time: FloatArray
    specific_force: FloatArray
    angular_rate: FloatArray

    def __post_init__(self) -> None:
        """Check shapes and sizes; raises InputError."""
        as_text(self.name, "name")
        time = as_floats(self.time, "time")
        if time.ndim != 1 or len(time) < MIN_SAMPLES:
            raise InputError("time", f"must be a list of at least {MIN_SAMPLES} times [s]")
        if np.abs(time).max() > MAX_TIME or not (np.diff(time) > 0.0).all():
            raise InputError("time", f"must increase and stay below {MAX_TIME:g} s")
        for name, limit, unit in (
            ("specific_force", MAX_SPECIFIC_FORCE, "m/s2"),
            ("angular_rate", MAX_ANGULAR_RATE, "rad/s"),
        ):
            values = as_floats(getattr(self, name), name, 3)
            if values.shape != (len(time), 3):
                raise InputError(name, f"must have shape ({len(time)}, 3), got {values.shape}")
            if np.abs(values).max() > limit:
                raise InputError(name, f"must not exceed {limit:g} {unit}: wrong unit?")
            object.__setattr__(self, name, read_only(values))
        object.__setattr__(self, "time", read_only(time - time[0]))
        self._check_gravity()

    def _check_gravity(self) -> None:
        """Raise InputError where a vehicle at rest does not feel +g along z."""
        is_low_force = np.linalg.norm(self.specific_force, axis=1) < MIN_REST_FRACTION * GRAVITY
        is_low_force &= np.linalg.norm(self.angular_rate, axis=1) < REST_RATE
        edges = np.flatnonzero(np.diff(np.concatenate([[False], is_low_force, [False]])))
        segment_starts, segment_ends = edges[::2], edges[1::2] - 1
        lengths = self.time[segment_ends] - self.time[segment_starts]
        if (lengths >= min(REST_TIME, self.duration)).any():
            longest = int(lengths.argmax())
            rest_force = self.specific_force[
                segment_starts[longest] : segment_ends[longest] + 1, 2
            ].mean()
            start = self.time[segment_starts[longest]]
            raise InputError(
                "specific_force",
                f"is {rest_force + 0.0:.3g} m/s2 along z in the mean from {start:.4g} s on, where "
                f"the vehicle stands still, but must be +{GRAVITY} m/s2 (z up): add gravity if "
                "these are accelerations",
            )
        mean = float(self.specific_force[:, 2].mean())
        if mean < MIN_REST_FRACTION * GRAVITY:
            raise InputError(
                "specific_force",
                f"its mean along z is {mean:.3g} m/s2, but at rest it is +{GRAVITY} m/s2 (z up): "
                "add gravity if these are accelerations, turn the axes if z points down",
            )

    @property
    def duration(self) -> float:
        """[s] from the first to the last sample."""
        return float(self.time[-1])

    def at(self, time: Any) -> tuple[FloatArray, FloatArray]:
        """Return specific force and angular rate `(m, 3)` at times `(m,)` [s], linear between.

        Before the first and after the last sample these hold.

        Raises:
            InputError: not finite.
        """
        times = np.atleast_1d(as_floats(time, "time"))
        columns = np.hstack([self.specific_force, self.angular_rate])
        values = np.stack([np.interp(times, self.time, column) for column in columns.T], axis=-1)
        return values[..., :3], values[..., 3:]

    def scaled(self, factor: Any) -> Manoeuvre:
        """Return the manoeuvre with its departure from rest times `factor`; raises InputError."""
        scale_factor = as_floats(factor, "factor")
        if scale_factor.ndim:
            raise InputError("factor", "must be one number")
        rest_force = np.array([0.0, 0.0, GRAVITY])
        force = rest_force + scale_factor * (self.specific_force - rest_force)
        return Manoeuvre(self.name, self.time, force, scale_factor * self.angular_rate)


@dataclass(frozen=True)
class Tyre:
    """Tyres of one axle.

    F = -mu Fz sin(C atan(B slip)) with B = stiffness / (C mu Fz), so that both kinds have the
    same slope at zero; linear: F = -stiffness slip.

    Reference:
        Pacejka, Tyre and Vehicle Dynamics, section 4.3.1, without curvature and offsets.
    """

    stiffness: float
    """[N/rad] cornering stiffness of the axle"""
    friction: float = 0.9
    """[1] mu"""
    shape: float = 1.3
    """[1] C"""
    linear: bool = False

    def __post_init__(self) -> None:
        """Check the numbers; raises InputError."""
        for name, low, high in (
            ("stiffness", 1e3, 1e6),
            ("friction", 0.05, 3.0),
            ("shape", 1.0, 2.0),
        ):
            object.__setattr__(self, name, bounded(getattr(self, name), name, low, high))
        as_flag(self.linear, "linear")


@dataclass(frozen=True, kw_only=True)
class Car:
    """A saloon with typical values (engineering choices); axes x forward, y left, z up.

    States: speeds u, v and yaw rate r in the road plane; roll and pitch of the sprung mass, each
    an oscillator driven by the acceleration at its arm (roll positive left side up, pitch
    positive nose down). Loads move between the axles with the longitudinal acceleration.
    """

    mass: float = 1500.0
    """[kg]"""
    sprung_mass: float = 1350.0
    """[kg]"""
    yaw_inertia: float = 2500.0
    """[kg m2]"""
    roll_inertia: float = 500.0
    """[kg m2]"""
    pitch_inertia: float = 2000.0
    """[kg m2]"""
    front: float = 1.2
    """[m] distance from the centre of mass to the front axle"""
    rear: float = 1.4
    """[m] distance from the centre of mass to the rear axle"""
    height: float = 0.55
    """[m] height of the centre of mass"""
    arm: float = 0.45
    """[m] height of the sprung mass above its roll and pitch axes"""
    roll_stiffness: float = 60e3
    """[N m/rad]"""
    roll_damping: float = 4500.0
    """[N m s/rad]"""
    pitch_stiffness: float = 90e3
    """[N m/rad]"""
    pitch_damping: float = 8000.0
    """[N m s/rad]"""
    front_tyre: Tyre = field(default_factory=lambda: Tyre(80e3))
    rear_tyre: Tyre = field(default_factory=lambda: Tyre(95e3))
    head: tuple[float, float, float] = (-0.1, 0.35, 0.65)
    """[m] driver's head from the crossing of the roll and pitch axes, body axes"""

    def __post_init__(self) -> None:
        """Check the numbers; raises InputError."""
        for parameter in fields(self):
            value = getattr(self, parameter.name)
            if parameter.name == "head":
                point = as_floats(value, "head", 3)
                if point.ndim != 1 or np.abs(point).max() > 10.0:
                    raise InputError("head", "must be one point within 10 m")
                object.__setattr__(self, "head", tuple(float(part) for part in point))
            elif parameter.name.endswith("tyre"):
                as_instance(value, parameter.name, Tyre)
            else:
                object.__setattr__(self, parameter.name, bounded(value, parameter.name, 1e-3, 1e6))

    def drive(self, name: str, speed: Any, steer: Any, traction: Any) -> Manoeuvre:
        """Return the manoeuvre of a drive that begins straight ahead, without roll and pitch.

        Args:
            name: name of the manoeuvre.
            speed: [m/s] speed at the start.
            steer: `(2 n + 1,)` [rad] angle of the front wheels, at half steps of `TIME_STEP`.
            traction: `(2 n + 1,)` [m/s2] acceleration commanded to engine and brakes, at half steps
                of `TIME_STEP`.

        Raises:
            InputError: wrong shapes, not finite, out of range.
        """
        inputs = [as_floats(steer, "steer"), as_floats(traction, "traction")]
        if inputs[0].ndim != 1 or len(inputs[0]) < 7 or not len(inputs[0]) % 2:
            raise InputError("steer", "must hold 2 n + 1 angles, n from 3")
        if inputs[1].shape != inputs[0].shape:
            raise InputError("traction", "must hold as many values as steer")
        if np.abs(inputs[0]).max() > 1.0 or np.abs(inputs[1]).max() > 50.0:
            raise InputError("steer, traction", "must stay below 1 rad and 50 m/s2")
        initial_speed = bounded(speed, "speed", 0.0, 150.0)
        return as_driven(name, self.sensed(initial_speed, *inputs))

    def sensed(self, speed: float, steer: FloatArray, traction: FloatArray) -> FloatArray:
        """Return specific force and angular rate `(n + 1, 6)` of a drive, every `TIME_STEP`.

        Arguments are those of `drive`, as arrays within its bounds; they are not checked.
        """
        rows = np.empty(((len(steer) + 1) // 2, 6))
        drive_car(self.packed(), speed, steer, traction, TIME_STEP, rows)
        return rows

    def packed(self) -> FloatArray:
        """Return the entries `(CAR_SIZE,)` of `twin.kernels.tasks.motion_cueing.cues`."""
        *numbers, front, rear, head = vars(self).values()
        return np.array([*numbers, *vars(front).values(), *vars(rear).values(), *head], dtype=float)


def as_driven(name: str, rows: FloatArray) -> Manoeuvre:
    """Return a manoeuvre of sensed specific force and angular rate `rows` `(n + 1, 6)`."""
    time = np.arange(len(rows), dtype=np.float64) * TIME_STEP
    return Manoeuvre(name, time, rows[:, :3], rows[:, 3:])


CITY_SPEED = 50.0 / 3.6
"""[m/s] Speed in a city, 50 km/h."""

COUNTRY_SPEED = 80.0 / 3.6
"""[m/s] Speed on a country road, 80 km/h."""


def make_manoeuvre(name: Any, car: Any = None) -> Manoeuvre:
    """Return a standard manoeuvre by its name, 12 s long.

    - `step_steer`: 1.6 deg at the wheels in 0.3 s at 80 km/h, held until 8 s.
    - `double_lane_change`: two opposite sine waves of the steering angle, of 2 s each, at 80 km/h.
    - `slalom`: 0.4 Hz at 50 km/h.
    - `braking`: 6 m/s2 from 80 km/h to standstill.
    - `acceleration`: full throttle from 30 km/h, two gear shifts of 0.35 s.
    - `coordinated_turn`: an aircraft at 60 m/s (or a car on a banked road) rolls to 30 deg within
      3 s and back, so that the specific force stays along its z axis.

    Args:
        name: one of `MANOEUVRES`.
        car: a `Car`; default the one of the class. The coordinated turn needs none.

    Raises:
        InputError: unknown manoeuvre, no car.
    """
    checked_car = as_instance(Car() if car is None else car, "car", Car)
    if one_of(name, "manoeuvre", MANOEUVRES) not in DRIVES:
        return coordinated_turn()
    speed, steer, traction = DRIVES[name]
    time = half_steps(MANOEUVRE_DURATION)
    return checked_car.drive(name, speed, steer(time), traction(time))


def coordinated_turn() -> Manoeuvre:
    """Return a level turn to the right without side force at constant speed.

    With bank b: specific force g / cos b along z, turn rate g tan b / speed about the vertical.
    """
    time = half_steps(MANOEUVRE_DURATION)[::2]
    progress, slope = _plateau(time, 1.0, 8.5 - 0.5 * BANK_TIME, BANK_TIME)
    roll, roll_rate = BANK_ANGLE * progress, BANK_ANGLE * slope
    turn_rate = -GRAVITY * np.tan(roll) / FLIGHT_SPEED
    force, rate = np.zeros((2, len(time), 3))
    force[:, 2] = GRAVITY / np.cos(roll)
    rate[:, 0] = roll_rate
    rate[:, 1] = turn_rate * np.sin(roll)
    rate[:, 2] = turn_rate * np.cos(roll)
    return Manoeuvre("coordinated_turn", time, force, rate)


def half_steps(duration: float) -> FloatArray:
    """Return times [s] at half steps of `TIME_STEP` over a duration [s]."""
    return np.arange(2 * round(duration / TIME_STEP) + 1, dtype=np.float64) * (0.5 * TIME_STEP)


def _plateau(
    time: FloatArray, start: float, stop: float, rise: float
) -> tuple[FloatArray, FloatArray]:
    """Return a plateau of height 1, its flanks from `start` and `stop` [s], and its slope [1/s]."""
    climb, fall = (minimum_jerk((time - rise_start) / rise) for rise_start in (start, stop))
    return climb[0] - fall[0], (climb[1] - fall[1]) / rise


def lane_changes(time: FloatArray, changes: Iterable[tuple[float, float]]) -> FloatArray:
    """Return the sum of single sine waves of two seconds, one per start [s] and size."""
    result = np.zeros_like(time)
    for start, size in changes:
        is_active = (time >= start) & (time <= start + 2.0)
        phase = np.pi * (time[is_active] - start)
        # A sine faded by its own half waves, so that the steering rate is continuous.
        result[is_active] = size * np.sin(phase) * np.sin(0.5 * phase) ** 0.5
    return result


def _step_steer(time: FloatArray) -> FloatArray:
    return np.asarray(np.radians(1.6) * _plateau(time, 1.0, 8.0, 0.3)[0])


def _double_lane_change(time: FloatArray) -> FloatArray:
    size = np.radians(1.8)
    return lane_changes(time, ((1.0, size), (4.5, -size)))


def _slalom(time: FloatArray) -> FloatArray:
    window = _plateau(time, 0.5, 9.0, 1.5)[0]
    return np.asarray(np.radians(3.0) * np.sin(2.0 * np.pi * 0.4 * (time - 0.5)) * window)


def _braking(time: FloatArray) -> FloatArray:
    return -6.0 * _plateau(time, 1.0, 8.0, 0.3)[0]


def _acceleration(time: FloatArray) -> FloatArray:
    traction = np.zeros_like(time)
    for start, stop, size in ((1.0, 3.0, 3.5), (3.35, 5.6, 2.5), (5.95, 8.5, 1.8)):
        traction += size * _plateau(time, start, stop, 0.2)[0]
    return traction


DRIVES: dict[str, tuple[float, Callable[[FloatArray], FloatArray], Any]] = {
    "step_steer": (COUNTRY_SPEED, _step_steer, np.zeros_like),
    "double_lane_change": (COUNTRY_SPEED, _double_lane_change, np.zeros_like),
    "slalom": (CITY_SPEED, _slalom, np.zeros_like),
    "braking": (COUNTRY_SPEED, np.zeros_like, _braking),
    "acceleration": (30.0 / 3.6, np.zeros_like, _acceleration),
}
"""Manoeuvres of a car -> speed [m/s] at the start, steer [rad] and traction [m/s2] over time."""

MANOEUVRES = (*DRIVES, "coordinated_turn")
"""Names of the standard manoeuvres."""
