"""RSS legs: a motor turns a crank about a fixed axis, a rod joins its end to the platform.

The mechanism has two hinges for the rod's spherical joint at the elbow: a slender rod has no spin.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from twin.basics.arrays import FloatArray
from twin.machine import body as bodies
from twin.machine import quantity
from twin.machine.body import LegBody, parallel_axis
from twin.machine.hardware.drive import CrankDrive, Encoder, RotaryActuator
from twin.machine.legs.leg import (
    COINCIDENCE_DISTANCE,
    NEARLY_PARALLEL,
    Constants,
    JointLimit,
    Leg,
    LegGeometry,
    LegKind,
    LegProblem,
    LegThickness,
    check_numbers,
    check_size,
    unit,
)
from twin.machine.mechanism import (
    BASE_NAME,
    ORIGIN,
    X_AXIS,
    Z_AXIS,
    Actuator,
    Body,
    Cylinder,
    Drawing,
    Ends,
    Joint,
    LegMechanism,
    Loop,
    Mass,
    Point,
    Sphere,
    ball_ends,
    bracket,
    limits,
    two_hinge_frame,
)
from twin.machine.quantity import Angle, Density, Direction, Length, Table, Whole, problem


class SlenderRod(Table):
    """A rod so thin that it has no moment of inertia about its own axis.

    Transverse moment m L^2 / 12 about its middle.
    """

    mass: quantity.Mass | None = Field(
        None, ge=0, description="Mass, 0 for a massless rod, or give density and radius"
    )
    density: Density | None = Field(None, gt=0, description="Density of the material")
    radius: Length | None = Field(None, gt=0, description="Radius of the rod")

    @model_validator(mode="after")
    def _one_way(self) -> SlenderRod:
        has_both = self.density is not None and self.radius is not None
        has_any = self.density is not None or self.radius is not None
        if (self.mass is None) != has_both or (self.mass is not None and has_any):
            raise ValueError("give either the mass, or density and radius")
        return self


class CrankAppearance(Table):
    """Dimensions with which a crank and the rod on its end are drawn."""

    crank_radius: Length = Field(gt=0, description="Radius of the crank")
    rod_radius: Length = Field(gt=0, description="Radius of the rod")


class Crank(NamedTuple):
    """Crank and rod of a leg at home; directions in the base frame."""

    axis: FloatArray
    """`(3,)` axis u of the crank, unit vector"""
    zero: FloatArray
    """`(3,)` direction c0 of the crank at angle 0, unit vector perpendicular to the axis"""
    angle: float
    """crank angle at home [rad]"""
    frame: FloatArray
    """`(3, 3)` rotation crank to base at home: columns u, z x u, z with z along the crank"""
    elbow: FloatArray
    """`(3,)` vector [m] from base joint to elbow at home"""
    rod: FloatArray
    """`(3,)` vector [m] from elbow to platform joint at home"""


UP = np.array([0.0, 0.0, 1.0])

BRANCH_SIGNS = {"outward": 1.0, "inward": -1.0}
"""Sign of the elbow's solution, by the name of the branch."""


DirectionSetting = str | Sequence[float] | Sequence[Sequence[float]]
"""A direction field of a file: a word such as "radial", one direction, or one per leg."""


def _checked(choices: tuple[str, ...]) -> BeforeValidator:
    """Return the check of a field that takes a word, a direction, or one per leg."""

    def check(value: Any) -> Any:
        rows = value if isinstance(value, (list, tuple)) else ()
        is_one_vector = len(rows) == 3 and not any(
            isinstance(entry, (list, tuple)) for entry in rows
        )
        is_vector_list = rows and all(
            isinstance(row, (list, tuple)) and len(row) == 3 for row in rows
        )
        if value not in choices and not is_one_vector and not is_vector_list:
            raise ValueError(
                f"must be {', '.join(map(repr, choices))}, three numbers (a direction in the "
                "base), or a list of such directions, one per leg"
            )
        return value

    return BeforeValidator(check)


def _sized(value: Any) -> Any:
    for row in value if is_per_leg(value) else (value,):
        check_size(row)
    return value


def is_per_leg(value: Any) -> bool:
    """Return whether a list has one direction per leg."""
    return not isinstance(value, str) and isinstance(value[0], (list, tuple))


CrankAxis = Annotated[
    Literal["tangential", "radial"] | Direction | tuple[Direction, ...],
    _checked(("tangential", "radial")),
    AfterValidator(_sized),
]

