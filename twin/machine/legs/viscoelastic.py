"""Legs with a spring and a damper in series with the actuator: parameters, masses and mechanism.

Spring, actuator housing and follower stand one behind the other on two hinges.

The spring's mass m lies halfway along the spring and moves half as far as its end in every
direction. A mass m / 4 at the end has the same kinetic energy, but weighs only half as much as the
work of m's weight requires: it gets the weight of another m / 4.
"""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field, model_validator

from twin.machine.hardware.drive import LinearActuator
from twin.machine.legs.leg import (
    Constants,
    LegGeometry,
    LegKind,
    LegSpring,
    LegThickness,
    UniversalLeg,
)
from twin.machine.legs.ups import home_frame
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
    Point,
    Shape,
    Sphere,
    Spring,
    ball_ends,
    bracket,
    limits,
    point_mass,
    rod_shapes,
    tube_shapes,
    two_hinge_frame,
)
from twin.machine.quantity import Damping, Length, Mass, Stiffness, Table

LENGTH_TOLERANCE = 1e-9
"""Relative tolerance of the parts' total length against the shortest length, for rounding."""

LEG_FIELDS = (
    "spring_length",
    "housing_length",
    "follower_length",
    "spring_mass",
    "housing_mass",
    "follower_mass",
    "stiffness",
    "damping",
)


class SpringAppearance(Table):
    """A spring, the actuator's housing on it and the follower that leaves the housing."""

    spring_radius: Length = Field(gt=0, description="Radius of the spring and its guide")
    housing_radius: Length = Field(gt=0, description="Radius of the actuator's housing")
    follower_radius: Length = Field(gt=0, description="Radius of the follower")


class ViscoelasticLeg(UniversalLeg):
    """A compliant leg: spring, actuator housing, follower, in this order from the base joint.

    With the spring's extension delta1 and the actuator's delta2, three point masses lie on the
    leg's axis: the spring's at (spring_length + delta1) / 2, the housing's at spring_length +
    delta1 + housing_length, the follower's at follower_start + delta2 beyond the housing's; the
    tip is follower_length further (compliant-legs paper, figure 1: 2 l1, l2, l3, l4). At home
    delta1 = 0.
    """

    definition: ClassVar[str] = (
        "the distance from base joint to platform joint, which spring and actuator share; "
        "extension is positive"
    )
    equations: ClassVar[str] = "viscoelastic"
    has_series_spring: ClassVar[bool] = True

    kind: Literal["viscoelastic"] = Field("viscoelastic", description="Kind of leg")
    spring_length: Length = Field(gt=0, description="Length of the relaxed spring's housing, 2 l1")
    housing_length: Length = Field(gt=0, description="From the spring to the housing's mass, l2")
    follower_start: Length = Field(
        ge=0, description="From the housing's mass to the follower's when retracted, l3"
    )
    follower_length: Length = Field(ge=0, description="From the follower's mass to the tip, l4")
    spring_mass: Mass = Field(ge=0, description="Mass of the spring, halfway along it")
    housing_mass: Mass = Field(ge=0, description="Mass of the actuator's housing")
    follower_mass: Mass = Field(ge=0, description="Mass of the follower")
    stiffness: Stiffness = Field(gt=0, description="Stiffness of the spring")
    damping: Damping = Field(ge=0, description="Damping beside the spring")
    actuator: LinearActuator = Field(
        description="The actuator; lengths of the leg with the spring relaxed"
    )
    appearance: SpringAppearance | None = Field(None, description="Dimensions for drawing")

    @model_validator(mode="after")
    def _fits(self) -> ViscoelasticLeg:
        """Check that the parts have mass and fit into the shortest leg."""
        if not 0.25 * self.spring_mass + self.housing_mass > 0.0:
            raise ValueError(
                "spring_mass and housing_mass are both zero: between spring and actuator something "
                "must have mass, or the spring's deflection has no acceleration; give one of them"
            )
        if self.retracted_length > self.actuator.minimum * (1 + LENGTH_TOLERANCE):
            raise ValueError(
                f"spring_length, housing_length, follower_start and follower_length add up to "
                f"{self.retracted_length:.9g} m, more than actuator.minimum "
                f"{self.actuator.minimum:.9g} m, the shortest leg with its spring relaxed"
            )
        return self

    @property
    def retracted_length(self) -> float:
        """Length [m] between the joints at delta1 = delta2 = 0."""
        housing_end = self.spring_length + self.housing_length
        return housing_end + self.follower_start + self.follower_length

    def home_extension(self, leg_geometry: LegGeometry) -> float:
        """Return the actuator's extension delta2 [m] at home, where delta1 = 0."""
        return self.home_coordinate(leg_geometry) - self.retracted_length

    @property
    def mass(self) -> float:
        """Mass [kg] of the whole leg."""
        return self.spring_mass + self.housing_mass + self.follower_mass

    @property
    def thickness(self) -> LegThickness | None:
        """Thickness of spring and housing, which end about the follower, and of the follower."""
        sizes_drawn = self.appearance
        if sizes_drawn is None:
            return None
        end = self.spring_length + self.housing_length + self.follower_start
        larger_radius = max(sizes_drawn.spring_radius, sizes_drawn.housing_radius)
        return LegThickness(larger_radius, sizes_drawn.follower_radius, end)

    def spring(self, leg_geometry: LegGeometry) -> LegSpring:
        """Return the spring in series with the actuator."""
        return LegSpring(self.stiffness, self.damping, self.spring_length)


