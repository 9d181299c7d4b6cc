"""Base of all kinds of legs: joints, limits, parameters, and what a kind has to provide."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from pydantic import AfterValidator, BeforeValidator, Field, field_validator

from twin.basics.arrays import FloatArray
from twin.machine.hardware.drive import Actuator, AnyDrive, Encoder, LinearDrive
from twin.machine.mechanism import Body, Drawing, Ends, LegMechanism
from twin.machine.quantity import Angle, Direction, Table, problem

COINCIDENCE_DISTANCE = 1e-6
"""[m] Distance below which two joint points are one point by any manufacturing standard."""

NEARLY_PARALLEL = 1e-3
"""Smallest sine of the angle between directions that must not be parallel."""


class LegGeometry(NamedTuple):
    """Geometry of one leg at one platform pose, mostly home; vectors `(3,)` in the base frame."""

    number: int
    """number of the leg, counted from 1"""
    base: FloatArray
    """position of the base joint [m]"""
    joint: FloatArray
    """position of the platform joint [m], platform frame"""
    arm: FloatArray
    """vector from the platform's reference point to the platform joint [m]"""
    vector: FloatArray
    """vector from base joint to platform joint [m]"""
    rotation: FloatArray
    """rotation matrix `(3, 3)`, platform to base"""

    @property
    def length(self) -> float:
        """Distance of base and platform joint [m]."""
        return float(np.linalg.norm(self.vector))

    @property
    def direction(self) -> FloatArray:
        """Unit vector from base joint to platform joint."""
        return self.vector / self.length

    @property
    def normal(self) -> FloatArray:
        """Z axis of the platform frame."""
        return self.rotation[:, 2]


def unit(vector: FloatArray) -> FloatArray:
    """Return a vector `(3,)` divided by its length."""
    return np.asarray(vector / np.linalg.norm(vector, axis=-1))


def check_size(axis: Any) -> Any:
    """Return `axis` if it has a length that float64 can square; raises ValueError otherwise."""
    if not isinstance(axis, str) and not 1e-12 <= sum(value * value for value in axis) <= 1e12:
        raise ValueError("must be a direction, such as [0.0, 0.0, 1.0]: not zero, not huge")
    return axis


def check_numbers(field: str, numbers: Sequence[int], count: int) -> None:
    """Raise a problem if one of the leg `numbers` (from 1) is above `count`."""
    for number in numbers:
        if not 1 <= number <= count:
            raise problem(field, f"there is no leg {number} of {count}")


class LegProblem(NamedTuple):
    """Reason why a leg cannot be at home."""

    field: str
    """field in the leg's table; a path that starts with a dot is one from the top of the file"""
    message: str


class LegThickness(NamedTuple):
    """Thickness of a leg, for collisions: a lower part from the base joint, an upper beyond it."""

    lower_radius: float
    """[m] radius of the housing, crank or pillar"""
    upper_radius: float
    """[m] radius of what continues to the platform joint"""
    lower_length: float
    """[m] length of the lower part"""


class LegSpring(NamedTuple):
    """Spring and damper along a leg: force = stiffness * (rest - length) - damping * rate."""

    stiffness: float
    """stiffness [N/m]"""
    damping: float
    """damping [N s/m]"""
    rest: float
    """length [m] without spring force: of the leg, or of a spring in series"""


