"""Kinematics of the plate on pillars: the base of its two models, small-angle and exact.

The feet are in one plane and the pillars at a right angle to the plate, so a plate is given by
three numbers that are linear in the lengths: the length under its centre and two slopes,

    length of pillar i = center_length - pitch_slope x_i + roll_slope y_i.

Derivation in docs/driving_simulator.md.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, as_floats, flatten_batch
from twin.errors import InputError
from twin.papers.driving_simulator.plate import PlateModel


@dataclass(frozen=True)
class Jet:
    """A quantity `(...)` with its rate and acceleration of the same shape."""

    value: FloatArray
    rate: FloatArray
    acceleration: FloatArray

    __array_ufunc__ = None
    """Arrays on the left of an operator leave it to this class"""

    def __add__(self, other: Any) -> Jet:
        if isinstance(other, Jet):
            return Jet(
                self.value + other.value,
                self.rate + other.rate,
                self.acceleration + other.acceleration,
            )
        return Jet(self.value + other, self.rate, self.acceleration)

    __radd__ = __add__

    def __neg__(self) -> Jet:
        return Jet(-self.value, -self.rate, -self.acceleration)

    def __sub__(self, other: Any) -> Jet:
        return self.__add__(-other)

    def __rsub__(self, other: Any) -> Jet:
        return (-self).__add__(other)

    def __mul__(self, other: Any) -> Jet:
        if isinstance(other, Jet):
            twice = 2.0 * self.rate * other.rate
            return Jet(
                self.value * other.value,
                self.rate * other.value + self.value * other.rate,
                self.acceleration * other.value + twice + self.value * other.acceleration,
            )
        return Jet(self.value * other, self.rate * other, self.acceleration * other)

    __rmul__ = __mul__

    def through(self, value: FloatArray, slope: FloatArray, curvature: FloatArray) -> Jet:
        """Return f(self), given f and its first two derivatives at `self.value`."""
        acceleration = slope * self.acceleration + curvature * self.rate**2
        return Jet(value, slope * self.rate, acceleration)


def tangent(angle: Any) -> Any:
    """Return the tangent of an angle [rad], an array or a Jet."""
    if not isinstance(angle, Jet):
        return np.tan(angle)
    value = np.tan(angle.value)
    slope = 1.0 + value**2
    return angle.through(value, slope, 2.0 * value * slope)


def secant(angle: Any) -> Any:
    """Return one over the cosine of an angle [rad], an array or a Jet."""
    if not isinstance(angle, Jet):
        return 1.0 / np.cos(angle)
    value, slope = 1.0 / np.cos(angle.value), np.tan(angle.value)
    return angle.through(value, value * slope, value * (1.0 + 2.0 * slope**2))


def cosine(angle: Any) -> Any:
    """Return the cosine of an angle [rad], an array or a Jet."""
    if not isinstance(angle, Jet):
        return np.cos(angle)
    value = np.cos(angle.value)
    return angle.through(value, -np.sin(angle.value), -value)


def arctangent(slope: Any) -> Any:
    """Return the angle [rad] of a slope, an array or a Jet."""
    if not isinstance(slope, Jet):
        return np.arctan(slope)
    first = 1.0 / (1.0 + slope.value**2)
    return slope.through(np.arctan(slope.value), first, -2.0 * slope.value * first**2)


class Configuration(NamedTuple):
    """Positions of the plate, its pillars and its feet; or their rates or accelerations."""

    coordinates: FloatArray
    """`(..., 3)` heave [m] of the centre above the floor, roll and pitch [rad]"""
    lengths: FloatArray
    """`(..., 4)` [m] of the pillars"""
    center: FloatArray
    """`(..., 3)` [m] of the plate's centre in the base"""
    feet: FloatArray
    """`(..., 4, 2)` [m] x and y of the feet in the base"""


class ConfigurationMotion(NamedTuple):
    """A configuration with its first two time derivatives."""

    value: Configuration
    rate: Configuration
    acceleration: Configuration


