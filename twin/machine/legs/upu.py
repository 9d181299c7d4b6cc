"""UPU legs: universal joint, prismatic actuator, universal joint; their screw turns with them."""

from __future__ import annotations

import math
from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from twin.basics.arrays import FloatArray
from twin.machine.body import Cylinder, SymmetricPart
from twin.machine.legs.leg import (
    NEARLY_PARALLEL,
    Constants,
    JointAxis,
    LegGeometry,
    LegKind,
    LegProblem,
    unit,
)
from twin.machine.legs.ups import UpsLeg, ends, home_frame
from twin.machine.legs.ups import constants as ups_constants
from twin.machine.legs.ups import make_leg as make_universal_leg
from twin.machine.mechanism import (
    ORIGIN,
    PLATFORM_NAME,
    Z_AXIS,
    Body,
    Drawing,
    Joint,
    LegMechanism,
    Loop,
    Mass,
    Point,
    ScrewHinge,
)
from twin.machine.quantity import Length, Table

AXIS_ARM = 0.1
"""Distance along the platform's axis of the second point that an engine's loop holds, per length
of the leg at home."""

PIN_MASS_FRACTION = 1e-9
"""Mass of the pin that an engine's model needs, per mass of the rod."""


class Screw(Table):
    """The screw between housing and rod, whose nut moves when the rod twists."""

    lead: Length = Field(gt=0, description="Advance per turn")
    hand: Literal["right", "left"] = Field("right", description="Hand of the thread")

    @property
    def advance(self) -> float:
        """Change of the leg's length [m/rad] per twist of the rod against the housing."""
        return (1.0 if self.hand == "right" else -1.0) * self.lead / (2.0 * math.pi)


class UpuLeg(UpsLeg):
    """Universal joint below, prismatic actuator, universal joint on top.

    The rod cannot turn freely on the platform, so that it twists against the housing as the
    platform moves. With a screw, the twist moves the nut: the leg's length is the actuator's
    coordinate plus what the twist adds.
    """

    equations: ClassVar[str] = "upu"
    is_straight: ClassVar[bool] = False
    definition: ClassVar[str] = (
        "the distance from base joint to platform joint, less what the twist of the rod since home "
        "adds through the screw; extension is positive"
    )

    kind: Literal["upu"] = Field("upu", description="Kind of leg")  # type: ignore[assignment]
    platform_axis: JointAxis = Field(
        description="Axis of the upper universal joint that is fixed in the platform, platform "
        "frame: a direction, or 'horizontal' for the horizontal one perpendicular to each leg at "
        "home"
    )
    rod: SymmetricPart | Cylinder = Field(  # type: ignore[assignment]
        discriminator="kind",
        description="Part on the platform joint; origin at the tip. It turns about the leg, so it "
        "must be symmetric about it",
    )
    screw: Screw | None = Field(
        None, description="The screw of the actuator; leave out where the rod's twist moves nothing"
    )

    def axis_on_platform(self, leg_geometry: LegGeometry) -> FloatArray:
        """Return the axis `(3,)` of the upper joint that is fixed in the platform, its frame."""
        if isinstance(self.platform_axis, str):
            return leg_geometry.rotation.T @ unit(np.cross(leg_geometry.vector, Z_AXIS))
        return unit(np.array(self.platform_axis))

    @property
    def twist_gain(self) -> float:
        """Change of the actuator's coordinate [m/rad] per twist of the rod against the housing."""
        return 0.0 if self.screw is None else -self.screw.advance

    def home_row(self, leg_geometry: LegGeometry) -> FloatArray:
        """Return the row `(6,)` of the Jacobian at home: actuator rate = row @ twist."""
        direction, length = unit(leg_geometry.vector), leg_geometry.length
        axis, base_axis = (
            leg_geometry.rotation @ self.axis_on_platform(leg_geometry),
            self.home_axis(leg_geometry),
        )
        sine, base_sine = axis @ direction, base_axis @ direction
        spin_row = sine / (1.0 - sine**2) * np.cross(axis, direction)
        spin_row -= base_sine / (1.0 - base_sine**2) * np.cross(base_axis, direction)
        force = direction + self.twist_gain / length * spin_row
        moment = self.twist_gain * (direction - sine * axis) / (1.0 - sine**2)
        return np.concatenate([force, np.cross(leg_geometry.arm, force) + moment])

    def home_problem(self, leg_geometry: LegGeometry) -> LegProblem | None:
        """Return why the leg cannot be at home, None if it can."""
        problem_found = super().home_problem(leg_geometry)
        if problem_found is not None:
            return problem_found
        vertical = np.hypot(*leg_geometry.vector[:2]) < NEARLY_PARALLEL * leg_geometry.length
        if self.platform_axis == "horizontal" and vertical:
            return LegProblem(
                "platform_axis", "it is vertical at home: give the axis as a direction"
            )
        axis = leg_geometry.rotation @ self.axis_on_platform(leg_geometry)
        if not np.linalg.norm(np.cross(axis, unit(leg_geometry.vector))) > NEARLY_PARALLEL:
            return LegProblem("platform_axis", "it lies along the axis of its upper joint")
        return None