class Leg(Table):
    """One leg between base and platform: the properties that all kinds have.

    All quantities at home follow from the leg's `LegGeometry` alone.
    """

    coordinate: ClassVar[str] = "length"
    """Name of the actuator coordinate, for messages"""
    definition: ClassVar[str] = (
        "the distance from base joint to platform joint; extension is positive"
    )
    """Definition of the actuator coordinate and of its sign"""
    dof: ClassVar[int] = 6
    """Degrees of freedom of a platform on legs of this kind"""
    equations: ClassVar[str]
    """Folder of `twin.kernels.legs` that holds the equations of this kind"""
    is_straight: ClassVar[bool] = False
    """Whether the actuator coordinate is the distance of base and platform joint"""
    has_crank: ClassVar[bool] = False
    """Whether the actuator turns a crank about an axis fixed in the base"""
    has_foot: ClassVar[bool] = False
    """Whether the leg is fixed to the platform and has its foot on the floor"""
    has_axial_spring: ClassVar[bool] = False
    """Whether a spring acts in parallel with the actuator"""
    has_series_spring: ClassVar[bool] = False
    """Whether a spring acts in series with the actuator; its deflection is a state"""

    if TYPE_CHECKING:  # fields of every kind, each with its own type
        kind: str
        actuator: Actuator
        drive: AnyDrive | None
        encoder: Encoder | None

    @property
    def has_spring(self) -> bool:
        """Whether the leg has a spring, along it or in series with its actuator."""
        return self.has_axial_spring or self.has_series_spring

    @property
    def resists_motion(self) -> bool:
        """Whether springs, dampers or friction of the leg depend on the machine's motion."""
        return self.has_spring

    @property
    @abstractmethod
    def mass(self) -> float:
        """Mass [kg] of the whole leg."""

    @property
    def platform_mass(self) -> float:
        """Part of the mass [kg] that moves with the platform, at the platform joint."""
        return 0.0

    @property
    def sliding_mass(self) -> float | None:
        """Mass [kg] that moves along the leg with its actuator; None where there is none."""
        return None

    @property
    def reach(self) -> float:
        """Largest distance [m] from base joint to platform joint with relaxed springs."""
        return self.actuator.maximum

    @property
    def thickness(self) -> LegThickness | None:
        """Thickness of the leg, None where the file does not give it."""
        return None

    def spring(self, leg_geometry: LegGeometry) -> LegSpring:
        """Return the spring along the leg; its stiffness is zero where there is none."""
        return LegSpring(0.0, 0.0, self.home_coordinate(leg_geometry))

    @abstractmethod
    def home_axis(self, leg_geometry: LegGeometry) -> FloatArray:
        """Return the axis `(3,)` of the leg's first joint, a unit vector fixed in the base."""

    @abstractmethod
    def home_coordinate(self, leg_geometry: LegGeometry) -> float:
        """Return the actuator coordinate at home [m] or [rad]; NaN where it does not exist."""

    @abstractmethod
    def home_row(self, leg_geometry: LegGeometry) -> FloatArray:
        """Return the row `(6,)` of the Jacobian at home: actuator rate = row @ twist."""

    @abstractmethod
    def home_problem(self, leg_geometry: LegGeometry) -> LegProblem | None:
        """Return the reason why the leg cannot be at home; None if it can."""

    def home_lines(self, leg_geometry: LegGeometry) -> list[tuple[FloatArray, FloatArray]]:
        """Return the lines (start, vector) [m] that the leg consists of at home."""
        return [(leg_geometry.base, leg_geometry.vector)]

    def home_constraints(self, leg_geometry: LegGeometry) -> FloatArray:
        """Return rows `(m, 6)` that the leg adds at home: row @ twist = 0; mostly none."""
        return np.empty((0, 6))

    @classmethod
    def check_lists(cls, tables: Sequence[tuple[str, Self]], count: int) -> None:
        """Raise a problem unless lists of the tables fit the number of legs.

        Lists with one entry per leg need `count` of them, and lists of legs' numbers name legs that
        exist. Kinds that have such lists override this.

        Args:
            tables: dotted path and leg of `[leg]` and of every variant.
            count: number of legs.
        """

    @classmethod
    def check_together(
        cls, tables: Sequence[tuple[str, Self]], leg_geometries: Sequence[LegGeometry]
    ) -> None:
        """Raise a problem unless the legs of a machine fit together.

        Args:
            tables: dotted path and leg of `[leg]` and of every variant.
            leg_geometries: geometry of all legs at home.
        """


class LinearLeg(Leg):
    """A leg with a prismatic actuator."""

    drive: LinearDrive | None = Field(
        None, description="Drive of the actuator; leave out for an ideal one"
    )
    encoder: Encoder | None = Field(
        None, description="Encoder of the actuator; leave out for an exact one"
    )


Constants = dict[str, FloatArray | float]
"""Name -> value of the constants of one leg; `twin.kernels.legs` has the names in capitals."""


class LegKind(NamedTuple):
    """One kind of legs: a module of `twin.machine.legs`, and the template of its name.

    The compiled equations are in the module of `twin.kernels.legs` that `parameters.equations`
    names.
    """

    parameters: type[Leg]
    """table of a platform.toml"""
    constants: Callable[[Any, LegGeometry], Constants]
    """constants of a leg for the equations"""
    home_frame: Callable[[Any, LegGeometry], FloatArray]
    """`(9,)` frame of a leg at home for the equations"""
    ends: Callable[[Any], Ends]
    """dimensions of what is drawn at the ends of a leg"""
    make_leg: Callable[[Any, LegGeometry, Drawing], LegMechanism]
    """bodies and joints of a leg"""
    carry: Callable[[Any, LegGeometry, Body], Body] | None = None
    """the platform's body on the joints of a leg, where legs carry it; else it is free"""


