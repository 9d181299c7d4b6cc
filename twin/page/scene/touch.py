"""The place on the platform that somebody clicks on."""

from __future__ import annotations

from typing import Any

import numpy as np

from twin.basics.arrays import FloatArray
from twin.machine.mechanism.parts import PLATFORM
from twin.page.scene.machine_scene import MachineScene

EDGE = 1e-9
"""Share of a triangle by which a ray may pass it: neighbours leave no gap."""


def touched(machine: MachineScene, origin: Any, direction: Any) -> FloatArray | None:
    """Return the first point `(3,)` [m] of the drawn platform on a ray, in the platform frame.

    Args:
        machine: as it was last placed.
        origin: `(3,)` [m] of the ray in the world.
        direction: `(3,)` of the ray in the world.

    Returns:
        None where the ray passes by the platform.
    """
    place, turn = machine.place(PLATFORM)
    start = (np.asarray(origin) - machine.root.position - place) @ turn
    along = np.asarray(direction) @ turn
    found = [
        nearest(mesh.vertices[mesh.faces], start, along)
        for (body, _), mesh in machine.parts.items()
        if body == PLATFORM
    ]
    distance = min(found, default=np.inf)
    return start + distance * along if np.isfinite(distance) else None


def nearest(triangles: FloatArray, start: FloatArray, along: FloatArray) -> float:
    """Return the least multiple of `along` at which a ray meets triangles `(f, 3, 3)`; else inf.

    Reference: Möller and Trumbore, "Fast, minimum storage ray/triangle intersection", 1997.
    """
    corner, first, second = triangles[:, 0], *np.moveaxis(triangles[:, 1:] - triangles[:, :1], 1, 0)
    across = np.cross(along, second)
    volume = np.einsum("fi,fi->f", first, across)
    with np.errstate(divide="ignore", invalid="ignore"):
        u = np.einsum("fi,fi->f", start - corner, across) / volume
        beside = np.cross(start - corner, first)
        v = beside @ along / volume
        distance = np.einsum("fi,fi->f", second, beside) / volume
        inside = (u >= -EDGE) & (v >= -EDGE) & (u + v <= 1.0 + EDGE) & (distance > 0.0)
    return float(distance[inside].min(initial=np.inf))
