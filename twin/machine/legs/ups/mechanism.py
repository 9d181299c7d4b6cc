"""UPS leg or strut: a housing on two crossed hinges, and a rod that slides up to the platform."""

from __future__ import annotations

from twin.machine import body as bodies
from twin.machine.legs.leg import LegGeometry
from twin.machine.legs.ups.parameters import LegAppearance, UpsLeg
from twin.machine.mechanism import (
    BASE_NAME,
    ORIGIN,
    X_AXIS,
    Z_AXIS,
    Actuator,
    Ball,
    Body,
    Cylinder,
    Drawing,
    Ends,
    Joint,
    LegMechanism,
    Loop,
    Mass,
    Point,
    Shape,
    Spring,
    ball_ends,
    bracket,
    limits,
)


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
        Mass(float(parts.housing_mass), parts.housing_center, parts.housing_inertia),
        _housing_shapes(name, shape_sizes, drawing),
    )
    rod = Body(
        f"{name}_rod",
        housing.name,
        length * Z_AXIS,
        joints=(slide,),
        mass=Mass(float(parts.rod_mass), parts.rod_center, parts.rod_inertia),
        shapes=_rod_shapes(name, shape_sizes, drawing),
    )
    return LegMechanism(
        (first_hinge.name, second_hinge.name, slide.name),
        (housing, rod),
        Actuator(f"{name}_force", slide.name, (slide.name,)),
        (
            Point(f"{name}_base_joint", BASE_NAME, leg_geometry.base),
            Point(f"{name}_tip", rod.name, ORIGIN),
        ),
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
    radius, length = sizes.housing_radius, sizes.housing_length
    return (
        Ball(f"{name}_base_ball", "joint", drawing.base_joint_radius, ORIGIN),
        Cylinder(f"{name}_tube", "housing", radius, ORIGIN, length * Z_AXIS),
        Cylinder(
            f"{name}_collar",
            "joint",
            1.12 * radius,
            0.94 * length * Z_AXIS,
            1.005 * length * Z_AXIS,
        ),
    )


def _rod_shapes(name: str, sizes: LegAppearance, drawing: Drawing) -> tuple[Shape, ...]:
    return (
        Cylinder(f"{name}_shaft", "rod", sizes.rod_radius, -sizes.rod_length * Z_AXIS, ORIGIN),
        Ball(f"{name}_platform_ball", "joint", drawing.platform_joint_radius, ORIGIN),
    )
