"""URDF of a machine: the open tree in one file, and the parts that PyBullet closes into loops.

URDF holds trees only. `robot_urdf` hangs a free platform on three slides and three hinges next to
the legs, so that a reader shows the complete machine, at home when all joints are zero. A program
that loads it has to close the loops. Each of their points is the origin of a massless link.
Elements `drake:ball_constraint` at the end say which two belong together, in frames of bodies with
mass. See docs/export.md.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

import numpy as np

from twin.basics.arrays import FloatArray
from twin.basics.canonical import principal_axes
from twin.engines.mechanism import Mechanism, make_mechanism
from twin.machine.mechanism import (
    BASE_NAME,
    PART_COLORS,
    PLATFORM_NAME,
    ZERO_MASS,
    Body,
    Box,
    Cylinder,
    Joint,
    Mass,
    Shape,
    Sphere,
)
from twin.model.ball import Ball
from twin.model.machine_model import MachineModel

ZERO_VECTOR = (0.0, 0.0, 0.0)

DRAKE_PREFIX = "drake"
"""XML prefix of the elements that only Drake reads."""

ZERO_TOLERANCE = 1e-15
"""Smaller numbers are rounding errors of sines and cosines and are written as zero."""

UNKNOWN_LIMIT = 1e6
"""Written as effort [N, N m] or speed [m/s, rad/s] where none is known: the format requires a
number."""

CARRIER_JOINTS = ("slide_x", "slide_y", "slide_z", "hinge_x", "hinge_y", "hinge_z")
"""Joints `platform_...` that carry a free platform in `robot_urdf`, from the base up."""


def roll_pitch_yaw(rotation: FloatArray) -> tuple[float, float, float]:
    """Return the angles [rad] with Rz(yaw) Ry(pitch) Rx(roll) = `rotation` `(3, 3)`.

    Roll is measured with the yaw taken out, which keeps the product exact at a pitch of 90 deg.
    """
    yaw = math.atan2(rotation[1, 0], rotation[0, 0])
    sine, cosine = math.sin(yaw), math.cos(yaw)
    pitch = math.atan2(-rotation[2, 0], cosine * rotation[0, 0] + sine * rotation[1, 0])
    roll = math.atan2(
        sine * rotation[0, 2] - cosine * rotation[1, 2],
        cosine * rotation[1, 1] - sine * rotation[0, 1],
    )
    return roll, pitch, yaw


def text(values: Iterable[float]) -> str:
    """Return numbers as the shortest text that reads back to the same values.

    Fewer digits would do for the machine, but Bullet wants axes of length one to 1e-15.
    """
    return " ".join(repr(0.0 if abs(value) < ZERO_TOLERANCE else float(value)) for value in values)


def origin(position: Iterable[float] = ZERO_VECTOR, rotation: FloatArray | None = None) -> Element:
    """Return a frame's place [m] and orientation (a rotation `(3, 3)`) in its parent."""
    angles = ZERO_VECTOR if rotation is None else roll_pitch_yaw(rotation)
    return Element("origin", xyz=text(position), rpy=text(angles))


def inertial(mass: Mass) -> Element:
    """Return mass, centre and tensor of a link.

    The tensor is written along its principal axes, because Bullet ignores off-diagonal terms.
    """
    axes = principal_axes(mass.tensor)
    moments = np.diag(axes.T @ mass.tensor @ axes)
    element = Element("inertial")
    element.append(origin(mass.center, axes))
    SubElement(element, "mass", value=text([mass.mass]))
    values = {f"i{axis}{axis}": text([m]) for axis, m in zip("xyz", moments, strict=True)}
    SubElement(element, "inertia", values, ixy="0", ixz="0", iyz="0")
    return element


def link(name: str, mass: Mass = ZERO_MASS, shapes: Iterable[Shape] = ()) -> Element:
    """Return a link; one without mass says so, for readers take a missing inertial for 1 kg."""
    element = Element("link", name=name)
    element.append(inertial(mass))
    element.extend(visual(shape) for shape in shapes)
    return element


def joint(
    name: str,
    kind: str,
    links: tuple[str, str],
    joint_origin: Element,
    axis: Iterable[float] | None = None,
    limit: dict[str, float] | None = None,
) -> Element:
    """Return a joint from parent to child; `axis` in the joint's own frame, None if it is fixed."""
    element = Element("joint", name=name, type=kind)
    SubElement(element, "parent", link=links[0])
    SubElement(element, "child", link=links[1])
    element.append(joint_origin)
    if axis is not None:
        SubElement(element, "axis", xyz=text(axis))
    if limit is not None:
        SubElement(element, "limit", {key: text([value]) for key, value in limit.items()})
    return element


