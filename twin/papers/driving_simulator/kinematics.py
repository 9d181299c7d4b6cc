"""Kinematics of the plate on pillars: the base of its two models, small-angle and exact.

The feet are in one plane and the pillars at a right angle to the plate, so a plate is given by
three numbers that are linear in the lengths: the length under its centre and two slopes,

    length of pillar i = center_length - pitch_slope x_i + roll_slope y_i.

Derivation in docs/reproductions.md.

The plate of the paper has four pillars at the corners of a rectangle. They are in the order front
right, front left, rear left, rear right, x forward and y to the left; the foot of the last one is
fixed. Both kinematics have closed forms; the exact one holds below a right angle. The driving
simulator paper replaces sines by angles and cosines by one but keeps the product roll * pitch of
the rotation matrix: one of several terms of second order.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray, as_floats, flatten_batch, read_only
from twin.errors import InputError

CORNERS = ("front_right", "front_left", "rear_left", "rear_right")
"""Order of the pillars in every array of four."""

CORNER_SIGNS = read_only([[1, -1], [1, 1], [-1, 1], [-1, -1]])
"""Signs of x and y of the corners."""

FIXED_CORNER = CORNERS.index("rear_right")
"""The pillar whose foot does not slide."""

FILE_TOLERANCE = 1e-9
"""[m], [kg], [kg m2] Tolerance on a machine file's values that still describe this plate."""


@dataclass(frozen=True)
class PlateModel:
    """A rectangular plate whose reference point and centre of mass are at its centre.

    `upper_mass` moves with the plate at each corner, `foot_mass` slides with each foot.
    """

    half_length: float
    """[m] from the centre to the front pillars, along x"""
    half_width: float
    """[m] from the centre to the left pillars, along y"""
    plate_mass: float
    """[kg] mass of the plate"""
    roll_inertia: float
    """[kg m2] of the plate about its x axis"""
    pitch_inertia: float
    """[kg m2] of the plate about its y axis"""
    yaw_inertia: float
    """[kg m2] of the plate about its z axis"""
    upper_mass: float
    """[kg] of each pillar"""
    foot_mass: float
    """[kg] of each pillar"""
    gravity: float
    """[m/s2] gravity along -z of the base"""
    home_length: float
    """[m] of the pillars in the middle of their stroke"""
    stroke: float
    """[m] between the shortest and the longest pillar"""

    @property
    def corners(self) -> FloatArray:
        """Places `(4, 2)` [m] of the pillars on the plate, x and y from its centre."""
        return read_only(CORNER_SIGNS * [self.half_length, self.half_width])

    @property
    def minimum_length(self) -> float:
        """Length [m] of a retracted pillar."""
        return self.home_length - 0.5 * self.stroke

    @property
    def maximum_length(self) -> float:
        """Length [m] of an extended pillar."""
        return self.home_length + 0.5 * self.stroke

    @property
    def lifted_mass(self) -> float:
        """Mass [kg] that heave lifts: the plate and all that moves with it."""
        return self.plate_mass + len(CORNERS) * self.upper_mass

    def lumped(self) -> PlateModel:
        """Return the plate with all mass of the pillars at its corners, as in the paper."""
        return replace(self, upper_mass=self.upper_mass + self.foot_mass, foot_mass=0.0)

    @classmethod
    def from_parameters(cls, parameters: Any) -> PlateModel:
        """Return the model of a machine on pillars.

        Args:
            parameters: `twin.machine.MachineParameters` with legs of kind "pillar".

        Raises:
            InputError: not such a machine: other legs, another number or order of them, unequal
                ones, pillars that are no rectangle, a body that is not centred and aligned.
        """
        legs = parameters.legs
        if not all(leg.has_foot for leg in legs) or len(legs) != len(CORNERS):
            raise InputError("parameters", "must describe four legs of kind 'pillar'")
        leg, body, joints = legs[0], parameters.platform.body, parameters.platform.joints.points
        actuator = leg.actuator
        half_length, half_width = np.abs(joints[:, :2]).mean(axis=0).tolist()
        middle_length = 0.5 * (actuator.minimum + actuator.maximum)
        inertia = np.diag(body.inertia_tensor).tolist()
        leg_numbers = [
            (leg.fixed_foot, leg.upper_mass, leg.foot_mass, leg.actuator) for leg in legs
        ]
        requirements = {
            "leg: must be the same for all pillars": leg_numbers.count(leg_numbers[0])
            == len(leg_numbers),
            f"leg.fixed_foot: must be {FIXED_CORNER + 1}": leg.fixed_foot == FIXED_CORNER + 1,
            "platform.joints: must be a rectangle in the platform's plane, in the order "
            + ", ".join(CORNERS): _near(joints[:, :2], CORNER_SIGNS * [half_length, half_width])
            and _near(joints[:, 2], 0.0),
            "platform.body: must have its centre of mass at the centre and aligned axes": _near(
                body.center_of_mass_vector, 0.0
            )
            and _near(body.inertia_tensor, np.diag(inertia)),
            "home: must be level, centred, with the pillars in the middle of their stroke": _near(
                parameters.home_rotation, np.eye(3)
            )
            and _near(parameters.home_leg_vectors, [0.0, 0.0, middle_length]),
        }
        for requirement, is_met in requirements.items():
            if not is_met:
                field, _, message = requirement.partition(": ")
                raise InputError(f"parameters.{field}", message)
        return cls(
            half_length=half_length,
            half_width=half_width,
            plate_mass=body.mass,
            roll_inertia=inertia[0],
            pitch_inertia=inertia[1],
            yaw_inertia=inertia[2],
            upper_mass=leg.upper_mass,
            foot_mass=leg.foot_mass,
            gravity=parameters.gravity,
            home_length=middle_length,
            stroke=actuator.stroke,
        )


