"""UPS legs: universal joint below, prismatic actuator, spherical joint on top."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal, NamedTuple, Self

import numpy as np
from pydantic import Field

from twin.basics.arrays import FloatArray
from twin.machine import body as bodies
from twin.machine.body import LegBody, LegPart, SymmetricPart, parallel_axis, six
from twin.machine.hardware.drive import LinearActuator
from twin.machine.legs.leg import (
    Constants,
    LegGeometry,
    LegKind,
    LegThickness,
    UniversalLeg,
    check_numbers,
)
from twin.machine.mechanism import (
    BASE_NAME,
    ORIGIN,
    X_AXIS,
    Z_AXIS,
    Actuator,
    Body,
    Drawing,
    Ends,
    Joint,
    LegMechanism,
    Loop,
    Mass,
    Point,
    Shape,
    Sphere,
    Spring,
    ball_ends,
    bracket,
    limits,
    rod_shapes,
    tube_shapes,
)
from twin.machine.quantity import Angle, Length, Table, Whole

ROUNDING_TOLERANCE = 1e-15
"""Relative size below which an off-axis entry is rounding error of the frame's rotation."""


class LegBodies(NamedTuple):
    """Bodies of a UPS leg or strut in its leg frame (s2, Z x s2, Z), see `UniversalLeg`.

    The housing's frame has its origin at the base joint, the rod's at the tip. Tensors are about
    the centres of mass.
    """

    housing_mass: float
    """mass of the housing [kg]"""
    housing_center: FloatArray
    """`(3,)` [m] centre of mass of the housing, from the base joint"""
    housing_inertia: FloatArray
    """inertia tensor of the housing `(3, 3)` [kg m2]"""
    rod_mass: float
    """mass of the rod [kg]"""
    rod_center: FloatArray
    """`(3,)` [m] centre of mass of the rod, from the tip"""
    rod_inertia: FloatArray
    """inertia tensor of the rod `(3, 3)` [kg m2]"""


class LegAppearance(Table):
    """A housing on the base joint and a rod on the platform joint."""

    housing_radius: Length = Field(gt=0, description="Radius of the housing")
    housing_length: Length = Field(gt=0, description="Length of the housing from the base joint")
    rod_radius: Length = Field(gt=0, description="Radius of the rod")
    rod_length: Length = Field(gt=0, description="Length of the rod down from the tip")


class UpsLeg(UniversalLeg):
    """Universal joint below, prismatic actuator, spherical joint on top.

    Bodies are given in a frame turned about the leg from the leg frame by `frame_angle`.
    """

    equations: ClassVar[str] = "ups"

    kind: Literal["ups"] = Field("ups", description="Kind of leg")
    frame_angle: Angle = Field(
        0.0, description="Angle about the leg from the leg frame to the frame of the body data"
    )
    mirrored: tuple[Whole, ...] = Field(
        (), description="Legs (from 1) whose bodies are mirrored in x of the body data's frame"
    )
    housing: LegBody = Field(description="Part on the base joint; origin at the base joint")
    rod: LegBody = Field(description="Part on the platform joint; origin at the tip")
    actuator: LinearActuator = Field(description="The actuator between housing and rod")
    appearance: LegAppearance | None = Field(None, description="Dimensions for drawing")

    @property
    def mass(self) -> float:
        """Mass [kg] of the whole leg."""
        return self.housing.mass + self.rod.mass

    @property
    def sliding_mass(self) -> float:
        """Mass [kg] of the rod, which the actuator moves along the leg."""
        return self.rod.mass

    @property
    def thickness(self) -> LegThickness | None:
        """Thickness of housing and rod as drawn, else of bodies that are cylinders."""
        drawn, housing, rod = self.appearance, self.housing, self.rod
        if drawn is not None:
            return LegThickness(drawn.housing_radius, drawn.rod_radius, drawn.housing_length)
        if isinstance(housing, bodies.Cylinder) and isinstance(rod, bodies.Cylinder):
            housing_end = housing.start + housing.length
            return LegThickness(housing.outer_radius, rod.outer_radius, max(housing_end, 0.0))
        return None

    def bodies(self, leg_geometry: LegGeometry) -> LegBodies:
        """Return masses, centres and tensors of housing and rod in the leg frame.

        The data of the file is turned by `frame_angle` about the leg; legs listed in `mirrored`
        are reflected in x of the file's frame first (centre and tensor together).
        """
        cosine, sine = np.cos(self.frame_angle), np.sin(self.frame_angle)
        frame_rotation = np.array([[cosine, -sine, 0.0], [sine, cosine, 0.0], [0.0, 0.0, 1.0]])
        reflection = np.diag([-1.0 if leg_geometry.number in self.mirrored else 1.0, 1.0, 1.0])
        return LegBodies(
            *_turned(self.housing, frame_rotation @ reflection),
            *_turned(self.rod, frame_rotation @ reflection),
        )

    @classmethod
    def check_lists(cls, tables: Sequence[tuple[str, Self]], count: int) -> None:
        """Raise a problem if a table mirrors a leg that does not exist."""
        for table, leg in tables:
            check_numbers(f"{table}.mirrored", leg.mirrored, count)


