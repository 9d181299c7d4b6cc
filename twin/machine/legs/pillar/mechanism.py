"""Pillar: an actuator at a right angle below the plate, on a foot in the ground plane.

The tree has no redundant constraint: the fixed foot's pillar stands on two hinges and carries the
plate on its slide; the rods of the others slide out of the plate, and the lower end of each is held
on a light carriage that slides along x and y of the base.
"""

from __future__ import annotations

import numpy as np

from twin.basics.arrays import FloatArray
from twin.machine.legs.leg import LegPlace
from twin.machine.legs.pillar.parameters import PillarAppearance, PillarLeg
from twin.machine.mechanism.appearance import Drawing, Ends
from twin.machine.mechanism.parts import (
    BASE,
    ORIGIN,
    PLATFORM,
    Actuator,
    Body,
    Friction,
    Joint,
    LegMechanism,
    Loop,
    Point,
    Z,
    limits,
    point_mass,
)
from twin.machine.mechanism.shapes import Ball, Cylinder, Shape

CARRIAGE = 0.25
"""Share of the foot's mass that is on the carriage; the rest is on the end of the rod."""


def ends(leg: PillarLeg) -> Ends:
    """Return what is drawn at the leg's ends: a disc below the foot; it ends in the plate."""
    drawn = appearance(leg)
    return Ends(0.5 * drawn.foot_radius, 0.0, margin=1.6 * drawn.strut_radius, rise=0.0)


def carry(leg: PillarLeg, place: LegPlace, platform: Body) -> Body:
    """Return the platform on the slide of the pillar whose foot is fixed."""
    if place.number != leg.fixed_foot:
        return platform
    length = leg.home_coordinate(place)
    name = f"leg_{place.number}"
    slide = Joint(f"{name}_actuator", "slide", Z, limits=limits(leg.actuator, length))
    below = length * Z - place.joint
    return platform._replace(
        parent=f"{name}_pillar", position=below, rotation=None, joints=(slide,), free=False
    )


def make_leg(leg: PillarLeg, place: LegPlace, look: Drawing) -> LegMechanism:
    """Return the leg: on two hinges if its foot is fixed, else on a carriage."""
    name, drawn = f"leg_{place.number}", appearance(leg)
    corner = place.joint
    tube = 0.6 * leg.actuator.minimum * Z
    upper = Body(
        f"{name}_upper",
        PLATFORM,
        corner,
        mass=point_mass(leg.upper_mass),
        shapes=(Cylinder(f"{name}_tube", "housing", drawn.strut_radius, -tube, ORIGIN),),
    )
    joint = Point(f"{name}_base_joint", BASE, place.base)
    if place.number == leg.fixed_foot:
        return _standing(leg, place, upper, joint)
    return _sliding(leg, place, upper, joint)


def _standing(leg: PillarLeg, place: LegPlace, upper: Body, joint: Point) -> LegMechanism:
    """Return the pillar on two hinges, about x of the base and about y of the plate."""
    name, rotation = f"leg_{place.number}", place.rotation
    first = Joint(f"{name}_first", "hinge", rotation.T @ leg.home_axis(place), f"{name}_cross")
    second = Joint(f"{name}_second", "hinge", np.eye(3)[1])
    pillar = Body(
        f"{name}_pillar",
        BASE,
        joint.position,
        rotation,
        (first, second),
        shapes=_rod_shapes(name, leg),
    )
    slide = f"{name}_actuator"
    return LegMechanism(
        (first.name, second.name, slide),
        (pillar, upper),
        Actuator(f"{name}_force", slide, (slide,)),
        (joint, Point(f"{name}_tip", pillar.name, ORIGIN)),
        (),
        base_shapes=(_disc(name, leg, joint.position),),
    )


def _sliding(leg: PillarLeg, place: LegPlace, upper: Body, joint: Point) -> LegMechanism:
    """Return the pillar whose rod slides out of the plate down to its carriage."""
    name, length = f"leg_{place.number}", leg.home_coordinate(place)
    slide = Joint(f"{name}_actuator", "slide", -Z, limits=limits(leg.actuator, length))
    rod = Body(
        f"{name}_rod",
        PLATFORM,
        place.joint - length * Z,
        joints=(slide,),
        mass=point_mass((1.0 - CARRIAGE) * leg.foot_mass),
        shapes=_rod_shapes(name, leg),
    )
    along = (
        Joint(f"{name}_foot_x", "slide", np.eye(3)[0], f"{name}_rail"),
        Joint(f"{name}_foot_y", "slide", np.eye(3)[1]),
    )
    carriage = Body(
        f"{name}_carriage",
        BASE,
        joint.position,
        joints=along,
        mass=point_mass(CARRIAGE * leg.foot_mass),
        shapes=(_disc(name, leg, ORIGIN),),
    )
    feet = (along[0].name, along[1].name)
    return LegMechanism(
        (*feet, slide.name),
        (upper, rod, carriage),
        Actuator(f"{name}_force", slide.name, (slide.name,)),
        (
            joint,
            Point(f"{name}_tip", rod.name, ORIGIN),
            Point(f"{name}_foot", carriage.name, ORIGIN),
        ),
        (Loop(f"{name}_loop", f"{name}_tip", f"{name}_foot"),),
        frictions=_frictions(leg, feet),
    )


def _frictions(leg: PillarLeg, feet: tuple[str, str]) -> tuple[Friction, ...]:
    own = leg.friction
    return () if own is None else (Friction(feet, own.viscous, own.coulomb, own.transition_speed),)


def _rod_shapes(name: str, leg: PillarLeg) -> tuple[Shape, ...]:
    drawn = appearance(leg)
    end = 0.9 * leg.actuator.minimum * Z
    return (
        Cylinder(f"{name}_shaft", "rod", 0.65 * drawn.strut_radius, ORIGIN, end),
        Ball(f"{name}_base_ball", "joint", drawn.strut_radius, ORIGIN),
    )


def _disc(name: str, leg: PillarLeg, foot: FloatArray) -> Cylinder:
    radius = appearance(leg).foot_radius
    bottom, top = foot - 0.65 * radius * Z, foot - 0.35 * radius * Z
    return Cylinder(f"{name}_disc", "joint", radius, bottom, top)


def appearance(leg: PillarLeg) -> PillarAppearance:
    """Return what the file gives, else slender parts."""
    if leg.appearance is not None:
        return leg.appearance
    width = 0.12 * leg.actuator.minimum
    return PillarAppearance(
        source="derived from the leg's length", strut_radius=width, foot_radius=2.0 * width
    )
