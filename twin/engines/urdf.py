"""URDF of a machine: the open tree in one file, and the two bodies that PyBullet closes into loops.

URDF holds trees only. `robot_urdf` hangs the platform on three slides and three hinges beside the
legs, so that a reader shows the complete machine, at home when all joints are zero. Each leg's
tip then has to be held on its platform joint by whoever loads it.
"""

from __future__ import annotations

from collections.abc import Iterable
from xml.etree import ElementTree

import numpy as np

from twin.engines.appearance import Drawing, drawing
from twin.engines.urdf_elements import (
    cylinder, inertial, joint, link, massless, materials, number, origin, sphere, text, visual,
)
from twin.parameters.derived import home_leg_frames, leg_bodies
from twin.parameters.machine import MachineParameters
from twin.platform import Platform


UNKNOWN = 1e6
"""Written as effort [N] or speed [m/s] where none is known: the format demands a number."""

FREEDOMS = ("slide_x", "slide_y", "slide_z", "hinge_x", "hinge_y", "hinge_z")
"""Joints that carry the platform in `robot_urdf`, from the base up; axes of home, moving."""


def robot_urdf(platform: Platform) -> str:
    """Return the complete machine as one tree: base, legs, and the platform on six joints.

    The platform's joint coordinates are its displacement from home [m], base axes, and the angles
    [rad] about the moving x, y and z axes of the platform, starting from its home orientation.
    """
    parameters = platform.parameters
    robot = Element("robot", name=parameters.name)
    robot.extend(materials())
    robot.extend(_legs(parameters, limited=True))
    robot.extend(_freedoms(parameters))
    robot.append(_platform(parameters))
    return text(robot)


def legs_urdf(platform: Platform) -> str:
    """Return base and legs without actuator limits: the reference has no end stops either."""
    robot = Element("robot", name=f"{platform.parameters.name}_legs")
    robot.extend(materials())
    robot.extend(_legs(platform.parameters, limited=False))
    return text(robot)


def platform_urdf(platform: Platform) -> str:
    """Return the platform as a single free body whose link frame is the platform frame."""
    robot = Element("robot", name=f"{platform.parameters.name}_platform")
    robot.extend(materials())
    robot.append(_platform(platform.parameters))
    return text(robot)


def _legs(parameters: MachineParameters, *, limited: bool) -> Iterable[Element]:
    sizes, bodies = drawing(parameters), leg_bodies(parameters)
    frames, actuator = home_leg_frames(parameters), parameters.leg.actuator
    lengths = np.linalg.norm(parameters.home_leg_vectors, axis=1)
    yield _base(sizes)
    for i, frame in enumerate(frames):
        leg = f"leg{i + 1}"
        limit = {
            "effort": number(actuator.force or UNKNOWN),
            "velocity": number(actuator.speed or UNKNOWN),
        }
        if limited:
            limit["lower"] = number(actuator.minimum - lengths[i])
            limit["upper"] = number(actuator.maximum - lengths[i])
        cross, housing, rod = f"{leg}_cross", f"{leg}_housing", f"{leg}_rod"
        yield joint(
            f"{leg}_first",
            "continuous",
            ("base", cross),
            origin(parameters.base.joints.points[i], frame),
            frame.T @ parameters.first_axes[i],
        )
        yield massless(cross)
        yield joint(f"{leg}_second", "continuous", (cross, housing), origin(), [1.0, 0.0, 0.0])
        yield link(
            housing,
            inertial(bodies.housing_mass[i], bodies.housing_center[i], bodies.housing_inertia[i]),
            cylinder(housing, "housing", sizes.housing_radius, (0.0, sizes.housing_length)),
            sphere(f"{leg}_base_joint", sizes.base_joint_radius),
        )
        along = origin([0.0, 0.0, lengths[i]])
        slide = joint(f"{leg}_slide", "prismatic", (housing, rod), along, [0.0, 0.0, 1.0])
        ElementTree.SubElement(slide, "limit", limit)
        yield slide
        yield link(
            rod,
            inertial(bodies.rod_mass[i], bodies.rod_center[i], bodies.rod_inertia[i]),
            cylinder(rod, "rod", sizes.rod_radius, (-sizes.rod_length, 0.0)),
            sphere(f"{leg}_platform_joint", sizes.platform_joint_radius),
        )


def _base(sizes: Drawing) -> Element:
    plate = (sizes.floor, sizes.base_top)
    inertial = inertial(0.0, np.zeros(3), np.zeros((3, 3)))
    return link("base", inertial, cylinder("base", "base", sizes.base_radius, plate))


def _freedoms(parameters: MachineParameters) -> Iterable[Element]:
    reach = number(parameters.leg.actuator.maximum)
    limit = {"effort": "0", "velocity": number(UNKNOWN), "lower": f"-{reach}", "upper": reach}
    parent = "base"
    for k, freedom in enumerate(FREEDOMS):
        child = f"platform_{freedom}_carriage" if k < 5 else "platform"
        place = parameters.home.position if k == 0 else np.zeros(3)
        turn = parameters.home_rotation if k == 3 else np.eye(3)
        kind = "prismatic" if k < 3 else "continuous"
        joint = joint(
            f"platform_{freedom}", kind, (parent, child), origin(place, turn), np.eye(3)[k % 3]
        )
        if k < 3:
            ElementTree.SubElement(joint, "limit", limit)
        yield joint
        if k < 5:
            yield massless(child)
        parent = child


def _platform(parameters: MachineParameters) -> Element:
    body, sizes = parameters.platform.body, drawing(parameters)
    bottom, top = sizes.platform_bottom, sizes.platform_bottom + sizes.platform_thickness
    mark = sizes.platform_radius
    heading = visual("platform_heading", "heading", origin([0.8 * mark, 0.0, top]))
    size = " ".join(map(number, (0.3 * mark, 0.06 * mark, 0.5 * sizes.platform_thickness)))
    ElementTree.SubElement(heading.find("geometry"), "box", size=size)  # type: ignore[arg-type]
    return link(
        "platform",
        inertial(body.mass, body.center_of_mass_vector, body.inertia_tensor),
        cylinder("platform", "platform", mark, (bottom, top)),
        heading,
    )