CrankZero = Annotated[
    Literal["horizontal", "outward"] | Direction | tuple[Direction, ...],
    _checked(("horizontal", "outward")),
    AfterValidator(_sized),
]


def cross_product(left: FloatArray, right: FloatArray) -> FloatArray:
    """Return the cross product `(3,)` of two vectors; `np.cross` takes ten times as long."""
    a, b, c = left
    x, y, z = right
    return np.array([b * z - c * y, c * x - a * z, a * y - b * x])


def direction(
    setting: DirectionSetting, leg_geometry: LegGeometry, axis: FloatArray | None = None
) -> FloatArray:
    """Return the direction `(3,)` of a word, of all legs or of one leg; not a unit vector.

    Args:
        setting: "radial" and "outward": from the z axis through the base joint; "tangential": along
            the circle through it; "horizontal": perpendicular to the axis, so that a growing angle
            lifts the crank; or directions.
        leg_geometry: of the leg.
        axis: `(3,)` of the crank, for "horizontal".
    """
    if not isinstance(setting, str):
        row: Any = setting[leg_geometry.number - 1] if is_per_leg(setting) else setting
        return np.array(row, dtype=float)
    if setting == "horizontal" and axis is not None:
        return cross_product(UP, axis)
    if setting == "tangential":
        return cross_product(UP, leg_geometry.base)
    return np.array([leg_geometry.base[0], leg_geometry.base[1], 0.0])


