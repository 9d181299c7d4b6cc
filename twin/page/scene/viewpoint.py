"""Viewpoints of pages: the first one, and those of the views."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import FloatArray
from twin.page.scene.machine_scene import MachineScene
from twin.viewer.view import View, as_view, framing

OPENING = 35.0
"""[deg] over the height of a page."""

ASPECT = 0.75
"""Width over height of the free scene on a page of 1280 by 800 pixels."""

NEAREST, FARTHEST = 0.01, 100.0
"""[sizes of a machine] Distances from the camera between which things are drawn."""


class Viewpoint(NamedTuple):
    """Position and target of a camera, in the world."""

    position: FloatArray
    """`(3,)` [m]"""
    target: FloatArray
    """`(3,)` [m]"""


def viewpoint(
    machine: MachineScene, view: str | View | tuple[float, float], aspect: float = ASPECT
) -> Viewpoint:
    """Return the viewpoint from which a machine fills the page.

    Args:
        machine: the machine.
        view: a name of `VIEWS`, or azimuth and elevation [deg].
        aspect: width over height of the picture.

    Raises:
        InputError: no such view.
    """
    direction = as_view(view)
    azimuth, elevation = np.radians(direction)
    ahead = np.array([np.cos(azimuth), np.sin(azimuth), 0.0]) * np.cos(elevation)
    ahead[2] = np.sin(elevation)
    target, distance = framing(machine.scene_model.corners(), direction, OPENING, aspect)
    target = target + machine.scene_model.displacement
    return Viewpoint(target - distance * ahead, target)


def start_looking(server: Any, machine: MachineScene, view: str = "overview") -> None:
    """Set the viewpoint of pages that are opened from now on.

    Raises:
        InputError: no such view.
    """
    found = viewpoint(machine, view)
    first = server.initial_camera
    first.position, first.look_at, first.up = found.position, found.target, (0.0, 0.0, 1.0)
    first.fov = np.radians(OPENING)
    first.near, first.far = NEAREST * machine.size, FARTHEST * machine.size


def look(clients: Iterable[Any], machine: MachineScene, view: str) -> None:
    """Turn the cameras of pages (viser's clients) to a machine, which fills each of them.

    Raises:
        InputError: no such view.
    """
    for client in clients:
        found = viewpoint(machine, view, client.camera.aspect)
        with client.atomic():
            client.camera.up_direction = (0.0, 0.0, 1.0)
            client.camera.position = found.position
            client.camera.look_at = found.target
