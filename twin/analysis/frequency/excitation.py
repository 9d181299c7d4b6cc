"""Excitation of a machine: sines of one peak speed, swept or stepped over frequencies.

With a constant peak speed v a sine of frequency f has the amplitude v / (2 pi f): small where it
could overload the drives, large where it could vanish in the encoders.

The sweep is logarithmic, omega = omega_0 exp(a t):

    x = (v / omega) sin(phi),   x' = v cos(phi) - a x,   x'' = -v omega sin(phi) - a x'.

Stepped sines dwell on every frequency for whole periods, so that the reference and its speed go on
without a jump from one to the next.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, as_floats, one_of, positive, read_only
from twin.control.controller import PERIOD
from twin.control.drive_model import drive_model
from twin.control.gains import suitable_velocity_loop
from twin.control.positions import takes_positions
from twin.errors import InputError, brief
from twin.model.machine_model import MachineModel, as_model
from twin.motion.motion import Fade
from twin.plant.drives import actuator_limit, equivalent_inertia

METHODS = ("chirp", "stepped")

LEAD_IN = 0.3
"""[s] of rest before: feedforward of the thesis' controller rises, springs and friction settle."""

FADE = 0.02
"""Of the length of a sweep, to begin and to end from rest; at most `LONGEST_FADE`."""

LONGEST_FADE = 0.1
"""[s] Longest beginning and end of a sweep."""

SETTLING = 0.1
"""[s] of a dwell that are not evaluated, or `SETTLING_PERIODS` if they are longer."""

SETTLING_PERIODS = 2

EVALUATED = 0.1
"""[s] of a dwell that are evaluated, or `EVALUATED_PERIODS` if they are longer."""

EVALUATED_PERIODS = 4


class Excitation(ABC):
    """A displacement over time, from rest. Cannot be changed.

    Attributes:
        low: lowest frequency [Hz].
        high: highest frequency [Hz].
        speed: peak [m/s], [rad/s].
        duration: [s], with the rest before.
    """

    low: float
    high: float
    speed: float
    duration: float

    @abstractmethod
    def moving(self, time: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return displacement, speed, acceleration `(k,)` at times `(k,)` [s] after the rest."""

    def sample(self, time: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return displacement, speed and acceleration `(k,)` at times `(k,)` [s]."""
        inside = (time >= LEAD_IN) & (time <= self.duration)
        parts = tuple(np.zeros_like(time) for _ in range(3))
        for part, value in zip(parts, self.moving(time[inside] - LEAD_IN), strict=True):
            part[inside] = value
        return parts[0], parts[1], parts[2]

    def _set(self, **values: Any) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: Any) -> None:
        """Refuse changes: an excitation belongs to the record it made."""
        raise AttributeError(f"an excitation cannot be changed; make a new one with another {name}")