class RssLeg(Leg):
    """Crank on a hinge below, spherical joints at the elbow and at the tip.

    The crank turns about `axis` through the base joint, positive right-handed, and points along
    `zero` (made perpendicular to the axis) at angle 0. Its frame has z along the crank and x along
    the axis. The actuator coordinate is the crank angle.
    """

    coordinate: ClassVar[str] = "crank angle"
    definition: ClassVar[str] = (
        "the crank's angle, right-handed about its axis from the direction `zero`; the elbow is "
        "the one that `branch` names"
    )
    equations: ClassVar[str] = "rss"
    has_crank: ClassVar[bool] = True

    drive: CrankDrive | None = Field(
        None, description="Drive of the crank; leave out for an ideal one"
    )
    encoder: Encoder | None = Field(
        None, description="Encoder of the crank; leave out for an exact one"
    )
    kind: Literal["rss"] = Field("rss", description="Kind of leg")
    axis: CrankAxis | None = Field(
        None,
        description="Axis of the crank in the base frame: a direction, or one per leg; "
        "'tangential': horizontal along the circle through the base joint about z; 'radial': "
        "horizontal, away from z",
    )
    zero: CrankZero = Field(
        (0.0, 0.0, 1.0),
        description="Where the crank points at angle 0, base frame: a direction, or one per leg; "
        "'horizontal': a growing angle lifts the crank from there; 'outward': away from z",
    )
    branch: Literal["outward", "inward"] = Field(
        "outward", description="Which of the two elbows: of the larger or the smaller crank angle"
    )
    crank_length: Length = Field(gt=0, description="Base joint to elbow")
    crank: LegBody = Field(description="The crank; origin at the base joint, z along the crank")
    rod_length: Length = Field(gt=0, description="Elbow to platform joint")
    rod: SlenderRod = Field(description="The rod between elbow and platform joint")
    actuator: RotaryActuator = Field(description="The motor of the crank")
    elbow_joint: JointLimit | None = Field(
        None, description="Limit of the ball joint between crank and rod; leave out if unknown"
    )
    platform_joint: JointLimit | None = Field(
        None, description="Limit of the ball joint on the platform; leave out if unknown"
    )
    appearance: CrankAppearance | None = Field(None, description="Dimensions for drawing")
    axis_angles: tuple[Angle, ...] | None = Field(
        None, description="Instead of `axis`: angle from x of each leg's horizontal axis"
    )
    mirrored: tuple[Whole, ...] | None = Field(
        None,
        description="Legs (from 1) whose axis is reversed and whose crank's body is mirrored in x: "
        "with 'radial' axes, legs that are mirror images then have equal angles",
    )

    @model_validator(mode="after")
    def _one_axis(self) -> RssLeg:
        if (self.axis is None) == (self.axis_angles is None):
            raise ValueError("axis is missing; give `axis`, or `axis_angles`, not both")
        return self

    @classmethod
    def check_lists(cls, tables: Sequence[tuple[str, Self]], count: int) -> None:
        """Raise a problem unless lists have one entry per leg and name legs that exist."""
        for table, leg in tables:
            for name in ("axis", "zero", "axis_angles"):
                values = getattr(leg, name)
                per_leg = values is not None and (name == "axis_angles" or is_per_leg(values))
                if per_leg and len(values) != count:
                    raise problem(f"{table}.{name}", f"{len(values)} entries for {count} legs")
            check_numbers(f"{table}.mirrored", leg.mirrored or (), count)

    @property
    def rod_mass(self) -> float:
        """Mass of the rod [kg]."""
        rod = self.rod
        if rod.density is None or rod.radius is None:
            return rod.mass or 0.0
        return rod.density * math.pi * rod.radius**2 * self.rod_length

    @property
    def thickness(self) -> LegThickness | None:
        """Thickness of crank and rod as drawn, else of parts that are cylinders."""
        if self.appearance is not None:
            radii = (self.appearance.crank_radius, self.appearance.rod_radius)
        elif isinstance(self.crank, bodies.Cylinder) and self.rod.radius is not None:
            radii = (self.crank.outer_radius, self.rod.radius)
        else:
            return None
        return LegThickness(*radii, self.crank_length)

    @property
    def reach(self) -> float:
        """Largest distance [m] of the tip from the base joint."""
        return self.crank_length + self.rod_length

    def home_axis(self, leg_geometry: LegGeometry) -> FloatArray:
        """Return the crank's axis u `(3,)`, a unit vector fixed in the base frame."""
        if self.axis_angles is not None:
            angle = self.axis_angles[leg_geometry.number - 1]
            axis = np.array([math.cos(angle), math.sin(angle), 0.0])
        else:
            axis = direction(self.axis or "tangential", leg_geometry)
        return self.side(leg_geometry) * axis / np.linalg.norm(axis)

    def side(self, leg_geometry: LegGeometry) -> float:
        """Return -1 for a leg that is a mirror image, else 1."""
        return -1.0 if leg_geometry.number in (self.mirrored or ()) else 1.0

    def crank_mass(self, leg_geometry: LegGeometry) -> Mass:
        """Return the mass properties of the crank of a leg, in the crank's frame."""
        crank, mirror = self.crank, np.diag([self.side(leg_geometry), 1.0, 1.0])
        tensor = mirror @ crank.inertia_tensor @ mirror
        return Mass(crank.mass, mirror @ crank.center_of_mass_vector, tensor)

    def home_zero(self, leg_geometry: LegGeometry) -> FloatArray:
        """Return the direction c0 `(3,)` of the crank at angle 0, perpendicular to its axis."""
        axis = self.home_axis(leg_geometry)
        zero = direction(self.zero, leg_geometry, axis)
        perpendicular = zero - (zero @ axis) * axis
        return perpendicular / np.linalg.norm(perpendicular)

    def home_coordinate(self, leg_geometry: LegGeometry) -> float:
        """Return the actuator coordinate at home: the crank angle [rad], NaN if out of reach.

        A cos(angle) + B sin(angle) = K, with A and B the parts of the vector d to the tip along
        c0 and u x c0, and K = (d^2 + crank^2 - rod^2) / (2 crank). Of all turns, the one nearest
        to the middle of the actuator's range.
        """
        forward, sideways, constant = self._loop(leg_geometry)
        amplitude = math.hypot(forward, sideways)
        if amplitude < COINCIDENCE_DISTANCE or abs(constant) > amplitude:
            return math.nan
        half_angle = BRANCH_SIGNS[self.branch] * math.acos(constant / amplitude)
        middle_angle = (self.actuator.minimum + self.actuator.maximum) / 2
        angle = math.atan2(sideways, forward) + half_angle
        return middle_angle + math.remainder(angle - middle_angle, 2 * math.pi)

    def home_crank(self, leg_geometry: LegGeometry) -> FloatArray:
        """Return the vector `(3,)` [m] from the base joint to the elbow at home, base frame."""
        zero, angle = self.home_zero(leg_geometry), self.home_coordinate(leg_geometry)
        sideways = cross_product(self.home_axis(leg_geometry), zero)
        crank_direction = math.cos(angle) * zero + math.sin(angle) * sideways
        return self.crank_length * crank_direction

    def crank_vectors(self, leg_geometry: LegGeometry, angles: FloatArray) -> FloatArray:
        """Return vectors `(k, 3)` [m] from base joint to elbow at angles `(k,)`, base frame."""
        zero = self.home_zero(leg_geometry)
        sideways = cross_product(self.home_axis(leg_geometry), zero)
        crank_directions = np.outer(np.cos(angles), zero) + np.outer(np.sin(angles), sideways)
        return np.asarray(self.crank_length * crank_directions)

    def home_geometry(self, leg_geometry: LegGeometry) -> Crank:
        """Return crank and rod at home."""
        axis, elbow = self.home_axis(leg_geometry), self.home_crank(leg_geometry)
        crank_direction = elbow / self.crank_length
        frame = np.stack([axis, cross_product(crank_direction, axis), crank_direction], axis=1)
        zero, angle = self.home_zero(leg_geometry), self.home_coordinate(leg_geometry)
        return Crank(axis, zero, angle, frame, elbow, leg_geometry.vector - elbow)

    def home_row(self, leg_geometry: LegGeometry) -> FloatArray:
        """Return the row `(6,)` of the Jacobian at home: crank rate = row @ twist.

        The rod keeps its length: e . v_tip = e . (u x crank) rate, with e along the rod.
        """
        crank = self.home_crank(leg_geometry)
        rod = (leg_geometry.vector - crank) / self.rod_length
        force = rod / (rod @ cross_product(self.home_axis(leg_geometry), crank))
        return np.concatenate([force, cross_product(leg_geometry.arm, force)])

    def home_lines(self, leg_geometry: LegGeometry) -> list[tuple[FloatArray, FloatArray]]:
        """Return crank and rod as lines (start, vector) [m] at home."""
        crank = self.home_crank(leg_geometry)
        return [
            (leg_geometry.base, crank),
            (leg_geometry.base + crank, leg_geometry.vector - crank),
        ]

    def home_problem(self, leg_geometry: LegGeometry) -> LegProblem | None:
        """Return why the leg cannot be at home, None if it can."""
        for name, setting in (("axis", self.axis), ("zero", self.zero)):
            central = setting in ("tangential", "radial", "outward")
            if central and np.hypot(*leg_geometry.base[:2]) < COINCIDENCE_DISTANCE:
                return LegProblem(
                    name, f"its base joint lies on the z axis: give the {name} as a direction"
                )
        axis = self.home_axis(leg_geometry)
        zero = direction(self.zero, leg_geometry, axis)
        if np.linalg.norm(cross_product(zero, axis)) <= NEARLY_PARALLEL * np.linalg.norm(zero):
            return LegProblem(
                "zero",
                "the direction of angle 0 lies along the crank's axis: give another `zero`, or one "
                "per leg",
            )
        if math.isnan(self.home_coordinate(leg_geometry)):
            distance = leg_geometry.length
            return LegProblem(
                ".home.position",
                f"it cannot reach home: its platform joint would be {distance:.6g} m from its base "
                f"joint, where crank ({self.crank_length:.6g} m) and rod ({self.rod_length:.6g} m) "
                "cannot meet",
            )
        crank = self.home_crank(leg_geometry)
        rod = (leg_geometry.vector - crank) / self.rod_length
        if np.linalg.norm(cross_product(rod, axis)) < NEARLY_PARALLEL:
            return LegProblem("axis", "its rod lies along the crank's axis at home")
        if abs(rod @ cross_product(axis, crank)) < NEARLY_PARALLEL * self.crank_length:
            shape = "stretched" if rod @ crank > 0 else "folded"
            return LegProblem(
                ".home.position",
                f"crank and rod are {shape} at home: turning the crank does not move the platform; "
                "move home, or change crank_length or rod_length",
            )
        return None

    def _loop(self, leg_geometry: LegGeometry) -> tuple[float, float, float]:
        axis, zero = self.home_axis(leg_geometry), self.home_zero(leg_geometry)
        tip = leg_geometry.vector
        constant = (tip @ tip + self.crank_length**2 - self.rod_length**2) / (2 * self.crank_length)
        return float(tip @ zero), float(tip @ cross_product(axis, zero)), float(constant)

    @property
    def mass(self) -> float:
        """Mass [kg] of the whole leg."""
        return self.crank.mass + self.rod_mass