def _near(value: FloatArray, expected: Any) -> bool:
    return bool(np.abs(value - expected).max() < FILE_TOLERANCE)


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
    first_slope = 1.0 / (1.0 + slope.value**2)
    return slope.through(np.arctan(slope.value), first_slope, -2.0 * slope.value * first_slope**2)


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
        coordinate_rows = checked_coordinates(coordinates)
        return _stack(self._parts(tuple(np.moveaxis(coordinate_rows, -1, 0))))

    def direct(self, rear_right: Any, rear_left: Any, front_left: Any) -> Configuration:
        """Return the configuration of three lengths `(...)` [m]; limits are not checked.

        Raises:
            InputError: not finite, shapes that do not broadcast.
        """
        named_lengths = {"rear_right": rear_right, "rear_left": rear_left, "front_left": front_left}
        fields = {name: as_floats(value, name)[..., None] for name, value in named_lengths.items()}
        shape, columns = flatten_batch(**fields)
        return _stack(self._parts(self._driven(*(column.reshape(shape) for column in columns))))

    def inverse_motion(
        self, coordinates: Any, rates: Any, accelerations: Any
    ) -> ConfigurationMotion:
        """Return the motion of heave, roll and pitch `(..., 3)` and their two derivatives.

        Raises:
            InputError: wrong shapes, not finite, angles of a right angle and more.
        """
        coordinate_rows = checked_coordinates(coordinates)
        jets = _jets(coordinates=coordinate_rows, rates=rates, accelerations=accelerations)
        return _motion(self._parts(jets))

    def direct_motion(self, lengths: Any, rates: Any, accelerations: Any) -> ConfigurationMotion:
        """Return the motion of three lengths `(..., 3)` [m] and their two derivatives.

        They are those of the pillars rear right, rear left and front left.

        Raises:
            InputError: wrong shapes, not finite.
        """
        jets = _jets(lengths=lengths, rates=rates, accelerations=accelerations)
        return _motion(self._parts(self._driven(*jets)))

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


def _jets(**arguments: Any) -> tuple[Jet, ...]:
    arrays = {name: as_floats(value, name, 3) for name, value in arguments.items()}
    shape, columns = flatten_batch(**arrays)
    values = [np.moveaxis(column.reshape((*shape, 3)), -1, 0) for column in columns]
    return tuple(Jet(*(value[k] for value in values)) for k in range(3))


def _motion(components: list[Any]) -> ConfigurationMotion:
    """Return value, rate and acceleration of components that are jets or constants."""
    zero = np.zeros_like(components[0].value)
    jets = [
        component if isinstance(component, Jet) else Jet(zero + component, zero, zero)
        for component in components
    ]
    levels = ([getattr(jet, name) for jet in jets] for name in ConfigurationMotion._fields)
    return ConfigurationMotion(*map(_stack, levels))


def _stack(components: list[Any]) -> Configuration:
    columns = np.stack(np.broadcast_arrays(*components), axis=-1)
    feet = columns[..., 10:].reshape((*columns.shape[:-1], 4, 2))
    return Configuration(columns[..., :3], columns[..., 3:7], columns[..., 7:10], feet)