def _turned(
    body: LegPart | bodies.Cylinder | SymmetricPart, map_to_leg: FloatArray
) -> tuple[float, FloatArray, FloatArray]:
    tensor = map_to_leg @ body.inertia_tensor @ map_to_leg.T
    return body.mass, map_to_leg @ body.center_of_mass_vector, tensor


def constants(leg: UpsLeg, leg_geometry: LegGeometry) -> Constants:
    """Return the axis of the first joint, and masses, centres and tensor of housing and rod."""
    parts = leg.bodies(leg_geometry)
    tensor = (
        parts.housing_inertia
        + parallel_axis(parts.housing_mass, parts.housing_center)
        + parts.rod_inertia
    )
    return {
        "axis": leg.home_axis(leg_geometry),
        "housing_mass": parts.housing_mass,
        "housing_center": parts.housing_center,
        "rod_mass": parts.rod_mass,
        "rod_center": parts.rod_center,
        "leg_tensor": six(tensor),
        "axisymmetric": float(_axisymmetric(tensor, parts)),
    }


def home_frame(leg: UniversalLeg, leg_geometry: LegGeometry) -> FloatArray:
    """Return the rotation `(9,)` leg to base at home, row after row."""
    return leg.home_frame(leg_geometry).ravel()


def _axisymmetric(tensor: FloatArray, parts: LegBodies) -> bool:
    size = np.abs(tensor).max() * ROUNDING_TOLERANCE
    asymmetries = [tensor[0, 1], tensor[0, 2], tensor[1, 2], tensor[0, 0] - tensor[1, 1]]
    centers = [*parts.housing_center[:2], *parts.rod_center[:2]]
    return bool(np.abs(asymmetries).max() <= size and np.abs(centers).max() == 0.0)


def ends(leg: UpsLeg) -> Ends:
    """Return the dimensions drawn at the leg's ends."""
    sizes = appearance(leg)
    return ball_ends(1.25 * sizes.housing_radius, 1.6 * sizes.rod_radius)


def make_leg(leg: UpsLeg, leg_geometry: LegGeometry, drawing: Drawing) -> LegMechanism:
    """Return the leg: universal joint, slide, loop from the rod's tip to the platform."""
    name = f"leg_{leg_geometry.number}"
    length = leg.home_coordinate(leg_geometry)
    parts = leg.bodies(leg_geometry)
    frame = leg.home_frame(leg_geometry)
    first_hinge = Joint(
        f"{name}_first", "hinge", frame.T @ leg.home_axis(leg_geometry), f"{name}_cross"
    )
    second_hinge = Joint(f"{name}_second", "hinge", X_AXIS)
    stiffness, damping, rest_length = leg.spring(leg_geometry)
    spring = Spring(stiffness, damping, rest_length - length) if leg.has_axial_spring else None
    slide = Joint(
        f"{name}_actuator", "slide", Z_AXIS, limits=limits(leg.actuator, length), spring=spring
    )
    shape_sizes = appearance(leg)
    housing = Body(
        f"{name}_housing",
        BASE_NAME,
        leg_geometry.base,
        frame,
        (first_hinge, second_hinge),
        Mass(parts.housing_mass, parts.housing_center, parts.housing_inertia),
        _housing_shapes(name, shape_sizes, drawing),
    )
    rod = Body(
        f"{name}_rod",
        housing.name,
        length * Z_AXIS,
        joints=(slide,),
        mass=Mass(parts.rod_mass, parts.rod_center, parts.rod_inertia),
        shapes=rod_shapes(name, shape_sizes.rod_radius, shape_sizes.rod_length, drawing),
    )
    return LegMechanism(
        (first_hinge.name, second_hinge.name, slide.name),
        (housing, rod),
        Actuator(f"{name}_force", slide.name, (slide.name,)),
        (Point(f"{name}_tip", rod.name, ORIGIN),),
        (Loop(f"{name}_loop", f"{name}_tip", f"{name}_platform_joint"),),
        base_shapes=(bracket(leg_geometry.number, leg_geometry.base, drawing),),
    )


def appearance(leg: UpsLeg) -> LegAppearance:
    """Return the drawn dimensions from the file, else those of cylinders, else slender tubes."""
    if leg.appearance is not None:
        return leg.appearance
    shortest = leg.actuator.minimum
    housing = (0.03 * shortest, 0.9 * shortest)
    if isinstance(leg.housing, bodies.Cylinder):
        housing = (leg.housing.outer_radius, leg.housing.length)
    rod = (0.6 * housing[0], 0.9 * shortest)
    if isinstance(leg.rod, bodies.Cylinder):
        # A rod that would come out below the base joint is drawn shorter.
        rod = (leg.rod.outer_radius, min(leg.rod.length, shortest))
    return LegAppearance(
        source="derived from the leg's bodies",
        housing_radius=housing[0],
        housing_length=housing[1],
        rod_radius=rod[0],
        rod_length=rod[1],
    )


def _housing_shapes(name: str, sizes: LegAppearance, drawing: Drawing) -> tuple[Shape, ...]:
    """Return the shapes that draw the housing of a leg."""
    return (
        Sphere(f"{name}_base_ball", "joint", drawing.base_joint_radius, ORIGIN),
        *tube_shapes(name, sizes.housing_radius, sizes.housing_length),
    )


UPS_KIND = LegKind(UpsLeg, constants, home_frame, ends, make_leg)