def ball_constraint(name: str, ends: Iterable[tuple[str, FloatArray]]) -> Element:
    """Return two points that stay together, each on a link `(link, (3,) [m] in its frame)`.

    URDF has no word for it. These are the elements of Drake; other programs pass over them.
    """
    element = Element(f"{DRAKE_PREFIX}:ball_constraint", name=name)
    for point_suffix, point, (body, position) in zip("AB", ("p_AP", "p_BQ"), ends, strict=True):
        SubElement(element, f"{DRAKE_PREFIX}:ball_constraint_body_{point_suffix}", name=body)
        SubElement(element, f"{DRAKE_PREFIX}:ball_constraint_{point}", value=text(position))
    return element


def visual(shape: Shape) -> Element:
    """Return a shape for drawing; the format has no outlines, so plates are round."""
    element = Element("visual", name=f"{shape.name}_visual")
    origin_element, geometry, dimensions = _geometry(shape)
    element.append(origin_element)
    values = {key: text(np.atleast_1d(size)) for key, size in dimensions.items()}
    SubElement(SubElement(element, "geometry"), geometry, values)
    SubElement(element, "material", name=shape.color)
    return element


def _geometry(shape: Shape) -> tuple[Element, str, dict[str, Any]]:
    """Return a shape's place, kind and sizes [m]."""
    if isinstance(shape, Sphere):
        return origin(shape.center), "sphere", {"radius": shape.radius}
    if isinstance(shape, Box):
        return origin(shape.center), "box", {"size": shape.size}
    if isinstance(shape, Cylinder):
        start_point, end_point = shape.start, shape.end
    else:
        start_point, end_point = np.array([0.0, 0.0, shape.bottom]), np.array([0.0, 0.0, shape.top])
    shape_length = float(np.linalg.norm(end_point - start_point))
    origin_element = origin(
        0.5 * (start_point + end_point), _turned_to((end_point - start_point) / shape_length)
    )
    return origin_element, "cylinder", {"radius": shape.radius, "length": shape_length}


def _turned_to(direction: FloatArray) -> FloatArray | None:
    """Return a rotation that turns the z axis to a direction `(3,)`; None along z, either way."""
    x, y, _ = direction
    if np.hypot(x, y) < ZERO_TOLERANCE:
        return None
    rotation_axis = np.array([y, -x, 0.0]) / np.hypot(x, y)
    return np.column_stack([rotation_axis, np.cross(direction, rotation_axis), direction])


def document(name: str, colors: Collection[str], *elements: Element) -> str:
    """Return the text of a robot whose parts have some of `PART_COLORS`."""
    robot = Element("robot", name=name)
    if any(element.tag.startswith(f"{DRAKE_PREFIX}:") for element in elements):
        robot.set(f"xmlns:{DRAKE_PREFIX}", "http://drake.mit.edu")
    for color, channels in PART_COLORS.items():
        if color in colors:
            SubElement(SubElement(robot, "material", name=color), "color", rgba=text(channels))
    robot.extend(elements)
    ElementTree.indent(robot)
    note = "<!-- Generated from platform.toml; do not edit. -->"
    xml_text = ElementTree.tostring(robot, encoding="unicode")
    return f'<?xml version="1.0"?>\n{note}\n{xml_text}\n'


def plate_collision(ball: Ball) -> Element:
    """Return the plate under a ball as a collision element of the platform's link.

    No other part of a machine touches anything.
    """
    element = Element("collision", name="ball_plate")
    plate_center = ball.plate_height - 0.5 * ball.plate_thickness
    element.append(origin((0.0, 0.0, plate_center)))
    dimensions = {"radius": text([ball.plate_radius]), "length": text([ball.plate_thickness])}
    SubElement(SubElement(element, "geometry"), "cylinder", dimensions)
    return element


def robot_urdf(platform: MachineModel, machine: Mechanism | None = None) -> str:
    """Return the complete machine as one tree: base, legs and platform.

    The joint coordinates of a free platform are its displacement from home [m] in base axes, and
    the angles [rad] about its moving x, y and z axes, starting from the home orientation. A given
    mechanism takes the place of the machine's own.
    """
    machine = machine or make_mechanism(platform.parameters)
    base = link(BASE_NAME, shapes=(machine.base_plate, *machine.base_shapes))
    carrier_elements = _carriers(machine) if machine.floats else ()
    legs, platform_parts = (_bodies(machine, is_link, limited=True) for is_link in (False, True))
    return document(
        machine.name,
        machine.colors,
        *(base, *legs, *carrier_elements, *platform_parts, *_mounts(machine), *_loops(machine)),
    )


