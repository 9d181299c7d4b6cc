"""An RSS leg: a motor turns a crank about a fixed axis, a rod joins its end to the platform."""

from __future__ import annotations

import math
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from pydantic import Field, field_validator, model_validator

from twin.basics.arrays import FloatArray
from twin.machine.body import Cylinder, LegBody
from twin.machine.hardware.actuator import RotaryActuator
from twin.machine.hardware.drive import GearDrive
from twin.machine.hardware.sensors import Encoder
from twin.machine.legs.joint_limit import JointLimit
from twin.machine.legs.leg import (
    COINCIDENT,
    NEARLY_PARALLEL,
    Leg,
    LegPlace,
    LegProblem,
    LegSizes,
    check_size,
)
from twin.machine.legs.universal import check_direction
from twin.machine.quantity import Density, Direction, Length, Mass
from twin.machine.table import Table

BRANCHES = {"outward": 1.0, "inward": -1.0}
"""Sign of the elbow's solution."""


class SlenderRod(Table):
    """A rod so thin that it has no moment of inertia about its own axis.

    Transverse moment m L^2 / 12 about its middle.
    """

    mass: Mass | None = Field(None, gt=0, description="Mass, or give density and radius")
    density: Density | None = Field(None, gt=0, description="Density of the material")
    radius: Length | None = Field(None, gt=0, description="Radius of the rod")

    @model_validator(mode="after")
    def _one_way(self) -> SlenderRod:
        derived = self.density is not None and self.radius is not None
        partly = self.density is not None or self.radius is not None
        if (self.mass is None) != derived or (self.mass is not None and partly):
            raise ValueError("give either the mass, or density and radius")
        return self


