"""The bodies of a whole machine as pictures show them, from its own parameters.

Models for the engines keep their simple shapes: a machine is simulated without these.
"""

from __future__ import annotations

import numpy as np

from twin.engines.mechanism.assembly import machine_drawing
from twin.engines.mechanism.mechanism import Mechanism
from twin.machine.legs.leg import Leg, LegPlace
from twin.machine.legs.pillar.parameters import PillarLeg
from twin.machine.legs.rss.parameters import RssLeg
from twin.machine.legs.strut.parameters import StrutLeg
from twin.machine.legs.ups.parameters import UpsLeg
from twin.machine.legs.viscoelastic.parameters import ViscoelasticLeg
from twin.machine.machine import MachineParameters
from twin.machine.mechanism.appearance import Drawing
from twin.machine.mechanism.parts import BASE, PLATFORM
from twin.machine.mechanism.shapes import Ball, Box, Cylinder, Shape
from twin.viewer.bodies.crank import servo_leg, servo_reach
from twin.viewer.bodies.drawing import drawn_mesh
from twin.viewer.bodies.fittings import Part
from twin.viewer.bodies.meshes import Mesh, box, extruded, joined, rod, sphere
from twin.viewer.bodies.pillar import pillar_leg
from twin.viewer.bodies.plates import base_plate, platform_plate, soft_shadows
from twin.viewer.bodies.telescope import flexure_leg, screw_leg, spring_leg

SLENDER = 0.045
"""Radius of the joints of a slender machine as drawn, over that of its base plate."""

LARGER = 1.4
"""Largest ratio of a platform's joint as drawn to that of the machine's model."""


def picture_drawing(parameters: MachineParameters) -> Drawing:
    """Return the dimensions of a machine in pictures: joints of slender legs are drawn larger.

    The base plate lies lower for them; the platform's plate stays where it is.
    """
    look = machine_drawing(parameters)
    radius = max(look.base_joint_radius, SLENDER * look.base_radius)
    joint = look.platform_joint_radius
    lowered = 1.3 * (radius - look.base_joint_radius)
    return look._replace(
        base_joint_radius=radius,
        platform_joint_radius=max(joint, min(LARGER * joint, 0.7 * radius)),
        base_top=look.base_top - lowered,
    )


def machine_bodies(parameters: MachineParameters, machine: Mechanism) -> list[Part]:
    """Return what every body shows, one part for each of its materials.

    A leg of a kind without a picture of its own shows the shapes of its mechanism, and so does all
    that the platform carries.
    """
    look, joints = picture_drawing(parameters), parameters.base.joints.points
    parts: list[Part] = []
    feet = [joints[:, :2]]
    own = set()
    for leg, place in zip(parameters.legs, parameters.home_places, strict=True):
        found = _leg_parts(leg, place, look, joints)
        if found:
            own.add(f"leg_{place.number}_")
        if isinstance(leg, RssLeg):
            feet.append(servo_reach(leg, place, look, joints)[None, :2])
        parts += found
    for name, shapes in (
        (BASE, machine.base_shapes),
        *((body.name, body.shapes) for body in machine.bodies if body.name != PLATFORM),
    ):
        if not (own if name == BASE else any(name.startswith(prefix) for prefix in own)):
            parts += [Part(name, shape.color, shape_mesh(shape)) for shape in shapes]
    around_feet = np.concatenate(feet)
    parts += base_plate(look, around_feet)
    home = np.array([place.base + place.vector for place in parameters.home_places])
    parts.append(soft_shadows(look, around_feet, home[:, :2]))
    if parameters.appearance is None:
        parts += platform_plate(look, parameters.platform.joints.points)
    else:
        parts.append(Part(PLATFORM, PLATFORM, drawn_mesh(parameters.appearance)))
    return _merged(parts)


def shape_mesh(shape: Shape) -> Mesh:
    """Return the triangles of a simple shape."""
    if isinstance(shape, Cylinder):
        return rod(shape.radius, shape.start, shape.end)
    if isinstance(shape, Ball):
        return sphere(shape.radius).moved(shape.center)
    if isinstance(shape, Box):
        return box(shape.center, shape.size)
    return extruded(shape.outline, shape.bottom, shape.top)


def _leg_parts(leg: Leg, place: LegPlace, look: Drawing, joints: np.ndarray) -> list[Part]:
    """Return what a leg shows; nothing for a kind without a picture."""
    if isinstance(leg, StrutLeg):
        return flexure_leg(leg, place, look)
    if isinstance(leg, UpsLeg):
        return screw_leg(leg, place, look)
    if isinstance(leg, ViscoelasticLeg):
        return spring_leg(leg, place, look)
    if isinstance(leg, RssLeg):
        return servo_leg(leg, place, look, joints)
    if isinstance(leg, PillarLeg):
        return pillar_leg(leg, place, look)
    return []


def _merged(parts: list[Part]) -> list[Part]:
    """Return one part for each body and material, in the order in which they come first."""
    found: dict[tuple[str, str], list[Mesh]] = {}
    for part in parts:
        found.setdefault((part.body, part.material), []).append(part.mesh)
    return [Part(*key, joined(meshes)) for key, meshes in found.items()]
