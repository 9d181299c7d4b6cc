"""URDF of a machine: the open tree in one file, and the two bodies that PyBullet closes into loops.

URDF holds trees only. `robot_urdf` hangs the platform on three slides and three hinges beside the
legs, so that a reader shows the complete machine, at home when all joints are zero. Whoever loads
it has to hold every rod's origin (the leg's tip) on the link of its platform joint.
"""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree.ElementTree import Element

import numpy as np

from twin.engines.appearance import drawing
from twin.engines.urdf_elements import (
    ORIGIN,
    cylinder,
    document,
    inertial,
    joint,
    link,
    massless,
    origin,
    visual,
)
from twin.parameters.derived import home_leg_frames, leg_bodies
from twin.parameters.machine import MachineParameters
from twin.platform import Platform

UNKNOWN = 1e6
"""Written as effort [N] or speed [m/s] where none is known: the format demands a number."""

FREEDOMS = ("slide_x", "slide_y", "slide_z", "hinge_x", "hinge_y", "hinge_z")
"""Joints `platform_...` that carry the platform in `robot_urdf`, from the base up."""

LEG_JOINTS = ("first", "second", "actuator")
"""Joints `leg_<number>_...` of a leg, from the base up; their coordinates are zero at home."""


def robot_urdf(platform: Platform) -> str:
    """Return the complete machine as one tree: base, legs, and the platform on six joints.

    The platform's joint coordinates are its displacement from home [m] in base axes, and the
    angles [rad] about its moving x, y and z axes, starting from the home orientation.
    """
    parameters = platform.parameters
    return document(
        parameters.name,
        *_legs(parameters, limited=True),
        *_freedoms(parameters),
        _platform(parameters),
        *_platform_joints(parameters),
    )


def legs_urdf(platform: Platform) -> str:
    """Return base and legs, without actuator limits: the equations of motion have none either."""
    parameters = platform.parameters
    return document(f"{parameters.name}_legs", *_legs(parameters, limited=False))


def platform_urdf(platform: Platform) -> str:
    """Return the platform as a single free body whose link frame is the platform frame."""
    parameters = platform.parameters
    return document(f"{parameters.name}_platform", _platform(parameters))


def _legs(parameters: MachineParameters, *, limited: bool) -> Iterator[Element]:
    look, bodies = drawing(parameters), leg_bodies(parameters)
    feet = parameters.base.joints.points
    brackets = [
        cylinder(
            f"base_bracket_{i + 1}", "joint", 0.8 * look.base_joint_radius, look.base_top, foot
        )
        for i, foot in enumerate(feet)
    ]
    plate = cylinder("base", "base", look.base_radius, look.floor, (0.0, 0.0, look.base_top))
    yield massless("base", plate, *brackets)
    for i, frame in enumerate(home_leg_frames(parameters)):
        leg = f"leg_{i + 1}"
        cross, housing, rod = f"{leg}_cross", f"{leg}_housing", f"{leg}_rod"
        axis = frame.T @ parameters.first_axes[i]
        length = float(np.linalg.norm(parameters.home_leg_vectors[i]))
        limit, tip = _limit(parameters, length, limited=limited), origin((0.0, 0.0, length))
        foot = origin(feet[i], frame)
        collar = (1.12 * look.housing_radius, 0.94 * look.housing_length)
        ends = ((0.0, 0.0, look.housing_length), (0.0, 0.0, 1.005 * look.housing_length))
        yield joint(f"{leg}_first", "continuous", ("base", cross), foot, axis)
        yield massless(cross)
        yield joint(f"{leg}_second", "continuous", (cross, housing), origin(), (1.0, 0.0, 0.0))
        yield link(
            housing,
            inertial(bodies.housing_mass[i], bodies.housing_center[i], bodies.housing_inertia[i]),
            cylinder(housing, "housing", look.housing_radius, 0.0, ends[0]),
            cylinder(f"{leg}_collar", "joint", *collar, ends[1]),
            _ball(f"{leg}_base_ball", look.base_joint_radius),
        )
        yield joint(f"{leg}_actuator", "prismatic", (housing, rod), tip, (0.0, 0.0, 1.0), limit)
        yield link(
            rod,
            inertial(bodies.rod_mass[i], bodies.rod_center[i], bodies.rod_inertia[i]),
            cylinder(rod, "rod", look.rod_radius, -look.rod_length, ORIGIN),
            _ball(f"{leg}_platform_ball", look.platform_joint_radius),
        )


def _limit(parameters: MachineParameters, length: float, *, limited: bool) -> dict[str, float]:
    actuator = parameters.leg.actuator
    limit = {"effort": actuator.force or UNKNOWN, "velocity": actuator.speed or UNKNOWN}
    if limited:
        limit |= {"lower": actuator.minimum - length, "upper": actuator.maximum - length}
    return limit


def _freedoms(parameters: MachineParameters) -> Iterator[Element]:
    reach = parameters.leg.actuator.maximum
    limit = {"effort": 0.0, "velocity": UNKNOWN, "lower": -reach, "upper": reach}
    parent = "base"
    for k, freedom in enumerate(FREEDOMS):
        last = k == len(FREEDOMS) - 1
        child = "platform" if last else f"platform_{freedom}_carriage"
        place = origin(
            parameters.home.position if k == 0 else ORIGIN,
            parameters.home_rotation if k == 3 else None,
        )
        name, axis = f"platform_{freedom}", np.eye(3)[k % 3]
        if k < 3:
            yield joint(name, "prismatic", (parent, child), place, axis, limit)
        else:
            yield joint(name, "continuous", (parent, child), place, axis)
        if not last:
            yield massless(child)
        parent = child


def _platform(parameters: MachineParameters) -> Element:
    body, look = parameters.platform.body, drawing(parameters)
    top = look.platform_bottom + look.platform_thickness
    inner, width = 0.4 * look.platform_radius, 0.04 * look.platform_radius
    mark, size = origin((inner, 0.0, top)), (inner, 2.0 * width, 0.004)
    return link(
        "platform",
        inertial(body.mass, body.center_of_mass_vector, body.inertia_tensor),
        cylinder(
            "platform", "platform", look.platform_radius, look.platform_bottom, (0.0, 0.0, top)
        ),
        visual("platform_heading", "heading", mark, "box", size=size),
    )


def _platform_joints(parameters: MachineParameters) -> Iterator[Element]:
    for i, point in enumerate(parameters.platform.joints.points):
        name = f"leg_{i + 1}_platform_joint"
        yield joint(f"{name}_mount", "fixed", ("platform", name), origin(point))
        yield massless(name)


def _ball(name: str, radius: float) -> Element:
    return visual(name, "joint", origin(), "sphere", radius=radius)