class JointLimit(Table):
    """Cone of directions that a joint allows the leg.

    Directions are those of the leg away from the joint, in the frame of the body that carries it:
    the base at base joints, the platform at platform joints, the crank at elbows (x along the
    crank's axis, z along the crank).
    """

    maximum_angle: Angle = Field(
        gt=0, le=math.pi, description="Largest angle of the leg from the neutral direction"
    )
    neutral: Direction | None = Field(
        None,
        description="Neutral direction of the leg from this joint, in the frame of the base, "
        "platform or crank that carries it; leave out for the direction at home",
    )

    @field_validator("neutral")
    @classmethod
    def _direction(cls, direction: Any) -> Any:
        return None if direction is None else check_size(direction)


def _check_word(axis: Any) -> Any:
    """Return `axis` if it is 'horizontal' or three numbers; raises ValueError otherwise."""
    if axis != "horizontal" and (not isinstance(axis, (list, tuple)) or len(axis) != 3):
        raise ValueError("must be 'horizontal' or three numbers, a direction in the base")
    return axis


JointAxis = Annotated[
    Literal["horizontal"] | Direction, BeforeValidator(_check_word), AfterValidator(check_size)
]
"""Axis of a joint: a direction, or 'horizontal' for the one perpendicular to each leg at home."""


class UniversalLeg(LinearLeg):
    """A leg along one line, on a universal joint whose first axis is fixed in the base.

    The second axis is perpendicular to the first and to the leg. The leg frame is
    (s2, Z x s2, Z): Z along the leg from base to tip and s2 = normalise(s1 x Z). The actuator
    coordinate is the leg's length.
    """

    is_straight: ClassVar[bool] = True

    kind: str
    first_axis: JointAxis = Field(
        description="First axis of the universal joint in the base frame: a direction, or "
        "'horizontal' for the horizontal one perpendicular to each leg at home"
    )
    base_joint: JointLimit | None = Field(
        None, description="Limit of the universal joint; leave out if unknown"
    )
    platform_joint: JointLimit | None = Field(
        None, description="Limit of the ball joint on the platform; leave out if unknown"
    )

    def home_axis(self, leg_geometry: LegGeometry) -> FloatArray:
        """Return the universal joint's first axis `(3,)`, a unit vector fixed in the base frame.

        'horizontal' is normalise(leg x z) at home (Stewart thesis, appendix A.1: rev1). A leg
        that is vertical at home has none; `home_problem` refuses it.
        """
        if isinstance(self.first_axis, str):
            axis = np.cross(leg_geometry.vector, [0.0, 0.0, 1.0])
        else:
            axis = np.array(self.first_axis)
        return np.asarray(axis / np.linalg.norm(axis))

    def home_frame(self, leg_geometry: LegGeometry) -> FloatArray:
        """Return the rotation `(3, 3)` leg to base at home: columns s2, Z x s2, Z."""
        leg_direction = unit(leg_geometry.vector)
        second_axis = unit(np.cross(self.home_axis(leg_geometry), leg_direction))
        return np.stack([second_axis, np.cross(leg_direction, second_axis), leg_direction], axis=1)

    def home_coordinate(self, leg_geometry: LegGeometry) -> float:
        """Return the actuator coordinate at home: the leg's length [m]."""
        return leg_geometry.length

    def home_row(self, leg_geometry: LegGeometry) -> FloatArray:
        """Return the row `(6,)` of the Jacobian at home: length rate = row @ twist."""
        leg_direction = leg_geometry.direction
        return np.concatenate([leg_direction, np.cross(leg_geometry.arm, leg_direction)])

    def home_problem(self, leg_geometry: LegGeometry) -> LegProblem | None:
        """Return why the leg cannot be at home, None if it can."""
        if leg_geometry.length < COINCIDENCE_DISTANCE:
            return LegProblem(".home.position", "its base and platform joint coincide at home")
        if (
            self.first_axis == "horizontal"
            and np.hypot(*leg_geometry.vector[:2]) < COINCIDENCE_DISTANCE
        ):
            return LegProblem("first_axis", "it is vertical at home: give the axis as a direction")
        sine = np.linalg.norm(np.cross(self.home_axis(leg_geometry), leg_geometry.direction))
        if not sine > NEARLY_PARALLEL:
            return LegProblem("first_axis", "it lies along its universal joint's first axis")
        return None