def ends(leg: ViscoelasticLeg) -> Ends:
    """Return the dimensions drawn at the leg's ends."""
    sizes = appearance(leg)
    return ball_ends(1.25 * sizes.spring_radius, 1.6 * sizes.follower_radius)


def make_leg(leg: ViscoelasticLeg, leg_geometry: LegGeometry, drawing: Drawing) -> LegMechanism:
    """Return the leg: universal joint, spring, actuator, loop to the platform."""
    name = f"leg_{leg_geometry.number}"
    length = leg.home_coordinate(leg_geometry)
    axis = leg.home_axis(leg_geometry)
    frame = two_hinge_frame(axis, leg_geometry.vector)
    first_hinge = Joint(f"{name}_first", "hinge", frame.T @ axis, f"{name}_cross")
    second_hinge = Joint(f"{name}_second", "hinge", X_AXIS)
    spring = Joint(f"{name}_spring", "slide", Z_AXIS, spring=Spring(leg.stiffness, leg.damping))
    slide = Joint(f"{name}_actuator", "slide", Z_AXIS, limits=limits(leg.actuator, length))
    cup = Cylinder(
        f"{name}_cup",
        "joint",
        appearance(leg).spring_radius,
        ORIGIN,
        0.4 * leg.spring_length * Z_AXIS,
    )
    ball = Sphere(f"{name}_base_ball", "joint", drawing.base_joint_radius, ORIGIN)
    guide = Body(
        f"{name}_guide",
        BASE_NAME,
        leg_geometry.base,
        frame,
        (first_hinge, second_hinge),
        shapes=(ball, cup),
    )
    housing = Body(
        f"{name}_housing",
        guide.name,
        leg.spring_length * Z_AXIS,
        joints=(spring,),
        mass=point_mass(leg.housing_mass, leg.housing_length * Z_AXIS),
        shapes=_housing_shapes(name, leg),
    )
    spring_body = Body(
        f"{name}_spring_mass",
        housing.name,
        ORIGIN,
        mass=point_mass(0.25 * leg.spring_mass),
        extra_weight=0.25 * leg.spring_mass,
    )
    rod = Body(
        f"{name}_rod",
        housing.name,
        (length - leg.spring_length) * Z_AXIS,
        joints=(slide,),
        mass=point_mass(leg.follower_mass, -leg.follower_length * Z_AXIS),
        shapes=rod_shapes(name, appearance(leg).follower_radius, follower_length(leg), drawing),
    )
    return LegMechanism(
        (first_hinge.name, second_hinge.name, spring.name, slide.name),
        (guide, housing, spring_body, rod),
        Actuator(f"{name}_force", slide.name, (spring.name, slide.name)),
        (Point(f"{name}_tip", rod.name, ORIGIN),),
        (Loop(f"{name}_loop", f"{name}_tip", f"{name}_platform_joint"),),
        deflection=(spring.name,),
        base_shapes=(bracket(leg_geometry.number, leg_geometry.base, drawing),),
    )


def _housing_shapes(name: str, leg: ViscoelasticLeg) -> tuple[Shape, ...]:
    """Return the shapes that draw spring and housing of a leg."""
    sizes, lower_end = appearance(leg), -0.8 * leg.spring_length * Z_AXIS
    return (
        Cylinder(f"{name}_coil", "spring", 0.75 * sizes.spring_radius, lower_end, ORIGIN),
        *tube_shapes(name, sizes.housing_radius, housing_end(leg)),
    )


def follower_length(leg: ViscoelasticLeg) -> float:
    """Return the length [m] of the follower as drawn.

    It still overlaps the housing when extended, and fits inside it when retracted.
    """
    extended_length = leg.actuator.maximum - leg.spring_length - 0.85 * housing_end(leg)
    return min(extended_length, leg.actuator.minimum - leg.spring_length)


def housing_end(leg: ViscoelasticLeg) -> float:
    """Return the length [m] of the housing as drawn, from its lower end."""
    return leg.housing_length + 0.8 * leg.follower_start


def appearance(leg: ViscoelasticLeg) -> SpringAppearance:
    """Return the drawn dimensions from the file, else those of slender parts."""
    if leg.appearance is not None:
        return leg.appearance
    width = 0.03 * leg.actuator.minimum
    return SpringAppearance(
        source="derived from the leg's lengths",
        spring_radius=0.8 * width,
        housing_radius=width,
        follower_radius=0.6 * width,
    )


def constants(leg: ViscoelasticLeg, leg_geometry: LegGeometry) -> Constants:
    """Return the constants for the equations: first joint axis, lengths, masses and spring."""
    return {"axis": leg.home_axis(leg_geometry)} | {name: getattr(leg, name) for name in LEG_FIELDS}


VISCOELASTIC_KIND = LegKind(ViscoelasticLeg, constants, home_frame, ends, make_leg)
