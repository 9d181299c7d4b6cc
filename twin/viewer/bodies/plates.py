"""Plates of a machine: the base that it stands on, and the platform with its heading."""

from __future__ import annotations

import numpy as np

from twin.basics.arrays import FloatArray
from twin.machine.mechanism.appearance import Drawing
from twin.machine.mechanism.parts import BASE, PLATFORM
from twin.viewer.bodies.fittings import ACCENT, METAL, Part, screws
from twin.viewer.bodies.meshes import Mesh, around, extruded, joined

SHADOW, LAYERS = "shadow", 12
"""Material and number of the layers of a soft shadow."""

X, Z = np.eye(3)[0], np.eye(3)[2]


def base_plate(look: Drawing, feet: FloatArray) -> list[Part]:
    """Return the base plate around the feet `(k, 2)` [m] of the legs, with its anchor screws."""
    edge = 2.4 * look.base_joint_radius
    radius = float(np.linalg.norm(feet, axis=1).max()) + edge
    outline = around(feet, edge)
    thick = look.base_thickness
    bevel = min(0.25 * thick, 0.012 * radius)
    plate = extruded(outline, look.floor, look.base_top, bevel)
    return [Part(BASE, "base", plate)]


def soft_shadows(look: Drawing, feet: FloatArray, joints: FloatArray) -> Part:
    """Return thin dark layers below the base plate and below the platform at home.

    Each is nearly clear; where many lie on each other the ground looks darker.

    Args:
        look: dimensions of the machine in pictures.
        feet: `(k, 2)` [m] around which the base plate is.
        joints: `(n, 2)` [m] of the platform at home, in the base frame.
    """
    step = 0.1 * look.base_radius / LAYERS
    thin = 2e-4 * look.base_radius
    layers = []
    for k in range(LAYERS):
        # Wide layers lie below narrow ones.
        height = (1 + 2 * k) * thin
        ground = around(feet, 2.4 * look.base_joint_radius + (LAYERS - k) * step)
        layers.append(extruded(ground, look.floor + height, look.floor + height + thin))
        middle = joints.mean(axis=0)
        below = around(middle + (1.0 - 0.6 * k / LAYERS) * (joints - middle), step)
        layers.append(extruded(below, look.base_top + height, look.base_top + height + thin))
    return Part(BASE, SHADOW, joined(layers))


def platform_plate(look: Drawing, joints: FloatArray) -> list[Part]:
    """Return the platform's plate above its joints `(n, 3)` [m], its screws, and its heading."""
    bottom, thick = look.platform_bottom, look.platform_thickness
    top = bottom + thick
    corners = joints[:, :2]
    margin = look.platform_radius - float(np.linalg.norm(corners, axis=1).max())
    outline = around(corners, margin)
    if _width(corners) < 1e-2 * look.platform_radius:
        outline = around(np.zeros((1, 2)), look.platform_radius)
    bevel = min(0.3 * thick, 0.02 * look.platform_radius)
    plate = extruded(outline, bottom, top, bevel)
    head = 0.008 * look.platform_radius
    heads: list[Mesh] = []
    for corner in corners:
        heads += screws(np.array([*corner, top]), 0.55 * margin, min(0.13 * margin, 2 * head), 4)
    return [
        Part(PLATFORM, "platform", plate),
        Part(PLATFORM, METAL, joined(heads)),
        Part(PLATFORM, ACCENT, _arrow(0.82 * _reach(outline), top, head)),
    ]


def _arrow(length: float, top: float, thick: float) -> Mesh:
    """Return an arrow along x on a plate whose upper face is at `top` [m]."""
    width = 0.045 * length
    begin, neck, end = 0.25 * length, 0.72 * length, length
    shaft = np.array([[begin, -width], [neck, -width], [neck, width], [begin, width]])
    head = np.array([[neck, -2.6 * width], [end, 0.0], [neck, 2.6 * width]])
    return joined([extruded(part, top, top + thick) for part in (shaft, head)])


def _reach(outline: FloatArray) -> float:
    """Return how far [m] an outline `(m, 2)`, anticlockwise around the origin, goes along x."""
    after = np.roll(outline, -1, axis=0)
    crossing = (outline[:, 1] <= 0.0) & (after[:, 1] > 0.0)
    (x, y), (u, v) = outline[crossing][0], after[crossing][0]
    return float(x - y * (u - x) / (v - y))


def _width(points: FloatArray) -> float:
    """Return the spread [m] of points `(k, 2)` across the line that fits them best."""
    return float(np.linalg.svd(points - points.mean(axis=0), compute_uv=False)[-1])