def constants(leg: UpuLeg, leg_geometry: LegGeometry) -> Constants:
    """Return the constants of a UPS leg, and those of its upper joint and screw.

    The sine is that of the upper joint's angle about its axis on the rod; zero at a right angle.
    """
    common = ups_constants(leg, leg_geometry)
    direction, axis = unit(leg_geometry.vector), leg.home_axis(leg_geometry)
    platform_axis = leg_geometry.rotation @ leg.axis_on_platform(leg_geometry)
    spin_inertia = float(leg.bodies(leg_geometry).rod_inertia[2, 2])
    return common | {
        "leg_tensor": np.asarray(common["leg_tensor"]) - spin_inertia * np.eye(6)[2],
        "platform_axis": leg.axis_on_platform(leg_geometry),
        "screw_travel": leg.twist_gain,
        "home_twist": math.atan2(
            direction @ np.cross(axis, platform_axis),
            axis @ platform_axis - (axis @ direction) * (platform_axis @ direction),
        ),
        "home_sine": float(platform_axis @ direction),
        "rod_spin_inertia": spin_inertia,
    }


def make_leg(leg: UpuLeg, leg_geometry: LegGeometry, drawing: Drawing) -> LegMechanism:
    """Return the leg: universal joint, slide, twist, pin on the rod, loops to the platform.

    The rod's tip meets the platform's joint. The pin, on a hinge about the upper joint's axis on
    the rod, meets a second point of that joint's axis on the platform: both axes stay at a right
    angle. The pin slides along itself, because the distance of the two points is held already.
    """
    universal_leg = make_universal_leg(leg, leg_geometry, drawing)
    housing, rod = universal_leg.bodies
    name, frame = f"leg_{leg_geometry.number}", leg.home_frame(leg_geometry)
    axis = leg.axis_on_platform(leg_geometry)
    pin_axis = frame.T @ leg_geometry.rotation @ axis
    second_axis = unit(np.cross(pin_axis, Z_AXIS))
    twist = Joint(f"{name}_twist", "hinge", Z_AXIS)
    slide = rod.joints[0]._replace(link=f"{name}_nut")
    upper = Joint(f"{name}_upper", "hinge", second_axis, f"{name}_upper_cross")
    pin_slide = Joint(f"{name}_pin", "slide", pin_axis)
    arm = AXIS_ARM * leg.home_coordinate(leg_geometry)
    pin_mass = PIN_MASS_FRACTION * rod.mass.mass
    pin = Body(
        f"{name}_upper_pin",
        rod.name,
        ORIGIN,
        joints=(upper, pin_slide),
        mass=Mass(pin_mass, ORIGIN, pin_mass * arm**2 * np.eye(3)),
    )
    return universal_leg._replace(
        joints=(*universal_leg.joints, twist.name, upper.name, pin_slide.name),
        bodies=(housing, rod._replace(joints=(slide, twist)), pin),
        actuator=universal_leg.actuator._replace(twist=ScrewHinge(twist.name, leg.twist_gain)),
        points=(
            *universal_leg.points,
            Point(f"{name}_pin_end", pin.name, arm * pin_axis),
            Point(f"{name}_axis_end", PLATFORM_NAME, leg_geometry.joint + arm * axis),
        ),
        loops=(
            *universal_leg.loops,
            Loop(f"{name}_axis_loop", f"{name}_pin_end", f"{name}_axis_end"),
        ),
    )


UPU_KIND = LegKind(UpuLeg, constants, home_frame, ends, make_leg)
