"""The whole machine as a mechanism: base, platform, and one leg after the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from twin.basics.arrays import FloatArray
from twin.engines.mechanism.least_mass import with_least_masses
from twin.engines.mechanism.mechanism import Mechanism
from twin.engines.mechanism.payload import carried_bodies
from twin.engines.mechanism.tethers import joint_tethers
from twin.machine.legs import LEG_KINDS
from twin.machine.machine import MachineParameters
from twin.machine.mechanism.appearance import Drawing, drawing
from twin.machine.mechanism.parts import BASE, PLATFORM, Body, Mass, Point
from twin.machine.mechanism.shapes import Box, Cylinder, Plate, Shape
from twin.machine.payload.segments import Segment
from twin.model.ball.ball import Ball


def make_mechanism(
    parameters: MachineParameters, payload: Sequence[Segment] = (), ball: Ball | None = None
) -> Mechanism:
    """Return the mechanism of a machine, with a payload and a ball on its platform if given."""
    kind = LEG_KINDS[parameters.leg.kind]
    look = machine_drawing(parameters)
    pairs = list(zip(parameters.legs, parameters.home_places, strict=True))
    legs = [kind.make_leg(leg, place, look) for leg, place in pairs]
    platform = Body(
        PLATFORM,
        BASE,
        np.array(parameters.home.position),
        parameters.home_rotation,
        mass=_platform_mass(parameters),
        shapes=_platform_shapes(look),
        free=True,
    )
    if kind.carry is not None:
        for leg, place in pairs:
            platform = kind.carry(leg, place, platform)
    own = [body for leg in legs for body in leg.bodies]
    own = with_least_masses([platform, *own], parameters)
    bodies = [*own, *carried_bodies(payload)]
    machine = Mechanism(
        name=parameters.name,
        gravity=parameters.gravity,
        home=np.array([*parameters.home.position, *parameters.home.orientation]),
        reach=max(leg.reach for leg in parameters.legs),
        base_plate=_base_plate(look),
        base_shapes=tuple(shape for leg in legs for shape in leg.base_shapes),
        bodies=_parents_first(bodies),
        points=(
            *_platform_points(parameters.platform.joints.points),
            *(point for leg in legs for point in leg.points),
        ),
        loops=tuple(loop for leg in legs for loop in leg.loops),
        actuators=tuple(leg.actuator for leg in legs),
        leg_joints=tuple(leg.joints for leg in legs),
        deflection=tuple(name for leg in legs for name in leg.deflection),
        frictions=tuple(friction for leg in legs for friction in leg.frictions),
        ball=ball,
    )
    points, tethers = joint_tethers(machine, parameters.legs)
    return replace(machine, points=(*machine.points, *points), tethers=tethers)


def machine_drawing(parameters: MachineParameters) -> Drawing:
    """Return the dimensions of a machine as drawn."""
    base, platform = parameters.base, parameters.platform
    ends = LEG_KINDS[parameters.leg.kind].ends(parameters.leg)
    return drawing(base.joints.points, platform.joints.points, platform.thickness, ends)


def _parents_first(bodies: list[Body]) -> tuple[Body, ...]:
    """Return bodies in their order, but none before its parent."""
    ordered: list[Body] = []
    known = {BASE}
    while bodies:
        following = next(body for body in bodies if body.parent in known)
        bodies.remove(following)
        ordered.append(following)
        known.add(following.name)
    return tuple(ordered)


def _platform_mass(parameters: MachineParameters) -> Mass:
    body = parameters.platform.body
    return Mass(body.mass, body.center_of_mass_vector, body.inertia_tensor)


def _platform_points(joints: FloatArray) -> tuple[Point, ...]:
    middle = (Point(name, PLATFORM, np.zeros(3)) for name in ("reference", "imu"))
    corners = (
        Point(f"leg_{number}_platform_joint", PLATFORM, joint)
        for number, joint in enumerate(joints, start=1)
    )
    return (*middle, *corners)


def _base_plate(look: Drawing) -> Cylinder:
    bottom, top = np.array([0.0, 0.0, look.floor]), np.array([0.0, 0.0, look.base_top])
    return Cylinder("base_plate", "base", look.base_radius, bottom, top)


def _platform_shapes(look: Drawing) -> tuple[Shape, ...]:
    bottom, top = look.platform_bottom, look.platform_bottom + look.platform_thickness
    inner, width = 0.4 * look.platform_radius, 0.04 * look.platform_radius
    plate = Plate(
        "platform_plate", "platform", look.platform_outline, look.platform_radius, bottom, top
    )
    size = np.array([inner, 2.0 * width, 0.004])
    return plate, Box("platform_heading", "heading", np.array([inner, 0.0, top]), size)
