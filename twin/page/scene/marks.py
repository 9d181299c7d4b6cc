"""Marks of a machine's points: frames, centre of mass, numbers of the legs."""

from __future__ import annotations

from typing import Any

import numpy as np

from twin.basics.arrays import FloatArray
from twin.machine.mechanism.parts import PLATFORM
from twin.machine.payload.seating import with_body
from twin.machine.payload.segments import rigid_sum
from twin.page.scene.machine_scene import BASE, LEG, MachineScene
from twin.viewer.bodies.creases import quarters
from twin.viewer.bodies.meshes import sphere

AXES = {"base": 0.16, "platform": 0.12, "joint": 0.045}
"""Length of drawn axes over the size of the machine."""

SLIM = 0.04
"""Radius of drawn axes over their length."""

MASS = 0.022
"""Radius of the sphere at the centre of mass over the size of the machine."""

MASS_COLOURS = ((250, 204, 21), (24, 24, 27))

CENTRE = "centre_of_mass"


def add_base_frame(server: Any, machine: MachineScene) -> list[Any]:
    """Return the nodes of the base frame's axes: x red, y green, z blue; hidden at first."""
    return [_axes(server, f"{machine.bodies[BASE].name}/axes", AXES["base"] * machine.size)]


def add_platform_frame(server: Any, machine: MachineScene) -> list[Any]:
    """Return the nodes of the platform frame's axes; hidden at first."""
    return [_axes(server, f"{machine.bodies[PLATFORM].name}/axes", AXES["platform"] * machine.size)]


def add_joint_frames(server: Any, machine: MachineScene) -> list[Any]:
    """Return the nodes of axes at the joints of all legs' bodies; hidden at first."""
    length = AXES["joint"] * machine.size
    legs = (node for body, node in machine.bodies.items() if LEG.match(body))
    return [_axes(server, f"{node.name}/axes", length) for node in legs]


def centre_of_mass(machine: MachineScene) -> FloatArray:
    """Return the centre of mass `(3,)` [m] of platform and payload, in the platform frame.

    The payload is at rest; legs are not part of it.
    """
    body = machine.platform.parameters.platform.body
    if not machine.segments:
        return np.array(body.center_of_mass_vector)
    return np.array(with_body(body, rigid_sum(machine.segments)).center)


def add_centre_of_mass(server: Any, machine: MachineScene) -> list[Any]:
    """Return the nodes of the sphere that marks the centre of mass; hidden at first."""
    root = f"{machine.bodies[PLATFORM].name}/{CENTRE}"
    frame = server.scene.add_frame(
        root, show_axes=False, position=centre_of_mass(machine), visible=False
    )
    halves = quarters(sphere(MASS * machine.size))
    for name, mesh, colour in zip(("light", "dark"), halves, MASS_COLOURS, strict=True):
        server.scene.add_mesh_simple(f"{root}/{name}", mesh.vertices, mesh.faces, color=colour)
    return [frame]


def add_leg_numbers(server: Any, machine: MachineScene) -> list[Any]:
    """Return the labels with the legs' numbers, one at the middle of each; hidden at first."""
    found: dict[str, Any] = {}
    for (body, part), mesh in machine.parts.items():
        leg = LEG.match(body)
        if leg is None or part != "housing":
            continue
        middle = 0.5 * (mesh.vertices.min(axis=0) + mesh.vertices.max(axis=0))
        found[leg[1]] = server.scene.add_label(
            f"{machine.bodies[body].name}/number",
            leg[1],
            position=middle,
            anchor="center-center",
            visible=False,
        )
    return list(found.values())


def _axes(server: Any, name: str, length: float) -> Any:
    return server.scene.add_frame(
        name, axes_length=length, axes_radius=SLIM * length, visible=False
    )