class ExactKinematics(PlateKinematics):
    """The closed forms of the T-graph equations without the small-angle assumption.

    With n = R z the normal of the plate, a pillar of length h has its foot at corner - h n.
    Heights of the feet are equal, which makes lengths linear in tan(pitch) and
    tan(roll) / cos(pitch); two feet then differ by (dx / cos(pitch) - dy tan(roll) tan(pitch),
    dy / cos(roll)) where their corners differ by (dx, dy) on the plate.
    """

    def slopes(self, heave: Any, roll: Any, pitch: Any) -> tuple[Any, Any, Any]:
        """Return heave / (cos(roll) cos(pitch)), tan(roll) / cos(pitch), tan(pitch)."""
        pitch_secant = secant(pitch)
        return heave * secant(roll) * pitch_secant, tangent(roll) * pitch_secant, tangent(pitch)

    def angles(self, center_length: Any, roll_slope: Any, pitch_slope: Any) -> tuple[Any, Any, Any]:
        """Return heave [m], roll and pitch [rad]; the inverse of `slopes`."""
        pitch = arctangent(pitch_slope)
        roll = arctangent(roll_slope * cosine(pitch))
        return center_length * cosine(roll) * cosine(pitch), roll, pitch

    def center(self, heave: Any, roll: Any, pitch: Any) -> tuple[Any, Any]:
        """Return x and y [m] of the plate's centre.

        The foot of a pillar under the centre lies where the fixed foot puts it; from there the
        centre is heave * (tan(pitch) / cos(roll), -tan(roll)) away.
        """
        x, y = self._apart(FIXED_CORNER, roll, pitch)
        foot_x, foot_y = self.plate.corners[FIXED_CORNER].tolist()
        return (
            heave * tangent(pitch) * secant(roll) - x + foot_x,
            -(heave * tangent(roll)) - y + foot_y,
        )

    def foot(self, corner: int, heave: Any, roll: Any, pitch: Any) -> tuple[Any, Any]:
        """Return x and y [m] of the foot of a pillar; `heave` has no influence."""
        x, y = self._apart(corner, roll, pitch)
        fixed_x, fixed_y = self._apart(FIXED_CORNER, roll, pitch)
        foot_x, foot_y = self.plate.corners[FIXED_CORNER].tolist()
        return x - fixed_x + foot_x, y - fixed_y + foot_y

    def _apart(self, corner: int, roll: Any, pitch: Any) -> tuple[Any, Any]:
        """Return a foot's x and y [m] relative to the foot of a pillar under the centre."""
        x, y = self.plate.corners[corner].tolist()
        return secant(pitch) * x - tangent(roll) * tangent(pitch) * y, secant(roll) * y


class SmallAngleKinematics(PlateKinematics):
    """The closed forms of the T-graph equations with the paper's small-angle matrix.

    The matrix of the paper takes platform to base components:

        [    1           0    pitch ]
        [ roll * pitch   1   -roll  ]
        [ -pitch        roll    1   ]

    Reference: driving simulator paper, sections "Direct kynematics" and "Inverse kynematics".
    """

    def slopes(self, heave: Any, roll: Any, pitch: Any) -> tuple[Any, Any, Any]:
        """Return heave, roll and pitch: to first order they are length and slopes themselves."""
        return heave, roll, pitch

    def angles(self, center_length: Any, roll_slope: Any, pitch_slope: Any) -> tuple[Any, Any, Any]:
        """Return the arguments unchanged as heave, roll and pitch; the inverse of `slopes`."""
        return center_length, roll_slope, pitch_slope

    def center(self, heave: Any, roll: Any, pitch: Any) -> tuple[Any, Any]:
        """Return x and y [m] of the plate's centre (x_mp, y_mp of the paper)."""
        x, _ = self.plate.corners[FIXED_CORNER].tolist()
        length = self.lengths(heave, roll, pitch)[FIXED_CORNER]
        return pitch * length, -(roll * pitch * x) - roll * length

    def foot(self, corner: int, heave: Any, roll: Any, pitch: Any) -> tuple[Any, Any]:
        """Return x and y [m] of the foot of a pillar (x_fr, y_fr and so on of the paper)."""
        lengths = self.lengths(heave, roll, pitch)
        x, y = self.plate.corners[corner].tolist()
        x_offset = x - float(self.plate.corners[FIXED_CORNER, 0])
        length_difference = lengths[corner] - lengths[FIXED_CORNER]
        return x - pitch * length_difference, y + roll * pitch * x_offset + roll * length_difference
