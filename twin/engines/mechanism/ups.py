"""UPS leg or strut: a housing on two crossed hinges, and a rod that slides up to the platform."""

from __future__ import annotations

from twin.engines.mechanism.appearance import Drawing, Ends, balls
from twin.engines.mechanism.leg import ORIGIN, Leg, X, Z, bracket, limits
from twin.engines.mechanism.mechanism import (
    BASE,
    Actuator,
    Body,
    Joint,
    Loop,
    Mass,
    Point,
    Spring,
)
from twin.engines.mechanism.shapes import Ball, Cylinder, Shape
from twin.machine import body as bodies
from twin.machine.derived import home_leg_frames, leg_bodies
from twin.machine.legs import LegAppearance, StrutLeg, UpsLeg
from twin.machine.legs.place import LegPlace
from twin.machine.machine import MachineParameters


def ends(leg: UpsLeg) -> Ends:
    """Return what is drawn at the leg's ends."""
    look = _appearance(leg)
    return balls(1.25 * look.housing_radius, 1.6 * look.rod_radius)


def reach(leg: UpsLeg) -> float:
    """Return how far [m] the tip can be from the base joint."""
    return leg.actuator.maximum


def make_leg(parameters: MachineParameters, i: int, leg: UpsLeg, look: Drawing) -> Leg:
    """Return leg i (from 0): universal joint, slide, loop from the rod's tip to the platform."""
    name, place = f"leg_{i + 1}", parameters.home_places[i]
    length = leg.home_coordinate(place)
    parts = [part[i] for part in leg_bodies(parameters)]
    frame = home_leg_frames(parameters)[i]
    first = Joint(f"{name}_first", "hinge", frame.T @ parameters.first_axes[i], f"{name}_cross")
    second = Joint(f"{name}_second", "hinge", X)
    spring = _spring(leg, place) if isinstance(leg, StrutLeg) else None
    slide = Joint(f"{name}_actuator", "slide", Z, limits=limits(leg, length), spring=spring)
    drawn = _appearance(leg)
    housing = Body(
        f"{name}_housing",
        BASE,
        place.base,
        frame,
        (first, second),
        Mass(float(parts[0]), *parts[1:3]),
        _housing_shapes(name, drawn, look),
    )
    rod = Body(
        f"{name}_rod",
        housing.name,
        length * Z,
        joints=(slide,),
        mass=Mass(float(parts[3]), *parts[4:6]),
        shapes=_rod_shapes(name, drawn, look),
    )
    return Leg(
        (first.name, second.name, slide.name),
        (housing, rod),
        Actuator(f"{name}_force", slide.name, (slide.name,)),
        (Point(f"{name}_base_joint", BASE, place.base), Point(f"{name}_tip", rod.name, ORIGIN)),
        (Loop(f"{name}_loop", f"{name}_tip", f"{name}_platform_joint"),),
        base_shapes=(bracket(i, place.base, look),),
    )


def _spring(leg: StrutLeg, place: LegPlace) -> Spring:
    zero = leg.home_rest_length(place) - leg.home_coordinate(place)
    return Spring(leg.axial.stiffness, leg.axial.damping, zero)


def _appearance(leg: UpsLeg) -> LegAppearance:
    """Return what the file gives; else cylinders as they are, else slender tubes that overlap."""
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


def _housing_shapes(name: str, drawn: LegAppearance, look: Drawing) -> tuple[Shape, ...]:
    radius, end = drawn.housing_radius, drawn.housing_length
    return (
        Ball(f"{name}_base_ball", "joint", look.base_joint_radius, ORIGIN),
        Cylinder(f"{name}_tube", "housing", radius, ORIGIN, end * Z),
        Cylinder(f"{name}_collar", "joint", 1.12 * radius, 0.94 * end * Z, 1.005 * end * Z),
    )


def _rod_shapes(name: str, drawn: LegAppearance, look: Drawing) -> tuple[Shape, ...]:
    return (
        Cylinder(f"{name}_shaft", "rod", drawn.rod_radius, -drawn.rod_length * Z, ORIGIN),
        Ball(f"{name}_platform_ball", "joint", look.platform_joint_radius, ORIGIN),
    )
