"""URDF of a machine: the open tree in one file, and the parts that PyBullet closes into loops.

URDF holds trees only. `robot_urdf` hangs a free platform on three slides and three hinges beside
the legs, so that a reader shows the complete machine, at home when all joints are zero. Whoever
loads it has to hold the points of every loop together; those that are not the origin of a link
have a link of their own.
"""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree.ElementTree import Element

import numpy as np

from twin.engines.mechanism import BASE, PLATFORM, Body, Joint, Mechanism
from twin.engines.mechanisms.assembly import make_mechanism
from twin.engines.urdf_elements import ORIGIN, document, joint, link, origin
from twin.platform import Platform

UNKNOWN = 1e6
"""Written as effort [N, N m] or speed [m/s, rad/s] where none is known: the format demands a
number."""

FREEDOMS = ("slide_x", "slide_y", "slide_z", "hinge_x", "hinge_y", "hinge_z")
"""Joints `platform_...` that carry a free platform in `robot_urdf`, from the base up."""


def robot_urdf(platform: Platform) -> str:
    """Return the complete machine as one tree: base, legs and platform.

    The joint coordinates of a free platform are its displacement from home [m] in base axes, and
    the angles [rad] about its moving x, y and z axes, starting from the home orientation.
    """
    machine = make_mechanism(platform.parameters)
    carried = [*_freedoms(machine), *_free(machine)] if machine.floats else []
    elements = (*_fixed(machine, limited=True), *carried, *_mounts(machine))
    return document(machine.name, machine.colors, *elements)


def fixed_urdf(machine: Mechanism) -> str:
    """Return the base and what hangs on it, without limits: the equations of motion have none."""
    return document(f"{machine.name}_fixed", machine.colors, *_fixed(machine, limited=False))


def free_urdf(machine: Mechanism) -> str:
    """Return the free platform, whose link frame is the platform frame, and what it carries."""
    return document(f"{machine.name}_platform", machine.colors, *_free(machine))


def _fixed(machine: Mechanism, *, limited: bool) -> Iterator[Element]:
    yield link(BASE, shapes=(machine.base_plate, *machine.base_shapes))
    for body in machine.bodies:
        if not machine.carried_freely(body):
            yield from _body(machine, body, limited=limited)


def _free(machine: Mechanism) -> Iterator[Element]:
    for body in machine.bodies:
        if body.free:
            yield link(body.name, body.mass, body.shapes)
        elif machine.carried_freely(body):
            yield from _body(machine, body, limited=False)


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
    if not body.joints:
        yield joint(f"{body.name}_mount", "fixed", (parent, body.name), place)
    yield link(body.name, body.mass, body.shapes)


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
    for k, freedom in enumerate(FREEDOMS):
        last = k == len(FREEDOMS) - 1
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
    """Yield links at the points of loops that are not the origin of a body."""
    for point in (point for pair in machine.loop_points() for point in pair):
        if point.position.any():
            place = origin(point.position)
            yield joint(f"{point.name}_mount", "fixed", (point.body, point.name), place)
            yield link(point.name)