def crank_vectors(parameters: Any, angles: FloatArray) -> FloatArray:
    """Return the vectors `(k, n, 3)` [m] from base joints to elbows at angles `(k, n)` [rad]."""
    legs = zip(parameters.legs, parameters.home_leg_geometry, angles.T, strict=True)
    return np.stack([leg.crank_vectors(geometry, angle) for leg, geometry, angle in legs], axis=1)


def constants(leg: RssLeg, leg_geometry: LegGeometry) -> Constants:
    """Return the constants for the equations: geometry, masses and inertia of crank and rod."""
    mass, center, tensor = leg.crank_mass(leg_geometry)
    return {
        "axis": leg.home_axis(leg_geometry),
        "zero_direction": leg.home_zero(leg_geometry),
        "middle_angle": 0.5 * (leg.actuator.minimum + leg.actuator.maximum),
        "crank_length": leg.crank_length,
        "rod_length": leg.rod_length,
        "elbow_branch": BRANCH_SIGNS[leg.branch],
        "rod_mass": leg.rod_mass,
        "crank_inertia": (tensor + parallel_axis(mass, center))[0, 0],
        "crank_mass": mass,
        # The crank's own axes are u, -c' and c; those of the equations are u, c' and c.
        "crank_moment": mass * center * [1.0, -1.0, 1.0],
    }


