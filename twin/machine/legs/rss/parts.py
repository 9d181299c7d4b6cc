"""Rod of an RSS leg, the dimensions it is drawn with, and its crank and rod at home."""

from __future__ import annotations

from typing import NamedTuple

from pydantic import Field, model_validator

from twin.basics.arrays import FloatArray
from twin.machine.quantity import Density, Length, Mass, Table


class SlenderRod(Table):
    """A rod so thin that it has no moment of inertia about its own axis.

    Transverse moment m L^2 / 12 about its middle.
    """

    mass: Mass | None = Field(
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
    angle: FloatArray
    """`()` crank angle at home [rad]"""
    frame: FloatArray
    """`(3, 3)` rotation crank to base at home: columns u, z x u, z with z along the crank"""
    elbow: FloatArray
    """`(3,)` vector [m] from base joint to elbow at home"""
    rod: FloatArray
    """`(3,)` vector [m] from elbow to platform joint at home"""