def legs_urdf(machine: Mechanism) -> str:
    """Return the base and all trees on it but the platform's.

    There are no limits, because the equations of motion have none. The platform has its own text
    because Bullet solves wrongly for loops inside one multibody.
    """
    bodies = _bodies(machine, False, limited=False)
    return document(f"{machine.name}_legs", machine.colors, link(BASE_NAME), *bodies)


def platform_urdf(machine: Mechanism) -> str:
    """Return the platform's tree: a free body, or bodies on a base that carry it."""
    base = () if machine.floats else (link(BASE_NAME),)
    bodies = _bodies(machine, True, limited=False)
    return document(f"{machine.name}_platform", machine.colors, *base, *bodies)


def _bodies(machine: Mechanism, with_platform: bool, *, limited: bool) -> Iterator[Element]:
    """Yield the bodies in the platform's tree, or those in all others, with their joints."""
    for body in machine.bodies:
        if machine.moves_platform(body) == with_platform:
            yield from _body(machine, body, limited=limited)


def _body(machine: Mechanism, body: Body, *, limited: bool) -> Iterator[Element]:
    """Yield the joints of a body, the massless links between them, and its own link."""
    parent, joint_origin = body.parent, origin(body.position, body.rotation)
    for joint_of_body in body.joints:
        child = body.name if joint_of_body is body.joints[-1] else joint_of_body.link
        joint_type, limit = _kind_and_limit(machine, joint_of_body, limited=limited)
        yield joint(
            joint_of_body.name, joint_type, (parent, child), joint_origin, joint_of_body.axis, limit
        )
        if child != body.name:
            yield link(child)
        parent, joint_origin = child, origin()
    if not (body.joints or body.free):
        yield joint(f"{body.name}_mount", "fixed", (parent, body.name), joint_origin)
    element = link(body.name, body.mass, body.shapes)
    if body.name == PLATFORM_NAME and machine.ball is not None:
        element.append(plate_collision(machine.ball))
    yield element


def _kind_and_limit(
    machine: Mechanism, machine_joint: Joint, *, limited: bool
) -> tuple[str, dict[str, float] | None]:
    """Return type and limits of a joint; the format wants a range of every slide."""
    limits = machine_joint.limits
    if machine_joint.kind == "hinge" and (limits is None or not limited):
        return "continuous", None
    force, speed = (None, None) if limits is None else (limits.force, limits.speed)
    limit = {"effort": force or UNKNOWN_LIMIT, "velocity": speed or UNKNOWN_LIMIT}
    if limited:
        lower, upper = (
            (-machine.reach, machine.reach) if limits is None else (limits.minimum, limits.maximum)
        )
        limit |= {"lower": lower, "upper": upper}
    return ("revolute" if machine_joint.kind == "hinge" else "prismatic"), limit


def _carriers(machine: Mechanism) -> Iterator[Element]:
    """Yield the joints from the base to a free platform, and massless links between them."""
    reach = {"lower": -machine.reach, "upper": machine.reach}
    limit = {"effort": 0.0, "velocity": UNKNOWN_LIMIT, **reach}
    body, parent = machine.body(PLATFORM_NAME), BASE_NAME
    for k, joint_name in enumerate(CARRIER_JOINTS):
        is_last = k == len(CARRIER_JOINTS) - 1
        child = PLATFORM_NAME if is_last else f"{PLATFORM_NAME}_{joint_name}_carriage"
        joint_origin = origin(
            body.position if k == 0 else ZERO_VECTOR, body.rotation if k == 3 else None
        )
        name, axis = f"{PLATFORM_NAME}_{joint_name}", np.eye(3)[k % 3]
        if k < 3:
            yield joint(name, "prismatic", (parent, child), joint_origin, axis, limit)
        else:
            yield joint(name, "continuous", (parent, child), joint_origin, axis)
        if not is_last:
            yield link(child)
        parent = child


def _mounts(machine: Mechanism) -> Iterator[Element]:
    """Yield a link without mass at every point of a loop."""
    for point in (point for points in machine.loop_points() for point in points):
        point_origin = origin(point.position)
        yield joint(f"{point.name}_mount", "fixed", (point.body, point.name), point_origin)
        yield link(point.name)


def _loops(machine: Mechanism) -> Iterator[Element]:
    """Yield the points that a program has to hold together."""
    for loop, points in zip(machine.loops, machine.loop_points(), strict=True):
        yield ball_constraint(loop.name, [(point.body, point.position) for point in points])