def home_frame(leg: RssLeg, leg_geometry: LegGeometry) -> FloatArray:
    """Return the rotation `(9,)` rod to base at home, row after row."""
    geometry = leg.home_geometry(leg_geometry)
    rod_direction = unit(geometry.rod)
    second_axis = unit(np.cross(geometry.axis, rod_direction))
    return np.stack(
        [second_axis, np.cross(rod_direction, second_axis), rod_direction], axis=1
    ).ravel()


def ends(leg: RssLeg) -> Ends:
    """Return the dimensions drawn at the leg's ends."""
    sizes = appearance(leg)
    return ball_ends(1.8 * sizes.crank_radius, 1.6 * sizes.rod_radius)


def make_leg(leg: RssLeg, leg_geometry: LegGeometry, drawing: Drawing) -> LegMechanism:
    """Return the leg: crank, elbow, loop from the rod's tip to the platform."""
    name, foot = f"leg_{leg_geometry.number}", leg_geometry.base
    home = leg.home_geometry(leg_geometry)
    sizes = appearance(leg)
    crank_hinge = Joint(
        f"{name}_actuator", "hinge", X_AXIS, limits=limits(leg.actuator, home.angle)
    )
    crank = Body(
        f"{name}_crank",
        BASE_NAME,
        foot,
        home.frame,
        (crank_hinge,),
        leg.crank_mass(leg_geometry),
        (
            Cylinder(
                f"{name}_arm", "housing", sizes.crank_radius, ORIGIN, leg.crank_length * Z_AXIS
            ),
            Sphere(f"{name}_elbow", "joint", 1.4 * sizes.crank_radius, leg.crank_length * Z_AXIS),
        ),
    )
    frame = two_hinge_frame(home.axis, home.rod)
    first_hinge = Joint(f"{name}_first", "hinge", frame.T @ home.axis, f"{name}_cross")
    second_hinge = Joint(f"{name}_second", "hinge", X_AXIS)
    transverse_inertia = leg.rod_mass * leg.rod_length**2 / 12.0
    tip = leg.rod_length * Z_AXIS
    rod = Body(
        f"{name}_rod",
        crank.name,
        leg.crank_length * Z_AXIS,
        home.frame.T @ frame,
        (first_hinge, second_hinge),
        Mass(leg.rod_mass, 0.5 * tip, np.diag([transverse_inertia, transverse_inertia, 0.0])),
        (
            Cylinder(f"{name}_shaft", "rod", sizes.rod_radius, ORIGIN, tip),
            Sphere(f"{name}_platform_ball", "joint", drawing.platform_joint_radius, tip),
        ),
    )
    half_axle = 2.0 * drawing.base_joint_radius * home.axis
    motor = Cylinder(
        f"{name}_motor", "joint", drawing.base_joint_radius, foot - half_axle, foot + half_axle
    )
    return LegMechanism(
        (crank_hinge.name, first_hinge.name, second_hinge.name),
        (crank, rod),
        Actuator(f"{name}_force", crank_hinge.name, (crank_hinge.name,)),
        (
            Point(f"{name}_elbow", crank.name, leg.crank_length * Z_AXIS),
            Point(f"{name}_tip", rod.name, tip),
        ),
        (Loop(f"{name}_loop", f"{name}_tip", f"{name}_platform_joint"),),
        base_shapes=(bracket(leg_geometry.number, leg_geometry.base, drawing), motor),
    )


def appearance(leg: RssLeg) -> CrankAppearance:
    """Return the drawn dimensions from the file, else those of slender parts."""
    if leg.appearance is not None:
        return leg.appearance
    return CrankAppearance(
        source="derived from the leg's lengths",
        crank_radius=max(0.025 * leg.crank_length, 0.02 * leg.rod_length),
        rod_radius=0.015 * leg.rod_length,
    )


RSS_KIND = LegKind(RssLeg, constants, home_frame, ends, make_leg)
