"""RSS leg: a crank on a hinge, and a rod on two crossed hinges at its end, up to the platform.

The rod's spherical joint at the elbow is built as two hinges: a slender rod has no spin.
"""

from __future__ import annotations

import numpy as np

from twin.machine.legs.leg import LegGeometry
from twin.machine.legs.rss.parameters import RssLeg
from twin.machine.legs.rss.parts import CrankAppearance
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
    ball_ends,
    bracket,
    limits,
    two_hinge_frame,
)


def ends(leg: RssLeg) -> Ends:
    """Return the dimensions drawn at the leg's ends."""
    sizes = appearance(leg)
    return ball_ends(1.8 * sizes.crank_radius, 1.6 * sizes.rod_radius)


def make_leg(leg: RssLeg, leg_geometry: LegGeometry, drawing: Drawing) -> LegMechanism:
    """Return the leg: crank, elbow, loop from the rod's tip to the platform."""
    name, foot = f"leg_{leg_geometry.number}", leg_geometry.base
    home = leg.home_geometry(leg_geometry)
    sizes = appearance(leg)
    crank_hinge = Joint(
        f"{name}_actuator", "hinge", X_AXIS, limits=limits(leg.actuator, float(home.angle))
    )
    crank = Body(
        f"{name}_crank",
        BASE_NAME,
        foot,
        home.frame,
        (crank_hinge,),
        leg.crank_mass(leg_geometry),
        (
            Cylinder(
                f"{name}_arm", "housing", sizes.crank_radius, ORIGIN, leg.crank_length * Z_AXIS
            ),
            Ball(f"{name}_elbow", "joint", 1.4 * sizes.crank_radius, leg.crank_length * Z_AXIS),
        ),
    )
    frame = two_hinge_frame(home.axis, home.rod)
    first_hinge = Joint(f"{name}_first", "hinge", frame.T @ home.axis, f"{name}_cross")
    second_hinge = Joint(f"{name}_second", "hinge", X_AXIS)
    transverse_inertia = leg.rod_mass * leg.rod_length**2 / 12.0
    tip = leg.rod_length * Z_AXIS
    rod = Body(
        f"{name}_rod",
        crank.name,
        leg.crank_length * Z_AXIS,
        home.frame.T @ frame,
        (first_hinge, second_hinge),
        Mass(leg.rod_mass, 0.5 * tip, np.diag([transverse_inertia, transverse_inertia, 0.0])),
        (
            Cylinder(f"{name}_shaft", "rod", sizes.rod_radius, ORIGIN, tip),
            Ball(f"{name}_platform_ball", "joint", drawing.platform_joint_radius, tip),
        ),
    )
    half_axle = 2.0 * drawing.base_joint_radius * home.axis
    motor = Cylinder(
        f"{name}_motor", "joint", drawing.base_joint_radius, foot - half_axle, foot + half_axle
    )
    return LegMechanism(
        (crank_hinge.name, first_hinge.name, second_hinge.name),
        (crank, rod),
        Actuator(f"{name}_force", crank_hinge.name, (crank_hinge.name,)),
        (
            Point(f"{name}_base_joint", BASE_NAME, foot),
            Point(f"{name}_elbow", crank.name, leg.crank_length * Z_AXIS),
            Point(f"{name}_tip", rod.name, tip),
        ),
        (Loop(f"{name}_loop", f"{name}_tip", f"{name}_platform_joint"),),
        base_shapes=(bracket(leg_geometry.number, leg_geometry.base, drawing), motor),
    )


def appearance(leg: RssLeg) -> CrankAppearance:
    """Return the drawn dimensions from the file, else those of slender parts."""
    if leg.appearance is not None:
        return leg.appearance
    return CrankAppearance(
        source="derived from the leg's lengths",
        crank_radius=max(0.025 * leg.crank_length, 0.02 * leg.rod_length),
        rod_radius=0.015 * leg.rod_length,
    )
