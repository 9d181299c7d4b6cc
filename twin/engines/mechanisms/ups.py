"""UPS leg: a housing on two crossed hinges, and a rod that slides in it up to the platform."""

from __future__ import annotations

import numpy as np

from twin.arrays import FloatArray
from twin.engines.appearance import Drawing
from twin.engines.mechanism import BASE, Actuator, Body, Joint, Limits, Loop, Mass, Point
from twin.engines.mechanisms.leg import Leg
from twin.engines.shapes import Ball, Cylinder
from twin.parameters.derived import home_leg_frames, leg_bodies
from twin.parameters.machine import MachineParameters

X, Z, ORIGIN = np.eye(3)[0], np.eye(3)[2], np.zeros(3)


def leg(parameters: MachineParameters, i: int, look: Drawing) -> Leg:
    """Return leg i (from 0): universal joint, slide, loop from the rod's tip to the platform."""
    name, actuator = f"leg_{i + 1}", parameters.leg.actuator
    length = float(np.linalg.norm(parameters.home_leg_vectors[i]))
    limits = Limits(
        actuator.minimum - length, actuator.maximum - length, actuator.speed, actuator.force
    )
    parts = [part[i] for part in leg_bodies(parameters)]
    frame = home_leg_frames(parameters)[i]
    foot = parameters.base.joints.points[i]
    first = Joint(f"{name}_first", "hinge", frame.T @ parameters.first_axes[i], f"{name}_cross")
    second = Joint(f"{name}_second", "hinge", X)
    slide = Joint(f"{name}_actuator", "slide", Z, limits=limits)
    housing = Body(
        f"{name}_housing",
        BASE,
        foot,
        frame,
        (first, second),
        Mass(float(parts[0]), *parts[1:3]),
        _housing_shapes(name, look),
    )
    rod = Body(
        f"{name}_rod",
        housing.name,
        length * Z,
        joints=(slide,),
        mass=Mass(float(parts[3]), *parts[4:6]),
        shapes=_rod_shapes(name, look),
    )
    joints = (first.name, second.name, slide.name)
    return Leg(
        joints,
        (housing, rod),
        Actuator(f"{name}_force", slide.name, (slide.name,)),
        (Point(f"{name}_base_joint", BASE, foot), Point(f"{name}_tip", rod.name, ORIGIN)),
        (Loop(f"{name}_loop", f"{name}_tip", f"{name}_platform_joint"),),
        base_shapes=(bracket(i, foot, look),),
    )


def bracket(i: int, foot: FloatArray, look: Drawing) -> Cylinder:
    """Return the post from the base plate up to base joint i (from 0)."""
    below = np.array([foot[0], foot[1], look.base_top])
    return Cylinder(f"base_bracket_{i + 1}", "joint", 0.8 * look.base_joint_radius, below, foot)


def _housing_shapes(name: str, look: Drawing) -> tuple[Ball, Cylinder, Cylinder]:
    radius, end = look.housing_radius, look.housing_length
    return (
        Ball(f"{name}_base_ball", "joint", look.base_joint_radius, ORIGIN),
        Cylinder(f"{name}_tube", "housing", radius, ORIGIN, end * Z),
        Cylinder(f"{name}_collar", "joint", 1.12 * radius, 0.94 * end * Z, 1.005 * end * Z),
    )


def _rod_shapes(name: str, look: Drawing) -> tuple[Cylinder, Ball]:
    return (
        Cylinder(f"{name}_shaft", "rod", look.rod_radius, -look.rod_length * Z, ORIGIN),
        Ball(f"{name}_platform_ball", "joint", look.platform_joint_radius, ORIGIN),
    )