class SweptSine(Excitation):
    """A logarithmic sweep of constant peak speed."""

    def __init__(self, low: Any, high: Any, speed: Any, length: Any) -> None:
        """Describe the sweep.

        Args:
            low: frequency at its start [Hz].
            high: frequency at its end [Hz].
            speed: peak [m/s], [rad/s].
            length: [s] without the rest before.

        Raises:
            InputError: not above zero, or not increasing.
        """
        first, last = _range(low, high)
        seconds = positive(length, "length")
        fade = min(LONGEST_FADE, FADE * seconds)
        self._set(
            low=first,
            high=last,
            speed=positive(speed, "speed"),
            duration=LEAD_IN + seconds,
            _length=seconds,
            _fade=Fade(fade, fade, seconds),
        )

    def moving(self, time: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return displacement, speed, acceleration `(k,)` at times `(k,)` [s] after the rest."""
        first = 2.0 * np.pi * self.low
        growth = np.log(self.high / self.low) / self._length
        omega = first * np.exp(growth * time)
        phase = first * np.expm1(growth * time) / growth
        x = self.speed / omega * np.sin(phase)
        x1 = self.speed * np.cos(phase) - growth * x
        x2 = -self.speed * omega * np.sin(phase) - growth * x1
        w, w1, w2 = self._fade.window(time)
        return w * x, w1 * x + w * x1, w2 * x + 2.0 * w1 * x1 + w * x2

    _length: float
    _fade: Fade


class SteppedSine(Excitation):
    """One sine after the other, all of the same peak speed.

    Attributes:
        frequencies: `(m,)` [Hz], read-only.
    """

    frequencies: FloatArray
    _starts: FloatArray
    _settled: FloatArray

    def __init__(self, frequencies: Any, speed: Any) -> None:
        """Describe the sines.

        Args:
            frequencies: `(m,)` [Hz], increasing.
            speed: peak [m/s], [rad/s].

        Raises:
            InputError: not above zero, or not increasing.
        """
        lines = as_floats(frequencies, "frequencies")
        if lines.ndim != 1 or not lines.size or not lines[0] > 0.0 or (np.diff(lines) <= 0.0).any():
            raise InputError("frequencies", "must be a list [Hz] that increases from above zero")
        settling = np.maximum(np.ceil(SETTLING * lines), SETTLING_PERIODS) / lines
        evaluated = np.maximum(np.ceil(EVALUATED * lines), EVALUATED_PERIODS) / lines
        ends = np.cumsum(settling + evaluated)
        starts = np.concatenate([[0.0], ends[:-1]])
        self._set(
            low=float(lines[0]),
            high=float(lines[-1]),
            speed=positive(speed, "speed"),
            duration=LEAD_IN + float(ends[-1]),
            frequencies=read_only(lines),
            _starts=starts,
            _settled=starts + settling,
        )

    def dwells(self) -> list[tuple[float, float, float]]:
        """Return frequency [Hz], begin and end [s] of the settled part of every dwell."""
        ends = np.append(self._starts[1:], self.duration - LEAD_IN)
        return [
            (float(f), LEAD_IN + float(begin), LEAD_IN + float(end))
            for f, begin, end in zip(self.frequencies, self._settled, ends, strict=True)
        ]

    def moving(self, time: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return displacement, speed, acceleration `(k,)` at times `(k,)` [s] after the rest."""
        which = np.searchsorted(self._starts, time, side="right") - 1
        omega = 2.0 * np.pi * self.frequencies[which]
        phase = omega * (time - self._starts[which])
        sine = np.sin(phase)
        return self.speed / omega * sine, self.speed * np.cos(phase), -self.speed * omega * sine


def _range(low: Any, high: Any) -> tuple[float, float]:
    first, last = positive(low, "low"), positive(high, "high")
    if not first < last:
        raise InputError("low, high", "must increase")
    return first, last


AXES = ("x", "y", "z", "roll", "pitch", "yaw")
"""Along and about the base axes; about them in the order x, y, z."""

SPEED_SHARE, EFFORT_SHARE = 0.02, 0.1
"""Adopted: of an actuator's limits of speed and effort that an excitation may use."""

SPEED_USE = 0.5
"""Adopted: of an actuator's limit of speed that an excitation needs at most to be seen."""

EFFORT_USE = 0.5
"""Adopted: of an actuator's limit of effort that the velocity loop gives at most, likewise."""

ACCELERATION_USE = 2.0
"""Adopted: of an actuator's limit of acceleration, which then acts in the highest octave alone."""

FRICTION_RATIO = 10.0
"""Adopted: velocity loop's gain per gain that dry friction has at the peak speed."""

NOISE_RATIO = 2.0
"""Adopted: amplitude at the highest frequency per step of the encoder."""

POSITION_SPEED, POSITION_EFFORT, POSITION_TRAVEL = 0.25, 0.3, 0.2
"""Adopted: of a servo's or stepper's limits, and of the way from home to its nearer end."""

POSITION_HIGH = 0.4
"""Of the rate at which servos or steppers take positions, up to which they can follow."""

TASK_SPEED = 0.01
"""Adopted: strokes per second that an excitation may use where limits are not known."""

MOVING = 0.05
"""An actuator counts as moving from this share of the rate of the fastest one."""


class Path(NamedTuple):
    """A straight way through home, as the whole machine sees it."""

    name: str
    twist: FloatArray
    """`(6,)` of the platform per unit of the way"""
    rates: FloatArray
    """`(n,)` of the actuators per unit of the way"""


def axis_path(platform: MachineModel, axis: str) -> Path:
    """Return the way along or about a base axis through home.

    Raises:
        InputError: unknown axis, or one that the machine cannot move along.
    """
    column = AXES.index(one_of(axis, "axis", AXES))
    home = as_model(platform).home
    unit = np.eye(6)[column]
    twist = platform.constrain(home, unit, np.zeros(6)).twist
    if abs(twist[column]) < 1e-9:
        raise InputError("axis", f"{platform.name} cannot move along {axis}")
    twist = twist / twist[column]
    return Path(axis, twist, platform.jacobian(home) @ twist)


def actuator_path(platform: MachineModel, actuator: int) -> Path:
    """Return the way of the platform while one actuator moves and the others rest, through home.

    Raises:
        InputError: no such actuator, or actuators that cannot move one at a time.
    """
    n = as_model(platform).n_actuators
    if type(actuator) is not int or not 1 <= actuator <= n:
        raise InputError("actuator", f"must be a number from 1 to {n}, not {brief(actuator)}")
    if platform.dof != n:
        raise InputError(
            "actuator", f"the actuators of {platform.name} cannot move one at a time; give an axis"
        )
    rates = np.eye(n)[actuator - 1]
    return Path(
        f"actuator {actuator}", np.linalg.solve(platform.jacobian(platform.home), rates), rates
    )


def highest_frequency(platform: MachineModel, most: float) -> float:
    """Return the frequency [Hz], at most `most`, up to which a machine's drives can follow."""
    drives = [leg.drive for leg in platform.parameters.legs if leg.drive is not None]
    found = [drive.positioning() for drive in drives]
    return min([most, *(POSITION_HIGH * how.update_rate for how in found if how is not None)])


class SuitableSpeed(NamedTuple):
    """Peak speed of an excitation along a way."""

    value: float
    """[m/s], [rad/s]"""
    limit: str
    """limit of the actuators that keeps it below what friction and encoders ask for; else empty"""


def suitable_speed(platform: MachineModel, path: Path, low: float, high: float) -> SuitableSpeed:
    """Return a peak speed along a way that leaves the drives far from their limits, yet is seen.

    Dry friction F acts on a sine of peak speed v like a gain 4 F / (pi v), and encoders read in
    steps. The speed is raised to where the velocity loop's gain K is `FRICTION_RATIO` times as
    much, and the amplitude at the highest frequency `NOISE_RATIO` steps. It uses no more than
    `SPEED_USE` of the speed, `ACCELERATION_USE` of the acceleration at the highest frequency, and
    `POSITION_TRAVEL` of the way to an end; K v takes no more than `EFFORT_USE` of the effort.
    Springs in the legs, which take more speed than the platform, are left out of this.

    Servos and steppers have dead bands and resolutions, beside which small motions vanish: theirs
    is as large as their travel allows at the lowest frequency.

    Args:
        platform: the machine.
        path: the way.
        low: lowest frequency [Hz].
        high: highest frequency [Hz].

    Raises:
        InputError: not a machine, or a frequency not above zero.
    """
    omega = 2.0 * np.pi * positive(high, "high")
    coordinates = as_model(platform).inverse_kinematics(platform.home)
    lowest, highest = platform.minimum_coordinates, platform.maximum_coordinates
    room = np.minimum(coordinates - lowest, highest - coordinates)
    speed, effort, travel = SPEED_SHARE, EFFORT_SHARE, TASK_SPEED * (highest - lowest)
    if takes_positions(platform):
        speed, effort = POSITION_SPEED, POSITION_EFFORT
        travel = POSITION_TRAVEL * 2.0 * np.pi * positive(low, "low") * room
    bounds = [
        travel,
        speed * actuator_limit(platform, "speed"),
        effort * actuator_limit(platform, "effort") / (omega * equivalent_inertia(platform)),
    ]
    slowest = np.min(bounds, axis=0)
    wanted, most = np.zeros_like(slowest), {"speed": np.full_like(slowest, np.inf)}
    if not (takes_positions(platform) or platform.n_deflections):
        drives, gain = drive_model(platform), suitable_velocity_loop(platform, PERIOD)[0]
        friction = FRICTION_RATIO * 4.0 * drives.friction / (np.pi * gain)
        wanted = np.maximum(friction, NOISE_RATIO * drives.resolution * omega)
        most = {
            "speed": SPEED_USE * actuator_limit(platform, "speed"),
            "acceleration": ACCELERATION_USE * actuator_limit(platform, "acceleration") / omega,
            "force": EFFORT_USE * actuator_limit(platform, "effort") / gain,
            "stroke": POSITION_TRAVEL * 2.0 * np.pi * positive(low, "low") * room,
        }
    allowed = np.min([*most.values()], axis=0)
    slowest = np.maximum(slowest, np.minimum(wanted, allowed))
    ways = np.abs(path.rates)
    moving = np.flatnonzero(ways > MOVING * ways.max())
    first = moving[np.argmin(slowest[moving] / ways[moving])]
    limit = ""
    if slowest[first] < wanted[first]:
        limit = min(most, key=lambda name: float(most[name][first]))
    if limit == "force" and platform.coordinate_unit == "rad":
        limit = "torque"
    return SuitableSpeed(float(slowest[first] / ways[first]), limit)
