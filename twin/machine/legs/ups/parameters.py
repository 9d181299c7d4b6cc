"""A UPS leg: universal joint below, prismatic actuator, spherical joint on top."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal, NamedTuple, Self

import numpy as np
from pydantic import Field

from twin.basics.arrays import FloatArray
from twin.machine.body import Cylinder, LegBody, LegPart, SymmetricPart
from twin.machine.hardware.drive import LinearActuator
from twin.machine.legs.leg import LegGeometry, LegThickness, UniversalLeg, check_numbers
from twin.machine.quantity import Angle, Length, Table, Whole


class LegBodies(NamedTuple):
    """Bodies of a UPS leg or strut in its leg frame (s2, Z x s2, Z).

    The housing's frame has its origin at the base joint, the rod's at the tip. Tensors are about
    the centres of mass.
    """

    housing_mass: FloatArray
    """mass of the housing `()` [kg]"""
    housing_center: FloatArray
    """`(3,)` [m] centre of mass of the housing, from the base joint"""
    housing_inertia: FloatArray
    """inertia tensor of the housing `(3, 3)` [kg m2]"""
    rod_mass: FloatArray
    """mass of the rod `()` [kg]"""
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
        if isinstance(housing, Cylinder) and isinstance(rod, Cylinder):
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
    body: LegPart | Cylinder | SymmetricPart, map_to_leg: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    center, tensor = map_to_leg @ body.center_of_mass_vector, body.inertia_tensor
    return np.array(body.mass), center, map_to_leg @ tensor @ map_to_leg.T