class CrankAppearance(Table):
    """A crank and the rod on its end."""

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

    drive: GearDrive | None = Field(
        None, description="Drive of the crank; leave out for an ideal one"
    )
    encoder: Encoder | None = Field(
        None, description="Encoder of the crank; leave out for an exact one"
    )
    kind: Literal["rss"] = Field("rss", description="Kind of leg")
    axis: Literal["tangential"] | Direction = Field(
        description="Axis of the crank in the base frame: a direction, or 'tangential' for the "
        "horizontal one along the circle through the base joint about z"
    )
    zero: Direction = Field(
        (0.0, 0.0, 1.0), description="Where the crank points at angle 0, base frame"
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

    @field_validator("axis", mode="before")
    @classmethod
    def _tangential_or_direction(cls, axis: Any) -> Any:
        return check_direction(axis, "tangential")

    @field_validator("axis", "zero")
    @classmethod
    def _direction(cls, axis: Any) -> Any:
        return check_size(axis)

    @property
    def rod_mass(self) -> float:
        """Mass of the rod [kg]."""
        rod = self.rod
        if rod.density is None or rod.radius is None:
            return rod.mass or 0.0
        return rod.density * math.pi * rod.radius**2 * self.rod_length

    @property
    def sizes(self) -> LegSizes | None:
        """Thickness of crank and rod as drawn, else of parts that are cylinders."""
        if self.appearance is not None:
            radii = (self.appearance.crank_radius, self.appearance.rod_radius)
        elif isinstance(self.crank, Cylinder) and self.rod.radius is not None:
            radii = (self.crank.outer_radius, self.rod.radius)
        else:
            return None
        return LegSizes(*radii, self.crank_length)

    @property
    def reach(self) -> float:
        """Largest distance [m] of the tip from the base joint."""
        return self.crank_length + self.rod_length

    def home_axis(self, place: LegPlace) -> FloatArray:
        """Return the crank's axis u `(3,)`, a unit vector fixed in the base frame."""
        if isinstance(self.axis, str):
            axis = np.cross([0.0, 0.0, 1.0], place.base)
        else:
            axis = np.array(self.axis)
        return np.asarray(axis / np.linalg.norm(axis))

    def home_zero(self, place: LegPlace) -> FloatArray:
        """Return the direction c0 `(3,)` of the crank at angle 0, perpendicular to its axis."""
        axis, zero = self.home_axis(place), np.array(self.zero)
        across = zero - (zero @ axis) * axis
        return np.asarray(across / np.linalg.norm(across))

    def home_coordinate(self, place: LegPlace) -> float:
        """Return the actuator coordinate at home: the crank angle [rad], NaN if out of reach.

        A cos(angle) + B sin(angle) = K, with A and B the parts of the vector d to the tip along
        c0 and u x c0, and K = (d^2 + crank^2 - rod^2) / (2 crank). Of all turns, the one nearest
        to the middle of the actuator's range.
        """
        forward, sideways, constant = self._loop(place)
        reach = math.hypot(forward, sideways)
        if reach < COINCIDENT or abs(constant) > reach:
            return math.nan
        turn = BRANCHES[self.branch] * math.acos(constant / reach)
        middle = (self.actuator.minimum + self.actuator.maximum) / 2
        angle = math.atan2(sideways, forward) + turn
        return middle + math.remainder(angle - middle, 2 * math.pi)

    def home_crank(self, place: LegPlace) -> FloatArray:
        """Return the vector `(3,)` [m] from the base joint to the elbow at home, base frame."""
        zero, angle = self.home_zero(place), self.home_coordinate(place)
        sideways = np.cross(self.home_axis(place), zero)
        direction = math.cos(angle) * zero + math.sin(angle) * sideways
        return np.asarray(self.crank_length * direction)

    def home_geometry(self, place: LegPlace) -> Crank:
        """Return crank and rod at home."""
        axis, elbow = self.home_axis(place), self.home_crank(place)
        along = elbow / self.crank_length
        frame = np.stack([axis, np.cross(along, axis), along], axis=1)
        angle = np.array(self.home_coordinate(place))
        return Crank(axis, self.home_zero(place), angle, frame, elbow, place.vector - elbow)

    def home_row(self, place: LegPlace) -> FloatArray:
        """Return the row `(6,)` of the Jacobian at home: crank rate = row @ twist.

        The rod keeps its length: e . v_tip = e . (u x crank) rate, with e along the rod.
        """
        crank = self.home_crank(place)
        rod = (place.vector - crank) / self.rod_length
        force = rod / (rod @ np.cross(self.home_axis(place), crank))
        return np.concatenate([force, np.cross(place.arm, force)])

    def home_lines(self, place: LegPlace) -> list[tuple[FloatArray, FloatArray]]:
        """Return crank and rod as lines (start, vector) [m] at home."""
        crank = self.home_crank(place)
        return [(place.base, crank), (place.base + crank, place.vector - crank)]

    def home_problem(self, place: LegPlace) -> LegProblem | None:
        """Return why the leg cannot be at home, None if it can."""
        if self.axis == "tangential" and np.hypot(*place.base[:2]) < COINCIDENT:
            return LegProblem(
                "axis", "its base joint lies on the z axis: give the axis as a direction"
            )
        axis = self.home_axis(place)
        if np.linalg.norm(np.cross(self.zero, axis)) < NEARLY_PARALLEL * np.linalg.norm(self.zero):
            return LegProblem("zero", "the direction of angle 0 lies along the crank's axis")
        if math.isnan(self.home_coordinate(place)):
            distance = float(np.linalg.norm(place.vector))
            return LegProblem(
                ".home.position",
                f"it cannot reach home: its platform joint would be {distance:.6g} m from its base "
                f"joint, where crank ({self.crank_length:.6g} m) and rod ({self.rod_length:.6g} m) "
                "cannot meet",
            )
        crank = self.home_crank(place)
        rod = (place.vector - crank) / self.rod_length
        if np.linalg.norm(np.cross(rod, axis)) < NEARLY_PARALLEL:
            return LegProblem("axis", "its rod lies along the crank's axis at home")
        if abs(rod @ np.cross(axis, crank)) < NEARLY_PARALLEL * self.crank_length:
            shape = "stretched" if rod @ crank > 0 else "folded"
            return LegProblem(
                ".home.position",
                f"crank and rod are {shape} at home: turning the crank does not move the platform; "
                "move home, or change crank_length or rod_length",
            )
        return None

    def _loop(self, place: LegPlace) -> tuple[float, float, float]:
        axis, zero, tip = self.home_axis(place), self.home_zero(place), place.vector
        constant = (tip @ tip + self.crank_length**2 - self.rod_length**2) / (2 * self.crank_length)
        return float(tip @ zero), float(tip @ np.cross(axis, zero)), float(constant)

    @property
    def mass(self) -> float:
        """Mass [kg] of the whole leg."""
        return self.crank.mass + self.rod_mass