class PlateKinematics(ABC):
    """Kinematics of one plate; arguments take leading batch axes.

    The attitude is R = Rx(roll) Ry(pitch). The base frame lies on the floor under the centre of
    the level plate, so that the fixed foot is under its own corner.
    """

    def __init__(self, plate: PlateModel) -> None:
        """Use the dimensions of `plate`."""
        self.plate = plate

    @abstractmethod
    def slopes(self, heave: Any, roll: Any, pitch: Any) -> tuple[Any, Any, Any]:
        """Return center length [m], roll slope and pitch slope; arrays or Jets."""

    @abstractmethod
    def angles(self, center_length: Any, roll_slope: Any, pitch_slope: Any) -> tuple[Any, Any, Any]:
        """Return heave [m], roll and pitch [rad]; the inverse of `slopes`."""

    @abstractmethod
    def center(self, heave: Any, roll: Any, pitch: Any) -> tuple[Any, Any]:
        """Return x and y [m] of the plate's centre; arrays or Jets."""

    @abstractmethod
    def foot(self, corner: int, heave: Any, roll: Any, pitch: Any) -> tuple[Any, Any]:
        """Return x and y [m] of the foot of a pillar; arrays or Jets."""

    def inverse(self, coordinates: Any) -> Configuration:
        """Return the configuration of heave, roll and pitch `(..., 3)` [m], [rad].

        Raises:
            InputError: wrong shape, not finite, angles of a right angle and more.
        """
        given = checked_coordinates(coordinates)
        return _stack(self._parts(tuple(np.moveaxis(given, -1, 0))))

    def direct(self, rear_right: Any, rear_left: Any, front_left: Any) -> Configuration:
        """Return the configuration of three lengths `(...)` [m]; limits are not checked.

        Raises:
            InputError: not finite, shapes that do not broadcast.
        """
        given = {"rear_right": rear_right, "rear_left": rear_left, "front_left": front_left}
        fields = {name: as_floats(value, name)[..., None] for name, value in given.items()}
        shape, columns = flatten_batch(**fields)
        right, left, front = (column.reshape(shape) for column in columns)
        return _stack(self._parts(self._driven(right, left, front)))

    def inverse_motion(
        self, coordinates: Any, rates: Any, accelerations: Any
    ) -> ConfigurationMotion:
        """Return the motion of heave, roll and pitch `(..., 3)` and their two derivatives.

        Raises:
            InputError: wrong shapes, not finite, angles of a right angle and more.
        """
        given = checked_coordinates(coordinates)
        jets = _jets(coordinates=given, rates=rates, accelerations=accelerations)
        return _motion(self._parts(jets))

    def direct_motion(self, lengths: Any, rates: Any, accelerations: Any) -> ConfigurationMotion:
        """Return the motion of three lengths `(..., 3)` [m] and their two derivatives.

        They are those of the pillars rear right, rear left and front left.

        Raises:
            InputError: wrong shapes, not finite.
        """
        jets = _jets(lengths=lengths, rates=rates, accelerations=accelerations)
        return _motion(self._parts(self._driven(*jets)))

    def within_stroke(self, coordinates: Any) -> Any:
        """Return whether all four lengths are within the stroke, `(...)` booleans.

        Raises:
            InputError: wrong shape, not finite.
        """
        lengths = self.inverse(coordinates).lengths
        inside = (lengths >= self.plate.minimum_length) & (lengths <= self.plate.maximum_length)
        return inside.all(axis=-1)

    def lengths(self, center_length: Any, roll_slope: Any, pitch_slope: Any) -> tuple[Any, ...]:
        """Return the four lengths [m] of a plate given by its slopes; arrays or Jets."""
        return tuple(
            center_length - pitch_slope * x + roll_slope * y for x, y in self.plate.corners.tolist()
        )

    def _driven(self, rear_right: Any, rear_left: Any, front_left: Any) -> tuple[Any, Any, Any]:
        plate = self.plate
        return self.angles(
            (rear_right + front_left) * 0.5,
            (rear_left - rear_right) * (0.5 / plate.half_width),
            (rear_left - front_left) * (0.5 / plate.half_length),
        )

    def _parts(self, coordinates: tuple[Any, ...]) -> list[Any]:
        """Return coordinates, lengths, centre and feet, one after the other."""
        heave, roll, pitch = coordinates
        feet = [self.foot(corner, heave, roll, pitch) for corner in range(4)]
        return [
            *coordinates,
            *self.lengths(*self.slopes(heave, roll, pitch)),
            *self.center(heave, roll, pitch),
            heave,
            *(part for foot in feet for part in foot),
        ]


def checked_coordinates(value: Any) -> FloatArray:
    """Return heave, roll and pitch `(..., 3)` [m], [rad].

    Raises:
        InputError: wrong shape, not finite, angles of a right angle and more.
    """
    coordinates = as_floats(value, "coordinates", 3)
    if coordinates.size and np.abs(coordinates[..., 1:]).max() >= 0.5 * np.pi:
        raise InputError("coordinates", "roll and pitch [rad] must be below a right angle")
    return coordinates


def _jets(**given: Any) -> tuple[Jet, ...]:
    arrays = {name: as_floats(value, name, 3) for name, value in given.items()}
    shape, columns = flatten_batch(**arrays)
    values = [np.moveaxis(column.reshape((*shape, 3)), -1, 0) for column in columns]
    return tuple(Jet(*(value[k] for value in values)) for k in range(3))


def _motion(parts: list[Any]) -> ConfigurationMotion:
    zero = np.zeros_like(parts[0].value)
    jets = [part if isinstance(part, Jet) else Jet(zero + part, zero, zero) for part in parts]
    return ConfigurationMotion(
        _stack([jet.value for jet in jets]),
        _stack([jet.rate for jet in jets]),
        _stack([jet.acceleration for jet in jets]),
    )


def _stack(parts: list[Any]) -> Configuration:
    columns = np.stack(np.broadcast_arrays(*parts), axis=-1)
    feet = columns[..., 10:].reshape((*columns.shape[:-1], 4, 2))
    return Configuration(columns[..., :3], columns[..., 3:7], columns[..., 7:10], feet)
