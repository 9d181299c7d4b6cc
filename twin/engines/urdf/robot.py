"""URDF of a machine: the open tree in one file, and the parts that PyBullet closes into loops.

URDF holds trees only. `robot_urdf` hangs a free platform on three slides and three hinges beside
the legs, so that a reader shows the complete machine, at home when all joints are zero. A program
that loads it has to close the loops. Each of their points is the origin of a massless link.
Elements `drake:ball_constraint` at the end say which two belong together, in frames of bodies with
mass. See docs/without_the_package.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree.ElementTree import Element

import numpy as np

from twin.engines.mechanism.assembly import make_mechanism
from twin.engines.mechanism.mechanism import Mechanism
from twin.engines.urdf.elements import (
    ORIGIN,
    ball_constraint,
    document,
    joint,
    link,
    origin,
    plate_collision,
)
from twin.machine.mechanism.parts import BASE, PLATFORM, Body, Joint
from twin.model.machine_model import MachineModel

UNKNOWN = 1e6
"""Written as effort [N, N m] or speed [m/s, rad/s] where none is known: the format requires a
number."""

CARRIER_JOINTS = ("slide_x", "slide_y", "slide_z", "hinge_x", "hinge_y", "hinge_z")
"""Joints `platform_...` that carry a free platform in `robot_urdf`, from the base up."""


def robot_urdf(platform: MachineModel, machine: Mechanism | None = None) -> str:
    """Return the complete machine as one tree: base, legs and platform.

    The joint coordinates of a free platform are its displacement from home [m] in base axes, and
    the angles [rad] about its moving x, y and z axes, starting from the home orientation. A given
    mechanism takes the place of the machine's own.
    """
    machine = machine or make_mechanism(platform.parameters)
    base = link(BASE, shapes=(machine.base_plate, *machine.base_shapes))
    carriers = _freedoms(machine) if machine.floats else ()
    legs, moving = (_bodies(machine, part, limited=True) for part in (False, True))
    return document(
        machine.name,
        machine.colors,
        *(base, *legs, *carriers, *moving, *_mounts(machine), *_loops(machine)),
    )


def legs_urdf(machine: Mechanism) -> str:
    """Return the base and all trees on it but the platform's.

    There are no limits, because the equations of motion have none. The platform has its own text
    because Bullet solves wrongly for loops inside one multibody.
    """
    bodies = _bodies(machine, False, limited=False)
    return document(f"{machine.name}_legs", machine.colors, link(BASE), *bodies)


def platform_urdf(machine: Mechanism) -> str:
    """Return the platform's tree: a free body, or bodies on a base that carry it."""
    base = () if machine.floats else (link(BASE),)
    bodies = _bodies(machine, True, limited=False)
    return document(f"{machine.name}_platform", machine.colors, *base, *bodies)


def _bodies(machine: Mechanism, with_platform: bool, *, limited: bool) -> Iterator[Element]:
    """Yield the bodies in the platform's tree, or those in all others, with their joints."""
    for body in machine.bodies:
        if machine.moves_platform(body) == with_platform:
            yield from _body(machine, body, limited=limited)


def _body(machine: Mechanism, body: Body, *, limited: bool) -> Iterator[Element]:
    """Yield the joints of a body, the massless links between them, and its own link."""
    parent, place = body.parent, origin(body.position, body.rotation)
    for own in body.joints:
        child = body.name if own is body.joints[-1] else own.link
        kind, limit = _kind_and_limit(machine, own, limited=limited)
        yield joint(own.name, kind, (parent, child), place, own.axis, limit)
        if child != body.name:
            yield link(child)
        parent, place = child, origin()
    if not (body.joints or body.free):
        yield joint(f"{body.name}_mount", "fixed", (parent, body.name), place)
    element = link(body.name, body.mass, body.shapes)
    if body.name == PLATFORM and machine.ball is not None:
        element.append(plate_collision(machine.ball))
    yield element


def _kind_and_limit(
    machine: Mechanism, own: Joint, *, limited: bool
) -> tuple[str, dict[str, float] | None]:
    """Return type and limits of a joint; the format wants a range of every slide."""
    if own.kind == "hinge" and (own.limits is None or not limited):
        return "continuous", None
    limit = {"effort": UNKNOWN, "velocity": UNKNOWN}
    if own.limits is not None:
        limit = {"effort": own.limits.force or UNKNOWN, "velocity": own.limits.speed or UNKNOWN}
        if limited:
            limit |= {"lower": own.limits.minimum, "upper": own.limits.maximum}
    elif limited:
        limit |= _span(machine)
    return ("revolute" if own.kind == "hinge" else "prismatic"), limit


def _span(machine: Mechanism) -> dict[str, float]:
    return {"lower": -machine.reach, "upper": machine.reach}


def _freedoms(machine: Mechanism) -> Iterator[Element]:
    limit = {"effort": 0.0, "velocity": UNKNOWN, **_span(machine)}
    body, parent = machine.body(PLATFORM), BASE
    for k, freedom in enumerate(CARRIER_JOINTS):
        last = k == len(CARRIER_JOINTS) - 1
        child = PLATFORM if last else f"{PLATFORM}_{freedom}_carriage"
        place = origin(body.position if k == 0 else ORIGIN, body.rotation if k == 3 else None)
        name, axis = f"{PLATFORM}_{freedom}", np.eye(3)[k % 3]
        if k < 3:
            yield joint(name, "prismatic", (parent, child), place, axis, limit)
        else:
            yield joint(name, "continuous", (parent, child), place, axis)
        if not last:
            yield link(child)
        parent = child


def _mounts(machine: Mechanism) -> Iterator[Element]:
    """Yield a link without mass at every point of a loop."""
    for point in (point for pair in machine.loop_points() for point in pair):
        place = origin(point.position)
        yield joint(f"{point.name}_mount", "fixed", (point.body, point.name), place)
        yield link(point.name)


def _loops(machine: Mechanism) -> Iterator[Element]:
    """Yield the points that a program has to hold together."""
    for loop, pair in zip(machine.loops, machine.loop_points(), strict=True):
        yield ball_constraint(loop.name, [(point.body, point.position) for point in pair])
