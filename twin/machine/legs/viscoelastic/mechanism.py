"""Viscoelastic leg: spring, actuator housing and follower, one behind the other on two hinges.

The spring's mass m lies halfway along the spring and moves half as far as its end in every
direction. A mass m / 4 at the end has the same kinetic energy, and weighs half as much as the work
of m's weight wants: it gets the weight of another m / 4.
"""

from __future__ import annotations

from twin.machine.legs.leg import LegPlace
from twin.machine.legs.viscoelastic.parameters import SpringAppearance, ViscoelasticLeg
from twin.machine.mechanism.appearance import Drawing, Ends, balls
from twin.machine.mechanism.parts import (
    BASE,
    ORIGIN,
    Actuator,
    Body,
    Joint,
    LegMechanism,
    Loop,
    Point,
    Spring,
    X,
    Z,
    bracket,
    crossed,
    limits,
    point_mass,
)
from twin.machine.mechanism.shapes import Ball, Cylinder, Shape


def ends(leg: ViscoelasticLeg) -> Ends:
    """Return what is drawn at the leg's ends."""
    look = appearance(leg)
    return balls(1.25 * look.spring_radius, 1.6 * look.follower_radius)


def make_leg(leg: ViscoelasticLeg, place: LegPlace, look: Drawing) -> LegMechanism:
    """Return the leg: universal joint, spring, actuator, loop to the platform."""
    name = f"leg_{place.number}"
    length = leg.home_coordinate(place)
    frame = crossed(leg.home_axis(place), place.vector)
    first = Joint(f"{name}_first", "hinge", frame.T @ leg.home_axis(place), f"{name}_cross")
    second = Joint(f"{name}_second", "hinge", X)
    spring = Joint(f"{name}_spring", "slide", Z, spring=Spring(leg.stiffness, leg.damping))
    slide = Joint(f"{name}_actuator", "slide", Z, limits=limits(leg.actuator, length))
    cup = Cylinder(
        f"{name}_cup", "joint", appearance(leg).spring_radius, ORIGIN, 0.4 * leg.spring_length * Z
    )
    ball = Ball(f"{name}_base_ball", "joint", look.base_joint_radius, ORIGIN)
    guide = Body(f"{name}_guide", BASE, place.base, frame, (first, second), shapes=(ball, cup))
    housing = Body(
        f"{name}_housing",
        guide.name,
        leg.spring_length * Z,
        joints=(spring,),
        mass=point_mass(leg.housing_mass, leg.housing_length * Z),
        shapes=_housing_shapes(name, leg),
    )
    half_moving = Body(
        f"{name}_spring_mass",
        housing.name,
        ORIGIN,
        mass=point_mass(0.25 * leg.spring_mass),
        extra_weight=0.25 * leg.spring_mass,
    )
    rod = Body(
        f"{name}_rod",
        housing.name,
        (length - leg.spring_length) * Z,
        joints=(slide,),
        mass=point_mass(leg.follower_mass, -leg.follower_length * Z),
        shapes=_rod_shapes(name, leg, look),
    )
    return LegMechanism(
        (first.name, second.name, spring.name, slide.name),
        (guide, housing, half_moving, rod),
        Actuator(f"{name}_force", slide.name, (spring.name, slide.name)),
        (Point(f"{name}_base_joint", BASE, place.base), Point(f"{name}_tip", rod.name, ORIGIN)),
        (Loop(f"{name}_loop", f"{name}_tip", f"{name}_platform_joint"),),
        deflection=(spring.name,),
        base_shapes=(bracket(place.number, place.base, look),),
    )


def _housing_shapes(name: str, leg: ViscoelasticLeg) -> tuple[Shape, ...]:
    drawn, end = appearance(leg), housing_end(leg) * Z
    coil, radius = 0.75 * drawn.spring_radius, drawn.housing_radius
    return (
        Cylinder(f"{name}_coil", "spring", coil, -0.8 * leg.spring_length * Z, ORIGIN),
        Cylinder(f"{name}_tube", "housing", radius, ORIGIN, end),
        Cylinder(f"{name}_collar", "joint", 1.12 * radius, 0.94 * end, 1.005 * end),
    )


def _rod_shapes(name: str, leg: ViscoelasticLeg, look: Drawing) -> tuple[Shape, ...]:
    bottom = -follower_length(leg) * Z
    return (
        Cylinder(f"{name}_shaft", "rod", appearance(leg).follower_radius, bottom, ORIGIN),
        Ball(f"{name}_platform_ball", "joint", look.platform_joint_radius, ORIGIN),
    )


def follower_length(leg: ViscoelasticLeg) -> float:
    """Return the length [m] of the follower as drawn.

    It ends in the housing when extended, and has room in it when retracted.
    """
    reach = leg.actuator.maximum - leg.spring_length - 0.85 * housing_end(leg)
    return min(reach, leg.actuator.minimum - leg.spring_length)


def housing_end(leg: ViscoelasticLeg) -> float:
    """Return where [m] from its lower end the housing is drawn to end."""
    return leg.housing_length + 0.8 * leg.follower_start


def appearance(leg: ViscoelasticLeg) -> SpringAppearance:
    """Return what the file gives, else slender parts."""
    if leg.appearance is not None:
        return leg.appearance
    width = 0.03 * leg.actuator.minimum
    return SpringAppearance(
        source="derived from the leg's lengths",
        spring_radius=0.8 * width,
        housing_radius=width,
        follower_radius=0.6 * width,
    )
